"""Differences between the points of a study, pair by pair: the same replication has the same seed at both.

What two points have in common, such as an instance that is hard for everybody, is no part of the interval of their
difference, which may therefore be much narrower than the intervals of the two means suggest. How much they have in
common is up to what they differ in. What is drawn of what is the same in both (the means of the arms, the graph, the
latencies) is the same; another epsilon or another number of agents leads to other pulls and other draws, and there
pairs gain little. The interval is right in any case.
"""

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netbandit.arguments import by_name, inside
from netbandit.key_paths import CASE
from netbandit.plural import counted
from netbandit.results.statistics import CONFIDENCE, Interval, mean
from netbandit.results.summary import Estimate, finite
from netbandit.results.table import FIXED, cell
from netbandit.results.telling import without_case_keys

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Console


class CompareError(ValueError):
    """What is to be compared is not among the results."""


@dataclass(frozen=True)
class Difference:
    """A point beside the one it is compared with.

    Attributes:
        parameters: What the sweep varied, key -> value.
        value: The mean of the metric over the pairs.
        baseline: The same at the point it is compared with.
        interval: Their difference, *value* minus *baseline*, with its interval; without one where there is one pair.
    """

    parameters: dict[str, Any]
    value: float
    baseline: float
    interval: Interval


@dataclass(frozen=True)
class LeftOut:
    """A point that is compared with no other.

    Attributes:
        parameters: What the sweep varied, key -> value.
        why: What it lacks.
    """

    parameters: dict[str, Any]
    why: str


@dataclass(frozen=True)
class Comparison:
    """All points of a study beside those they are compared with.

    Attributes:
        metric: The metric.
        against: Whole keys with the values to compare with; None: with the first point that has the metric.
        differences: The points that have a partner, in the order of the study.
        left_out: Those that have none, in the same order.
    """

    metric: str
    against: Mapping[str, Any] | None
    differences: list[Difference]
    left_out: list[LeftOut]


@dataclass(frozen=True)
class _Point:
    parameters: dict[str, Any]
    values: dict[tuple[Any, ...], float]


def compare(
    results: "DataFrame",
    metric: str = "regret",
    against: Mapping[str, Any] | None = None,
    confidence: float = CONFIDENCE,
) -> "DataFrame":
    """Return how much *metric* differs between points, of pairs of replications with the same seed.

    Args:
        results: What `load_results`, `run` or `sweep` returns, or the same table read from ``table.parquet``.
        metric: The name of a metric.
        against: Keys with the values to compare with: each point is compared with the one that has these values and
            is like it in all other keys. A key may be called by its end (``family``) where only one ends so. The
            first point is what all are compared with if it is left out.
        confidence: The probability with which such intervals cover the difference.

    Returns:
        One row for each point that is not compared with itself: its parameters (an empty text for a key that its
        parts do not have), ``value`` and ``baseline`` (means of the metric over the pairs), ``difference`` (value
        minus baseline), ``low`` and ``high`` (the ends of its interval; NaN with one pair, or where all pairs differ
        alike) and ``pairs``, the number of replications that both have. The points that have no partner are in its
        ``attrs["left_out"]``, a dictionary each of their parameters, with ``why`` beside them.

    Raises:
        CompareError: There is no such metric, key or value.
        ValueError: *against* is no dictionary by text, or *confidence* no probability.

    Warns:
        UserWarning: Some points have no partner; the text says which and why.
    """
    from pandas import DataFrame

    against = None if against is None else by_name("against", against, "keys with the values to compare with")
    confidence = inside("confidence", confidence, 0, 1)
    found = comparison(results, metric, against, confidence)
    rows = [
        {
            **{name: "" if value is None else value for name, value in each.parameters.items()},
            "value": each.value,
            "baseline": each.baseline,
            "difference": each.interval.value,
            "low": each.interval.low if math.isfinite(each.interval.low) else math.nan,
            "high": each.interval.high if math.isfinite(each.interval.high) else math.nan,
            "pairs": each.interval.replications,
        }
        for each in found.differences
    ]
    columns = [*_names(found), "value", "baseline", "difference", "low", "high", "pairs"]
    table = DataFrame.from_records(rows, columns=columns)
    table.attrs["left_out"] = [{**each.parameters, "why": each.why} for each in found.left_out]
    if found.left_out:
        warnings.warn(" ".join(left_out_lines(found)), stacklevel=2)
    return table


