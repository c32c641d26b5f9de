"""A study as its results folder has it: its points, each with its replications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netbandit.simulation.result import RunResult
from netbandit.simulation.sweep_point import Point


@dataclass(frozen=True)
class StudyPlan:
    """A study whose runs are in a results folder, or will be.

    Attributes:
        name: The scenario's name; it does not distinguish studies.
        points: The points.
        keys: The keys of the runs of each point.
        written: The scenario as written.
    """

    name: str
    points: Sequence[Point]
    keys: Sequence[Sequence[str]]
    written: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class PointResult(Point):
    """A point with its replications.

    Attributes:
        keys: The key of each run, by replication.
        runs: Each run, by replication; None where it failed or has not been run.
    """

    keys: list[str] = field(default_factory=list)
    runs: Sequence[RunResult | None] = ()

    @property
    def finished(self) -> list[RunResult]:
        """The finished runs, in the order of their replications."""
        return [run for run in self.runs if run is not None]

    @property
    def by_replication(self) -> dict[int, list[RunResult]]:
        """The finished runs of each replication: one, unless several seeds make up one point."""
        found: dict[int, list[RunResult]] = {}
        for run in self.finished:
            found.setdefault(run.replication, []).append(run)
        return found


@dataclass(frozen=True)
class StudyResult:
    """All points of a study.

    Attributes:
        name: The scenario's name.
        points: The points, in the order of the sweep.
        written: The scenario as written, merged over the files it extends and changed by ``--set``; None for
            results that do not have it.
        inputs: The keys of the scenario that name a file.
        damaged: The runs that are left out because their files are not as written, a line each.
        missing: The runs that are not there: they failed, were not done yet or were removed; a line each.
    """

    name: str
    points: list[PointResult]
    written: dict[str, Any] | None = None
    inputs: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def plan(self) -> StudyPlan:
        """Return its finished points as what is to be in another folder."""
        points = [point for point in self.points if point.finished]
        return StudyPlan(self.name, points, [point.keys for point in points], self.written)
