"""Whether measured numbers bear a claim out.

Each comparison of a claim has an interval, and a region in which the number must lie for the sentence to be true: the
comparison ``holds`` if the whole interval lies inside, ``does not hold`` if it lies outside, and is ``not decidable``
else. The claim holds if all its comparisons do, and does not hold if one of them does not. Its confidence is that of
all its intervals together (Bonferroni).

What follows from an algorithm and no chance decides is asked of each run instead: one outside the region refutes it.
A bound refutes nothing: where the epsilon an accountant finds is above what was promised, less may have been spent.

Whoever looks again after more replications, until a claim is decided, has several chances to err. With a plan of looks
made beforehand, each look has its share of the error (Bonferroni over the looks): all of them together decide wrongly
no more often than one look would.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from netbandit.papers.claims import Claim
from netbandit.papers.regions import FAILS, HOLDS, OPEN, Verdict
from netbandit.results import statistics as intervals
from netbandit.results.statistics import Interval


@dataclass(frozen=True)
class Look:
    """One of the times that a claim is looked at, with more replications each time.

    Attributes:
        number: Which one, from 1.
        of: How many there are at most, as was said before the first.
    """

    number: int = 1
    of: int = 1


@dataclass(frozen=True)
class Comparison:
    """One number of a claim.

    Attributes:
        what: Which points it is of.
        interval: The number with its interval; None if it does not exist in some run. Of a claim on every run, the mean
            with the least and the largest.
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
        held: What the points have in common that other instances would not, in words; empty if nothing is held.
        chosen: What was chosen after looking at verdicts, in words; empty if nothing was.
        look: Which look this is.
    """

    claim: Claim
    comparisons: list[Comparison]
    verdict: Verdict
    held: str = ""
    chosen: str = ""
    look: Look = field(default=Look())

    @property
    def deciding(self) -> Comparison:
        """The comparison the verdict hangs on: of those with this verdict, the one nearest to another one."""
        alike = [one for one in self.comparisons if one.verdict == self.verdict]

        def room(one: Comparison) -> float:
            return -math.inf if one.interval is None else self.claim.region.room(one.interval)

        return min(alike, key=room)


Samples = Sequence[float | None]
"""What a formula is worth in each replication of a point; None where it does not exist."""


def judge(
    claim: Claim,
    found: Sequence[tuple[str, Sequence[Sequence[Samples]]]],
    held: str = "",
    chosen: str = "",
    look: Look | None = None,
) -> Judgement:
    """Return the verdict on *claim*.

    Args:
        claim: The claim.
        found: For each comparison what it is of, and its samples: for each of its points, one sequence for each of
            the claim's formulas.
        held: What is held fixed in all runs, in words.
        chosen: What was chosen after looking at verdicts, in words.
        look: Which look this is, the only one if it is not said.
    """
    look = look or Look()
    confidence = 1 - (1 - claim.confidence) / max(1, len(found)) / look.of
    comparisons = [_compared(claim, what, points, confidence) for what, points in found]
    verdicts = {comparison.verdict for comparison in comparisons}
    verdict = FAILS if FAILS in verdicts else HOLDS if verdicts == {HOLDS} else OPEN
    return Judgement(claim, comparisons, verdict, held, chosen, look)


def _compared(claim: Claim, what: str, points: Sequence[Sequence[Samples]], confidence: float) -> Comparison:
    columns: list[list[list[float]]] = []
    for point in points:
        known = [[value for value in samples if value is not None] for samples in point]
        if not all(known) or any(len(some) < len(samples) for some, samples in zip(known, point, strict=True)):
            return Comparison(what, None, OPEN)
        columns.append(known)
    if claim.every_run:
        values = _each(claim, columns)
        if values is None:
            return Comparison(what, None, OPEN)
        interval: Interval | None = Interval(
            math.fsum(values) / len(values), min(values), max(values), 1.0, len(values)
        )
        # One run outside refutes; one run inside says nothing of others.
        verdict = FAILS if not claim.region.holds_all(values) else HOLDS if len(values) > 1 else OPEN
    else:
        interval = _interval(claim, columns, confidence)
        if interval is None:
            return Comparison(what, None, OPEN)
        verdict = claim.region.verdict(interval)
    return Comparison(what, interval, _decided(claim, verdict))


def _decided(claim: Claim, verdict: Verdict) -> Verdict:
    """Return what a verdict on the number says of the quantity, of which it may be a bound: a bound refutes nothing."""
    shows_nothing = (claim.bound == "upper" and claim.region.lowest > -math.inf) or (
        claim.bound == "lower" and claim.region.highest < math.inf
    )
    return OPEN if shows_nothing or (verdict == FAILS and claim.bound in ("upper", "lower")) else verdict


def _each(claim: Claim, columns: Sequence[Sequence[Sequence[float]]]) -> list[float] | None:
    """Return the number of each run or pair of runs; None if one of them does not exist."""
    if claim.measure == "mean":
        return list(columns[0][0])
    pairs = list(zip(columns[0][0], columns[1][0], strict=True))
    if claim.measure == "difference":
        return [one - other for one, other in pairs]
    return None if any(other == 0 for _, other in pairs) else [one / other for one, other in pairs]


def _interval(claim: Claim, columns: Sequence[Sequence[list[float]]], confidence: float) -> Interval | None:
    match claim.measure:
        case "mean":
            return intervals.mean(columns[0][0], confidence)
        case "share":
            return intervals.share(columns[0][0], confidence)
        case "difference":
            return intervals.difference(columns[0][0], columns[1][0], confidence, paired=claim.paired)
        case "ratio":
            return intervals.ratio(columns[0][0], columns[1][0], confidence, paired=claim.paired)
        case "geometric ratio":
            if min(columns[0][0] + columns[1][0]) <= 0:
                return None
            return intervals.geometric_ratio(columns[0][0], columns[1][0], confidence)
        case "slope":
            return intervals.slope([point[1] for point in columns], [point[0] for point in columns], confidence)
