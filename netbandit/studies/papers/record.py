"""The record: the outcome of reproducing each figure of each paper, the versions used, and the time taken.

A record is a file of JSON lines, one for each figure, written when the figure's claims are judged: a call that is
killed goes on with the figures that are not in the file. A figure counts as recorded only as long as its points and
what is measured of its claims are as they were; wording may change.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from netbandit.results.held_folders import described
from netbandit.results.run_keys import run_keys
from netbandit.results.safe_files import as_text, canonical, remove_leftovers, write_whole
from netbandit.studies.papers.claim_text import comparison_text, each_text, found_remarks, measure_text
from netbandit.studies.papers.claims import Kind
from netbandit.studies.papers.figure_runs import FigureRuns, points_of
from netbandit.studies.papers.figures import Figure, Paper, papers_folder
from netbandit.studies.papers.regions import FAILS, HOLDS, Verdict
from netbandit.studies.papers.selectors import SCENARIO
from netbandit.studies.papers.verdicts import Judgement
from netbandit.util.process import machine

SHIPPED = "record.jsonl"
"""The record that is shipped, beside the papers' folders."""

_PROSE = {
    "where", "says", "kind", "paraphrased", "read_as", "note", "if_not", "not_tested", "left_open", "around", "title",
    "chosen", "panels", "references", "statistic",
}  # fmt: skip
"""Keys of figures and claims that decide no verdict, or do so only in some claims."""


_ENTRIES = ConfigDict(frozen=True, extra="forbid")


class PaperRecordError(ValueError):
    """A file is no record of papers; the text says where."""


class RecordedClaim(BaseModel):
    """The verdict on a claim.

    Attributes:
        id: The claim.
        kind: What the verdict is worth; see `netbandit.studies.papers.claims.Claim`. None in older records.
        verdict: ``holds``, ``does not hold``, ``not decidable``, ``not decidable by the text`` or ``not tested``.
        measured: The measured quantity: ``ratio of regret: a against b``.
        number: The number that the verdict hangs on, with its interval, or with the least and the largest of all runs.
        confidence: Of that interval; None where every run counts, or no number exists.
        replications: The number of replications measured; None where the number does not exist.
        comparisons: Of how many numbers it is one.
        each: All of them, if there are several: of what, the number, and its verdict where it is not the claim's. Empty
            in older records.
        p: The smallest level at which the claim is decided; None where that was not asked.
        level: The level at which it was judged.
        together: The number of claims of the figure judged together.
        remarks: Findings needed to interpret the verdict.
        margins: The verdict with each of several margins, by name; empty where none is of ours.
    """

    model_config = _ENTRIES

    id: str
    kind: Kind | None = None
    verdict: Verdict
    measured: str
    number: str
    confidence: float | None
    replications: int | None
    comparisons: int
    each: tuple[str, ...] = ()
    p: float | None
    level: float
    together: int
    remarks: tuple[str, ...]
    margins: dict[str, Verdict] = {}


class RecordedFigure(BaseModel):
    """The result of reproducing a figure.

    Attributes:
        paper: The paper.
        figure: The figure.
        content: A hash of its points, with their replications, and of the measured quantities.
        runs: The number of its runs.
        timed_runs: The number of runs behind the computing time: those of the recording call, or all.
        core_seconds: The computing time of these, on one core; of all, where only some were done in that call, it is
            the notes of each.
        fingerprints: That of the first replication of each point, in their order; None where it failed.
        claims: The verdicts.
        machine: Processor, usable cores and system.
        versions: Python, netbandit and its libraries -> version.
        at: When it was recorded, ISO 8601 in UTC.
    """

    model_config = _ENTRIES

    paper: str
    figure: str
    content: str
    runs: int
    timed_runs: int
    core_seconds: float
    fingerprints: tuple[str | None, ...]
    claims: tuple[RecordedClaim, ...]
    machine: dict[str, str | int]
    versions: dict[str, str]
    at: str

    @property
    def seconds(self) -> float | None:
        """The computing time of all its runs, on one core; None where no run was timed."""
        return self.core_seconds * self.runs / self.timed_runs if self.timed_runs else None

    @property
    def decided(self) -> int:
        """The number of decided claims."""
        return sum(claim.verdict in (HOLDS, FAILS) for claim in self.claims)


Record = dict[tuple[str, str], RecordedFigure]
"""The figures of a record by paper and figure, the newest of each."""


def content_of(paper: Paper, figure: Figure) -> str:
    """Return the hash that identifies a figure's points, and the measured quantities of its claims.

    Raises:
        ScenarioError: A scenario has mistakes.
    """
    return _content(paper, figure, [(name, run_keys(point)) for name, point, _ in points_of(paper, figure, None)])


