"""Measures a claim: the samples of each of its comparisons, from the runs of a figure."""

from collections.abc import Collection

from netbandit.results.failures import Failures, failures_of
from netbandit.results.study_result import PointResult
from netbandit.simulation.result import bound_of
from netbandit.studies.papers.claims import Claim
from netbandit.studies.papers.expressions import Expression
from netbandit.studies.papers.figure_runs import FigureRuns, values_of
from netbandit.studies.papers.figures import PaperError
from netbandit.studies.papers.selectors import selector_text
from netbandit.studies.papers.verdicts import Evidence, InterimLook, Measured
from netbandit.util.text import pluralize


def evidence(claim: Claim, runs: FigureRuns, look: InterimLook | None = None) -> Evidence:
    """Return the finding of *runs* on *claim*, at one look or at one of several.

    Raises:
        PaperError: The claim names points that are not there.
    """
    found = []
    used: list[PointResult] = []
    for selector, against in claim.comparisons():
        if claim.measure == "slope":
            points = runs.select(selector)
            if len(points) < 2:
                raise PaperError(
                    f"{claim.id}: {selector} names {pluralize(len(points), 'point')}, and a slope needs two"
                )
        else:
            points = [runs.one(each) for each in (selector, against) if each is not None]
        used += points
        off = None if claim.less is None else runs.one({**selector, **claim.less})
        every = [*points, *([off] if off else [])]
        common = set.intersection(*(set(point.by_replication) for point in every))
        samples = [
            [
                [value for number, value in taken.items() if not claim.paired or number in common]
                for taken in (_less(point, off, formula) for formula in claim.taken(index))
            ]
            for index, point in enumerate(points)
        ]
        failures = tuple(_failures(point, common if claim.paired else None) for point in every)
        found.append(Measured(selector_text(selector, against, claim.less), samples, failures))
    if claim.bound == "exact" and bound_of(run for point in used for run in point.finished) == "upper":
        claim = claim.model_copy(update={"bound": "upper"})  # for these runs the accountant could prove no more
    return Evidence(claim, found, runs.held, runs.figure.chosen, look or InterimLook())


def _failures(point: PointResult, replications: Collection[int] | None) -> Failures:
    """Return how many replications failed; one of several instances does if it fails in one of them."""
    found = []
    for number, runs in point.by_replication.items():
        if replications is None or number in replications:
            metrics = [run.metrics for run in runs]
            found.append(next(filter(failures_of, metrics), metrics[0]))
    return Failures.of(found)


def _less(point: PointResult, off: PointResult | None, formula: Expression) -> dict[int, float | None]:
    values = values_of(formula, point)
    if off is None:
        return values
    taken = values_of(formula, off)
    return {
        number: None if value is None or (other := taken.get(number)) is None else value - other
        for number, value in values.items()
    }
