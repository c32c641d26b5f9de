"""Claims of a few keys."""

from typing import Any

from netbandit.papers.claims import Claim


def claim(**keys: Any) -> Claim:
    """Return a claim on the mean cost, or what *keys* say."""
    whole = {"id": "x", "figure": "f", "where": "here", "says": "a", "read_as": "b", "of": "cost", "measure": "mean"}
    return Claim.model_validate({**whole, **keys})
