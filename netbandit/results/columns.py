"""Which metrics have a column, how its cells are formatted and aligned, and the table of a study on a terminal.

The table has one row per point, or one row per metric if there is only one point.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from netbandit.parts.registry import BUILT_IN, part_class
from netbandit.results.failures import MARK, TROUBLE, is_regret, troubles
from netbandit.results.intervals import MEAN, Statistic
from netbandit.results.metrics import HEADINGS, METRICS, RATES
from netbandit.results.numbers import cell, decimals, enough_decimals, fixed, with_its_number
from netbandit.results.remarks import cost_lines, energy_lines, failure_lines, privacy_lines, remarks, trouble_lines
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.results.summary import Estimate, estimates, failures
from netbandit.results.varied_keys import distinguishing, parameter_names, short_names, varied
from netbandit.simulation.answers import ANSWERS
from netbandit.simulation.result import FATES, Metric
from netbandit.util.text import each_once, one_line, pluralize, print_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_LONGEST_PARAMETER = 28

_MOST_DIGITS = 8

_TINY = 1e-3
"""Columns of smaller numbers are shown in powers of ten."""

_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_ENERGIES = ((1e6, "MJ"), (1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"))


@dataclass(frozen=True)
class Column:
    """A metric at all points, as aligned text.

    Attributes:
        name: The label of the metric.
        unit: Its unit, or an empty text.
        values: The mean, or another statistic, of each point, padded to one length.
        spreads: The half-width of each point, or its interval in brackets, padded to one length, blank where
            there is no interval.
        around: Whether the spreads are half-widths.
    """

    name: str
    unit: str
    values: list[str]
    spreads: list[str]
    around: bool = True

    def heading(self, between: str = " ") -> str:
        """Return the heading of the column: the name, followed by the unit in parentheses if there is one."""
        return f"{self.name}{between}({self.unit})" if self.unit else self.name

    def cells(self, sign: str) -> list[str]:
        """Return the text of each point, padded to one length; *sign* precedes a half-width."""
        between = f" {sign} " if self.around else " "
        return [
            f"{value}{between}{spread}" if spread.strip() else value + " " * (len(spread) + len(between) * bool(spread))
            for value, spread in zip(self.values, self.spreads, strict=True)
        ]


def column(metric: str, found: Sequence[Estimate | None]) -> Column:
    """Return the column of one metric: values and intervals with the same number of decimals, aligned."""
    name, unit = HEADINGS.get(metric, (metric.replace("_", " "), ""))
    present = [estimate for estimate in found if estimate is not None and estimate.value is not None]
    largest = max((abs(estimate.value or 0.0) for estimate in present), default=0.0)
    scale = 1.0
    if metric == "bytes":
        scale, unit = next(((size, text) for size, text in _SIZES if largest >= 10 * size), (1.0, ""))
        name = "data" if unit else name
    elif unit == "%":
        scale = 0.01
    elif metric == "energy_j":
        scale, unit = next(((size, text) for size, text in _ENERGIES if largest >= size), (1.0, "J"))
    places = max((_places(estimate, scale) for estimate in present), default=0)
    places = max(0, min(places, _MOST_DIGITS - len(f"{largest / scale:.0f}")))
    if not any(estimate.half_width for estimate in present):  # exact: a common trailing zero is redundant
        places = enough_decimals([(estimate.value or 0.0) / scale for estimate in present], places)

    def text(value: float | None) -> str:
        if value is None:
            return ""
        return f"{value:.1e}" if 0 < largest / scale < _TINY else fixed(value / scale, places)

    missing = "inf" if metric == "epsilon" else "-"  # a privacy budget is finite, or no privacy is configured
    values = [text(estimate.value) if estimate else "" for estimate in found]
    around = all(estimate.around for estimate in present)
    spreads = [text(estimate.half_width) if estimate else "" for estimate in found]
    if not around:
        ends = [estimate.ends if estimate else None for estimate in found]
        lows, highs = (lined_up([text(one[side]) if one else "" for one in ends]) for side in (0, 1))
        spreads = [f"[{low}, {high}]" if low.strip() else "" for low, high in zip(lows, highs, strict=True)]
    if unit == "slots" and values == ["1"] and not any(spreads):
        unit = "slot"
    return Column(name, unit, lined_up([value or missing for value in values]), lined_up(spreads), around)


def _places(estimate: Estimate, scale: float) -> int:
    value, half = abs(estimate.value or 0.0) / scale, (estimate.half_width or 0.0) / scale
    if scale != 1.0 and not half:  # 12.00 MB is not a whole number of bytes
        return max(0, 3 - math.floor(math.log10(value))) if value else 0
    return decimals(value, half)


def parameter_cells(values: Sequence[object]) -> list[str]:
    """Return the values of one key as short texts, numbers aligned, that are safe to print on a terminal."""
    names = class_names(values)
    texts = [one_line(_repeated(value) or names.get(cell(value)) or with_its_number(cell(value))) for value in values]
    texts = [text if len(text) <= _LONGEST_PARAMETER else text[: _LONGEST_PARAMETER - 1] + "…" for text in texts]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return lined_up(texts)
    return texts


_CLASS = re.compile(r"[\w.]+:[^\W\d][\w.]*")


def class_names(values: Sequence[object]) -> dict[str, str]:
    """Return short names of the classes among the values of a key, ``module:Class`` -> ``Class``, unless ambiguous."""
    texts = list(dict.fromkeys(value for value in values if isinstance(value, str)))
    names = {text: text.partition(":")[2] for text in texts if _CLASS.fullmatch(text)}
    count = Counter(names.get(text, text) for text in texts)
    return {text: name for text, name in names.items() if count[name] == 1}


def _repeated(value: object) -> str:
    """Return ``10 x 6`` for a list of ten sixes, such as component sizes; an empty text if the items differ."""
    alike = isinstance(value, list | tuple) and len(value) > 1 and len({cell(entry) for entry in value}) == 1
    return f"{len(value)} x {cell(value[0])}" if alike and isinstance(value, list | tuple) else ""


def marked(texts: Sequence[str], flags: Sequence[bool]) -> list[str]:
    """Return *texts* with the mark of stalled agents where *flags* are set, and equal padding elsewhere."""
    if not any(flags):
        return list(texts)
    return [f"{text} {MARK if flag else ' '}" for text, flag in zip(texts, flags, strict=True)]


def lined_up(texts: Sequence[str]) -> list[str]:
    """Return the texts right-aligned in a column as wide as the longest."""
    width = max(map(len, texts), default=0)
    return [text.rjust(width) for text in texts]


Values = Mapping[str, Sequence[Metric]]
"""The values of each metric in the runs of a point."""

FIRST_METRICS = ("regret", "cost", "round_slots", "bytes", "energy_j", "rounds", "epsilon", "messages", "simulated_s")
"""The metrics shown for several points, the most informative first; as many as fit, at most six."""

PRICED = "energy_j"
"""Zero unless the scenario sets a cost per message; then its author wants it, and it has a column."""

_ALWAYS_THERE = {
    *(*FIRST_METRICS, "activations", "delta", "broadcasts", "broadcast_copies", "events", "may_stall", "wall_s"),
    *("reward", "regret_per_agent", "round_slots_median", "round_slots_max", "recovery_slots", "harvested_j"),
    *("epsilon_claimed", "epsilon_best_off", "epsilon_basic_composition", "delta_basic_composition"),
    *("handed", "unsent", "in_flight", "broadcasts_in_flight"),  # where they are many, they are troubles
    *(f"{fate}_bytes" for fate in ("handed", "delivered", *FATES)),
}
"""The metrics of every run; any other is added by a learner or a protocol, and has a column."""


def asks_for_answers(study: StudyResult) -> bool:
    """Return whether runs of *study* end with the last answer, or have a learner of ours that is there to answer."""
    kinds = {kind for point in study.points if isinstance(kind := point.value("learner.kind"), str)}
    if any(point.value("run.until") == "answered" for point in study.points):
        return True
    return any(part_class("learner", kind, Path()).identifies for kind in kinds & BUILT_IN["learner"].keys())


def _unasked(found: Mapping[str, Estimate], asked: bool) -> Sequence[str]:
    """Return the metrics of answers, where these are not what a run is for: its agents never stop, or drop arms."""
    return () if "answered" in found and (asked or "best_lost" not in found) else ANSWERS


_SAID_ALREADY = ("regret_per_decision", "regret_worst_agent", "regret_best_agent", "items", "delivered", "mass")
"""Metrics that mostly follow from others that have a column: these come last."""


def metrics_with_columns(found: Sequence[dict[str, Estimate]], asked: bool = False) -> list[str]:
    """Return the metrics that deserve a column, the most informative first: those that are nonzero somewhere.

    Regret comes first (`main_metric`), then signs that the network failed to deliver (`troubles`), the number of users
    who left unserved, and the privacy spent. Metrics that are equal at every point distinguish none, and come last.

    Args:
        found: The metrics of each point.
        asked: Whether answers are what the runs are for; see `asks_for_answers`.
    """
    wrong = troubles([run for each in found for run in _runs(each)])
    hidden = [_ALWAYS_THERE.union(_SAID_ALREADY, _unasked(each, asked)) for each in found]
    own = [name for each, unshown in zip(found, hidden, strict=True) for name in each if name not in unshown]
    answers = [name for name in ("wrong_any", "stop_slot", "samples") if name in own]
    # Regrets cannot be compared if privacy differs and no column shows it.
    spent = ["epsilon"] if _differs("epsilon", found) else []
    first = main_metric([{name: estimate.values for name, estimate in each.items()} for each in found])
    order = dict.fromkeys(
        (
            *(first, *wrong, *answers, "unserved", *spent, PRICED, "recovery_slots"),
            *(*FIRST_METRICS[1:3], *own, *FIRST_METRICS[3:], *_SAID_ALREADY),
        )
    )
    worth = [metric for metric in order if metric in wrong or _says_something(metric, found)]
    return sorted(worth, key=lambda metric: metric != first and not _differs(metric, found))


def _runs(found: Mapping[str, Estimate]) -> list[dict[str, Metric]]:
    """Return the metrics of each run behind *found*."""
    runs = zip(*(each.values for each in found.values()), strict=True)
    return [dict(zip(found, values, strict=True)) for values in runs]


def main_metric(found: Sequence[Values]) -> str:
    """Return the metric by which points are compared: regret, or regret per decision where some of it is not counted.

    Unserved users and absent agents add no regret, so serving fewer would look like an improvement. Where regret is
    unknown, it is the clicks of a log, or the rewards.
    """
    uncounted = partly_served(found) or partly_absent(found)
    known = any(_known(each, "regret_per_decision") for each in found)
    if known and uncounted:
        return "regret_per_decision"
    return next((name for name in ("regret", "ctr", "reward") if any(_known(each, name) for each in found)), "regret")


def partly_served(found: Sequence[Values]) -> bool:
    """Return whether users left unserved at any point, so that their regret was not counted."""
    return any(any(_known(each, "unserved")) and not _known(each, "regret_unserved") for each in found)


def partly_absent(found: Sequence[Values]) -> bool:
    """Return whether agents were absent, for different times at different points."""
    shares = [_known(each, "availability") for each in found]
    means = {math.fsum(some) / len(some) for some in shares if some}
    return len(means) > 1 and any(any(_known(each, "absent_slots")) for each in found)


def run_values(point: PointResult) -> Values:
    """Return the values of each metric in the runs of *point*."""
    names = dict.fromkeys(name for run in point.finished for name in run.metrics)
    return {name: [run.metrics.get(name) for run in point.finished] for name in names}


def _known(values: Values, metric: str) -> list[float]:
    return [float(value) for value in values.get(metric, ()) if value is not None]


def constant_metrics(found: Sequence[dict[str, Estimate]], asked: bool = False) -> list[str]:
    """Return the informative metrics, except regret, that are equal at all of several points and need no column."""
    if len(found) < 2:
        return []
    first = main_metric([{name: estimate.values for name, estimate in each.items()} for each in found])
    estimates_of = {
        metric: [each.get(metric) for each in found] for metric in metrics_with_columns(found, asked) if metric != first
    }
    return [
        metric
        for metric, some in estimates_of.items()
        if None not in some and len({(each.value, each.ends) for each in some if each is not None}) == 1
    ]


def constants_line(found: Sequence[dict[str, Estimate]], sign: str, asked: bool = False) -> str:
    """Return a line with the metrics that are equal at every point; empty if there are none."""
    texts = []
    for metric in constant_metrics(found, asked):
        estimate = found[0][metric]
        shown = column(metric, [replace(estimate, ends=estimate.ends if estimate.half_width else None)])
        texts.append(" ".join(f"{shown.name} {shown.cells(sign)[0]} {shown.unit}".split()))
    return f"at every point: {', '.join(texts)}" if texts else ""


def _differs(metric: str, found: Sequence[dict[str, Estimate]]) -> bool:
    return len({each[metric].value if metric in each else None for each in found}) > 1


def _says_something(metric: str, found: Sequence[dict[str, Estimate]]) -> bool:
    nothing = (None, 0.0, 1.0) if metric in _FULL else (None, 0.0)
    return metric in RATES or any(metric in each and each[metric].value not in nothing for each in found)


_FULL = ("alive", "availability", "delivery_ratio", "connected")
"""Shares that are 1 if nothing happened."""

_MOST_COLUMNS = 6

_MOST_LINES = 10

_MOST_NAMED = 6
"""The number of hidden metrics that are named."""

_LONGEST_HEADING = 16

_SHORTEST_HEADING = 7


def show(study: StudyResult, console: "Console", statistic: Statistic = MEAN, *, everything: bool = False) -> None:
    """Print the results of the study, no wider than *console*: first whether the network delivered.

    Args:
        study: The study.
        console: Where to print.
        statistic: The statistic over the replications of a point.
        everything: Whether to print all metrics, in several tables if there are several points.
    """
    from rich.text import Text

    print_line(console, _title(study))
    sign = sign_of(console)
    found = [estimates(point, statistic) for point in study.points]
    for line in [*trouble_lines(study), *energy_lines(study)]:
        print_line(console, line)
    asked = asks_for_answers(study)
    line = constants_line(found, sign, asked)
    if line:
        console.print(Text(line))
    if len(found) == 1:
        left = _show_lines(found[0], asked, console, statistic, sign, everything)
    else:
        left = _show_columns(study, found, console, sign, everything)
    for line in left:
        console.print(Text(line))
    if any(len(point.finished) > 1 for point in study.points):
        for line in _what_it_is(found, statistic, sign):
            console.print(Text(line))
    for line in each_once([*cost_lines(study), *privacy_lines(study), *failure_lines(study), *remarks(study)]):
        print_line(console, line)


def _what_it_is(found: Sequence[dict[str, Estimate]], statistic: Statistic, sign: str) -> list[str]:
    """Return the description of the table's numbers, and why some have no interval."""
    missing = [each.why_none for some in found for each in some.values() if each.why_none and each.value is not None]
    if not statistic.is_mean:
        why = f"; {missing[0]}" if missing else ""
        return [f"{statistic.name} [ends of its 95 % interval] over replications{why}"]
    shares = any(not each.around and each.ends for some in found for each in some.values())
    ends = "; share of runs [ends of its interval]" * shares
    lines = [f"mean {sign} half-width of the 95 % interval over replications{ends}"]
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


