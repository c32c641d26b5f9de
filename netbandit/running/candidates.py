"""Candidates of a search that are scenarios: each has its own results folder, in which no run is repeated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from netbandit.running import sweeps
from netbandit.running.search import FRESH, RefusedError, name_of
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import Document
from netbandit.simulation.result import Metric

Figures = Callable[[Mapping[str, Metric]], Sequence[float | None]]
"""Returns the objectives of a run, one for each goal, from its metrics; None where undefined."""


@dataclass(frozen=True)
class ScenarioMeasure:
    """Runs a scenario with the values of a candidate.

    Attributes:
        document: Returns the scenario with some keys set, unchecked.
        figures: Returns the objectives of a run.
        folder: The parent folder of the candidates' folders.
        seed: The root seed of the scenario.
        jobs: The number of parallel processes.
    """

    document: Callable[[Mapping[str, Any]], Document]
    figures: Figures
    folder: Path
    seed: int
    jobs: int = 1

    def __call__(self, values: Mapping[str, Any], replications: int, fresh: bool) -> list[tuple[float, ...]]:
        """Return the objectives of each replication; see `netbandit.running.search.Measure`."""
        from netbandit.checks.check import check

        seed = self.seed + FRESH if fresh else self.seed
        try:
            plan = check(self.document({**values, "run.replications": replications, "run.seed": seed}))
        except ScenarioError as error:
            raise RefusedError("; ".join(error.lines)) from None
        result = sweeps.run(plan, self.folder / ("fresh" if fresh else "candidates") / name_of(values), jobs=self.jobs)
        runs = max((point.runs for point in result.study.points), key=len)[:replications]
        if result.failed or any(run is None for run in runs):
            raise RefusedError(
                f"a run failed: {result.failed[0].failure.text}" if result.failed else "runs are missing"
            )
        found = [self.figures(run.metrics) for run in runs if run is not None]
        return [tuple(inf if figure is None else float(figure) for figure in figures) for figures in found]
