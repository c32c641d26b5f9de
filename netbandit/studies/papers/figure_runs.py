"""The runs of a figure: its points with their replications, and the points that a selector matches."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from netbandit.checks.check import RunPlan, check
from netbandit.results.study_result import PointResult
from netbandit.running import sweeps as sweep
from netbandit.running.sweeps import FailedRun, Progress
from netbandit.scenario.load import Document, load
from netbandit.simulation.replication import RunnablePoint
from netbandit.studies.papers.expressions import Expression
from netbandit.studies.papers.figures import Figure, Paper, PaperError
from netbandit.studies.papers.selectors import NOT_GIVEN, SCENARIO, Selector
from netbandit.util.key_paths import lookup
from netbandit.util.text import pluralize


@dataclass(frozen=True)
class FigureRuns:
    """The runs of a figure.

    Attributes:
        figure: The figure.
        points: Its points, file by file in the order of their sweeps, each with the file as the parameter `SCENARIO`.
        failed: The runs that failed.
        done: The number of new runs; the others had been done before.
        seconds: The computing time of those.
    """

    figure: Figure
    points: Sequence[PointResult]
    failed: Sequence[FailedRun] = ()
    done: int = 0
    seconds: float = 0.0

    @property
    def held(self) -> str:
        """Properties that are fixed over replications though they could be random, in words; empty if none is."""
        key = self.figure.average
        if key is None:
            return ""
        found = [lookup(point.resolved, key, None) for point in self.points]
        values = list(dict.fromkeys(value for value in found if value is not None))
        return (
            f"of {key} {', '.join(map(str, values))} alone: the interval is for the mean over these {len(values)}, "
            "and says nothing of others"
        )

    def select(self, selector: Selector) -> list[PointResult]:
        """Return the points that *selector* names.

        Raises:
            PaperError: The figure has no such series.
        """
        wanted = dict(selector)
        if "series" in wanted:
            name = wanted.pop("series")
            series = next((one for one in self.figure.series if one.name == name), None)
            if series is None:
                raise PaperError(f"{self.figure.id} has no series {name}")
            wanted = {**series.where, **wanted}
        found = [point for point in self.points if all(_is(point, key, value) for key, value in wanted.items())]
        return found if self.figure.average is None else _averaged(found, self.figure.average)

    def one(self, selector: Selector) -> PointResult:
        """Return the only point that *selector* names.

        Raises:
            PaperError: There is none, or there are several.
        """
        found = self.select(selector)
        if len(found) != 1:
            raise PaperError(f"{self.figure.id}: {selector} names {pluralize(len(found), 'point')}, and must name one")
        return found[0]


def values_of(formula: Expression, point: PointResult) -> dict[int, float | None]:
    """Return the value of *formula* in each replication, averaged over instances; None where it is undefined."""
    found = {number: [formula.of(run) for run in runs] for number, runs in point.by_replication.items()}
    known = {number: [value for value in some if value is not None] for number, some in found.items()}
    return {
        number: None if len(known[number]) < len(some) else math.fsum(known[number]) / len(some)
        for number, some in found.items()
    }


def points_of(
    paper: Paper, figure: Figure, replications: int | None, times: int = 1
) -> list[tuple[str, RunnablePoint, Document]]:
    """Return the checked points of a figure, each with the name of its scenario.

    Raises:
        ScenarioError: A scenario has mistakes.
    """
    found = []
    for name in figure.scenarios:
        document = load(paper.folder / name)
        if replications is not None or times > 1:
            first = replications or document.data.get("run", {}).get("replications", 1)
            document = load(paper.folder / name, [f"run.replications={first * times}"])
        found += [(Path(name).stem, point, document) for point in check(document).points]
    return found


def run_figure(
    paper: Paper,
    figure: Figure,
    out: Path,
    *,
    replications: int | None = None,
    times: int = 1,
    jobs: int = 1,
    progress: Progress = sweep.no_progress,
) -> FigureRuns:
    """Do the runs of a figure that are not in the results folder *out*, and return all of them.

    Args:
        paper: The paper.
        figure: The figure.
        out: The folder of its results.
        replications: The number of replications of each point; absent: as its scenario says.
        times: The factor of the number of replications.
        jobs: The number of parallel processes; 0: one for each core.
        progress: Receives the progress of the runs.

    Raises:
        ScenarioError: A scenario has mistakes.
        StorageError: The results cannot be written.
        Interrupted: Ctrl-C was pressed.
    """
    points = points_of(paper, figure, replications, times)
    study = RunPlan(points[0][2], [point for _, point, _ in points], notes=[])
    result = sweep.run(study, out, jobs=jobs, alone=True, progress=progress)
    curves = any(panel.kind == "curves" for panel in figure.panels)
    formulas = [expression for claim in paper.claims if claim.figure == figure.id for expression in claim.formulas]
    details = curves or any(expression.needs_curves for expression in formulas)
    loaded = result.folder.study() if details else result.study
    found = [
        replace(runs, parameters={**runs.parameters, SCENARIO: name}, resolved=point.resolved)
        for (name, point, _), runs in zip(points, loaded.points, strict=True)
    ]
    return FigureRuns(figure, found, result.failed, result.done, result.seconds)


def _averaged(points: Sequence[PointResult], key: str) -> list[PointResult]:
    """Return points of which those that differ in *key* alone are one, with the replications that all of them have."""
    table, _, name = key.rpartition(".")
    groups: dict[str, list[PointResult]] = {}
    for point in points:
        others = {**point.resolved, table: {one: each for one, each in point.resolved[table].items() if one != name}}
        group = json.dumps([point.parameters[SCENARIO], others], sort_keys=True)
        groups.setdefault(group, []).append(replace(point, resolved=others))
    found = []
    for alike in groups.values():
        common = set.intersection(*(set(point.by_replication) for point in alike))
        runs = [run for point in alike for run in point.finished if run.replication in common]
        found.append(replace(alike[0], runs=runs))
    return found


_ABSENT = object()


def _is(point: PointResult, key: str, value: Any) -> bool:
    if key == SCENARIO:
        return bool(point.parameters[SCENARIO] == value)
    found = lookup(point.resolved, key, _ABSENT)
    if found is None and value == NOT_GIVEN:
        return True
    return bool(found == value) and isinstance(found, bool) == isinstance(value, bool)
