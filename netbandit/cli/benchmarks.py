"""``netbandit bench``: how fast the simulator is on this machine."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from netbandit.cli.common import plain_errors
from netbandit.cli.exit_codes import fail

if TYPE_CHECKING:
    from netbandit.bench.measure import Row
    from netbandit.bench.record import Change, Figure

_record_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list on stdout.")
@click.option(
    "--record",
    type=_record_file,
    metavar="FILE",
    help="Append every run to FILE as a line of JSON, with machine and versions.",
)
@click.option(
    "--times",
    type=click.IntRange(min=1),
    metavar="N",
    help="How often each benchmark runs: once, or three times with --record.",
)
@click.option(
    "--against",
    nargs=2,
    type=_record_file,
    metavar="BEFORE AFTER",
    help="Measure nothing; say which figures of two recorded files differ by more than their noise.",
)
def bench(
    name: str | None, as_json: bool, record: Path | None, times: int | None, against: tuple[Path, Path] | None
) -> None:
    """Measure how fast the simulator is on this machine.

    Without NAME all benchmarks run, but for million, which needs 8 GB of memory.
    """
    from netbandit.bench import catalogue

    known = (*catalogue.NAMES, *catalogue.ON_REQUEST)
    if name is not None and name not in known:
        raise click.UsageError(f"There is no benchmark {name!r}; there are {', '.join(known)}.")
    if against is not None:
        if record is not None or times is not None:
            raise click.UsageError("--against compares what was recorded; leave --record and --times out.")
        _compare(*against, name, as_json)
        return
    runs = times or (3 if record else 1)
    found: list[Row] = []
    with plain_errors():
        for one in [name] if name else catalogue.NAMES:
            for time in range(1, runs + 1):
                which = one if runs == 1 else f"{one}, run {time} of {runs}"
                click.echo(f"{which}: measuring, which takes from half a minute to some minutes", err=True)
                rows = catalogue.run(one)
                if record is not None:
                    from netbandit.bench.record import append, now

                    append(record, now(one, rows))
                found += rows
                if not as_json:
                    _print(catalogue.title(one), rows)
    if as_json:
        from netbandit.results.summary import finite

        click.echo(json.dumps(finite(found), indent=2))


def _print(title: str, rows: "Sequence[Row]") -> None:
    """Print a table of *rows*: the words of its head are put below each other, but no figure is cut."""
    from rich.console import Console
    from rich.table import Table

    from netbandit.bench.catalogue import head, text

    table = Table(title=title, title_justify="left", box=None)
    widths = []
    for column, value in rows[0].items():
        words = head(column)
        width = max(map(len, [*words.split(), *(text(row, column) for row in rows)]))
        justify: Literal["left", "right"] = "left" if isinstance(value, str) else "right"
        table.add_column(words, justify=justify, vertical="bottom", width=width)
        widths.append(width)
    for row in rows:
        table.add_row(*(text(row, column) for column in row))
    console = Console()
    console.width = max(console.width, sum(widths) + 2 * len(widths))
    console.print(table)


def _compare(before: Path, after: Path, name: str | None, as_json: bool) -> None:
    from netbandit.bench.record import RecordError, compare, machines, only_in_one, read

    records = []
    mistakes = []
    for file in (before, after):
        try:
            records.append([run for run in read(file) if name in (None, run.benchmark)])
        except RecordError as error:
            mistakes.append(str(error))
    if mistakes:
        fail("\n".join(mistakes))
    first, second = records
    changes = compare(first, second)
    if as_json:
        click.echo(json.dumps([_entry(change) for change in changes], indent=2))
    else:
        _print_changes(changes)
    if machines(first) != machines(second):
        click.echo(f"not the same machine: {'; '.join(machines(first))} | {'; '.join(machines(second))}", err=True)
    for file, figures in zip((before, after), only_in_one(first, second), strict=True):
        if figures:
            rows = dict.fromkeys(_words(figure) for figure in figures)
            click.echo(f"only in {file}: {'; '.join(rows)}", err=True)


def _entry(change: "Change") -> dict[str, object]:
    benchmark, row, column = change.figure
    return {
        "benchmark": benchmark,
        "row": dict(row),
        "figure": column,
        "before": change.before,
        "after": change.after,
        "ratio": change.ratio,
        "p": change.p,
        "changed": change.changed,
    }


def _words(figure: "Figure") -> str:
    benchmark, row, _ = figure
    return ", ".join([benchmark, *(f"{column} {value}" for column, value in row if value != "")])


def _print_changes(changes: "Sequence[Change]") -> None:
    from rich.console import Console
    from rich.table import Table

    from netbandit.results.numbers import shortest

    table = Table(box=None)
    for column in ("row", "figure"):
        table.add_column(column)
    for column in ("before", "after", "ratio", "p"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("")
    for change in changes:
        numbers = [shortest(value, 3) for value in (change.before, change.after, change.ratio)]
        chance = "" if change.p is None else shortest(change.p, 2)
        said = "changed" if change.changed else "ran once: noise unknown" if change.p is None else ""
        table.add_row(_words(change.figure), change.figure[2], *numbers, chance, said)
    Console().print(table)
    changed = sum(change.changed for change in changes)
    click.echo(f"{changed} of {len(changes)} figures changed by more than their noise")
