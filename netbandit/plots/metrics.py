"""What metrics are called on an axis and in a title, and what is known of them at some points."""

import math
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from netbandit.plots.bands import MOST_DOTS, Band, Name, side_by_side
from netbandit.plots.grouping import ABSENT, value_of
from netbandit.plots.values import identity, shown
from netbandit.results.failures import MARK, Failures, failures_of, is_regret
from netbandit.results.metrics import METRICS
from netbandit.results.numbers import rounded, scaled
from netbandit.results.statistic import MEAN, Statistic
from netbandit.results.store import PointResult
from netbandit.simulation.result import RunResult

AXES = {
    "regret": "regret of all agents (reward)",
    "regret_static": "regret against the best fixed arm (reward)",
    "regret_per_agent": "regret per agent (reward)",
    "regret_per_decision": "regret per decision (reward)",
    "regret_per_s": "regret per simulated second (reward / s)",
    "decisions_per_s": "decisions per second (1 / s)",
    "unserved": "users not served",
    "relative_ctr": "click-through rate relative to chance",
    "cost": "cost (weighted link activations)",
    "activations": "activations (links in slots)",
    "round_slots": "waiting per round (slots)",
    "delay_slots": "delay of what is heard (slots)",
    "lateness": "delay of what is heard (slots)",
    "violations": "share of slots that violate the threshold",
    "accepted": "share of what is heard that is believed",
    "rounds": "rounds",
    "messages": "messages",
    "bytes": "data sent (bytes)",
    "energy_j": "energy (J)",
    "epsilon": "privacy spent ε, agent worst off",
    "epsilon_claimed": "privacy ε, claimed",
    "delta": "privacy δ",
    "simulated_s": "simulated time (s)",
    "wall_s": "computing time (s)",
    "diameter": "diameter (hops)",
    "radius": "radius (hops)",
    "agents": "agents",
    "links": "links",
}
"""What an axis says of a metric or of a fact of the topology, where its name and unit alone would not say enough."""

EPSILONS = ("learner.epsilon", "learner.epsilon_total")
"""The keys of a budget of privacy."""

UNBOUNDED = ("epsilon", "epsilon_claimed")
"""Metrics that are infinite where a result has none."""

EITHER_DELAY = "lateness"
"""How late agents know what others have told, whichever way they talk: the delay of what is heard, or of a round."""

_LATENESS = ("round_slots", "delay_slots")
_NAMED = 3
"""So many points are named where something is said of some of them."""


def label(metric: str) -> str:
    """Return what an axis says of *metric*: its name and unit, if the catalogue of metrics has one."""
    if metric in AXES:
        return AXES[metric]
    name, unit = metric.replace("_", " "), METRICS[metric].unit if metric in METRICS else ""
    return f"{name} ({unit})" if unit and unit != name else name


def called(metric: str) -> str:
    """Return what a title calls a metric."""
    return {"relative_ctr": "relative click-through rate", "energy_j": "energy"}.get(metric, metric.replace("_", " "))


class Estimates:
    """A metric at the points of one picture, with the intervals that comparing them needs.

    Attributes:
        statistic: What stands for the replications of a point.
    """

    def __init__(self, points: Sequence[PointResult], metric: str, statistic: Statistic = MEAN) -> None:
        self.statistic = statistic
        known = [(point, found) for point in points if (found := samples(point, metric))]
        bands = side_by_side([found for _, found in known], statistic)
        self._bands = {
            id(point): with_runs(one, found, failed_of(point.finished), is_regret(metric) and stalled(point.finished))
            for (point, found), one in zip(known, bands, strict=True)
        }

    def of(self, point: PointResult) -> Band | None:
        """Return what stands for the replications of *point*; None where some of them does not know the metric."""
        return self._bands.get(id(point))

    def only(self, points: Sequence[PointResult]) -> "Estimates":
        """Return the same of some of the points."""
        some = copy(self)
        some._bands = {id(point): self._bands[id(point)] for point in points if id(point) in self._bands}
        return some

    @property
    def bands(self) -> list[Band]:
        """What is known, of all points."""
        return list(self._bands.values())

    @property
    def compared(self) -> bool:
        """Whether some interval is narrower than that of its mean by itself."""
        return any(bool(np.any(one.low > one.alone[0])) for one in self._bands.values() if one.alone is not None)


