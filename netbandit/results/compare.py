"""Paired differences between the points of a study: the same replication has the same seed at both points.

Effects that two points share, such as an instance that is hard for all methods, cancel in the paired difference, so
its interval may be much narrower than the intervals of the two means suggest. How much cancels depends on the varied
key. Random draws for the parts that are equal at both points (arm means, graph, latencies) are identical; another
epsilon or another number of agents changes the pulls and all later draws, so pairing gains little there. The interval
is valid in any case.

Comparing many points finds some differences by chance. Each comparison therefore also has Holm's p-value, corrected
over all comparisons made together. Intervals are not widened.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from netbandit.parts.arguments import by_name, inside
from netbandit.parts.validation import natives
from netbandit.results.columns import column, marked, parameter_cells, plain_table, sign_of
from netbandit.results.failures import MARKED
from netbandit.results.intervals import CONFIDENCE, Statistic
from netbandit.results.numbers import cell, level_text
from netbandit.results.paired import (
    STATISTICS,
    CompareError,
    Difference,
    chosen_text,
    corrected,
    distinguishing_keys,
    paired_difference,
    parameters_of,
    require_metrics,
    samples_by_point,
    value_text,
    values_by_key,
    whole_keys,
)
from netbandit.results.summary import Estimate, finite
from netbandit.results.tables import Columns
from netbandit.results.varied_keys import short_names
from netbandit.util.text import pluralize, print_line

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Console
    from rich.table import Table


@dataclass(frozen=True)
class LeftOut:
    """A point that is compared with no other.

    Attributes:
        parameters: The varied keys with their values.
        why: The reason.
    """

    parameters: dict[str, Any]
    why: str


@dataclass(frozen=True)
class Comparison:
    """The differences between all points of a study and their baselines.

    Attributes:
        metric: The metric.
        statistic: The statistic over the pairs.
        against: Full keys with the values of the baseline; None: the first point that has the metric.
        differences: The points that have a baseline, in the order of the study.
        left_out: The points that have none, in the same order.
    """

    metric: str
    statistic: Statistic
    against: Mapping[str, Any] | None
    differences: list[Difference]
    left_out: list[LeftOut]

    @property
    def remarks(self) -> list[str]:
        """Remarks needed to interpret the differences, one per line."""
        why = dict.fromkeys(each.why_open for each in self.differences if each.why_open)
        return [*why, *([MARKED] if any(any(each.stalled) for each in self.differences) else [])]


def compare(
    results: "DataFrame",
    metric: str = "regret",
    against: Mapping[str, Any] | None = None,
    confidence: float = CONFIDENCE,
    statistic: str = "mean",
) -> "DataFrame":
    """Return how much *metric* differs between points, of pairs of replications with the same seed.

    Args:
        results: The table that `load_results`, `run` or `sweep` returns, or the same table read from ``table.parquet``.
        metric: The name of a metric.
        against: Keys with the values to compare with: each point is compared with the one that has these values and
            is like it in all other keys. A key may be called by its end (``family``) where only one ends so. The
            first point is what all are compared with if it is left out.
        confidence: The probability with which each interval by itself covers the difference.
        statistic: ``mean``, or ``median`` of the differences, which few runs that fail do not move.

    Returns:
        One row for each point that is not compared with itself: its parameters (an empty text for a key that its
        parts do not have), ``value`` and ``baseline`` (means of the metric over the pairs, or medians),
        ``difference`` (the mean of the differences, value minus baseline, or their median), ``low`` and ``high`` (the
        ends of its interval; NaN where there is none), ``pairs``, the number of replications that both have, ``p``
        (NaN where the pairs decide nothing) and ``p_holm`` (Holm's, of all rows together). In its ``attrs`` are
        ``left_out``, the points that have no partner, a dictionary each of their parameters with ``why`` beside them,
        and ``remarks``, needed to interpret the rows.

    Raises:
        CompareError: There is no such metric, key, value or statistic.
        ValueError: *against* is no dictionary by text, or *confidence* no probability.

    Warns:
        UserWarning: Some points have no partner; the text states which and why.
    """
    from netbandit.util.extras.frames import pandas

    if against is not None:
        against = natives("against", by_name("against", against, "keys with the values to compare with"))
    confidence = inside("confidence", confidence, 0, 1)
    columns = {str(name): results[name].tolist() for name in results.columns}
    found = comparison(columns, metric, against, confidence, statistic)
    rows = [
        {
            **{name: "" if value is None else value for name, value in each.parameters.items()},
            "value": each.value,
            "baseline": each.baseline,
            "difference": each.interval.value,
            "low": each.interval.low if math.isfinite(each.interval.low) else math.nan,
            "high": each.interval.high if math.isfinite(each.interval.high) else math.nan,
            "pairs": each.interval.replications,
            "p": math.nan if each.p is None else each.p,
            "p_holm": math.nan if each.p_holm is None else each.p_holm,
        }
        for each in found.differences
    ]
    headings = [*_names(found), "value", "baseline", "difference", "low", "high", "pairs", "p", "p_holm"]
    table = pandas.DataFrame.from_records(rows, columns=headings)
    table.attrs["remarks"] = found.remarks
    table.attrs["left_out"] = [{**each.parameters, "why": each.why} for each in found.left_out]
    if found.left_out:
        warnings.warn(" ".join(left_out_lines(found)), stacklevel=2)
    return table


def comparison(
    results: Columns,
    metric: str,
    against: Mapping[str, Any] | None = None,
    confidence: float = CONFIDENCE,
    statistic: str = "mean",
) -> Comparison:
    """Return the result of `compare`, with the points it leaves out.

    Raises:
        CompareError: There is no such metric, key, value or statistic.
    """
    if statistic not in STATISTICS:
        raise CompareError(f"differences are not compared by {statistic!r}, but by {' or '.join(STATISTICS)}")
    how = Statistic.named(statistic)
    names = parameters_of(results)
    require_metrics([metric], results)
    if all(len({*map(value_text, results[name])}) < 2 for name in names):
        raise CompareError(
            "no key varies in these results, so nothing can be compared; [sweep] of a scenario varies keys"
        )
    whole = None if against is None else whole_keys(against, names)
    names = distinguishing_keys(results, names, whole or {})
    points = samples_by_point(results, names, metric)
    first = next(each.parameters for each in points.values() if each.values)
    chosen = {name: chosen_text(name, value, points, names) for name, value in (whole or first).items()}
    found: list[Difference] = []
    left_out: list[LeftOut] = []
    for identity, point in points.items():
        other = tuple(chosen.get(name, text) for name, text in zip(names, identity, strict=True))
        if other == identity:
            continue
        if other not in points:
            left_out.append(
                LeftOut(point.parameters, f"no point with {values_by_key(chosen)} is like it in all other keys")
            )
            continue
        difference = paired_difference(point, points[other], metric, how, confidence)
        if difference is None:
            why = f"no replication has a {metric} both there and where it is compared with"
            left_out.append(LeftOut(point.parameters, why))
            continue
        found.append(difference)
    if not found:
        raise CompareError(
            f"no point differs from another in nothing but {values_by_key(chosen) or 'the only point'}: "
            "nothing can be compared"
        )
    return corrected_together([Comparison(metric, how.of_metric(metric), whole, found, left_out)])[0]


def corrected_together(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return *comparisons* with p-values corrected over all their differences as one family."""
    family = iter(corrected([each for one in comparisons for each in one.differences]))
    return [replace(one, differences=list(islice(family, len(one.differences)))) for one in comparisons]


_MOST_NAMED = 10


def left_out_lines(found: Comparison) -> list[str]:
    """Return how many points have no baseline, and which they are by reason; empty if all have one."""
    lines = []
    names = _names(found)
    for why in dict.fromkeys(each.why for each in found.left_out):
        alike = [each.parameters for each in found.left_out if each.why == why]
        texts = [values_by_key({name: cell(each[name]) for name in names if each[name] is not None}) for each in alike]
        more = f"; and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
        lines.append(f"{pluralize(len(alike), 'point')} left out, {why}: {'; '.join(texts[:_MOST_NAMED])}{more}")
    return lines


def _names(found: Comparison) -> list[str]:
    return list(found.differences[0].parameters)


def as_json(found: Comparison) -> dict[str, Any]:
    """Return a comparison as a JSON object; missing values are null."""
    return {
        "metric": found.metric,
        "statistic": found.statistic.name,
        "against": None if found.against is None else finite(dict(found.against)),
        "differences": [
            {
                "parameters": finite(each.parameters),
                "value": each.value,
                "baseline": each.baseline,
                "difference": each.interval.value,
                "ci95": None if each.interval.ends is None else list(each.interval.ends),
                "p": each.p,
                "p_holm": each.p_holm,
                **({"p_why_null": each.why_open} if each.why_open else {}),
                **({"stalled": list(each.stalled)} if any(each.stalled) else {}),
                "pairs": each.interval.replications,
            }
            for each in found.differences
        ],
        **({"remarks": found.remarks} if found.remarks else {}),
        "left_out": [{"parameters": finite(each.parameters), "why": each.why} for each in found.left_out],
    }


def show_comparison(comparison: Comparison, console: "Console") -> None:
    """Print a *comparison*, a row for each point, and the points left out.

    No number or mark is truncated: a table too narrow for both p-values shows Holm's only, and one that is
    still wider than *console* runs over its edge.
    """
    from rich.measure import Measurement

    sign = sign_of(console)
    metric, against, found = comparison.metric, comparison.against, comparison.differences
    first = ", ".join(f"{name} = {cell(value)}" for name, value in against.items()) if against else "the first point"
    title = f"{metric}, with {first} as the baseline"
    alike = _common_baseline(comparison)
    if alike is not None:
        title += f" ({alike})"
    print_line(console, title)
    family = any(each.p_holm != each.p for each in found)
    for single in [True, False][: 1 + family]:
        table = _table(comparison, sign, single=single, family=family, baseline=alike is None)
        table.width = Measurement.get(console, console.options.update(max_width=100_000), table).maximum
        if table.width <= console.width:
            break
    console.print(table, crop=False)
    pairs = _pairs(comparison)
    many = "" if len(set(pairs)) > 1 or pairs[0] == "1" else f"{pairs[0]} "
    over = f"over {many}pairs of replications with the same seed"
    missing = next((each.interval.why_none for each in found if each.interval.why_none), "")
    if comparison.statistic.around:
        what = f"difference {sign} half-width of its 95 % interval {over}"
        without = f"; no {sign} where all pairs differ alike: how far others lie is not known" if missing else ""
    else:
        kind = "shares of runs and their difference" if comparison.statistic.rate else "median difference"
        what, without = f"{kind} [ends of the 95 % interval] {over}", f"; {missing}" if missing else ""
    print_line(console, f"{what}{without}")
    if family:
        print_line(console, "p (Holm): corrected for all comparisons made here; intervals are not")
    for line in [*left_out_lines(comparison), *comparison.remarks]:
        print_line(console, line)


def _common_baseline(comparison: Comparison) -> str | None:
    """Return the baseline that all points share, which is printed once above the table; None if there are several."""
    found = comparison.differences
    baseline = column(comparison.metric, [_side(each.baseline, each, comparison.statistic) for each in found])
    if len(found) < 2 or len(set(baseline.cells(""))) > 1:
        return None
    return " ".join(f"{baseline.cells('')[0]} {baseline.unit}".split())


def _side(value: float, difference: Difference, statistic: Statistic) -> Estimate:
    """Return the *value* of one side of a difference; a share has its interval."""
    pairs = difference.interval.replications
    if not statistic.rate or pairs < 2:
        return Estimate(value)
    ones = round(value * pairs)
    return Estimate.of(statistic.of([1.0] * ones + [0.0] * (pairs - ones), CONFIDENCE), around=False)


def _pairs(comparison: Comparison) -> list[str]:
    return [str(each.interval.replications) for each in comparison.differences]


def _table(comparison: Comparison, sign: str, *, single: bool, family: bool, baseline: bool) -> "Table":
    """Return a table with a row for each point.

    Args:
        comparison: The comparison to print.
        sign: The sign between a difference and its half-width.
        single: Whether to show the p-value of each comparison by itself.
        family: Whether to show the p-value corrected for the family.
        baseline: Whether each row names its baseline.
    """
    from rich.text import Text

    metric, found = comparison.metric, comparison.differences
    # A key that is equal in all rows, and at what they are compared with, is shown only if it was asked for.
    names = [name for name in found[0].parameters if name in (comparison.against or {}) or _several(found, name)]
    statistic = comparison.statistic
    table = plain_table()
    for name in short_names(names):
        table.add_column(Text(name), no_wrap=True)
    cells = [parameter_cells([each.parameters[name] for each in found]) for name in names]
    differences = [Estimate.of(each.interval, around=statistic.around) for each in found]
    for heading, values, stalled in (
        (None, [_side(each.value, each, statistic) for each in found], [each.stalled[0] for each in found]),
        ("baseline", [_side(each.baseline, each, statistic) for each in found], [each.stalled[1] for each in found]),
        ("difference", differences, [any(each.stalled) for each in found]),
    ):
        if heading == "baseline" and not baseline:
            continue
        texts = column(metric, values)
        texts = replace(texts, name=heading or texts.name)
        table.add_column(Text(texts.heading("\n")), justify="right", no_wrap=True)
        cells.append(marked(texts.cells(sign), stalled))
    for heading, levels, shown in (
        ("p", [each.p for each in found], single),
        ("p (Holm)", [each.p_holm for each in found], family),
    ):
        if shown and any(level is not None for level in levels):
            table.add_column(heading, justify="right", no_wrap=True)
            cells.append(["-" if level is None else level_text(level) for level in levels])
    pairs = _pairs(comparison)
    if len(set(pairs)) > 1:
        table.add_column("pairs", justify="right", no_wrap=True)
        cells.append(pairs)
    for row in zip(*cells, strict=True):
        table.add_row(*map(Text, row))
    return table


def _several(found: Sequence[Difference], name: str) -> bool:
    return len({value_text(point[name]) for each in found for point in (each.parameters, each.against)}) > 1
