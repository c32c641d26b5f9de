"""What a picture answers, in a sentence with its number."""

import math
from collections.abc import Mapping, Sequence

from netbandit.plots.bands import Name
from netbandit.plots.estimates import UNBOUNDED, mean_of, samples
from netbandit.plots.grouping import Arrangement, titled, value_of
from netbandit.plots.values import identity, name, shown
from netbandit.results.intervals import CONFIDENCE, ratio
from netbandit.results.metrics import title_name
from netbandit.results.numbers import rounded, scaled
from netbandit.results.study_result import PointResult

_AGENTS = "topology.agents"
_TIMES = 3.0
"""What grows to so many times as much is not told in percent."""


def answer(whole: Arrangement, points: Sequence[PointResult], key: str, metric: str) -> str:
    """Return by how much the mean of *metric* changes from one end of a *key* to the other, where it does most.

    Empty where the 95 % interval of no such ratio, of pairs of replications, leaves 1 out.

    Args:
        whole: All points.
        points: Those of the picture.
        key: A key that varies, whose values are numbers.
        metric: The metric.
    """
    rest = [other for other in whole.keys if other != key]
    lines: dict[str, dict[str, PointResult]] = {}
    for point in points:
        line = lines.setdefault(identity([value_of(point, other) for other in rest]), {})
        line[identity(value_of(point, key))] = point
    first, last = whole.values[key][0], whole.values[key][-1]
    most, there = 1.0, None
    for line in lines.values() if whole.statistic.is_mean else ():
        begin, end = (samples(line[one], metric) if one in line else {} for one in map(identity, (first, last)))
        times = _decided(begin, end)
        if times is not None and abs(math.log(times)) > abs(math.log(most)):
            most, there = times, line[identity(last)]
    if there is None:
        return ""
    several = len(lines) > 1
    where = f" ({titled({other: value_of(there, other) for other in rest})})" if several else ""
    change = _change(most, "up to " if several else "")
    return f"{title_name(metric)} {change} as {name(key)} goes from {shown(first)} to {shown(last)}{where}"


def answer_between(whole: Arrangement, x: str, metric: str) -> str:
    """Return by how much the mean of *metric* changes from the point of the least *x* to that of the largest.

    Empty where pairs of replications do not decide that, where *x* is the same at all points or nowhere known, and
    where it may be infinite.

    Args:
        whole: The points.
        x: A metric.
        metric: Another one.
    """
    # Regrets of different numbers of agents are no answer to x: the most agents are compared.
    most = whole.values[_AGENTS][-1] if _AGENTS in whole.keys else None
    alike = [point for point in whole.points if most is None or value_of(point, _AGENTS) == most]
    known = [(mean, point) for point in alike if (mean := mean_of(point, x)) is not None]
    if not known or not whole.statistic.is_mean or x in UNBOUNDED:
        return ""
    first, last = min(known, key=lambda one: one[0]), max(known, key=lambda one: one[0])
    times = _decided(samples(first[1], metric), samples(last[1], metric)) if first[0] < last[0] else None
    if times is None:
        return ""
    begin, end = (
        f"{titled({key: value_of(point, key) for key in whole.keys})} ({title_name(x)} {scaled(rounded(mean, 3))})"
        for mean, point in (first, last)
    )
    return f"{title_name(metric)} {_change(times)} from {begin} to {end}"


def _decided(begin: Mapping[Name, float], end: Mapping[Name, float]) -> float | None:
    """Return how many times the mean of *begin* that of *end* is; None unless pairs leave 1 out of its interval."""
    common = [run for run in end if run in begin]
    if len(common) < 2:
        return None
    found = ratio([end[run] for run in common], [begin[run] for run in common], CONFIDENCE, paired=True)
    decided = found.value > 0 and not found.why_none and not found.low <= 1 <= found.high
    return found.value if decided else None


def _change(times: float, most_of: str = "") -> str:
    verb, number = "grows" if times > 1 else "falls", times if times >= _TIMES else 100 * abs(times - 1)
    much = f"{most_of}{scaled(rounded(number, 2))}"
    return f"{verb} to {much} times as much" if times >= _TIMES else f"{verb} by {much} %"
