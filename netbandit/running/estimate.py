"""Estimates the time and disk space of a study before it is run, from a short run of each point.

Short runs of each point separate the set-up time from the time per slot; the rest is linear extrapolation. Compilation
at the first run and existing runs are not counted, but if existing runs took another time than estimated, that is
reported (`learnt`). The estimate is computing time (of the processor), which equals wall-clock time if cores are idle.
Points whose first slots are not typical, such as those where agents soon stop communicating, take less.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from netbandit.learners.learner import EpochLearner
from netbandit.results.failures import ENOUGH, MEDIANS, Failures, too_few
from netbandit.results.numbers import cell, shortest
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.run_folder import CURVES, TRACE, load_run, save_run
from netbandit.results.run_keys import run_key, run_keys
from netbandit.simulation.sweep_point import Point
from netbandit.user_code.errors import complaint
from netbandit.user_code.loading import kept_alive
from netbandit.util.text import pluralize
from netbandit.util.units import rough_time

if TYPE_CHECKING:
    from netbandit.simulation.replication import RunnablePoint

MOST_POINTS = 24
"""The most points tried, evenly spread over the study."""
_ENOUGH = 0.2
"""The least duration (s) of the last trial of a point, unless its whole run is shorter."""
_FIRST, _TIMES = 100, 4
"""Slots of the first trial, and the growth factor of the next ones."""
_MORE = 1.5
"""A trial is repeated if it takes this many times longer than in proportion."""
_KNOTS = 2_000
"""The most samples written per curve."""
_BLOCK = 4_096
"""The least size (bytes) of a file."""
_UNLIKE = 3.0
"""Two points are reported as different if their times differ by this factor."""
_WRONG = 2.0
"""An error of the estimate above this factor is reported."""
_DOMINATES = 0.5
"""Points that take more than this share of the time are reported as dominant."""


@dataclass(frozen=True)
class PointEstimate:
    """The resources of one run of a point.

    Attributes:
        point: The point.
        seconds: Its computing time on an otherwise idle core of this machine.
        bytes: The size of its folder.
    """

    point: "RunnablePoint"
    seconds: float
    bytes: float


@dataclass(frozen=True)
class StudyEstimate:
    """The resources of a study.

    Attributes:
        runs: The number of its runs.
        seconds: The computing time of all of them, on one core of this machine.
        bytes: The size of their folders.
        tried: The points that were tried.
        points: The number of points that differ in keys that determine their numbers.
        failed: Why some of these points could not be run, a line each.
    """

    runs: int
    seconds: float
    bytes: float
    tried: tuple[PointEstimate, ...]
    points: int
    failed: tuple[str, ...] = ()

    def lines(self, jobs: int = 1) -> list[str]:
        """Return the estimate in words, a line each, for this many parallel processes."""
        if not self.tried:
            return [f"what it takes cannot be said: {'; '.join(self.failed)}"]
        workers = min(jobs, self.runs)
        one = f", {rough_time(self.seconds)} on one" if workers > 1 else ""
        shared = f" on {pluralize(workers, 'idle core')}{one}"
        some = f", from {len(self.tried)} of {self.points} points" if len(self.tried) < self.points else ""
        times = sorted(one.seconds for one in self.tried)
        if some and times[-1] > _UNLIKE * times[0] > 0:
            some += f", which differ by a factor of {times[-1] / times[0]:.2g}"
        taken = f"about {rough_time(self.seconds / workers)}{shared}, {size_text(self.bytes)} on disk{some}"
        return [
            f"estimate: {pluralize(self.runs, 'run')}, {taken}",
            *filter(None, [self.dominating, self.too_few]),
            *self.failed,
        ]

    @property
    def too_few(self) -> str:
        """What results will say of means that are not compared, as agents drop arms; empty if they are."""
        drop = (_replications(one.point) for one in self.tried if isinstance(one.point.learner, EpochLearner))
        few = [number for number in drop if 1 < number < ENOUGH]
        if not few or self.points < 2:
            return ""
        return too_few(Failures(min(few), 0, {}, drops=True, stalls=False)) + MEDIANS

    @property
    def dominating(self) -> str:
        """What takes most of the time, in words; empty if all points take similar times."""
        total = sum(_whole(one) for one in self.tried)
        best: tuple[float, str] = (1.5, "")
        keys = dict.fromkeys(key for one in self.tried for key in one.point.parameters)
        for key in keys:
            by_value: dict[str, list[PointEstimate]] = {}
            for one in self.tried:
                by_value.setdefault(cell(one.point.parameters.get(key)), []).append(one)
            for value, some in by_value.items():
                share = sum(map(_whole, some)) / total if total else 0.0
                more = share / (len(some) / len(self.tried))
                if share >= _DOMINATES and more > best[0] and len(by_value) > 1:
                    best = more, f"{100 * share:.0f} % of the time: {key} = {value}"
        return best[1]


def estimate(
    points: "Sequence[RunnablePoint]", *, most: int = MOST_POINTS, enough: float = _ENOUGH, trace: bool = False
) -> StudyEstimate:
    """Return the resources of the runs of *points*, from short runs of some of them.

    Args:
        points: The points of a checked study.
        most: The most points tried.
        enough: The least duration (s) of the last trial of a point.
        trace: Whether each run writes a trace.
    """
    computed: dict[str, RunnablePoint] = {}
    for point in points:  # equal runs are run once
        computed.setdefault(run_key(Point({}, point.effective, point.inputs, point.identities), 0), point)
    runs = sum(_replications(point) for point in points)
    points = list(computed.values())
    total = sum(_replications(point) for point in points)
    step = max(1, len(points) - 1) / max(1, min(most, len(points)) - 1)
    places = dict.fromkeys(round(place * step) for place in range(min(most, len(points))))
    chosen = [points[place] for place in places]
    tried: list[PointEstimate] = []
    failed: dict[str, None] = {}
    for point in chosen:
        try:
            with kept_alive():
                tried.append(_tried(point, enough, trace))
        except Exception as error:  # what a run of few slots cannot be, or a part of the user's own
            failed[f"a short run of a point failed: {complaint(error)}"] = None
    several = sum(_replications(one.point) for one in tried)
    share = total / several if several else 0.0
    seconds = share * sum(map(_whole, tried))
    size = share * sum(one.bytes * _replications(one.point) for one in tried) * runs / max(1, total)
    return StudyEstimate(runs, seconds, size, tuple(tried), len(points), tuple(failed))


def learnt(found: StudyEstimate, folder: Path) -> str:
    """Return the time of the runs in *folder* if *found* is wrong by more than a factor of `_WRONG`; else nothing.

    Args:
        found: The estimate.
        folder: The folder of the study's results, which may hold some of its runs.
    """
    taken, expected, runs = 0.0, 0.0, 0
    for one in found.tried:
        for key in run_keys(one.point):
            run = load_run(ResultsFolder(folder).run_folder(key), details=False)
            if run is not None and (seconds := run.metrics.get("wall_s")) is not None:
                taken, expected, runs = taken + seconds, expected + one.seconds, runs + 1
    if not expected or 1 / _WRONG <= taken / expected <= _WRONG:
        return ""
    factor = taken / expected
    return (
        f"the {pluralize(runs, 'run')} already in {folder} took {shortest(factor, 2)} times as long as estimated: by "
        f"these, all runs take about {rough_time(found.seconds * factor)} on one core"
    )


def decisions(points: "Sequence[RunnablePoint]") -> float:
    """Return the approximate number of decisions in all runs of *points*: short studies need no estimate."""
    return float(
        sum(
            _replications(point) * point.resolved["run"]["horizon"] * (point.resolved["topology"].get("agents") or 10)
            for point in points
        )
    )


def size_text(size: float) -> str:
    """Return a number of bytes in readable form: ``3 MB``."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.2g} {name}"
    return f"{max(1, round(size / 1e3))} kB"


