"""``netbandit suite``: every method on the same networks."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netbandit.cli.commands import ManyOptions
from netbandit.cli.common import FiniteRange, jobs_option, plain_errors, working
from netbandit.cli.exit_codes import FAILURE, fail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netbandit.studies.suite.cells import Cell
    from netbandit.studies.suite.comparing import Comparison
    from netbandit.studies.suite.entries import Entry
    from netbandit.studies.suite.record import Record
    from netbandit.studies.suite.tracks import Track

_out = click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("results/suite"),
    show_default=True,
    metavar="DIR",
    help="The folder of the runs; those that are there are not run again.",
)
_tracks = click.option("--tracks", metavar="NAME[,NAME]", help="Only these tracks.  [default: all]")
_limit = click.option(
    "--limit",
    type=FiniteRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long an entry may take on a track.",
)


_against = click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Compare with another record, written by `suite record`.  [default: the one that is shipped]",
)
_pictures = click.option("--plot", "pictures", is_flag=True, help="Write the pictures into the folder of the runs.")
_html = click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write tables and pictures into one HTML file.",
)
_latex = click.option("--latex", is_flag=True, help="Print the tables as LaTeX, for the package booktabs.")


@click.group(invoke_without_command=True)
@click.pass_context
def suite(context: click.Context) -> None:
    """Compare every method on the same networks.

    Without a command, list the tracks.
    """
    if context.invoked_subcommand is None:
        _list_tracks()


def _list_tracks() -> None:
    from statistics import median

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from netbandit.studies.suite.record import shipped_record
    from netbandit.studies.suite.tracks import tracks

    record = shipped_record()
    found = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("track", "family", "agents", "slots", "s an entry", "what it is for"):
        found.add_column(heading, justify="right" if heading in ("agents", "slots", "s an entry") else "left")
    for track in tracks().values():
        ran = [cells[track.name].seconds for cells in record.cells.values() if track.name in cells]
        seconds = f"{median(ran):.0f} to {max(ran):.0f}" if ran else ""
        numbers = (f"{track.agents}", f"{track.horizon:,}", seconds)
        found.add_row(*map(Text, (track.name, track.family, *numbers, track.description)))
    Console(highlight=False).print(found)
    click.echo("s an entry: median and longest of the recorded entries, one process, while other programs ran too")


@suite.command("run", cls=ManyOptions)
@click.option("--learner", required=True, metavar="KIND", help="The kind of the learner, or MODULE:CLASS of your own.")
@click.option("--protocol", required=True, metavar="KIND", help="The same of the protocol.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the learner or the protocol, such as learner.alpha=2. May be repeated.",
)
@_tracks
@_out
@jobs_option
@_limit
@_against
@_pictures
@_html
@_latex
def run(
    learner: str,
    protocol: str,
    changes: tuple[str, ...],
    tracks: str | None,
    out: Path,
    jobs: int,
    limit: float,
    against: Path | None,
    pictures: bool,
    page: Path | None,
    latex: bool,
) -> None:
    """Run a pair on all tracks, and show it among all recorded ones.

    The same command continues a run that was interrupted. A track that the pair cannot run on, or does not finish in
    time, is shown as such.
    """
    from netbandit.studies.suite.comparing import compare_with
    from netbandit.studies.suite.entries import Entry

    with plain_errors():
        _can_draw(pictures, page)
        keys = _keys_of(learner, protocol, changes)
        entry = Entry(keys["learner"], keys["protocol"], "own")
        with working(f"running {entry.name}"):
            found = compare_with(
                entry, _chosen(tracks), out=out, jobs=jobs, limit=limit, against=_record(against), told=_tell
            )
        _show(found, out, pictures, page, latex)
    if not any(cell.state == "ran" for cell in found.record.cells[entry.name].values()):
        raise SystemExit(FAILURE)


@suite.command()
@_tracks
@_out
@_against
@_pictures
@_html
@_latex
def show(tracks: str | None, out: Path, against: Path | None, pictures: bool, page: Path | None, latex: bool) -> None:
    """Show the recorded pairs: scores on all tracks, fronts, and how the order depends on the tracks."""
    from netbandit.studies.suite.comparing import Comparison

    with plain_errors():
        _can_draw(pictures, page)
        _show(Comparison(_record(against), _chosen(tracks)), out, pictures, page, latex)


@suite.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@_tracks
@_out
@jobs_option
@_limit
@click.option("--no-run", "run_none", is_flag=True, help="Write what is in the folder of the runs, and run nothing.")
def record(file: Path, tracks: str | None, out: Path, jobs: int, limit: float, run_none: bool) -> None:
    """Run all shipped pairs and the references of the tracks, and write the values into FILE.

    It takes hours; the same command continues where it was interrupted.
    """
    from netbandit.studies.suite.record import write_record
    from netbandit.studies.suite.recording import make_record

    with plain_errors():
        with working("recording"):
            found = make_record(_chosen(tracks), out, jobs=jobs, limit=limit, told=_tell, run=not run_none)
        write_record(found, file)
    click.echo(f"record: {file}")


def _can_draw(pictures: bool, page: Path | None) -> None:
    from netbandit.util.extras import require

    if pictures or page is not None:
        require("plots", "--plot" if pictures else "--html")


def _chosen(names: str | None) -> "list[Track]":
    from netbandit.studies.suite.tracks import TrackError, chosen

    try:
        return chosen(None if names is None else [name.strip() for name in names.split(",") if name.strip()])
    except TrackError as error:
        fail(error)


def _tell(entry: "Entry", track: "Track", cell: "Cell") -> None:
    if cell.state == "ran":
        click.echo(f"{entry.name}, {track.name}: {cell.seconds:.1f} s", err=True)
    else:
        click.echo(f"{entry.name}, {track.name}: {cell.state}: {cell.why}", err=True)


def _keys_of(learner: str, protocol: str, changes: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return the tables of both parts, with the keys that ``--set`` gives."""
    from netbandit.scenario.overrides import read_overrides

    found: dict[str, dict[str, Any]] = {"learner": {"kind": learner}, "protocol": {"kind": protocol}}
    for change in read_overrides(changes, 0):
        if len(change.path) < 2 or change.path[0] not in found or change.path[1] == "kind":
            fail(
                f"--set {'.'.join(map(str, change.path))}: must be a key of the learner or the protocol, such as "
                "learner.alpha=2: tracks are the same for all"
            )
        table = found[str(change.path[0])]
        for name in change.path[1:-1]:
            table = table.setdefault(str(name), {})
        table[str(change.path[-1])] = change.value
    return found


