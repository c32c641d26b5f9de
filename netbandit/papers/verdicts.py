"""Whether measured numbers bear a claim out.

Each comparison of a claim has an interval, and a region in which the number must lie for the sentence to be true: the
comparison ``holds`` if the whole interval lies inside, ``does not hold`` if it lies outside, and is ``not decidable``
else. The claim holds if all its comparisons do, and does not hold if one of them does not. Its confidence is that of
all its intervals together (Bonferroni).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from netbandit.papers.claims import Claim
from netbandit.papers.regions import FAILS, HOLDS, OPEN, Verdict
from netbandit.results import statistics as intervals
from netbandit.results.statistics import Interval


@dataclass(frozen=True)
class Comparison:
    """One number of a claim.

    Attributes:
        what: Which points it is of.
        interval: The number with its interval; None if it does not exist in some run.
        verdict: What it says of the claim.
    """

    what: str
    interval: Interval | None
    verdict: Verdict


@dataclass(frozen=True)
class Judgement:
    """A claim and what was measured.

    Attributes:
        claim: The claim.
        comparisons: Its numbers.
        verdict: All of them together.
    """

    claim: Claim
    comparisons: list[Comparison]
    verdict: Verdict

    @property
    def deciding(self) -> Comparison:
        """The comparison the verdict hangs on: of those with this verdict, the one nearest to another one."""
        alike = [one for one in self.comparisons if one.verdict == self.verdict]

        def room(one: Comparison) -> float:
            return -math.inf if one.interval is None else self.claim.region.room(one.interval)

        return min(alike, key=room)


Samples = Sequence[float | None]
"""What a formula is worth in each replication of a point; None where it does not exist."""


def judge(claim: Claim, found: Sequence[tuple[str, Sequence[Sequence[Samples]]]]) -> Judgement:
    """Return the verdict on *claim*.

    Args:
        claim: The claim.
        found: For each comparison what it is of, and its samples: for each of its points, one sequence for each of
            the claim's formulas.
    """
    confidence = 1 - (1 - claim.confidence) / max(1, len(found))
    comparisons = []
    for what, points in found:
        interval = _interval(claim, points, confidence)
        comparisons.append(Comparison(what, interval, OPEN if interval is None else claim.region.verdict(interval)))
    verdicts = {comparison.verdict for comparison in comparisons}
    verdict = FAILS if FAILS in verdicts else HOLDS if verdicts == {HOLDS} else OPEN
    return Judgement(claim, comparisons, verdict)


def _interval(claim: Claim, points: Sequence[Sequence[Samples]], confidence: float) -> Interval | None:
    columns: list[list[list[float]]] = []
    for point in points:
        known = [[value for value in samples if value is not None] for samples in point]
        if not all(known) or any(len(some) < len(samples) for some, samples in zip(known, point, strict=True)):
            return None
        columns.append(known)
    match claim.measure:
        case "mean":
            return intervals.mean(columns[0][0], confidence)
        case "share":
            return intervals.share(columns[0][0], confidence)
        case "difference":
            return intervals.difference(columns[0][0], columns[1][0], confidence, paired=claim.paired)
        case "ratio":
            return intervals.ratio(columns[0][0], columns[1][0], confidence, paired=claim.paired)
        case "slope":
            return intervals.slope([point[1] for point in columns], [point[0] for point in columns], confidence)