def _show_lines(
    found: dict[str, Estimate], asked: bool, console: "Console", statistic: Statistic, sign: str, everything: bool
) -> list[str]:
    """Print a row for each of the most informative metrics of the only point; return what is said below it."""
    there = [metric for metric, estimate in found.items() if any(value is not None for value in estimate.values)]
    telling = metrics_with_columns([found], asked)[:_MOST_LINES]
    chosen = there if everything else [metric for metric in telling if metric in there]
    table = plain_table()
    value = "value" if statistic.is_mean else statistic.name
    for heading, justify in (("metric", "left"), (value, "right"), ("", "left"), ("unit", "left")):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    columns = [column(metric, [found[metric]]) for metric in chosen]
    spreads = lined_up([each.spreads[0] for each in columns])
    for each, spread in zip(columns, spreads, strict=True):
        before = f"{sign} " if each.around else ""
        table.add_row(each.name, each.values[0], f"{before}{spread}" if spread.strip() else "", each.unit)
    console.print(table)
    return _below(0 if everything else len(there) - len(chosen), dashed=any(each.values[0] == "-" for each in columns))


def _below(count: int, named: Sequence[str] = (), *, dashed: bool) -> list[str]:
    """Return what a ``-`` means, where one is shown, the number of hidden metrics, some named, and how to see them."""
    dash = ["-: does not exist, or not in every replication"] * dashed
    if not count:
        return dash
    texts = [column(metric, []).name for metric in named]
    more = count - len(texts)
    names = ", ".join([*texts, *([f"{more} more"] if more else [])]) if texts else pluralize(count, "metric")
    return [*dash, f"not shown: {names} (netbandit run with --all shows them)"]


