"""What a picture answers, in a sentence with its number."""

import math
from collections.abc import Sequence

from netbandit.plots.estimates import samples
from netbandit.plots.grouping import Arrangement, titled, value_of
from netbandit.plots.values import identity, name, shown
from netbandit.results.intervals import CONFIDENCE, ratio
from netbandit.results.metrics import title_name
from netbandit.results.numbers import rounded, scaled
from netbandit.results.study_result import PointResult

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
        common = [run for run in end if run in begin]
        if len(common) < 2:
            continue
        found = ratio([end[run] for run in common], [begin[run] for run in common], CONFIDENCE, paired=True)
        decided = found.value > 0 and not found.why_none and not found.low <= 1 <= found.high
        if decided and abs(math.log(found.value)) > abs(math.log(most)):
            most, there = found.value, line[identity(last)]
    if there is None:
        return ""
    several = len(lines) > 1
    most_of = "up to " if several else ""
    much = (
        f"to {most_of}{scaled(rounded(most, 2))} times as much"
        if most >= _TIMES
        else f"by {most_of}{scaled(rounded(100 * abs(most - 1), 2))} %"
    )
    change = f"{'grows' if most > 1 else 'falls'} {much}"
    where = f" ({titled({other: value_of(there, other) for other in rest})})" if several else ""
    return f"{title_name(metric)} {change} as {name(key)} goes from {shown(first)} to {shown(last)}{where}"
