"""What a picture answers, in a sentence with its number."""

import math
from collections.abc import Mapping, Sequence

from netbandit.plots.bands import Name
from netbandit.plots.estimates import UNBOUNDED, end_with_answers, mean_of, samples
from netbandit.plots.grouping import Arrangement, titled, value_of
from netbandit.plots.values import identity, name, with_unit
from netbandit.results.intervals import CONFIDENCE, ratio
from netbandit.results.metrics import best_is, title_name
from netbandit.results.numbers import percentage, rounded, scaled
from netbandit.results.study_result import PointResult
from netbandit.util.key_paths import lookup
from netbandit.util.text import in_words

_AGENTS = "topology.agents"
_LONGEST = 48
"""The most characters by which a title calls a point."""
_TIMES = 3.0
"""What grows to so many times as much is not told in percent."""
_Known = tuple[float, PointResult]
"""A mean that is known, and the point it is of."""


def answer(whole: Arrangement, points: Sequence[PointResult], key: str, metric: str) -> str:
    """Return by how much the mean of *metric* changes from one end of a *key* to the other, where it does most.

    A value between the ends that has still less or more is named. Where the mean changes in no replication, that is the
    answer. Empty where the 95 % interval of no such ratio, of pairs of replications, leaves 1 out.

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
    compared = [[samples(point, metric) for point in line.values()] for line in lines.values() if len(line) > 1]
    if compared and all(found and found == line[0] for line in compared for found in line):
        return f"{title_name(metric)} is the same at every {name(key)}"
    first, last = whole.values[key][0], whole.values[key][-1]
    most, there = 1.0, None
    for line in lines.values() if whole.statistic.is_mean else ():
        begin, end = (samples(line[one], metric) if one in line else {} for one in map(identity, (first, last)))
        times = _decided(begin, end)
        if times is not None and abs(math.log(times)) > abs(math.log(most)):
            most, there = times, line
    if there is None:
        return ""
    several = len(lines) > 1
    where = f" ({titled({other: value_of(there[identity(last)], other) for other in rest})})" if several else ""
    between = _between(
        [(with_unit(key, value), there[one]) for value in whole.values[key] if (one := identity(value)) in there],
        metric,
    )
    change = _change(most, "up to " if several else "")
    ends = f"from {with_unit(key, first)} to {with_unit(key, last)}"
    return f"{title_name(metric)} {change} as {name(key)} goes {ends}{where}{between}"


def _between(line: Sequence[tuple[str, PointResult]], metric: str) -> str:
    """Return at which value between the ends of a *line* the mean of *metric* is least or largest.

    Empty unless pairs decide that it is less, or more, than at either end; all that were looked at share the error.
    """
    begin, *inside, end = [(text, samples(point, metric)) for text, point in line]
    known = [one for one in inside if one[1]]
    parts = []
    for what, best in (("least", min), ("largest", max)) if known else ():
        text, found = best(known, key=lambda one: math.fsum(one[1].values()) / len(one[1]))
        times = [_decided(other, found, 2 * len(known)) for _, other in (begin, end)]
        if all(one is not None and (one < 1) is (what == "least") for one in times):
            parts.append(f"{what} at {text}")
    return f", and is {' and '.join(parts)}" if parts else ""


def answer_between(whole: Arrangement, x: str, metric: str) -> str:
    """Return by how much the mean of *metric* changes from the point of the least *x* to that of the largest.

    Where *x* is to be low and more of it pays, the change is that up to the least *x* at which the mean is not
    decidedly worse than at any other point. Empty where pairs do not decide that, where *x* is the same at all points
    or nowhere known, and where it may be infinite.

    Args:
        whole: The points.
        x: A metric.
        metric: Another one.
    """
    # Regrets of different numbers of agents are no answer to x: the most agents are compared.
    most = whole.values[_AGENTS][-1] if _AGENTS in whole.keys else None
    alike = [point for point in whole.points if most is None or value_of(point, _AGENTS) == most]
    known = _known(whole, x, alike)
    if not known or x in UNBOUNDED:
        return ""
    first, last = min(known, key=lambda one: one[0]), max(known, key=lambda one: one[0])
    enough = _enough(first, known, metric) if best_is(x) == "lowest" else None
    beyond = "; nothing beyond is decidedly better" if enough is not None and enough[0] < last[0] else ""
    last = enough or last
    times = _decided(samples(first[1], metric), samples(last[1], metric)) if first[0] < last[0] else None
    if times is None:
        return ""
    begin, end = (f"{whole.called(point)} ({title_name(x)} {_text(mean)})" for mean, point in (first, last))
    return f"{title_name(metric)} {_change(times)} from {begin} to {end}{beyond}"


def _enough(first: _Known, known: Sequence[_Known], metric: str) -> _Known | None:
    """Return the one of *known* of the least x that is decidedly better in *metric* than *first*, and none than it."""
    best = best_is(metric)

    def is_better(one: PointResult, other: PointResult) -> bool:
        times = _decided(samples(other, metric), samples(one, metric))
        return times is not None and (times < 1) is (best == "lowest")

    for there in sorted(known, key=_mean) if best else ():
        pays = there[0] > first[0] and is_better(there[1], first[1])
        if pays and not any(is_better(other, there[1]) for _, other in known):
            return there
    return None


def range_of(whole: Arrangement, metric: str, points: Sequence[PointResult] | None = None, when: str = "") -> str:
    """Return between which means of *metric* the points of *whole*, or some *points*, lie *when*, and whose these are.

    Empty where no mean is known, or another statistic is shown.
    """
    known = _known(whole, metric, points)
    if not known:
        return ""
    (low, least), (high, most) = min(known, key=_mean), max(known, key=_mean)
    what = title_name(metric)
    if low == high:
        return f"{what} is {_text(low)}{' at all points' if len(known) > 1 else ''}{when}"
    names = [whole.called(point) for point in (least, most)]
    short = max(map(len, names)) <= _LONGEST
    ends = [f"{_text(mean)}{f' ({named})' if short else ''}" for mean, named in zip((low, high), names, strict=True)]
    chance = "" if _decided(samples(least, metric), samples(most, metric)) else ", which may be chance"
    return f"{what} is between {' and '.join(ends)}{when}{chance}"


def answer_of_two(whole: Arrangement, x: str, metric: str) -> str:
    """Return how *metric* changes from the least *x* to the largest; where nothing decides that, the best of both."""
    return answer_between(whole, x, metric) or best_of(whole, x, metric) or range_of(whole, metric)


def last_answers(points: Sequence[PointResult]) -> str:
    """Return that and when the last answers come, and whether they are right, where *points* are asked for them.

    Where agents drop arms to play the best, answers are not what they are for; those of halving are.
    """
    runs = [run for point in points for run in point.finished]
    drop_arms = ["best_lost" in run.metrics and lookup(run.resolved, "learner.kind") != "halving" for run in runs]
    if any(drop_arms) or not all("answered" in run.metrics for run in runs):
        return ""
    slots = [mean_of(point, "stop_slot") for point in points]
    known = [slot for slot in slots if slot is not None]
    if not known:
        return "; not all agents answer"
    ends = " to ".join(dict.fromkeys(map(_text, [min(known), max(known)])))
    wrong = max(mean_of(point, "wrong_any") or 0.0 for point in points)
    many = f"{'up to ' if len(points) > 1 else ''}{scaled(percentage(wrong))} % of runs"
    told = ", after" if end_with_answers(points) else "; last answers after"
    told += f" {ends} slots{' where all agents answer' if len(known) < len(slots) else ''}"
    return f"{told}, {f'some wrong in {many}' if wrong else 'none wrong'}"


def best_of(whole: Arrangement, x: str, y: str) -> str:
    """Return the best means of *y* and of *x*, and whose these are; which others pairs do not decide to be worse.

    Empty where one of them is unknown, the same at all points, or of no side that is best.
    """
    parts: list[str] = []
    names: list[str] = []
    open_in: list[str] = []
    for metric in (y, x):
        best = best_is(metric)
        known = sorted(_known(whole, metric), key=_mean, reverse=best == "highest")
        if not best or len({mean for mean, _ in known}) < 2:
            return ""
        (mean, point), *rest = known
        names.append(whole.called(point))
        verb = "" if parts else " is"
        parts.append(f"the {'least' if best == 'lowest' else 'most'} {title_name(metric)}{verb} {_text(mean)}")
        best_runs = samples(point, metric)
        others = [whole.called(one) for _, one in rest if mean and _decided(best_runs, samples(one, metric)) is None]
        if others:
            all_named = in_words(others, "and")
            who = all_named if len(all_named) <= _LONGEST else f"{len(others)} others"
            open_in.append(f"{who} {'' if open_in else 'may be as good '}in {title_name(metric)}")
    if max(map(len, names)) > _LONGEST:
        return ""
    same = names[0] == names[1]
    found = f"{' and '.join(parts)} ({names[0]})" if same else f"{parts[0]} ({names[0]}), {parts[1]} ({names[1]})"
    return "; ".join([found, *([", ".join(open_in)] if open_in else [])])


def _mean(one: _Known) -> float:
    return one[0]


def _known(whole: Arrangement, metric: str, points: Sequence[PointResult] | None = None) -> list[_Known]:
    """Return the means of *metric* that are known, and the points they are of."""
    some = {id(point) for point in (whole.points if points is None else points)} if whole.statistic.is_mean else set()
    return [(mean, one) for one in whole.points if id(one) in some and (mean := mean_of(one, metric)) is not None]


def _text(mean: float) -> str:
    return scaled(rounded(mean, 3))


def _decided(begin: Mapping[Name, float], end: Mapping[Name, float], among: int = 1) -> float | None:
    """Return how many times the mean of *begin* that of *end* is; None unless pairs leave 1 out of its interval.

    That is as wide as for *among* of them to leave it out by chance in as few cases as one.
    """
    common = [run for run in end if run in begin]
    if len(common) < 2:
        return None
    after, before = [end[run] for run in common], [begin[run] for run in common]
    if len({*after}) == len({*before}) == 1 and before[0] > 0 < after[0] != before[0]:  # no run differs from another
        return after[0] / before[0]
    found = ratio(after, before, 1 - (1 - CONFIDENCE) / among, paired=True)
    decided = found.value > 0 and not found.why_none and not found.low <= 1 <= found.high
    return found.value if decided else None


def _change(times: float, most_of: str = "") -> str:
    if times >= _TIMES:
        return f"grows {most_of}{scaled(rounded(times, 2))}-fold"
    if times > 1:
        return f"grows by {most_of}{scaled(rounded(100 * (times - 1), 2))} %"
    return f"falls by {most_of}{scaled(percentage(1 - times))} %"
