"""Claims of a few keys, and verdicts on them from a few numbers."""

from collections.abc import Sequence
from typing import Any

from netbandit.studies.papers.claims import Claim
from netbandit.studies.papers.verdicts import Evidence, InterimLook, Judgement, Measured


def claim(**keys: Any) -> Claim:
    """Return a claim on the mean cost, or what *keys* say."""
    whole = {"id": "x", "figure": "f", "where": "here", "says": "a", "read_as": "b", "of": "cost", "measure": "mean"}
    return Claim.model_validate({**whole, **keys})


def judge(asked: Claim, found: Sequence[Sequence[Any]], *said: str, look: InterimLook | None = None) -> Judgement:
    """Return the verdict on a claim from what was measured, the only one of its figure."""
    return Evidence(asked, [Measured(*each) for each in found], *said, look=look or InterimLook()).judged()
