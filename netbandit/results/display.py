"""The table of a study on a terminal: a line for each point, or for each metric if there is only one point."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from netbandit.results.store import StudyResult
from netbandit.results.summary import Estimate, estimates
from netbandit.results.table import cell, parameter_names
from netbandit.simulation.result import RunResult

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST_TELLING = ("regret", "cost", "round_slots", "bytes", "energy_j", "rounds", "epsilon", "messages", "simulated_s")
"""The metrics that are shown for many points, the most telling first; as many as there is room for, at most six."""

UNITS = {
    "round_slots": ("round", "slots"),
    "regret_per_agent": ("regret per agent", ""),
    "energy_j": ("energy", "J"),
    "simulated_s": ("simulated", "s"),
    "wall_s": ("computed in", "s"),
    "bytes": ("bytes", ""),
    "epsilon_claimed": ("epsilon, claimed", ""),
}
"""How a metric is called, and its unit; one that is not here is called by its name and has none."""

_ALWAYS_THERE = {*MOST_TELLING, *UNITS, "activations", "delta", "broadcasts", "events"}
"""Metrics that every run has; any other is one a learner or a protocol adds of its own, and worth a column."""

_MOST_COLUMNS = 6
_LONGEST_PARAMETER = 28
_SHORTEST_HEADING = 7
_DIGITS = 4
"""Significant digits of a value without an interval."""

_MOST_DIGITS = 8
_LONGEST_NUMBER = 18
_TINY = 1e-3
"""Columns of smaller numbers are shown with powers of ten."""

_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


@dataclass(frozen=True)
class Column:
    """A metric of all points, as text that lines up.

    Attributes:
        name: What the metric is called.
        unit: Its unit, or nothing.
        means: The mean of each point, all of the same length.
        halves: The half-width of each point, all of the same length, blank where there is none.
    """

    name: str
    unit: str
    means: list[str]
    halves: list[str]

    def cells(self, sign: str) -> list[str]:
        """Return the text of each point, all of the same length."""
        return [
            f"{mean} {sign} {half}" if half.strip() else mean + (" " * (len(half) + len(sign) + 2) if half else "")
            for mean, half in zip(self.means, self.halves, strict=True)
        ]


def show(study: StudyResult, console: "Console") -> None:
    """Print what the study found, no wider than *console*."""
    from rich.text import Text

    console.print(Text(_title(study)), soft_wrap=True)
    sign = sign_of(console)
    line = everywhere([estimates(point) for point in study.points], sign)
    if line:
        console.print(Text(line))
    table = _vertical(study, sign) if len(study.points) == 1 else _horizontal(study, console, sign)
    console.print(table)
    if any(len(point.finished) > 1 for point in study.points):
        console.print(Text(f"mean {sign} half-width of the 95 % interval over replications"), soft_wrap=True)
    for line in [*privacy_lines(study), *remarks(study)]:
        console.print(Text(line), soft_wrap=True)


INFINITE = "infinite"
"""What a table says of an epsilon without a bound."""

_FEW = 4


def privacy_lines(study: StudyResult) -> list[str]:
    """Return what an agent's privacy came to, beside the paper's own statement, and what it protects; a line a unit.

    Nothing is said where no agent's epsilon is finite: nobody asked for privacy then. Of agents alone, which release
    nothing and need no noise, there is nothing to say either.
    """
    lines = []
    runs = [run for point in study.points for run in point.finished if run.privacy_unit and not _kept_all(run)]
    for unit in dict.fromkeys(run.privacy_unit for run in runs):
        alike = [run for run in runs if run.privacy_unit == unit]
        found, claimed = (
            spread([run.metrics.get(metric) for run in alike]) for metric in ("epsilon", "epsilon_claimed")
        )
        delta = spread([value for run in alike if (value := run.metrics.get("delta"))])
        if found != INFINITE:
            with_delta = f"{found} at delta {delta}" if delta else found
            lines.append(f"privacy of {unit}: epsilon {with_delta} for the agent worst off; the paper states {claimed}")
    return lines


def _kept_all(run: RunResult) -> bool:
    return run.metrics.get("epsilon") == 0 == run.metrics.get("epsilon_claimed")


def remarks(study: StudyResult) -> list[str]:
    """Return what must be known to read the metrics, each line once."""
    return list(dict.fromkeys(line for point in study.points for run in point.finished for line in run.remarks))


def spread(values: Sequence[float | int | None]) -> str:
    """Return the few values there are, or the least and the largest; what is infinite is null in a result.

    Of values that are all alike there is one, and of none at all nothing.
    """
    known = sorted({float(value) for value in values if value is not None})
    texts = list(dict.fromkeys(f"{value:,.6g}" for value in known))
    if None in values:
        texts.append(INFINITE)
    if len(texts) <= _FEW:
        return " or ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))
    return f"{texts[0]} to {texts[-1]}"


def short_names(keys: Sequence[str]) -> list[str]:
    """Return the last word of each dotted key, or as many as it takes to tell the keys apart.

    The kind of a part is called by the part: ``protocol`` for ``protocol.kind``.
    """
    names = []
    for key in keys:
        words = key.removesuffix(".kind").split(".")
        count = 1
        while count < len(words) and any(
            other != key and other.split(".")[-count:] == words[-count:] for other in keys
        ):
            count += 1
        names.append(".".join(words[-count:]))
    return names


def column(metric: str, found: Sequence[Estimate | None]) -> Column:
    """Return the text of one metric: means and half-widths with the same number of decimals, one below the other."""
    name, unit = UNITS.get(metric, (metric.replace("_", " "), ""))
    present = [estimate for estimate in found if estimate is not None and estimate.mean is not None]
    largest = max((abs(estimate.mean or 0.0) for estimate in present), default=0.0)
    scale = 1.0
    if metric == "bytes":
        scale, unit = next(((size, text) for size, text in _SIZES if largest >= 10 * size), (1.0, ""))
        name = "data" if unit else name
    decimals = max((_decimals(estimate, scale) for estimate in present), default=0)
    decimals = max(0, min(decimals, _MOST_DIGITS - len(f"{largest / scale:.0f}")))
    if not any(estimate.half_width for estimate in present):  # exact: a zero that ends all of them says nothing
        values = [(estimate.mean or 0.0) / scale for estimate in present]
        while decimals and all(round(value, decimals) == round(value, decimals - 1) for value in values):
            decimals -= 1
    form = ".1e" if 0 < largest < _TINY else f",.{decimals}f"
    means = [_number(estimate.mean, scale, form) if estimate else "" for estimate in found]
    halves = [_number(estimate.half_width, scale, form) if estimate else "" for estimate in found]
    return Column(name, unit, _padded([mean or "-" for mean in means]), _padded(halves))


def _title(study: StudyResult) -> str:
    points, runs = len(study.points), max((len(point.runs) for point in study.points), default=0)
    fixed = [key for key in parameter_names(study) if key not in varied(study)]
    parts = [study.name]
    if points > 1:
        parts.append(f"{points} points")
    parts.append(f"{runs} replication{'s' if runs != 1 else ''}" + (" each" if points > 1 else ""))
    parts += [f"{key} = {cell(study.points[0].value(key))}" for key in fixed if key != "run.replications"]
    return ", ".join(parts)


def varied(study: StudyResult) -> list[str]:
    """Return the parameters that tell the points apart."""
    return [key for key in parameter_names(study) if len({cell(point.value(key)) for point in study.points}) > 1]


def _vertical(study: StudyResult, sign: str) -> "Table":
    """Return a line for each metric of the only point."""
    table = plain_table()
    for heading, justify in (("metric", "left"), ("value", "right"), ("", "left"), ("unit", "left")):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    columns = [
        column(metric, [estimate])
        for metric, estimate in estimates(study.points[0]).items()
        if any(value is not None for value in estimate.values)
    ]
    halves = _padded([each.halves[0] for each in columns])
    for each, half in zip(columns, halves, strict=True):
        table.add_row(each.name, each.means[0], f"{sign} {half}" if half.strip() else "", each.unit)
    return table


def _horizontal(study: StudyResult, console: "Console", sign: str) -> "Table":
    """Return a line for each point, with as many of the most telling metrics as there is room for."""
    from rich.measure import Measurement

    found = [estimates(point) for point in study.points]
    order = list(dict.fromkeys(name for each in found for name in each))
    chosen: list[str] = []
    best = _points_table(study, [], sign)
    room = console.options.update(max_width=100_000)
    alike = same(found)
    narrow = False
    for metric in telling(found):
        if metric in alike:
            continue
        trial = sorted([*chosen, metric], key=order.index)
        columns = [column(name, [each.get(name) for each in found]) for name in trial]
        table = _points_table(study, columns, sign, narrow)
        fits = Measurement.get(console, room, table).maximum <= console.width
        if not chosen and not fits:
            narrow = True
            table = _points_table(study, columns, sign, narrow)
        if fits or not chosen:
            chosen, best = trial, table
        if len(chosen) == _MOST_COLUMNS:
            break
    return best


def telling(found: Sequence[dict[str, Estimate]]) -> list[str]:
    """Return the metrics worth a column, the most telling first: those that differ from 0 and exist somewhere.

    Regret comes first, and then how many users went away unserved, who add none to it; what is the same at every point
    tells none from another, and comes last.
    """
    own = [name for each in found for name in each if name not in _ALWAYS_THERE]
    order = dict.fromkeys((MOST_TELLING[0], "unserved", *MOST_TELLING[1:3], *own, *MOST_TELLING[3:]))
    worth = [metric for metric in order if _says_something(metric, found)]
    return sorted(worth, key=lambda metric: metric != "regret" and not _differs(metric, found))


def same(found: Sequence[dict[str, Estimate]]) -> list[str]:
    """Return the telling metrics that are the same at all of several points, other than regret: no news in a column."""
    if len(found) < 2:
        return []
    estimates_of = {metric: [each.get(metric) for each in found] for metric in telling(found) if metric != "regret"}
    return [
        metric
        for metric, some in estimates_of.items()
        if None not in some and len({(each.mean, each.half_width) for each in some if each is not None}) == 1
    ]


def everywhere(found: Sequence[dict[str, Estimate]], sign: str) -> str:
    """Return a line that says what is the same at every point; empty if nothing is."""
    texts = []
    for metric in same(found):
        estimate = found[0][metric]
        shown = column(metric, [Estimate(estimate.mean, estimate.half_width or None, estimate.values)])
        texts.append(" ".join(f"{shown.name} {shown.cells(sign)[0]} {shown.unit}".split()))
    return f"at every point: {', '.join(texts)}" if texts else ""


def _differs(metric: str, found: Sequence[dict[str, Estimate]]) -> bool:
    return len({each[metric].mean if metric in each else None for each in found}) > 1


def _says_something(metric: str, found: Sequence[dict[str, Estimate]]) -> bool:
    return any(metric in each and each[metric].mean not in (None, 0.0) for each in found)


def _points_table(study: StudyResult, columns: Sequence[Column], sign: str, narrow: bool = False) -> "Table":
    """Return a line for each point; a *narrow* one breaks long headings and has less room between its columns."""
    from rich.text import Text

    table = plain_table()
    table.collapse_padding = narrow
    keys = varied(study)
    cells = [parameter_cells([point.value(key) for point in study.points]) for key in keys]
    for name, texts in zip(short_names(keys), cells, strict=True):
        width = max(_SHORTEST_HEADING, *map(len, texts)) if narrow else len(name)
        table.add_column(Text("\n".join(wrap(name, width))), no_wrap=True)
    incomplete = any(len(point.finished) < len(point.runs) for point in study.points)
    if incomplete:
        table.add_column("runs", justify="right", no_wrap=True)
    if incomplete:
        cells.append([f"{len(point.finished)}/{len(point.runs)}" for point in study.points])
    for each in columns:
        texts = each.cells(sign)
        heading = Text(f"{each.name}\n({each.unit})" if each.unit else each.name)
        table.add_column(heading, justify="right", no_wrap=True, min_width=max(map(len, texts)))
        cells.append(texts)
    for row in zip(*cells, strict=True):
        table.add_row(*map(Text, row))
    return table


def parameter_cells(values: Sequence[object]) -> list[str]:
    """Return the values of one key as short texts, numbers below one another."""
    texts = [_repeated(value) or cell(value) for value in values]
    texts = [text if len(text) <= _LONGEST_PARAMETER else text[: _LONGEST_PARAMETER - 1] + "…" for text in texts]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return _padded(texts)
    return texts


def _repeated(value: object) -> str:
    """Return ``10 x 6`` for a list of ten sixes, such as the sizes of components; nothing for what is not alike."""
    alike = isinstance(value, list | tuple) and len(value) > 1 and len({cell(entry) for entry in value}) == 1
    return f"{len(value)} x {cell(value[0])}" if alike and isinstance(value, list | tuple) else ""


def _padded(texts: Sequence[str]) -> list[str]:
    width = max(map(len, texts), default=0)
    return [text.rjust(width) for text in texts]


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


def _decimals(estimate: Estimate, scale: float) -> int:
    """Return how many decimals tell the mean: two digits of its half-width, or four of its own."""
    mean, half = abs(estimate.mean or 0.0) / scale, (estimate.half_width or 0.0) / scale
    if half > 0:
        return max(0, 1 - math.floor(math.log10(half)))
    if scale == 1.0 and mean == int(mean):
        return 0
    return max(0, _DIGITS - 1 - math.floor(math.log10(mean))) if mean > 0 else 0


def _number(value: float | None, scale: float, form: str) -> str:
    if value is None:
        return ""
    text = format(value / scale, form)
    lost = value != 0 and not text.strip("-0.,")
    return f"{value / scale:.1e}" if lost or len(text) > _LONGEST_NUMBER else text
