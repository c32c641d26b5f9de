"""``netbandit topology``: the properties of a network, and links that would improve it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netbandit.cli.commands import ManyOptions
from netbandit.cli.common import plain_errors, set_option, working
from netbandit.cli.exit_codes import fail

if TYPE_CHECKING:
    from netbandit.studies.advice.measure import Measure
    from netbandit.studies.advice.placement import Placement
    from netbandit.studies.advice.sources import Source
    from netbandit.studies.advice.what_if import Advice


@click.command(cls=ManyOptions)
@click.argument("source", metavar="FILE-OR-FAMILY")
@click.option("--agents", metavar="N", help="The number of agents.")
@set_option
@click.option("--what-if", "count", type=click.IntRange(min=1), metavar="N", help="Which N links to add.")
@click.option("--server", is_flag=True, help="Which node should host a server.")
@click.option(
    "--plot",
    "picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw it, and the advice, into this .png or .svg file.",
)
@click.option(
    "--columns",
    metavar="NAME,NAME,...",
    help="The names of the columns of an edge list without a first line of names, such as from,to,latency_ms.",
)
@click.option("--lose", is_flag=True, help="With --what-if: which N links would hurt most to lose.")
@click.option(
    "--measure",
    type=click.Choice(["time", "cost", "resilience", "gap"]),
    default="time",
    show_default=True,
    help="What links are judged by: the time of a round of the scenario's protocol (of flooding where none is named), "
    "activations of a round of gis, pairs of agents that the failure of one link can separate, or the spectral gap of "
    "consensus, by which it is judged in any case.",
)
@click.option("--sinks", type=click.IntRange(min=1), metavar="N", help="Which N nodes should be sinks.")
@click.option(
    "--replications",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="With --what-if on a scenario: runs of each of the best links, which confirm the advice; 0: none.",
)
@click.option(
    "--write",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the advised network as node-link JSON, which a scenario can use as topology.file.",
)
@click.option(
    "--contacts",
    "meetings",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the contacts of its links before the horizon (--set run.horizon=N), as A B FROM UNTIL, in seconds; "
    "into a .png or .svg file, a picture of them.",
)
def topology(
    source: str,
    agents: str | None,
    columns: str | None,
    changes: tuple[str, ...],
    picture: Path | None,
    count: int | None,
    lose: bool,
    measure: str,
    server: bool,
    sinks: int | None,
    replications: int,
    target: Path | None,
    meetings: Path | None,
) -> None:
    """Describe a topology: size, time of rounds, which links to add.

    In a round every agent receives the items of all others; gis is Global Information Synchronization.

    FILE-OR-FAMILY is the name of a family (netbandit topology ring --agents 50) or of a class of your own
    (module:Class, found from the working directory), a scenario, or a graph file. Keys of a family are given by --set:
    --set p=0.1; so are those of links and slots: --set 'links.peer.latency=5 ms'.
    """
    if picture is not None and picture.suffix.lower() not in (".png", ".svg"):
        raise click.UsageError(f"--plot draws a .png or an .svg file, not {picture}.")
    if count is None and (lose or target is not None):
        raise click.UsageError("--lose and --write go with --what-if.")
    if columns is not None:
        changes = (*changes, f"topology.columns={json.dumps([name.strip() for name in columns.split(',')])}")
    from netbandit.studies.advice import describe, tables
    from netbandit.studies.advice.measure import MEASURES
    from netbandit.studies.advice.protocol_measures import EMPTY
    from netbandit.studies.advice.sources import source_of
    from netbandit.util.extras import require

    with plain_errors():
        if picture is not None:
            require("plots", "--plot")
        if meetings is not None and meetings.suffix.lower() in (".png", ".svg"):
            require("plots", "--contacts with a picture")
        with working("building the network"):
            network = source_of(source, agents, changes)
        judged_by = None if count is None else network.measure(next(each for each in MEASURES if each == measure))
        if count is not None and network.contacts() is not None:
            fail("--what-if judges links that are always up, and those of this network come and go (topology.changes)")
        if count is not None and EMPTY in network.left_out:
            fail(f"--what-if judges agents that are always up, and those of this scenario may run empty ({EMPTY})")
        shape = network.timed.topology
        if sinks is not None and sinks > shape.agents:
            raise click.UsageError(f"--sinks is {sinks}, but there are {shape.agents} nodes.")
        if (server or sinks is not None) and len(shape.components) > 1:
            fail("no node reaches all others: the network has several components")
        with working("measuring the network"):
            lines = [
                *describe.figures(network.graph.topology),
                *tables.network_lines(network.timed),
                *tables.contact_lines(network.contacts(), network.timed.topology, network.end),
            ]
        width = max(len(name) for name, _ in lines)
        for name, value in lines:
            click.echo(f"{name:<{width}}  {value}")
        for line in network.unused:
            click.echo(line)
        if network.left_out and count is None:
            click.echo(tables.left_out_line(network.left_out))
        placements = _placements(network, server, sinks)
        steps = []
        if judged_by is not None and count is not None:
            steps = _advice(network, count, judged_by, lose, replications)
        if target is not None:
            _write(network, steps, target)
        if meetings is not None:
            _write_contacts(source, network, meetings)
        if picture is not None:
            _draw(source, network, steps, placements, picture)


def _placements(network: "Source", server: bool, sinks: int | None) -> "list[Placement]":
    """Print where a server and sinks should be; return the best places."""
    if not server and sinks is None:
        return []
    from netbandit.studies.advice import placement, tables
    from netbandit.studies.advice.round_times import distances

    with working("measuring distances"):
        table = distances(network.timed, network.timed.hop_times())
    shape, best = network.timed.topology, []
    if server:
        found = placement.servers(table)
        best.append(found[0])
        for line in tables.placement_lines(shape, "a server", found, "every node tried"):
            click.echo(line)
        click.echo("  the protocol parameter-server takes its number as protocol.server")
    if sinks is not None:
        how = "every set tried" if sinks <= placement.EXACT else "placed one by one, then moved while that helps"
        best.append(placement.sinks(table, sinks))
        for line in tables.placement_lines(shape, f"{sinks} sinks", best[-1:], how):
            click.echo(line)
        click.echo("  no key takes them: the protocol sink takes the node of smallest eccentricity of each component")
    return best


def _advice(network: "Source", count: int, measure: "Measure", lose: bool, replications: int) -> "list[Advice]":
    """Print which links to add or to lose, and the results of running the scenario; return the steps."""
    from netbandit.api.advice import confirm_best
    from netbandit.studies.advice import tables
    from netbandit.studies.advice.what_if import what_if

    with working("trying links"):
        steps = what_if(network.timed, count, measure, network.latency_of, lose=lose)
    shape = network.timed.topology
    if not steps:
        click.echo("there is no link to lose" if lose else "every link is there already")
    for line in tables.advice_lines(shape, steps, network.left_out, network.new_links):
        click.echo(line)
    if network.scenario and replications and steps and steps[0].best:
        with working("running the scenario"):
            before, found = confirm_best(network, steps[0], replications)
        for line in tables.confirmed_lines(shape, before, found, replications):
            click.echo(line)
    return steps


def _write(network: "Source", steps: "list[Advice]", target: Path) -> None:
    from netbandit.results.safe_files import storage
    from netbandit.studies.advice.confirm import write

    found = [step for step in steps if step.best]
    if not found:
        click.echo(f"no link helps: {target} is not written")
        return
    timed = network.timed
    for step in found:
        best = step.best[0]
        timed = timed.without_link(*best.link) if step.lose else timed.with_link(*best.link, best.latency)
    with storage(target):
        write(timed.topology, target)
    click.echo(f"network: {target}")


def _write_contacts(source: str, network: "Source", target: Path) -> None:
    from netbandit.network import contact_files
    from netbandit.results.safe_files import storage

    up, topology = network.contacts(), network.timed.topology
    if up is None:
        fail("--contacts: the links of this network are always up (topology.changes)")
    kind = target.suffix.lower().removeprefix(".")
    with storage(target):
        if kind in ("png", "svg"):
            from netbandit.plots.contacts import draw_contacts
            from netbandit.plots.style import encoded

            title = f"{Path(source).stem}: contacts over time"
            drawn = draw_contacts(title, up, topology.edges, topology.agents, network.end)
            target.write_bytes(encoded(drawn, kind))
        else:
            with target.open("w", encoding="utf-8") as file:
                contact_files.write(file, up, topology.edges, topology.agents)
    click.echo(f"contacts: {target}")


def _draw(source: str, network: "Source", steps: "list[Advice]", placements: "list[Placement]", picture: Path) -> None:
    from netbandit.api.advice import BEST
    from netbandit.plots.style import encoded
    from netbandit.results.safe_files import storage
    from netbandit.studies.advice import describe
    from netbandit.studies.advice.picture import draw_advice

    with storage(picture):
        if not steps and not placements:
            describe.draw(source, network.graph, picture)
        else:
            links = [change.link for step in steps for change in step.best[: BEST if len(steps) == 1 else 1]]
            hosts = [node for placement in placements for node in placement.nodes]
            lose = bool(steps) and steps[0].lose
            one = len(steps) == 1 and len(links) > 1
            what = f"link{'' if one else 's'} to {'keep' if lose else 'add'}" if steps else "where to host"
            title = f"{Path(source).stem}: {what}"
            judged = f"judged by {steps[0].measure}" if steps else ""
            figure = draw_advice(title, network.graph, links, hosts, judged, lose=lose, alternatives=one)
            picture.write_bytes(encoded(figure, picture.suffix.lower().removeprefix(".")))
    click.echo(f"picture: {picture}")