def _record(file: Path | None) -> "Record":
    from netbandit.studies.suite.record import RecordError, read_record, shipped_record

    try:
        return shipped_record() if file is None else read_record(file)
    except RecordError as error:
        fail(error)


def _show(found: "Comparison", out: Path, pictures: bool, page: Path | None, latex: bool) -> None:
    from rich.console import Console

    from netbandit.studies.suite.tables import LEGEND, among_all, not_run, overview

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    for standing in found.standings:
        tables = [overview(standing), *([among_all(standing)] if found.own else [])]
        for table in tables:
            if latex:
                click.echo(table.latex(), nl=False)
            else:
                console.print(table.terminal())
                console.print()
        if found.own:
            for line in not_run(standing):
                click.echo(line, err=True)
    click.echo(LEGEND, err=True)
    if pictures:
        with working("drawing pictures"):
            drawn = list(_draw(found, out))
        for path in drawn:
            click.echo(f"picture: {path}", err=True)
    if page is not None:
        with working("writing the page"):
            found.to_html(page)
        click.echo(f"page: {page}", err=True)


def _draw(found: "Comparison", out: Path) -> "Iterator[Path]":
    from netbandit.plots.style import save
    from netbandit.results.safe_files import make_folder
    from netbandit.studies.suite.pictures import draw_fronts, draw_profiles

    make_folder(out)
    for standing in found.standings:
        for name, draw in (("profiles", draw_profiles), ("fronts", draw_fronts)):
            yield from save(draw(standing), out / f"{name}-{standing.family}")
