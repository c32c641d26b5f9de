"""Reproducing a paper: run its figures, judge its claims, draw its pictures."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from netbandit.results.safe_files import storage
from netbandit.running import sweeps as sweep
from netbandit.running.sweeps import FailedRun, Progress
from netbandit.studies.papers.claim_text import line, short_lines
from netbandit.studies.papers.figure_runs import FigureRuns, run_figure
from netbandit.studies.papers.figures import Figure, Paper
from netbandit.studies.papers.measuring import evidence
from netbandit.studies.papers.multiple_testing import judged_together
from netbandit.studies.papers.regions import FAILS, HOLDS, OPEN
from netbandit.studies.papers.verdicts import Evidence, InterimLook, Judgement

UNTIL_DECIDED = (1, 2, 4, 8)
"""The factor of the number of replications at each look, if claims are to be decided."""

Reporting = Callable[[], AbstractContextManager[Progress]]


Ended = Callable[[Figure, FigureRuns, Sequence[Judgement]], None]
"""Takes a figure whose claims have been judged, its runs, and the verdicts."""


def reproduce(
    paper: Paper,
    out: Path,
    *,
    replications: int | None = None,
    looks: Sequence[int] = (1,),
    jobs: int = 1,
    reporting: Reporting = lambda: nullcontext(sweep.no_progress),
    tell: Callable[[str], None] = print,
    verbose: bool = False,
    ended: Ended | None = None,
) -> tuple[list[Judgement], list[FailedRun]]:
    """Run the figures of *paper* into *out*, draw them, and judge its claims, telling each line as it is known.

    Args:
        paper: The paper, or a figure of it.
        out: The folder of the pictures; each figure's results are in a folder of its own in it.
        replications: The number of replications of each point; absent: as its scenario says.
        looks: The factor of that number at each look, ascending: a figure whose claims are all decided is not looked at
            again. The more looks, the wider each interval, so that all of them err as often as one would. The claims
            of a figure are judged together, and err together as often as one would.
        jobs: The number of parallel processes; 0: one for each core.
        reporting: Creates the progress display of a figure's runs.
        tell: A function that takes the lines of each claim.
        verbose: Whether a claim is one line with all details, in place of three with the measurement.
        ended: Takes each figure when its claims have been judged and it has been drawn.

    Returns:
        The verdicts, and the runs that failed.

    Raises:
        PaperError: A claim names points that are not there.
        ScenarioError: A scenario has mistakes.
        StorageError: The results cannot be written.
    """
    from netbandit.plots.style import save
    from netbandit.studies.papers.pictures import draw_figure

    judgements: list[Judgement] = []
    failed: list[FailedRun] = []
    for figure in paper.figures:

        def at(times: int, figure: Figure = figure) -> FigureRuns:
            with reporting() as progress:
                return run_figure(
                    paper,
                    figure,
                    out / figure.id,
                    replications=replications,
                    times=times,
                    jobs=jobs,
                    progress=progress,
                )

        runs, found = _looked_at(paper, figure, at, looks)
        failed += runs.failed
        if any(not point.finished for point in runs.points):
            continue
        for judgement in found:
            for text in [line(judgement)] if verbose else short_lines(judgement):
                tell(text)
        judgements += found
        if figure.panels:
            with storage(out):
                save(draw_figure(runs), out / figure.id)
        if ended is not None:
            ended(figure, runs, found)
    return judgements, failed


def _looked_at(
    paper: Paper, figure: Figure, at: Callable[[int], FigureRuns], looks: Sequence[int]
) -> tuple[FigureRuns, list[Judgement]]:
    """Return the runs of the last look at *figure*, and its claims, judged together."""
    claims = [claim for claim in paper.claims if claim.figure == figure.id]
    best: dict[str, Evidence] = {}
    judgements: list[Judgement] = []
    for number, times in enumerate(looks, start=1):
        runs = at(times)
        if any(not point.finished for point in runs.points):
            return runs, []
        last = [evidence(claim, runs, InterimLook(number, len(looks))) for claim in claims]
        for one in last:
            name = one.claim.id
            if name not in best or _says_more(one, best[name]):
                best[name] = one
        judgements = judged_together(list(best.values()), last)
        if all(judgement.verdict != OPEN for judgement in judgements):
            break
    return runs, judgements


def _says_more(one: Evidence, than: Evidence) -> bool:
    """Return whether a later look is the one to judge a claim by; each look has its part of the error."""
    if one.p is None or than.p is None:
        return than.judged().verdict not in (HOLDS, FAILS)
    return one.p < than.p