def with_runs(one: Band, values: Mapping[Name, float], failed: Collection[Name], stalled: bool) -> Band:
    """Return *one* with the values of few runs, those that *failed*, and whether agents *stalled*."""
    if len(values) > MOST_DOTS or len(set(values.values())) < 2:  # equal ones lie where their mean is
        return replace(one, stalled=stalled)
    return replace(one, runs=values, failed=frozenset(failed), stalled=stalled)


def failed_of(runs: Sequence[RunResult]) -> set[Name]:
    """Return which of *runs* failed, by seed and number."""
    return {(run.seed, run.replication) for run in runs if failures_of(run.metrics)}


def stalled(runs: Sequence[RunResult]) -> bool:
    """Tell whether agents stalled in one of *runs*."""
    return Failures.of([run.metrics for run in runs]).stalled


def samples(point: PointResult, metric: str) -> dict[tuple[int, int], float]:
    """Return *metric* in each replication, by seed and number; nothing where one of them has none.

    A mean over those that happen to have a value would be one of other runs than its neighbours': a wait that did not
    end is the longest of all.
    """
    found = {(run.seed, run.replication): _value(run, metric) for run in point.finished}
    return {} if None in found.values() else {key: float(value) for key, value in found.items() if value is not None}


def any_of(points: Sequence[PointResult], metric: str) -> bool:
    """Tell whether some run at *points* has a value of *metric* other than 0."""
    return any(_value(run, metric) for point in points for run in point.finished)


def exists(points: Sequence[PointResult], metric: str) -> bool:
    """Tell whether some run at *points* has a value of *metric*."""
    return any(_value(run, metric) is not None for point in points for run in point.finished)


def _value(run: object, metric: str) -> float | int | None:
    if metric == EITHER_DELAY:
        heard = _value(run, "delay_slots")
        return heard if heard is not None or not _value(run, "rounds") else _value(run, "round_slots")
    found: float | int | None = run.metrics.get(metric, run.topology.get(metric))  # type: ignore[attr-defined]
    return found


def mean_of(point: PointResult, metric: str) -> float | None:
    """Return the mean of *metric* over the replications; None where one of them has none."""
    found = samples(point, metric)
    return math.fsum(found.values()) / len(found) if found else None


def distinct(points: Sequence[PointResult], metric: str) -> set[float]:
    """Return the means of *metric* that differ, infinity among them where that is what a missing value means."""
    means = [mean_of(point, metric) for point in points]
    if metric in UNBOUNDED and any(metric in run.metrics for point in points for run in point.finished):
        return {math.inf if mean is None else mean for mean in means}
    return {mean for mean in means if mean is not None}


def measured(points: Sequence[PointResult]) -> str | None:
    """Return what tells how well *points* do: regret, or the first curve that all runs have where nobody knows it.

    None if there is no such curve.
    """
    runs = [run for point in points for run in point.finished]
    common = [name for name in runs[0].curves if all(name in run.curves for run in runs)]
    return "regret" if "regret" in common else next(iter(common), None)


def partly_served(points: Sequence[PointResult]) -> bool:
    """Tell whether users went away unserved at any of *points*, and their regret was not counted."""
    return any(any_of([point], "unserved") and not exists([point], "regret_unserved") for point in points)


def partly_absent(points: Sequence[PointResult]) -> bool:
    """Tell whether agents were absent, and not for the same time at all of *points*."""
    return any_of(points, "absent_slots") and len(distinct(points, "availability")) > 1


def compared(points: Sequence[PointResult]) -> str:
    """Return the metric by which *points* are compared: what is measured, the regret if nothing is.

    Where users went away unserved, or agents were absent more at some points than at others, it is the regret of a
    decision, if any was made: who is not served, or not there, adds none, so to serve fewer would look like a gain.
    """
    found = measured(points) or "regret"
    known = exists(points, "regret_per_decision")
    return (
        "regret_per_decision"
        if found == "regret" and known and (partly_served(points) or partly_absent(points))
        else found
    )


