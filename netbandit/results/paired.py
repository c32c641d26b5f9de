"""Points of a study prepared for comparison: values by replication, paired differences, and significance levels.

The same replication has the same seed at both points. Effects that two points share, such as an instance that is hard
for all methods, cancel in the paired difference.

A decision at level a uses intervals of confidence 1 - a. Several decisions, each at 5 %, contain an error far more
often than 5 %; with the correction of Holm (1979), "A simple sequentially rejective multiple test procedure", the
family-wise error rate is 5 %. A decision includes a direction, which may be wrong too; that the correction covers
directional errors was shown for independent decisions (Shaffer 1980, "Control of directional errors with stagewise
multiple test procedures"). scipy has no Holm correction, and no test that matches our intervals, from which the
p-values are derived.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from netbandit.results.failures import MEDIANS, Failures, is_regret, too_few
from netbandit.results.intervals import CONFIDENCE, MEAN, Interval, Statistic
from netbandit.results.metrics import HEADINGS
from netbandit.results.numbers import cell
from netbandit.results.study_result import PointResult
from netbandit.results.summary import TOPOLOGY
from netbandit.results.tables import FIXED, Columns
from netbandit.results.varied_keys import UnknownNameError, resolve, without_case_keys
from netbandit.util.key_paths import CASE
from netbandit.util.nesting import read_json
from netbandit.util.wording import did_you_mean

STATISTICS = ("mean", "median")
"""The statistics that differences are compared by."""


class CompareError(ValueError):
    """A metric, key or value to compare is not among the results."""


@dataclass(frozen=True)
class Difference:
    """A point and its difference from the baseline.

    Attributes:
        parameters: The varied keys with their values.
        against: The same of the baseline.
        value: The statistic of the metric over the pairs.
        baseline: The same at the baseline.
        interval: The paired difference, *value* minus *baseline* for means, with its interval; a single pair has no
            interval.
        p: The smallest level at which that interval excludes zero; None where the pairs decide nothing.
        why_open: Why they decide nothing; empty where they do.
        stalled: Whether the metric is regret and agents stalled, at this point and at the baseline.
        p_holm: The p-value corrected for all comparisons made together.
    """

    parameters: dict[str, Any]
    against: dict[str, Any]
    value: float
    baseline: float
    interval: Interval
    p: float | None
    why_open: str
    stalled: tuple[bool, bool]
    p_holm: float | None = None


@dataclass(frozen=True)
class Samples:
    """The results of one point: its values of a metric, and of the metrics that show failures, by run."""

    parameters: dict[str, Any]
    values: dict[tuple[Any, ...], float]
    failing: dict[tuple[Any, ...], dict[str, float | None]]


def parameters_of(results: Columns) -> list[str]:
    """Return the columns of *results* that are keys of the scenario."""
    return [name for name in results if name not in FIXED]


def require_metrics(names: Sequence[str], results: Columns) -> None:
    """Raise `CompareError` if *names* is empty or has a metric that *results* do not have."""
    known = list(dict.fromkeys(map(str, results["metric"])))
    missing = [name for name in names if name not in known]
    if missing or not names:
        headed = {HEADINGS[name][0]: name for name in known if name in HEADINGS}
        asked = [headed.get(name.partition(" (")[0], name) for name in missing]
        hint = did_you_mean(asked[0], known) if len(asked) == 1 else ""
        if network := [name for name in missing if name in TOPOLOGY]:
            hint = (
                f": {network[0]} is of the network, and in run --json; plot --x {network[0]} draws metrics against it"
            )
        raise CompareError(f"there is no metric {', '.join(missing)}{hint}; the metrics are {', '.join(known)}")


def whole_keys(against: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return *against* with full keys; the user may have written only the last part, as for a picture.

    Raises:
        CompareError: None or several of *names*, the keys that distinguish points, end so.
    """
    return {whole_key(name, f"{name}={cell(value)}", names): value for name, value in against.items()}


