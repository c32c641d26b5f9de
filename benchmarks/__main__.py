"""``python -m benchmarks``: how fast the simulator is on this machine."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from benchmarks import NAMES, ON_REQUEST, benchmark, head, text, title

if TYPE_CHECKING:
    from benchmarks.measure import Row

_record_file = click.Path(dir_okay=False, path_type=Path)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list on stdout.")
@click.option(
    "--record",
    type=_record_file,
    metavar="FILE",
    help="Append what is measured to FILE as lines of JSON, with machine.",
)
@click.option("--against", type=_record_file, metavar="FILE", help="Compare it with what FILE recorded before.")
def main(name: str | None, as_json: bool, record: Path | None, against: Path | None) -> None:
    """Measure how fast the simulator is on this machine.

    Without NAME all benchmarks run, but for commands, which needs two idle cores, and million, which needs 8 GB of
    memory.
    """
    if name is not None and name not in (*NAMES, *ON_REQUEST):
        raise click.UsageError(f"There is no benchmark {name!r}; there are {', '.join((*NAMES, *ON_REQUEST))}.")
    try:
        import pyperf  # noqa: F401
    except ImportError:
        raise click.UsageError('Benchmarks need pyperf: pip install -e ".[dev]".') from None
    from benchmarks.measure import MeasureError, found_in, measure
    from benchmarks.record import RecordError, append, comparison, now, values_in
    from netbandit.cli.common import plain_errors
    from netbandit.results.summary import finite
    from netbandit.simulation.execution import ExecutionError, execution

    names = [name] if name else list(NAMES)
    mistakes: list[str] = []
    try:
        execution()
    except ExecutionError as error:
        mistakes.append(str(error))
    if record is not None and not record.absolute().parent.is_dir():
        mistakes.append(f"--record: there is no folder {record.parent}")
    before: list[Any] = []
    try:
        before = values_in(against, names) if against else []
    except RecordError as error:
        mistakes.append(str(error))
    if mistakes:
        raise click.UsageError("\n".join(mistakes))
    found: list[Row] = []
    after: list[Any] = []
    with plain_errors():
        for one in names:
            click.echo(f"{one}: measuring, which takes some minutes", err=True)
            try:
                suite = measure(one)
            except MeasureError as error:
                raise click.ClickException(str(error)) from None
            rows = benchmark(one).rows(found_in(suite))
            if record is not None:
                append(record, now(one, rows, suite))
            found += rows
            after.append(suite)
            if not as_json:
                _print(title(one), rows)
    if as_json:
        click.echo(json.dumps(finite(found), indent=2))
    if against is not None:
        click.echo(comparison(before, after), err=as_json)


def _print(title: str, rows: "Sequence[Row]") -> None:
    """Print a table of *rows*: the words of its head are put below each other, but no figure is cut."""
    from rich.console import Console
    from rich.table import Table

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


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