def lateness(points: Sequence[PointResult]) -> str | None:
    """Return what tells how late agents hear of one another: how long they wait, or, if nobody waits, the delay.

    None where they hear nothing, or at once.
    """
    return next((name for name in _LATENESS if any_of(points, name)), None)


def means(points: Sequence[PointResult], *drawn: Estimates) -> str:
    """Return what a subtitle says of the markers of *points*, and of the bars and dots of what is *drawn*."""
    most = max(len(point.finished) for point in points)
    if most < 2:
        return "; ".join(["one replication", *told_marks([band for one in drawn for band in one.bands])])
    name = drawn[0].statistic.name if drawn else MEAN.name
    what = f"{name}s of {most:,} replications with 95 % intervals"
    if any(one.compared for one in drawn):
        what = (
            f"means of {most:,} replications; bars: 95 % intervals for comparing (within replications), thin: of a mean"
        )
    return "; ".join([what, *told_marks([band for one in drawn for band in one.bands])])


def told_marks(drawn: Sequence[Band], dots: str = "dots: all runs") -> list[str]:
    """Return what a subtitle says of *dots*, crosses and the marks of stalled agents in what is *drawn*."""
    crosses = ", crosses: those that failed" if any(one.failed for one in drawn if one.runs) else ""
    told = [f"{dots}{crosses}"] if any(one.runs for one in drawn) else []
    return told + ([STALLED_NOTE] if any(one.stalled for one in drawn) else [])


STALLED_NOTE = f"{MARK} agents stalled, which may lower regret"
"""What a subtitle says of points at which agents stalled."""


def title_of(point: PointResult, keys: Sequence[str]) -> str:
    """Return what tells *point* from others, as short as it can be said."""
    values = [value_of(point, key) for key in keys]
    return ", ".join(shown(value) for value in values if value != ABSENT) or "the only point"


def left_out(points: Sequence[PointResult], metric: str, keys: Sequence[str]) -> str:
    """Return what a subtitle says of the points at which *metric* has no mean, while it has one at others.

    Args:
        points: The points of the picture.
        metric: What is drawn.
        keys: The keys that vary, by whose values a point is called.
    """
    if not exists(points, metric):
        return ""
    missing = [point for point in points if not samples(point, metric)]
    if not missing:
        return ""
    names = _together(points, missing, keys) or [title_of(point, keys) for point in missing[:_NAMED]]
    if len(names) == _NAMED and len(missing) > _NAMED:
        names.append(f"{len(missing) - _NAMED} more")
    what = {
        "round_slots": "waiting left out, where no round ended",
        EITHER_DELAY: "delay left out, where nothing is heard",
        "epsilon": "left out, where it has no bound",
    }
    return f"{what.get(metric, f'{called(metric)} left out, where there is none')}: {'; '.join(names)}"


def _together(points: Sequence[PointResult], some: Sequence[PointResult], keys: Sequence[str]) -> list[str]:
    """Return the few values of one key that *some* of *points* have and no other; nothing if there is no such key."""
    for key in keys:
        values = {identity(value_of(point, key)): shown(value_of(point, key)) for point in some}
        alike = [point for point in points if identity(value_of(point, key)) in values]
        if len(alike) == len(some) and len(values) < _NAMED:
            return list(values.values())
    return []


def privacy_key(keys: Sequence[str]) -> str | None:
    """Return the budget of privacy among *keys*, if there is one."""
    return next((key for key in EPSILONS if key in keys), None)


def privacy_differs(points: Sequence[PointResult]) -> str:
    """Return what a subtitle says where *points* that release something spend different privacy; else nothing."""
    spent = sorted(value for value in distinct(points, "epsilon") if value > 0)
    if len({rounded(value, 3) for value in spent}) < 2:
        return ""
    return f"privacy spent differs: ε {scaled(rounded(spent[0], 3))} to {scaled(rounded(spent[-1], 3))}"