def _content(paper: Paper, figure: Figure, points: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the hash of a figure whose *points* are the scenario of each with the keys of its runs."""
    of_figure = [claim for claim in paper.claims if claim.figure == figure.id]
    claims = [claim.model_dump(exclude=_PROSE) for claim in of_figure]
    undecided = [claim.id for claim in of_figure if claim.no_verdict]
    around = {claim.id: claim.around for claim in of_figure if claim.around is not None}
    content = canonical(
        [figure.model_dump(exclude=_PROSE | {"note"}), claims, points, *filter(None, (undecided, around))]
    )
    return blake2b(content.encode(), digest_size=10).hexdigest()


def recorded(paper: Paper, figure: Figure, runs: FigureRuns, judgements: Sequence[Judgement]) -> RecordedFigure:
    """Return the record of a figure that has just been reproduced.

    Args:
        paper: Its paper.
        figure: The figure.
        runs: Its runs, all of which are there.
        judgements: The verdicts on its claims.
    """
    from netbandit.simulation.result import versions

    count, timed, seconds = sum(len(point.runs) for point in runs.points), runs.done, runs.seconds
    noted = {(run.fingerprint, run.metrics["wall_s"]) for point in runs.points for run in point.finished}
    if 0 < runs.done < len(noted):  # those done now need not take as long as the others
        timed, seconds = count, sum(float(wall or 0.0) for _, wall in noted)
    return RecordedFigure(
        paper=paper.name,
        figure=figure.id,
        content=_content(paper, figure, [(point.parameters[SCENARIO], point.keys) for point in runs.points]),
        runs=count,
        timed_runs=timed,
        core_seconds=round(seconds, 3),
        fingerprints=tuple(None if point.runs[0] is None else point.runs[0].fingerprint for point in runs.points),
        claims=tuple(map(_claim, judgements)),
        machine=machine(),
        versions=versions(),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _claim(judgement: Judgement) -> RecordedClaim:
    claim, one = judgement.claim, judgement.deciding
    found = one.interval
    return RecordedClaim(
        id=claim.id,
        kind=claim.kind,
        verdict=judgement.verdict,
        measured=f"{measure_text(judgement)} {claim.what}: {one.what}",
        number=comparison_text(judgement, one),
        confidence=None if found is None or claim.every_run else found.confidence,
        replications=None if found is None else found.replications,
        comparisons=len(judgement.comparisons),
        each=tuple(each_text(judgement)),
        p=judgement.p,
        level=judgement.level,
        together=judgement.family,
        remarks=tuple(found_remarks(judgement)),
        margins=dict(judgement.margins),
    )


def keep(file: Path, figure: RecordedFigure) -> None:
    """Write a figure to the record in *file*, in place of its former record.

    If no run was done now because all were there, the time that the same runs took before is kept.

    Raises:
        PaperRecordError: The file is something else.
        StorageError: It cannot be written.
    """
    with described(file.parent):  # others may be recorded at the same time
        remove_leftovers(file.parent)
        record = read(file)
        before = record.pop((figure.paper, figure.figure), None)
        if before is not None and not figure.timed_runs and before.fingerprints == figure.fingerprints:
            kept = {name: getattr(before, name) for name in ("timed_runs", "core_seconds")}
            figure = figure.model_copy(update=kept)
        write_whole(file, "".join(as_text(one.model_dump()) for one in [*record.values(), figure]))


def read(file: Path) -> Record:
    """Return the figures recorded in *file*, of which there may be none yet; of one recorded twice the last.

    Raises:
        PaperRecordError: It cannot be read, or a line of it is no figure.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise PaperRecordError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or 'not a text'}") from None
    found: Record = {}
    for number, line in enumerate(lines, 1):
        try:
            one = RecordedFigure.model_validate_json(line)
        except ValidationError:
            raise PaperRecordError(f"{file}:{number}: not a line that netbandit reproduce --record writes") from None
        found[one.paper, one.figure] = one
    return found


def shipped() -> Record:
    """Return the record that is shipped.

    Raises:
        PaperError: There are no papers.
        PaperRecordError: The file is damaged.
    """
    return read(papers_folder() / SHIPPED)


def current(record: Record, paper: Paper) -> Iterator[tuple[Figure, RecordedFigure | None]]:
    """Yield each figure of *paper* with its record; None without one, or if the measured quantities have changed."""
    for figure in paper.figures:
        found = record.get((paper.name, figure.id))
        yield figure, found if found is not None and found.content == content_of(paper, figure) else None
