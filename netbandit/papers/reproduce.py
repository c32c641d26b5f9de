"""Reproducing a paper: run its figures, judge its claims, draw its pictures."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from netbandit.papers.claims import (
    HOLDS,
    Claim,
    Comparison,
    Judgement,
    interval_text,
    judge,
    selector_text,
)
from netbandit.papers.expressions import Expression
from netbandit.papers.figures import Figure, Paper, PaperError
from netbandit.papers.runs import FigureRuns, PointRuns
from netbandit.results.safe_files import storage, write_whole
from netbandit.results.store import load_study
from netbandit.running import sweeps as sweep
from netbandit.running.sweeps import FailedRun, Progress
from netbandit.scenario.load import Document, load
from netbandit.simulation.parts import PointConfig, check

CLAIMS = "claims.csv"
"""The table of claims: one row for each."""

COMPARISONS = "comparisons.csv"
"""The table of all numbers behind the claims."""

_COLUMNS = (
    "paper", "claim", "figure", "where", "says", "read_as", "measure", "of", "what", "value", "low", "high",
    "confidence", "replications", "holds_if", "verdict", "comparisons", "remark",
)  # fmt: skip


@dataclass(frozen=True)
class _Together:
    """The points of several scenarios, to be run as one study."""

    document: Document
    points: list[PointConfig]


def points_of(paper: Paper, figure: Figure, replications: int | None) -> list[tuple[str, PointConfig, Document]]:
    """Return the checked points of a figure, each with the name of its scenario.

    Raises:
        ScenarioError: A scenario has mistakes.
    """
    overrides = [] if replications is None else [f"run.replications={replications}"]
    found = []
    for name in figure.scenarios:
        document = load(paper.folder / name, overrides)
        found += [(Path(name).stem, point, document) for point in check(document).points]
    return found


def run_figure(
    paper: Paper,
    figure: Figure,
    out: Path,
    *,
    replications: int | None = None,
    jobs: int = 1,
    progress: Progress = sweep.unheard,
) -> FigureRuns:
    """Do the runs of a figure that are not in the results folder *out*, and return all of them.

    Raises:
        ScenarioError: A scenario has mistakes.
        StorageError: The results cannot be written.
        Interrupted: Ctrl-C was pressed.
    """
    points = points_of(paper, figure, replications)
    study = _Together(points[0][2], [point for _, point, _ in points])
    result = sweep.run(study, out, jobs=jobs, progress=progress)
    curves = any(panel.kind == "curves" for panel in figure.panels)
    formulas = [expression for claim in paper.claims if claim.figure == figure.id for expression in claim.formulas]
    details = curves or any(expression.needs_curves for expression in formulas)
    loaded = load_study(out, details=True) if details else result.study
    found = [
        PointRuns(name, point.resolved, runs.finished)
        for (name, point, _), runs in zip(points, loaded.points, strict=True)
    ]
    return FigureRuns(figure, found, result.failed)


def judged(claim: Claim, runs: FigureRuns) -> Judgement:
    """Return the verdict of *runs* on *claim*.

    Raises:
        PaperError: The claim names points that are not there.
    """
    found = []
    for selector, against in claim.comparisons():
        if claim.measure == "slope":
            points = runs.select(selector)
            if len(points) < 2:
                raise PaperError(f"{claim.id}: {selector} names {len(points)} points, and a slope needs two")
        else:
            points = [runs.one(each) for each in (selector, against) if each is not None]
        off = None if claim.less is None else runs.one({**selector, **claim.less})
        common = set.intersection(*(set(point.by_replication) for point in [*points, *([off] if off else [])]))
        samples = [
            [
                [value for number, value in taken.items() if not claim.paired or number in common]
                for taken in (_less(point, off, formula) for formula in claim.taken(place))
            ]
            for place, point in enumerate(points)
        ]
        found.append((selector_text(selector, against), samples))
    return judge(claim, found)


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


def line(judgement: Judgement) -> str:
    """Return a claim in one line: what the paper says, what was measured, and the verdict at the end."""
    claim = judgement.claim
    first = judgement.deciding.interval
    parts = [f"{one.what}: {interval_text(one.interval)}" for one in judgement.comparisons]
    how = {"mean": "mean of", "share": "share of runs with", "slope": "slope of"}.get(
        claim.measure, f"{claim.measure} of"
    )
    over = f" over {claim.over}" if claim.over else f" to {claim.to}" if claim.to else ""
    facts = [f"holds if {claim.region}"]
    if first is not None:
        each = " each" if len(parts) > 1 else ""
        facts = [f"{100 * first.confidence:.4g} % intervals{each}", f"{first.replications} replications", *facts]
    if claim.measure in ("difference", "ratio"):
        facts.insert(-1, "paired" if claim.paired else "not paired")
    remark = "".join(f" ({text})" for text in _remarks(judgement))
    measured = f"{how} {claim.of}{over}: {'; '.join(parts)} ({', '.join(facts)})"
    said = f'{claim.id}: "{claim.says}" ({claim.where}). Read as: {claim.read_as}'
    return f"{said}. Measured: {measured}{remark}: {judgement.verdict}"


def write_claims(out: Path, judgements: Sequence[tuple[str, Judgement]]) -> list[Path]:
    """Write ``claims.csv``, a row for each claim with the number its verdict hangs on, and ``comparisons.csv``.

    Args:
        out: The folder.
        judgements: Each with the name of its paper.

    Raises:
        StorageError: The folder cannot be written.
    """
    with storage(out):
        out.mkdir(parents=True, exist_ok=True)
    write_whole(out / CLAIMS, _csv(_row(paper, one, one.deciding, one.verdict) for paper, one in judgements))
    rows = (_row(paper, one, each, each.verdict) for paper, one in judgements for each in one.comparisons)
    write_whole(out / COMPARISONS, _csv(rows))
    return [out / CLAIMS, out / COMPARISONS]


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


def _remarks(judgement: Judgement) -> Iterator[str]:
    if judgement.claim.note:
        yield judgement.claim.note
    if judgement.claim.if_not and judgement.verdict != HOLDS:
        yield judgement.claim.if_not


def _row(paper: str, judgement: Judgement, one: Comparison, verdict: str) -> list[str]:
    claim, interval = judgement.claim, one.interval
    numbers = ["", "", "", "", ""]
    if interval is not None:
        ends = [interval.value, interval.low, interval.high, interval.confidence]
        numbers = [*(f"{end:.10g}" for end in ends), str(interval.replications)]
    of = claim.of + (f" over {claim.over}" if claim.over else f" to {claim.to}" if claim.to else "")
    measure = claim.measure
    return [
        paper, claim.id, claim.figure, claim.where, claim.says, claim.read_as, measure, of, one.what, *numbers,
        str(claim.region), verdict, str(len(judgement.comparisons)), " ".join(_remarks(judgement)),
    ]  # fmt: skip


def _csv(rows: Iterator[list[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(rows)
    return text.getvalue()
