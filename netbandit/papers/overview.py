"""The figures of a paper before they are run: how many claims each decides, and what it takes."""

from collections.abc import Iterator

from netbandit.papers.figure_runs import points_of
from netbandit.papers.figures import Paper
from netbandit.plural import counted
from netbandit.running.estimate import decisions, estimate, size_text
from netbandit.units import rough_time

_SECONDS = 1e6
"""Decisions that are a matter of seconds: no run is tried."""
_FEW, _SOON = 3, 0.05
"""How many points of a figure are tried, and for how many seconds."""


def figure_lines(paper: Paper, replications: int | None, jobs: int) -> Iterator[str]:
    """Yield a line for each figure of *paper*: its name, claims, runs, and the time that these take, roughly.

    Args:
        paper: The paper, or a figure of it.
        replications: How many replications each point has; absent: as its scenario says.
        jobs: How many processes run at once.

    Raises:
        ScenarioError: A scenario has mistakes.
    """
    width = max(len(figure.id) for figure in paper.figures)
    for figure in paper.figures:
        claims = sum(claim.figure == figure.id for claim in paper.claims)
        points = [point for _, point, _ in points_of(paper, figure, replications)]
        runs = sum(point.resolved["run"]["replications"] for point in points)
        taken = "seconds"
        if decisions(points) > _SECONDS:
            found = estimate(points, most=_FEW, enough=_SOON)
            if found.tried:
                taken = f"about {rough_time(found.seconds / min(jobs, runs))}, {size_text(found.bytes)}"
            else:
                taken = "not known for how long"
        yield f"  {figure.id:<{width}}  {counted(claims, 'claim')}, {counted(runs, 'run')}, {taken}"
