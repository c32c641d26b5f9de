"""``claims.csv`` and ``comparisons.csv``: the verdicts, and the numbers behind them."""

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from netbandit.results.held_folders import described
from netbandit.results.numbers import as_csv
from netbandit.results.safe_files import remove_leftovers, storage, write_whole
from netbandit.studies.papers.claim_text import by_margin_text, remarks
from netbandit.studies.papers.verdicts import Comparison, Judgement

CLAIMS = "claims.csv"
"""The table of claims: one row for each."""

COMPARISONS = "comparisons.csv"
"""The table of all numbers behind the claims."""

_COLUMNS = (
    "paper", "claim", "figure", "where", "says", "read_as", "measure", "of", "what", "value", "low", "high",
    "confidence", "replications", "holds_if", "verdict", "comparisons", "remark", "p", "level", "claims_together",
    "kind", "by_margin",
)  # fmt: skip


def write_claims(out: Path, judgements: Sequence[tuple[str, Judgement]]) -> list[Path]:
    """Write ``claims.csv``, a row for each claim with the number its verdict hangs on, and ``comparisons.csv``.

    Rows of other figures that are already there are kept.

    Args:
        out: The folder.
        judgements: Each with the name of its paper.

    Raises:
        StorageError: The folder cannot be written.
    """
    with storage(out):
        out.mkdir(parents=True, exist_ok=True)
    figures = {(paper, one.claim.figure) for paper, one in judgements}
    claims = [_row(paper, one, one.deciding, one.verdict) for paper, one in judgements]
    numbers = [_row(paper, one, each, each.verdict) for paper, one in judgements for each in one.comparisons]
    with described(out):  # others may add rows at the same time
        remove_leftovers(out)
        for file, rows in ((out / CLAIMS, claims), (out / COMPARISONS, numbers)):
            write_whole(file, as_csv([_COLUMNS, *_kept(file, figures), *rows]))
    return [out / CLAIMS, out / COMPARISONS]


def _kept(file: Path, figures: Collection[tuple[str, str]]) -> Iterator[list[str]]:
    """Yield the rows in *file* of other figures than these."""
    with storage(file):
        text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    for row in csv.DictReader(io.StringIO(text)):
        if row.get("figure") and (row.get("paper"), row["figure"]) not in figures:
            yield [row.get(column) or "" for column in _COLUMNS]


def _row(paper: str, judgement: Judgement, one: Comparison, verdict: str) -> list[str]:
    claim, interval, p = judgement.claim, one.interval, judgement.p
    levels = ["", "", ""] if p is None else [f"{p:.6g}", f"{judgement.level:.6g}", str(judgement.family)]
    numbers = ["", "", "", "", ""]
    if interval is not None:
        ends = [interval.value, interval.low, interval.high, interval.confidence]
        numbers = [*(f"{end:.10g}" for end in ends), str(interval.replications)]
    measure = claim.measure + (" in each run" if claim.every_run else "")
    return [
        paper, claim.id, claim.figure, claim.where, claim.says, claim.read_as, measure, claim.what, one.what, *numbers,
        str(claim.region), verdict, str(len(judgement.comparisons)), " ".join(remarks(judgement)), *levels,
        claim.kind, by_margin_text(judgement.margins),
    ]  # fmt: skip