def _show_columns(
    study: StudyResult, found: Sequence[dict[str, Estimate]], console: "Console", sign: str, everything: bool
) -> list[str]:
    """Print a row for each point, with the most informative metrics; return what is said below it.

    With *everything* the remaining metrics follow in further tables.
    """
    asked = asks_for_answers(study)
    alike = constant_metrics(found, asked)
    names = list(dict.fromkeys(name for each in found for name in each))
    telling = metrics_with_columns(found, asked)
    worth = [metric for metric in telling if metric not in alike]
    exist = [name for name in names if any(name in each and each[name].value is not None for each in found)]
    wrong = [name for name in telling if name in TROUBLE]
    order = list(dict.fromkeys([*telling[:1], *wrong, *names]))
    table, chosen = _horizontal(study, found, console, sign, worth, order)
    console.print(table)
    shown = list(chosen)
    left = [metric for metric in dict.fromkeys([*worth, *exist]) if metric not in (*chosen, *alike)]
    while everything and left:
        table, chosen = _horizontal(study, found, console, sign, left, order)
        console.print(table)
        shown += chosen
        left = [metric for metric in left if metric not in chosen]
    dashed = any("-" in map(str.strip, column(name, [each.get(name) for each in found]).values) for name in shown)
    return _below(len(left), [metric for metric in left if metric in worth][:_MOST_NAMED], dashed=dashed)


