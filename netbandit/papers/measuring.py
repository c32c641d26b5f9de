"""What the runs of a figure say of a claim: the samples of each of its comparisons."""

from netbandit.papers.claims import Claim
from netbandit.papers.expressions import Expression
from netbandit.papers.figure_runs import FigureRuns, PointRuns
from netbandit.papers.figures import PaperError
from netbandit.papers.selectors import selector_text
from netbandit.papers.verdicts import Judgement, Look, judge
from netbandit.plural import counted
from netbandit.simulation.result import bound_of


def judged(claim: Claim, runs: FigureRuns, look: Look | None = None) -> Judgement:
    """Return the verdict of *runs* on *claim*, at one look or at one of several.

    Raises:
        PaperError: The claim names points that are not there.
    """
    found = []
    measured: list[PointRuns] = []
    for selector, against in claim.comparisons():
        if claim.measure == "slope":
            points = runs.select(selector)
            if len(points) < 2:
                raise PaperError(f"{claim.id}: {selector} names {counted(len(points), 'point')}, and a slope needs two")
        else:
            points = [runs.one(each) for each in (selector, against) if each is not None]
        measured += points
        off = None if claim.less is None else runs.one({**selector, **claim.less})
        common = set.intersection(*(set(point.by_replication) for point in [*points, *([off] if off else [])]))
        samples = [
            [
                [value for number, value in taken.items() if not claim.paired or number in common]
                for taken in (_less(point, off, formula) for formula in claim.taken(place))
            ]
            for place, point in enumerate(points)
        ]
        found.append((selector_text(selector, against, claim.less), samples))
    if claim.bound == "exact" and bound_of(run for point in measured for run in point.runs) == "upper":
        claim = claim.model_copy(update={"bound": "upper"})  # for these runs the accountant could prove no more
    return judge(claim, found, runs.held, runs.figure.chosen, look)


def _less(point: PointRuns, off: PointRuns | None, formula: Expression) -> dict[int, float | None]:
    values = point.values(formula)
    if off is None:
        return values
    taken = off.values(formula)
    return {
        number: None if value is None or other is None else value - other
        for number, value in values.items()
        for other in (taken.get(number),)
    }
