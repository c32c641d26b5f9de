"""``netbandit links`` and ``nodes``: the load on each link and each node, and how long batteries last."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netbandit.cli.common import folder_argument, results_of, values_of
from netbandit.cli.exit_codes import fail
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from netbandit.report.tables import Table
    from netbandit.results.loads import Block
    from netbandit.results.study_result import PointResult, StudyResult

_MOST_POINTS = 6

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?", re.ASCII)

_where_argument = click.argument("where", metavar="[KEY=VALUE]...", nargs=-1)
_rows_option = click.option(
    "--rows",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Number of rows for each point.",
)
_csv_option = click.option("--csv", "as_csv", is_flag=True, help="Print the values of every run as tidy CSV.")


def _energy(context: click.Context, param: click.Parameter, value: str | None) -> float | None:
    from netbandit.util.units import ENERGY, parse_energy

    if value is None:
        return None
    try:
        energy = parse_energy(float(value) if _NUMBER.fullmatch(value) else value)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", context, param) from None
    if energy <= 0:
        raise click.BadParameter(f"must be {ENERGY}, above 0.", context, param)
    return energy


@click.command()
@folder_argument
@_where_argument
@_rows_option
@_csv_option
def links(folder: Path, where: tuple[str, ...], rows: int, as_csv: bool) -> None:
    """Show the busiest links and uplinks of a folder of results.

    The table shows the share of the run in which messages occupied each of them, and how long messages waited for those
    before them, at the points with the given VALUEs; means over replications. Where bandwidth is unlimited nothing
    waits, and the links with most bytes come first.
    """
    from netbandit.report.loads import busiest_links, tells
    from netbandit.results.loads import link_blocks

    if as_csv:
        _print_csv(folder, where, link_blocks)
    else:
        _show(folder, where, lambda point: (busiest_links(point, rows), ""), tells, "sent")


@click.command()
@folder_argument
@_where_argument
@click.option(
    "--battery",
    metavar="ENERGY",
    callback=_energy,
    help="Initial energy, such as '1 kJ'; the table shows how long it lasts each node.  [default: energy.capacity, or "
    "1000 J]",
)
@_rows_option
@_csv_option
def nodes(folder: Path, where: tuple[str, ...], battery: float | None, rows: int, as_csv: bool) -> None:
    """Show what each node sent and spent, how long batteries last.

    Energy is what the scenario charges for messages (links.peer.energy, links.uplink.energy) at both of their ends, and
    what [energy] says besides; without energy.capacity that is divided equally among agents. Over a shared radio
    channel, the energy of sending and receiving is in the sum alone. A battery lasts as long as its energy covers the
    power spent in the run, net of what is harvested; where agents have batteries, those that run out first come first.
    """
    from netbandit.report.loads import battery_line, spends, thirstiest_nodes
    from netbandit.results.loads import node_blocks

    def table(point: "PointResult") -> "tuple[Table, str]":
        return thirstiest_nodes(point, rows, battery), battery_line(point, battery)

    if as_csv:
        _print_csv(folder, where, lambda study: node_blocks(study, battery))
    else:
        _show(folder, where, table, spends, "sent or spent")


def _show(
    folder: Path,
    where: tuple[str, ...],
    tables: "Callable[[PointResult], tuple[Table, str]]",
    shows: "Callable[[PointResult], bool]",
    done: str,
) -> None:
    """Print a table for each point that is meant and has something to show, and a line below it."""
    from rich.console import Console
    from rich.text import Text

    from netbandit.results.columns import plain_table
    from netbandit.results.numbers import cell
    from netbandit.results.results_folder import ResultsFolder
    from netbandit.results.varied_keys import distinguishing, short_names
    from netbandit.util.text import one_line, print_line

    study = results_of(ResultsFolder(folder))
    points = _points(study, where)
    listed = [point for point in points if shows(point)]
    console = Console(highlight=False)
    keys = distinguishing(study)
    for point in listed[:_MOST_POINTS]:
        found, below = tables(point)
        values = [f"{name} = {cell(point.value(key))}" for name, key in zip(short_names(keys), keys, strict=True)]
        print_line(console, ", ".join([study.name, *values]))
        table = plain_table()
        table.collapse_padding = True
        shown = [place for place, (name, _) in enumerate(found.headings) if name.split()[0] != "power"]  # --csv has it
        for place in shown:
            left = any(isinstance(row[place].key, str) for row in found.rows)
            name = "\n".join(found.headings[place][0].split())
            table.add_column(Text(name), justify="left" if left else "right", no_wrap=not left, overflow="fold")
        for row in found.rows:
            table.add_row(*(Text(one_line(row[place].text)) for place in shown))
        console.print(Text(found.caption))
        console.print(table)
        if below:
            print_line(console, below)
            console.print()
    if len(listed) > _MOST_POINTS:
        click.echo(f"{pluralize(len(listed) - _MOST_POINTS, 'point')} more: choose by KEY=VALUE, or print all by --csv")
    if len(listed) < len(points):
        silent = pluralize(len(points) - len(listed), "point")
        click.echo(f"{silent} left out: nothing was {done}, or an earlier version did not record by whom", err=True)


def _points(study: Any, where: tuple[str, ...]) -> "list[PointResult]":
    """Return the finished points that are meant."""
    from netbandit.results.varied_keys import UnknownNameError, points_where

    try:
        points = points_where(study, values_of(where, "which points to show"))
    except UnknownNameError as error:
        fail(error)
    return [point for point in points if point.finished]


def _print_csv(folder: Path, where: tuple[str, ...], blocks_of: "Callable[[StudyResult], Iterable[Block]]") -> None:
    """Print all rows of the points that are meant."""
    from netbandit.results.loads import rows_of
    from netbandit.results.numbers import as_csv, cell
    from netbandit.results.results_folder import ResultsFolder
    from netbandit.results.varied_keys import parameter_names, resolve

    study = results_of(ResultsFolder(folder))
    _points(study, where)  # or says what is wrong
    values = values_of(where, "which points to show")
    wanted = {resolve(name, "", parameter_names(study)): text for name, text in values.items()}
    headed = False
    for block in blocks_of(study):
        if all(cell(block[key]) == text for key, text in wanted.items()):
            rows = [["" if value != value else value for value in row] for row in rows_of(block)]
            click.echo(as_csv(rows if headed else [[*block], *rows]), nl=False)
            headed = True