def whole_key(name: str, written: str, names: Sequence[str]) -> str:
    """Return the key among *names* that ends in *name*; the user wrote it in *written*.

    Raises:
        CompareError: None or several end so.
    """
    try:
        return resolve(name, written, names)
    except UnknownNameError as error:
        raise CompareError(str(error)) from None


def paired_difference(
    point: Samples, other: Samples, metric: str, statistic: Statistic, confidence: float
) -> Difference | None:
    """Return how *point* differs from *other* in the replications in which both have a value; None if there is none."""
    both = {key: (value, other.values[key]) for key, value in point.values.items() if key in other.values}
    pairs = {key: pair for key, pair in both.items() if all(map(math.isfinite, pair))}
    if not pairs:
        return None
    statistic = statistic.of_metric(metric)
    differences = [value - baseline for value, baseline in pairs.values()]
    sides = [statistic.of(side, confidence).value for side in zip(*pairs.values(), strict=True)]
    failures = [Failures.of([one.failing.get(key, {}) for key in pairs]) for one in (point, other)]
    short = next((one for one in failures if statistic.is_mean and one.leave_open(metric)), None)
    p = None if short else p_value(lambda confidence: statistic.of_differences(differences, confidence))
    return Difference(
        parameters=point.parameters,
        against=other.parameters,
        value=sides[0],
        baseline=sides[1],
        interval=statistic.of_differences(differences, confidence),
        p=p,
        why_open=too_few(short) + MEDIANS * (not statistic.rate) if short and len(pairs) > 1 else "",
        stalled=(is_regret(metric) and failures[0].stalled, is_regret(metric) and failures[1].stalled),
    )


def means_hide(points: Sequence[PointResult], metric: str) -> bool:
    """Return whether pairs decide that *metric* differs between the first and another point whose intervals overlap.

    The intervals of the means show what replications have in common, too, which cancels in pairs.
    """
    first, *others = (_samples_of(point, metric) for point in points)
    if not any(_is_hidden(first, one) for one in others):
        return False
    found = [(one, paired_difference(one, first, metric, MEAN, CONFIDENCE)) for one in others]
    known = [(one, difference.p) for one, difference in found if difference is not None]
    levels = holm([p for _, p in known])  # of all that `compare` makes
    return any(
        level is not None and level <= 1 - CONFIDENCE and _is_hidden(first, one)
        for (one, _), level in zip(known, levels, strict=True)
    )


def _is_hidden(first: Samples, other: Samples) -> bool:
    """Return whether the interval of the paired difference leaves zero out, though those of the means overlap."""
    differences = [value - first.values[run] for run, value in other.values.items() if run in first.values]
    if len(differences) < 2:
        return False
    ours, theirs, both = (
        MEAN.of(some, CONFIDENCE) for some in ([*first.values.values()], [*other.values.values()], differences)
    )
    return not both.low <= 0 <= both.high and ours.low <= theirs.high and theirs.low <= ours.high


def _samples_of(point: PointResult, metric: str) -> Samples:
    values: dict[tuple[Any, ...], float] = {}
    failing: dict[tuple[Any, ...], dict[str, float | None]] = {}
    for run in point.finished:
        key, value = (run.seed, run.replication), run.metrics.get(metric)
        if value is not None:
            values[key] = float(value)
        failing[key] = {name: run.metrics[name] for name in _FAILING if name in run.metrics}
    return Samples(point.parameters, values, failing)


def corrected(differences: Sequence[Difference]) -> list[Difference]:
    """Return *differences* with p-values corrected as one family."""
    levels = holm([each.p for each in differences])
    return [replace(each, p_holm=level) for each, level in zip(differences, levels, strict=True)]


def distinguishing_keys(results: Columns, names: list[str], whole: Mapping[str, Any]) -> list[str]:
    """Return the keys that distinguish points: the label of a case, or the keys it sets where *whole* names those."""
    rows = dict.fromkeys(zip(*(map(value_text, results[name]) for name in names), strict=True))
    labelled = without_case_keys(names, [[*row] for row in rows])
    return labelled if set(whole) <= set(labelled) else [name for name in names if name != CASE]


_FAILING = ("best_lost", "stalled", "may_stall", "rounds", "waiting_slots")
"""The metrics that show whether a run failed, and whether it can."""