def _horizontal(
    study: StudyResult,
    found: Sequence[dict[str, Estimate]],
    console: "Console",
    sign: str,
    metrics: Sequence[str],
    order: Sequence[str],
) -> tuple["Table", list[str]]:
    """Return a table with a row for each point and as many *metrics* as fit, in *order*; and the metrics shown."""
    from rich.measure import Measurement

    chosen: list[str] = []
    best = _points_table(study, {}, sign)
    room = console.options.update(max_width=100_000)
    narrow = False
    for metric in metrics:
        trial = sorted([*chosen, metric], key=order.index)
        columns = {name: column(name, [each.get(name) for each in found]) for name in trial}
        table = _points_table(study, columns, sign, narrow)
        fits = Measurement.get(console, room, table).maximum <= console.width
        if not fits and (not chosen or metric in (PRICED, *TROUBLE)):
            narrow = True
            table = _points_table(study, columns, sign, narrow)
            fits = Measurement.get(console, room, table).maximum <= console.width
        if fits or not chosen:
            chosen, best = trial, table
        if len(chosen) == _MOST_COLUMNS:
            break
    return best, chosen


def _points_table(study: StudyResult, columns: Mapping[str, Column], sign: str, narrow: bool = False) -> "Table":
    """Return a table with a row for each point; a *narrow* one wraps long headings and has narrower gaps.

    Regrets of points at which agents stalled are marked.
    """
    from rich.text import Text

    table = plain_table()
    table.collapse_padding = narrow
    keys = distinguishing(study)
    cells = [parameter_cells([point.value(key) for point in study.points]) for key in keys]
    for name, texts in zip(short_names(keys, METRICS), cells, strict=True):
        width = max(_SHORTEST_HEADING, *map(len, texts)) if narrow else len(name)
        table.add_column(Text("\n".join(wrap(name, width))), no_wrap=True)
    if any(len(point.finished) < len(point.runs) for point in study.points):
        table.add_column("runs", justify="right", no_wrap=True)
        cells.append([f"{len(point.finished)}/{len(point.runs)}" for point in study.points])
    stalled = [failures(point).stalled for point in study.points]
    for metric, each in columns.items():
        texts = marked(each.cells(sign), stalled) if is_regret(metric) else each.cells(sign)
        name = "\n".join(wrap(each.name, max(_LONGEST_HEADING, *map(len, texts))))
        heading = replace(each, name=name).heading("\n")
        table.add_column(Text(heading), justify="right", no_wrap=True, min_width=max(map(len, texts)))
        cells.append(texts)
    for row in zip(*cells, strict=True):
        table.add_row(*map(Text, row))
    return table


def plain_table() -> "Table":
    """Return an empty table in the common style."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", highlight=False)


def sign_of(console: "Console") -> str:
    """Return the sign between a mean and its half-width: plus-minus if *console* can show it."""
    try:
        "±".encode(console.encoding)
    except (UnicodeEncodeError, LookupError):
        return "+-"
    return "±"
