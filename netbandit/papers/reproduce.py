"""Reproducing a paper: run its figures, judge its claims, draw its pictures."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from netbandit.papers.claim_text import line
from netbandit.papers.figure_runs import run_figure
from netbandit.papers.figures import Paper
from netbandit.papers.measuring import judged
from netbandit.papers.verdicts import Judgement
from netbandit.results.safe_files import storage
from netbandit.running import sweeps as sweep
from netbandit.running.sweeps import FailedRun, Progress


def reproduce(
    paper: Paper,
    out: Path,
    *,
    replications: int | None = None,
    jobs: int = 1,
    reporting: Callable[[], AbstractContextManager[Progress]] = lambda: nullcontext(sweep.unheard),
    tell: Callable[[str], None] = print,
) -> tuple[list[Judgement], list[FailedRun]]:
    """Run the figures of *paper* into *out*, draw them, and judge its claims, telling each line as it is known.

    Args:
        paper: The paper, or a figure of it.
        out: The folder of the pictures; each figure's results are in a folder of its own in it.
        replications: How many replications each point has; absent: as its scenario says.
        jobs: How many processes run at once; 0 means one for each core.
        reporting: Makes what tells how far a figure's runs are.
        tell: Takes a line for each claim.

    Returns:
        The verdicts, and the runs that failed.

    Raises:
        PaperError: A claim names points that are not there.
        ScenarioError: A scenario has mistakes.
        StorageError: The results cannot be written.
    """
    from netbandit.papers.pictures import draw_figure
    from netbandit.plots.style import save

    judgements: list[Judgement] = []
    failed: list[FailedRun] = []
    for figure in paper.figures:
        with reporting() as progress:
            runs = run_figure(paper, figure, out / figure.id, replications=replications, jobs=jobs, progress=progress)
        failed += runs.failed
        if any(not point.runs for point in runs.points):
            continue
        for claim in paper.claims:
            if claim.figure == figure.id:
                judgements.append(judged(claim, runs))
                tell(line(judgements[-1]))
        if figure.panels:
            with storage(out):
                save(draw_figure(runs), out / figure.id)
    return judgements, failed
