"""The figures of a paper before they are run: the number of claims each decides, and its computing time."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from netbandit.running.estimate import decisions, estimate, size_text
from netbandit.studies.papers.figure_runs import points_of
from netbandit.studies.papers.figures import Figure, Paper
from netbandit.studies.papers.record import RecordedFigure, current, shipped
from netbandit.util.text import pluralize
from netbandit.util.units import rough_time

if TYPE_CHECKING:
    from netbandit.simulation.replication import RunnablePoint

_SECONDS = 1e6
"""Decisions that are a matter of seconds: no run is tried."""
_QUICK = 60.0
"""The longest time (s) of a figure proposed to users who want to see claims decided."""
_FEW, _SOON = 3, 0.05
"""The number of points tried of each scenario, and the time (s) for each."""


def figure_lines(paper: Paper, replications: int | None, jobs: int, *, tried: bool) -> Iterator[str]:
    """Yield a line for each figure of *paper*: its name, claims, runs, and the time that these take, roughly.

    Of a figure in the record that is shipped, the time is the recorded one, and the line says how many claims were
    decided. A last line names the recorded figures that decide a claim within a minute.

    Args:
        paper: The paper, or a figure of it.
        replications: The number of replications of each point; absent: as its scenario says.
        jobs: The number of parallel processes.
        tried: Whether short runs estimate the time of figures without a record; otherwise only their runs are counted.

    Raises:
        PaperRecordError: The record is damaged.
        ScenarioError: A scenario has mistakes.
    """
    width = max(len(figure.id) for figure in paper.figures)
    quick = []
    for figure, found in current(shipped() if replications is None else {}, paper):
        claims = [claim for claim in paper.claims if claim.figure == figure.id]
        kinds = Counter(claim.kind for claim in claims if claim.kind != "the paper's")
        apart = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        asked = pluralize(len(claims), "claim") + (f" ({apart})" if apart else "")
        if found is not None and found.seconds is not None:
            seconds = found.seconds / min(jobs, found.runs)
            cost = f"{pluralize(found.runs, 'run')}, {rough_time(seconds)} when recorded, {_decided(found)}"
            if found.decided and seconds <= _QUICK:
                quick.append(f"{paper.name}/{figure.id}")
        else:
            cost = _estimated(paper, figure, replications, jobs, tried=tried)
        yield f"  {figure.id:<{width}}  {asked}, {cost}"
    if quick:
        yield f"  claims decided within a minute: {', '.join(quick)}"


def _decided(found: RecordedFigure) -> str:
    """Return how many of the claims were decided, and with how many replications."""
    replications = sorted({claim.replications for claim in found.claims if claim.replications is not None})
    many = " to ".join(dict.fromkeys(str(end) for end in (replications[:1] + replications[-1:])))
    return f"{found.decided} decided" + (f" at {many} replications" if many else "")


def _estimated(paper: Paper, figure: Figure, replications: int | None, jobs: int, *, tried: bool) -> str:
    """Return the runs of a figure, and if it is *tried* the time that they take, from short trials.

    Scenarios are tried each for itself: three runs of one may take longer than hundreds of another.
    """
    points = points_of(paper, figure, replications)
    runs = sum(point.resolved["run"]["replications"] for _, point, _ in points)
    if decisions([point for _, point, _ in points]) <= _SECONDS:
        return f"{pluralize(runs, 'run')}, seconds"
    if not tried:
        return f"{pluralize(runs, 'run')}, not recorded"
    by_scenario: dict[str, list[RunnablePoint]] = {}
    for name, point, _ in points:
        by_scenario.setdefault(name, []).append(point)
    found = [estimate(some, most=_FEW, enough=_SOON) for some in by_scenario.values()]
    if not all(one.tried for one in found):
        return f"{pluralize(runs, 'run')}, not known for how long"
    seconds, size = sum(one.seconds for one in found), sum(one.bytes for one in found)
    return f"{pluralize(runs, 'run')}, about {rough_time(seconds / min(jobs, runs))}, {size_text(size)}"