def parameters_of(results: "DataFrame") -> list[str]:
    """Return the columns of *results* that are keys of the scenario."""
    return [str(name) for name in results.columns if name not in FIXED]


def whole_keys(against: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return *against* with whole keys, of which the user may have written the end alone, as for a picture.

    Raises:
        CompareError: Of *names*, the keys that tell points apart, none or several end so.
    """
    from netbandit.results.names import UnknownNameError, resolve

    whole: dict[str, Any] = {}
    for name, value in against.items():
        try:
            whole[resolve(name, f"{name}={cell(value)}", names)] = value
        except UnknownNameError as error:
            raise CompareError(str(error)) from None
    return whole


def comparison(
    results: "DataFrame", metric: str, against: Mapping[str, Any] | None = None, confidence: float = CONFIDENCE
) -> Comparison:
    """Return what `compare` does, and which points it leaves out.

    Raises:
        CompareError: There is no such metric, key or value.
    """
    names = parameters_of(results)
    metrics = list(dict.fromkeys(results["metric"]))
    if metric not in metrics:
        raise CompareError(f"there is no metric {metric!r}; there are {', '.join(map(str, metrics))}")
    whole = None if against is None else whole_keys(against, names)
    names = _apart(results, names, whole or {})
    points = _points(results, names, metric)
    first = next(each.parameters for each in points.values() if each.values)
    chosen = {name: _chosen(name, value, points, names) for name, value in (whole or first).items()}
    found: list[Difference] = []
    left_out: list[LeftOut] = []
    for identity, point in points.items():
        other = tuple(chosen.get(name, text) for name, text in zip(names, identity, strict=True))
        if other == identity:
            continue
        if other not in points:
            left_out.append(LeftOut(point.parameters, f"no point with {_places(chosen)} is like it in all other keys"))
            continue
        base = points[other].values
        pairs = [(value, base[key]) for key, value in point.values.items() if key in base]
        pairs = [pair for pair in pairs if all(map(math.isfinite, pair))]
        if not pairs:
            why = f"no replication has a {metric} both there and where it is compared with"
            left_out.append(LeftOut(point.parameters, why))
            continue
        interval = mean([value - baseline for value, baseline in pairs], confidence)
        means = [math.fsum(side) / len(pairs) for side in zip(*pairs, strict=True)]
        found.append(Difference(point.parameters, means[0], means[1], interval))
    if not found:
        raise CompareError(
            f"no point differs from another in nothing but {_places(chosen) or 'the only point'}: "
            "nothing can be compared"
        )
    return Comparison(metric, whole, found, left_out)


def _apart(results: "DataFrame", names: list[str], whole: Mapping[str, Any]) -> list[str]:
    """Return the keys that tell points apart: the label of a case, or what it sets where *whole* asks for that."""
    rows = results[names].drop_duplicates()
    labelled = without_case_keys(names, [[_text(value) for value in row] for row in rows.itertuples(index=False)])
    return labelled if set(whole) <= set(labelled) else [name for name in names if name != CASE]


def _places(chosen: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {text}" for name, text in chosen.items())


_MOST_NAMED = 10


def left_out_lines(found: Comparison) -> list[str]:
    """Return how many points have no partner, and for each reason which they are; nothing where all have one."""
    lines = []
    names = _names(found)
    for why in dict.fromkeys(each.why for each in found.left_out):
        alike = [each.parameters for each in found.left_out if each.why == why]
        texts = [_places({name: cell(each[name]) for name in names if each[name] is not None}) for each in alike]
        more = f"; and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
        lines.append(f"{counted(len(alike), 'point')} left out, {why}: {'; '.join(texts[:_MOST_NAMED])}{more}")
    return lines


def _names(found: Comparison) -> list[str]:
    return list(found.differences[0].parameters)


def as_json(found: Comparison) -> dict[str, Any]:
    """Return a comparison as an object for JSON; null stands for what a point does not have."""
    return {
        "metric": found.metric,
        "against": None if found.against is None else finite(dict(found.against)),
        "differences": [
            {
                "parameters": finite(each.parameters),
                "value": each.value,
                "baseline": each.baseline,
                "difference": each.interval.value,
                "ci95": None if each.interval.half_width is None else [each.interval.low, each.interval.high],
                "pairs": each.interval.replications,
            }
            for each in found.differences
        ],
        "left_out": [{"parameters": finite(each.parameters), "why": each.why} for each in found.left_out],
    }


def show_comparison(comparison: Comparison, console: "Console") -> None:
    """Print a *comparison*, a line for each point, and which points it leaves out."""
    from rich.text import Text

    from netbandit.results.columns import column, parameter_cells, short_names
    from netbandit.results.display import plain_table, sign_of

    sign = sign_of(console)
    metric, against, found = comparison.metric, comparison.against, comparison.differences
    first = ", ".join(f"{name} = {cell(value)}" for name, value in against.items()) if against else "the first point"
    baseline = column(metric, [Estimate(each.baseline, None, []) for each in found])
    pairs = [str(each.interval.replications) for each in found]
    title = f"{metric}, with {first} as the baseline"
    alike = len(found) > 1 and len(set(baseline.means)) == 1  # what is the same in each line is said once, above
    if alike:
        title += f" ({' '.join(f'{baseline.means[0]} {baseline.unit}'.split())})"
    console.print(Text(title), soft_wrap=True)
    # What is the same for all is no news, unless it was asked for.
    names = [name for name in found[0].parameters if name in (against or {}) or _several(found, name)]
    table = plain_table()
    for name in short_names(names):
        table.add_column(Text(name), no_wrap=True)
    cells = [parameter_cells([each.parameters[name] for each in found]) for name in names]
    for heading, values in (
        (None, [Estimate(each.value, None, []) for each in found]),
        *([] if alike else [("baseline", [Estimate(each.baseline, None, []) for each in found])]),
        ("difference", [_estimate(each.interval) for each in found]),
    ):
        texts = column(metric, values)
        unit = f"\n({texts.unit})" if texts.unit else ""
        table.add_column(Text(f"{heading or texts.name}{unit}"), justify="right", no_wrap=True)
        cells.append(texts.cells(sign))
    if len(set(pairs)) > 1:
        table.add_column("pairs", justify="right", no_wrap=True)
        cells.append(pairs)
    for row in zip(*cells, strict=True):
        table.add_row(*map(Text, row))
    console.print(table)
    many = "" if len(set(pairs)) > 1 or pairs[0] == "1" else f"{pairs[0]} "
    over = f"over {many}pairs of replications with the same seed"
    alike = any(each.interval.why_none for each in found)
    without = f"; no {sign} where all pairs differ alike: how far others lie is not known" if alike else ""
    console.print(Text(f"difference {sign} half-width of its 95 % interval {over}{without}"), soft_wrap=True)
    for line in left_out_lines(comparison):
        console.print(Text(line), soft_wrap=True)


def _points(results: "DataFrame", names: Sequence[str], metric: str) -> dict[tuple[str, ...], _Point]:
    """Return each point under its parameters as text, with its values of *metric* by seed and replication."""
    points: dict[tuple[str, ...], _Point] = {}
    columns = [results[name].tolist() for name in (*names, "metric", "seed", "replication", "value")]
    for *values, own, seed, replication, value in zip(*columns, strict=True):
        identity = tuple(_text(one) for one in values)
        if identity not in points:
            points[identity] = _Point(dict(zip(names, map(_parameter, values), strict=True)), {})
        if own == metric:
            points[identity].values[seed, replication] = float(value)
    return points


def _parameter(value: Any) -> Any:
    """Return a value of a key as it was before pandas: None for none, and a list for the text of one."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, str) and value[:1] in ("[", "{"):
        with suppress(ValueError):
            return json.loads(value)
    return value


def _chosen(name: str, value: Any, points: Mapping[tuple[str, ...], _Point], names: Sequence[str]) -> str:
    """Return the text of *value* among those of the key *name*."""
    texts = list(dict.fromkeys(identity[names.index(name)] for identity in points))
    if _text(value) not in texts:
        raise CompareError(f"no point has {name} = {cell(value)}; there are {', '.join(texts)}")
    return _text(value)


def _text(value: Any) -> str:
    """Return what tells values apart: a number is the same with a point and without, and as a text."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    if isinstance(value, float) and math.isnan(value):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else cell(value)


def _several(found: Sequence[Difference], name: str) -> bool:
    return len({_text(each.parameters[name]) for each in found}) > 1


def _estimate(interval: Interval) -> Estimate:
    return Estimate(interval.value, interval.half_width, [], interval.why_none)