def _replications(point: "RunnablePoint") -> int:
    return int(point.resolved["run"]["replications"])


def _whole(one: PointEstimate) -> float:
    """Return the resources of all replications of a point."""
    return one.seconds * _replications(one.point)


def _tried(point: "RunnablePoint", enough: float, trace: bool) -> PointEstimate:
    """Return the resources of one run of *point*, from a series of longer and longer short runs."""
    horizon = point.scenario.run.horizon
    slots = min(_FIRST, horizon)
    _timed(point, slots, trace)  # loads and compiles what the others need
    before, (seconds, size) = (0, 0.0), _timed(point, slots, trace)
    while slots < horizon and (seconds < enough or not before[0]):  # a line takes two places
        before, slots = (slots, seconds), min(slots * _TIMES, horizon)
        seconds, size = _timed(point, slots, trace)
        if seconds > _MORE * before[1] * slots / before[0]:  # what has happened for the first time, such as a first
            seconds = min(seconds, _timed(point, slots, trace)[0])  # exchange, may have been compiled for it
    a_slot = max(0.0, seconds - before[1]) / (slots - before[0])
    fixed, curves, traced = size
    knots = min(horizon, _KNOTS) / min(slots, _KNOTS)
    return PointEstimate(point, seconds + a_slot * (horizon - slots), fixed + curves * knots + traced * horizon / slots)


def _timed(point: "RunnablePoint", slots: int, trace: bool) -> tuple[float, tuple[float, float, float]]:
    """Return the seconds of a run of so many *slots*, and the sizes of its curves, its trace and all else."""
    run = point.scenario.run.model_copy(update={"horizon": slots})
    short = replace(
        point,
        scenario=point.scenario.model_copy(update={"run": run}),
        resolved={**point.resolved, "run": {**point.resolved["run"], "horizon": slots}},
    )
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record" if trace else None
        began = time.process_time()
        result = short.simulation(0).run(trace=record)
        save_run(Path(folder) / "run", result, None)
        seconds = time.process_time() - began
        sizes = {file.name: -(-file.stat().st_size // _BLOCK) * _BLOCK for file in (Path(folder) / "run").iterdir()}
        sizes[TRACE] = record.stat().st_size if record is not None else 0
    fixed = sum(size for name, size in sizes.items() if name not in (CURVES, TRACE))
    return seconds, (float(fixed), float(sizes.get(CURVES, 0)), float(sizes[TRACE]))