def samples_by_point(results: Columns, names: Sequence[str], metric: str) -> dict[tuple[str, ...], Samples]:
    """Return each point under its parameters as text, with its values of *metric* by seed and replication."""
    points: dict[tuple[str, ...], Samples] = {}
    rows = (results[name] for name in (*names, "metric", "seed", "replication", "value"))
    for *values, own, seed, replication, value in zip(*rows, strict=True):
        identity = tuple(value_text(one) for one in values)
        if identity not in points:
            points[identity] = Samples(dict(zip(names, map(_parameter, values), strict=True)), {}, {})
        point, run = points[identity], (seed, replication)
        if own == metric:
            point.values[run] = float(value)
        if own in _FAILING:
            point.failing.setdefault(run, {})[own] = None if math.isnan(value) else float(value)
    return points


def _parameter(value: Any) -> Any:
    """Return a value of a key as before pandas: None if missing, and a list parsed from its text."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, str) and value[:1] in ("[", "{"):
        with suppress(ValueError):
            return read_json(value)
    return value


def chosen_text(name: str, value: Any, points: Mapping[tuple[str, ...], Samples], names: Sequence[str]) -> str:
    """Return the text of *value* among those of the key *name*."""
    texts = list(dict.fromkeys(identity[names.index(name)] for identity in points))
    if value_text(value) not in texts:
        raise CompareError(f"no point has {name} = {cell(value)}; there are {', '.join(texts)}")
    return value_text(value)


def value_text(value: Any) -> str:
    """Return the canonical text of a value: a number is the same with and without a decimal point, and as text."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    value = _parameter(value)  # of a list, spaces do not count
    return str(int(value)) if isinstance(value, float) and value.is_integer() else cell(value)


def values_by_key(chosen: Mapping[str, str]) -> str:
    """Return values as ``key = value``, listed."""
    return ", ".join(f"{name} = {text}" for name, text in chosen.items())


LEAST = 1e-9
"""The smallest level that is resolved."""

_STEPS = 40
"""Bisection steps on the logarithm of a level: more digits than are ever printed."""


def smallest_level(decided: Callable[[float], bool]) -> float:
    """Return the smallest level at which *decided* is true, by bisection; 1 if there is none.

    Args:
        decided: Whether the decision is made at a level in (0, 1); once true, it is true at all larger levels.
    """
    most = 1 - 1e-9
    if decided(LEAST):  # of all pairs of a suite, most are
        return LEAST
    if not decided(most):
        return 1.0
    low, high = math.log(LEAST), math.log(most)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if decided(math.exp(middle)) else (middle, high)
        if high - low < 1e-7:
            break
    return math.exp(high)


def p_value(interval: Callable[[float], Interval]) -> float | None:
    """Return the smallest level at which the interval of a difference excludes zero; None if there is no interval.

    Args:
        interval: The interval at a given confidence.
    """
    if interval(0.5).why_none:
        return None

    def decided(level: float) -> bool:
        found = interval(1 - level)
        return not found.low <= 0 <= found.high

    return smallest_level(decided)


def holm_levels(p_values: Sequence[float], level: float) -> list[float]:
    """Return the level for each member of a family such that the family-wise error rate is *level*.

    The smallest p is tested at ``level / n``, the next at ``level / (n - 1)``, and so on; the first that is not
    significant and all after it are tested at its level, and are not significant.

    Args:
        p_values: One p-value per member, 1 if it is significant at no level.
        level: The family-wise level.
    """
    found = [0.0] * len(p_values)
    left, going = len(p_values), True
    for index in sorted(range(len(p_values)), key=p_values.__getitem__):
        found[index] = level / left
        going = going and p_values[index] <= level / left
        left -= going
    return found


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values: at most 0.05 if significant at a family-wise error rate of 5 %.

    Args:
        p_values: One p-value per member; None if there was no test, which is then not counted.
    """
    known = sorted((value, index) for index, value in enumerate(p_values) if value is not None)
    found: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (value, index) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * value))
        found[index] = highest
    return found
