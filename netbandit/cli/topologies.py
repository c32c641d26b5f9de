"""``netbandit topology``: what a network is like."""

from pathlib import Path

import click

from netbandit.cli.common import plain_errors, set_option


@click.command()
@click.argument("source", metavar="FILE-OR-FAMILY")
@click.option("--agents", metavar="N", help="The number of agents.")
@set_option
@click.option(
    "--plot",
    "picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw it into this .png or .svg file.",
)
def topology(source: str, agents: str | None, changes: tuple[str, ...], picture: Path | None) -> None:
    """Show what a topology is like, and what a round costs on it.

    The round is one of gis, Global Information Synchronization: every agent hears what all others have.

    FILE-OR-FAMILY is the name of a family (netbandit topology ring --agents 50), a scenario, or a graph file. Keys of
    a family are given by --set: --set p=0.1.
    """
    from netbandit.advice import describe as graphs
    from netbandit.results.safe_files import storage

    if picture is not None and picture.suffix.lower() not in (".png", ".svg"):
        raise click.UsageError(f"--plot draws a .png or an .svg file, not {picture}.")
    with plain_errors():
        graph = graphs.graph_of(source, agents, changes)
        lines = graphs.figures(graph.topology)
        width = max(len(name) for name, _ in lines)
        for name, value in lines:
            click.echo(f"{name:<{width}}  {value}")
        if picture is not None:
            with storage(picture):
                graphs.draw(source, graph, picture)
            click.echo(f"picture: {picture}")
