"""Estimates of a metric at some points, and the choice of metrics for performance and for delay."""

import math
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from netbandit.plots.bands import MOST_DOTS, Band, Kind, Name, bands_of
from netbandit.plots.grouping import Arrangement
from netbandit.results import columns
from netbandit.results.columns import run_values
from netbandit.results.failures import failures_of, shortfalls
from netbandit.results.remarks import asked_for
from netbandit.results.study_result import PointResult
from netbandit.simulation.result import RunResult

EPSILONS = ("learner.epsilon", "learner.epsilon_total")
"""The keys of a budget of privacy; of a learner of the user's own they may be something else."""

UNBOUNDED = ("epsilon", "epsilon_claimed")
"""Metrics that are infinite if a result has no value."""

EITHER_DELAY = "lateness"
"""The delay between agents for any communication pattern: that of information, or of a round."""

_LATENESS = ("round_slots", "delay_slots")


class Estimates:
    """A metric at the points of one picture, with intervals of one kind.

    Attributes:
        statistic: The statistic over the replications of a point.
        kind: The kind of the intervals.
    """

    def __init__(self, arrangement: Arrangement, metric: str, points: Sequence[PointResult] | None = None) -> None:
        """Estimate *metric* at all points of *arrangement*, or at *points* of it."""
        self.statistic = arrangement.statistic.of_metric(metric)
        self.kind: Kind = arrangement.bands
        some = arrangement.points if points is None else points
        known = [(point, found) for point in some if (found := samples(point, metric))]
        bands = bands_of([found for _, found in known], self.statistic, self.kind)
        self._bands = {
            id(point): with_runs(one, found, point) for (point, found), one in zip(known, bands, strict=True)
        }

    def of(self, point: PointResult) -> Band | None:
        """Return the estimate at *point*; None if some of its replications do not have the metric."""
        return self._bands.get(id(point))

    def only(self, points: Sequence[PointResult]) -> "Estimates":
        """Return the same estimates for some of the points."""
        some = copy(self)
        some._bands = {id(point): self._bands[id(point)] for point in points if id(point) in self._bands}
        return some

    @property
    def bands(self) -> list[Band]:
        """The estimates of all points."""
        return list(self._bands.values())

    @property
    def compared(self) -> bool:
        """Whether any interval is narrower than that of its mean by itself."""
        return any(bool(np.any(one.low > one.alone[0])) for one in self._bands.values() if one.alone is not None)


def with_runs(
    one: Band, values: Mapping[Name, float], point: PointResult, failed: Mapping[Name, Collection[str]] | None = None
) -> Band:
    """Return *one* with the values of few runs of *point*, the failed runs, and the shortfalls.

    Args:
        one: The estimate over the runs.
        values: The value of each run.
        point: Whose runs they are.
        failed: How runs failed, by their names in *values*, if these are not seed and number of a run.
    """
    one = replace(one, shortfalls=shortfalls(point.finished, len(point.runs)))
    if len(values) > MOST_DOTS or len(set(values.values())) < 2:  # equal ones lie where their mean is
        return one
    return replace(one, runs=values, failed=failed_of(point.finished) if failed is None else failed)


def failed_of(runs: Sequence[RunResult]) -> dict[Name, Collection[str]]:
    """Return how those of *runs* failed that did, by seed and number."""
    return {(run.seed, run.replication): how for run in runs if (how := failures_of(run.metrics))}


def samples(point: PointResult, metric: str) -> dict[tuple[int, int], float]:
    """Return *metric* in each replication, by seed and number; empty if one of them has none.

    A mean over those that happen to have a value would be one of other runs than its neighbours': a wait that did not
    end is the longest of all.
    """
    found = {(run.seed, run.replication): _value(run, metric) for run in point.finished}
    return {} if None in found.values() else {key: float(value) for key, value in found.items() if value is not None}


def any_of(points: Sequence[PointResult], metric: str) -> bool:
    """Return whether some run at *points* has a value of *metric* other than 0."""
    return any(_value(run, metric) for point in points for run in point.finished)


def exists(points: Sequence[PointResult], metric: str) -> bool:
    """Return whether some run at *points* has a value of *metric*."""
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
    """Return the performance measure of *points*: regret, or, where it is unknown, the first curve common to all runs.

    None if there is no such curve.
    """
    runs = [run for point in points for run in point.finished]
    common = [name for name in runs[0].curves if all(name in run.curves for run in runs)]
    return "regret" if "regret" in common else next(iter(common), None)


def partly_served(points: Sequence[PointResult]) -> bool:
    """Return whether users went away unserved at any of *points*, and their regret was not counted."""
    return columns.partly_served(list(map(run_values, points)))


def partly_absent(points: Sequence[PointResult]) -> bool:
    """Return whether agents were absent, and not for the same time at all of *points*."""
    return columns.partly_absent(list(map(run_values, points)))


def compared(points: Sequence[PointResult]) -> str:
    """Return the metric by which *points* are compared: when the last answer comes, if all runs end with it."""
    return "stop_slot" if end_with_answers(points) else performance(points)


def end_with_answers(points: Sequence[PointResult]) -> bool:
    """Return whether all runs of *points* end with the last answer, and none at its limit before that."""
    return bool(points) and all(last_answer(point.finished) is not None for point in points)


def last_answer(runs: Sequence[RunResult]) -> int | None:
    """Return when the last of *runs* ended with the last answer; None if they do not, or if one had not ended."""
    if any(run.resolved["run"].get("until") != "answered" for run in runs):
        return None
    stops = [run.metrics.get("stop_slot") for run in runs]
    return None if None in stops else max((int(stop) for stop in stops if stop is not None), default=None)


def performance(points: Sequence[PointResult]) -> str:
    """Return the metric that sums up what is drawn over time: `main_metric`, or the measure where that is another."""
    found = measured(points) or "regret"
    return columns.main_metric(list(map(run_values, points))) if found in ("regret", "reward") else found


def lateness(points: Sequence[PointResult]) -> str | None:
    """Return the metric of delay between agents: the waiting per round, or, if there is none, the delay of information.

    None where agents receive nothing, or without delay.
    """
    return next((name for name in _LATENESS if any_of(points, name)), None)


def privacy_key(arrangement: Arrangement) -> str | None:
    """Return the key of a budget of privacy that varies; None where no run states any privacy."""
    runs = [run for point in arrangement.points for run in point.finished]
    stated = any("epsilon" not in run.metrics or asked_for(run) for run in runs)
    return next((key for key in EPSILONS if stated and key in arrangement.keys), None)
