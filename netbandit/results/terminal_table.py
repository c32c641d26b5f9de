"""The table of a study on a terminal: a line for each point, or for each metric if there is only one point."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from netbandit.printable import print_line
from netbandit.results.columns import Column, cell, column, lined_up, marked, parameter_cells
from netbandit.results.failures import is_regret
from netbandit.results.intervals import MEAN, Statistic
from netbandit.results.remarks import cost_lines, failure_lines, privacy_lines, remarks
from netbandit.results.store import StudyResult
from netbandit.results.summary import Estimate, estimates, failures
from netbandit.results.varied_keys import distinguishing, parameter_names, short_names, varied
from netbandit.results.which_columns import PRICED, constant_metrics, constants_line, metrics_with_columns

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_MOST_COLUMNS = 6

_SHORTEST_HEADING = 7


def show(study: StudyResult, console: "Console", statistic: Statistic = MEAN) -> None:
    """Print what the study found, no wider than *console*.

    Args:
        study: The study.
        console: Where to print.
        statistic: What stands for the replications of a point.
    """
    from rich.text import Text

    print_line(console, _title(study))
    sign = sign_of(console)
    found = [estimates(point, statistic) for point in study.points]
    line = constants_line(found, sign)
    if line:
        console.print(Text(line))
    table = _vertical(found[0], statistic, sign) if len(found) == 1 else _horizontal(study, found, console, sign)
    console.print(table)
    if any(len(point.finished) > 1 for point in study.points):
        for line in _what_it_is(found, statistic, sign):
            console.print(Text(line))
    for line in cost_lines(study):
        console.print(Text(line))
    for line in [*privacy_lines(study), *failure_lines(study), *remarks(study)]:
        print_line(console, line)


def _what_it_is(found: Sequence[dict[str, Estimate]], statistic: Statistic, sign: str) -> list[str]:
    """Return what the numbers of the table are, and why some have no interval."""
    missing = [each.why_none for some in found for each in some.values() if each.why_none and each.value is not None]
    if not statistic.is_mean:
        why = f"; {missing[0]}" if missing else ""
        return [f"{statistic.name} [ends of its 95 % interval] over replications{why}"]
    lines = [f"mean {sign} half-width of the 95 % interval over replications"]
    return [*lines, f"no {sign} where all replications are identical: their spread cannot be estimated"][
        : 1 + bool(missing)
    ]


def _title(study: StudyResult) -> str:
    points, runs = len(study.points), max((len(point.runs) for point in study.points), default=0)
    fixed = [key for key in parameter_names(study) if key not in varied(study)]
    parts = [study.name]
    if points > 1:
        parts.append(f"{points} points")
    parts.append(f"{runs} replication{'s' if runs != 1 else ''}" + (" each" if points > 1 else ""))
    parts += [f"{key} = {cell(study.points[0].value(key))}" for key in fixed if key != "run.replications"]
    return ", ".join(parts)


def _vertical(found: dict[str, Estimate], statistic: Statistic, sign: str) -> "Table":
    """Return a line for each metric of the only point."""
    table = plain_table()
    value = "value" if statistic.is_mean else statistic.name
    for heading, justify in (("metric", "left"), (value, "right"), ("", "left"), ("unit", "left")):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    columns = [
        column(metric, [estimate])
        for metric, estimate in found.items()
        if any(value is not None for value in estimate.values)
    ]
    spreads = lined_up([each.spreads[0] for each in columns])
    before = f"{sign} " if statistic.is_mean else ""
    for each, spread in zip(columns, spreads, strict=True):
        table.add_row(each.name, each.values[0], f"{before}{spread}" if spread.strip() else "", each.unit)
    return table


def _horizontal(study: StudyResult, found: Sequence[dict[str, Estimate]], console: "Console", sign: str) -> "Table":
    """Return a line for each point, with as many of the most telling metrics as there is room for."""
    from rich.measure import Measurement

    order = list(dict.fromkeys(name for each in found for name in each))
    chosen: list[str] = []
    best = _points_table(study, {}, sign)
    room = console.options.update(max_width=100_000)
    alike = constant_metrics(found)
    narrow = False
    for metric in metrics_with_columns(found):
        if metric in alike:
            continue
        trial = sorted([*chosen, metric], key=order.index)
        columns = {name: column(name, [each.get(name) for each in found]) for name in trial}
        table = _points_table(study, columns, sign, narrow)
        fits = Measurement.get(console, room, table).maximum <= console.width
        if not fits and (not chosen or metric == PRICED):
            narrow = True
            table = _points_table(study, columns, sign, narrow)
            fits = Measurement.get(console, room, table).maximum <= console.width
        if fits or not chosen:
            chosen, best = trial, table
        if len(chosen) == _MOST_COLUMNS:
            break
    return best


def _points_table(study: StudyResult, columns: Mapping[str, Column], sign: str, narrow: bool = False) -> "Table":
    """Return a line for each point; a *narrow* one breaks long headings and has less room between its columns.

    Regrets of points at which agents stalled are marked.
    """
    from rich.text import Text

    table = plain_table()
    table.collapse_padding = narrow
    keys = distinguishing(study)
    cells = [parameter_cells([point.value(key) for point in study.points]) for key in keys]
    for name, texts in zip(short_names(keys), cells, strict=True):
        width = max(_SHORTEST_HEADING, *map(len, texts)) if narrow else len(name)
        table.add_column(Text("\n".join(wrap(name, width))), no_wrap=True)
    incomplete = any(len(point.finished) < len(point.runs) for point in study.points)
    if incomplete:
        table.add_column("runs", justify="right", no_wrap=True)
    if incomplete:
        cells.append([f"{len(point.finished)}/{len(point.runs)}" for point in study.points])
    stalled = [failures(point).stalled for point in study.points]
    for metric, each in columns.items():
        texts = marked(each.cells(sign), stalled) if is_regret(metric) else each.cells(sign)
        heading = Text(f"{each.name}\n({each.unit})" if each.unit else each.name)
        table.add_column(heading, justify="right", no_wrap=True, min_width=max(map(len, texts)))
        cells.append(texts)
    for row in zip(*cells, strict=True):
        table.add_row(*map(Text, row))
    return table


def plain_table() -> "Table":
    """Return an empty table in the style of all."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", highlight=False)


def sign_of(console: "Console") -> str:
    """Return what stands between a mean and its half-width, if *console* can show it."""
    try:
        "±".encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return "+-"
    return "±"
