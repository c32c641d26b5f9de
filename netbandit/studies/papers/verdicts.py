"""Verdicts: whether measured numbers support a claim.

Each comparison of a claim has an interval, and a region in which the number must lie for the sentence to be true: the
comparison ``holds`` if the whole interval lies inside, ``does not hold`` if it lies outside, and is ``not decidable``
else. The claim holds if all its comparisons do, and does not hold if one of them does not. The level at which it is
judged is the error of all its intervals together (Bonferroni), and its p-value the smallest level at which it is
decided. Which level that is depends on the other claims of its figure: `netbandit.studies.papers.multiple_testing`.
Where the setting cannot decide the sentence, whatever the numbers, the claim says so and is ``not tested``; where the
text can be read in several ways that decide differently, it is ``not decidable by the text``.

A statement that follows from an algorithm without chance is tested in each run instead: one run outside the region
refutes it. A bound refutes nothing: if an accountant's epsilon is above the promised one, less may have been spent.
Where runs can fail, a mean of few of them decides nothing: `netbandit.results.failures`.

Repeated looks after more replications, until a claim is decided, multiply the chances of an error. With looks planned
beforehand, each has its share of the error (Bonferroni over the looks), so all of them together decide wrongly no more
often than a single look.
"""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from netbandit.results import intervals
from netbandit.results.failures import Failures, too_few
from netbandit.results.intervals import MEDIAN, Interval
from netbandit.results.paired import smallest_level
from netbandit.studies.papers.claims import Claim
from netbandit.studies.papers.regions import BY_TEXT, FAILS, HOLDS, NOT_TESTED, OPEN, Verdict


@dataclass(frozen=True)
class InterimLook:
    """One of several looks at a claim, with more replications each time.

    Attributes:
        number: The index of the look, from 1.
        of: The largest number of looks, fixed before the first.
    """

    number: int = 1
    of: int = 1


@dataclass(frozen=True)
class Comparison:
    """One comparison of a claim.

    Attributes:
        what: The points that it concerns.
        interval: The number with its interval; None if it does not exist in some run. Of a claim on every run, the mean
            with the least and the largest.
        verdict: Its verdict on the claim.
        why_open: Why it decides nothing, if the interval is not the reason.
    """

    what: str
    interval: Interval | None
    verdict: Verdict
    why_open: str = ""


@dataclass(frozen=True)
class Judgement:
    """A claim and its measurement.

    Attributes:
        claim: The claim.
        comparisons: Its numbers.
        verdict: The verdict of all of them together.
        held: Properties of this instance that all points share, in words; empty if none is held fixed.
        chosen: Choices made after looking at verdicts, in words; empty if there were none.
        look: The look.
        level: The level at which it was judged.
        p: The smallest level at which it is decided; None if that was not asked, or every run or nothing decides.
        family: The number of claims judged together.
        failures: The failures at the points that it compares.
        margins: Its verdict with each of `netbandit.studies.papers.claims.MARGINS`, by name; empty where none is
            of ours.
    """

    claim: Claim
    comparisons: list[Comparison]
    verdict: Verdict
    held: str = ""
    chosen: str = ""
    look: InterimLook = field(default=InterimLook())
    level: float = 0.05
    p: float | None = None
    family: int = 1
    failures: tuple[Failures, ...] = ()
    margins: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def deciding(self) -> Comparison:
        """The comparison the verdict hangs on: of those with this verdict, the one nearest to another one.

        Of what is not tested, one that has an interval, if any has; where the text leaves a margin open, the comparison
        on which the verdict with ours hangs.
        """
        verdict = _verdict(self.comparisons)
        alike = [one for one in self.comparisons if one.verdict == verdict]

        def room(one: Comparison) -> float:
            found = -math.inf if one.interval is None else self.claim.region.room(one.interval)
            return -found if found == -math.inf and self.verdict == NOT_TESTED else found

        return min(alike, key=room)


Samples = Sequence[float | None]
"""The value of a formula in each replication of a point; None where undefined."""


class Measured(NamedTuple):
    """The measurement of one comparison.

    Attributes:
        what: The points that it concerns.
        points: For each of its points one sequence of samples for each of the claim's formulas.
        failures: The failures at each of its points.
    """

    what: str
    points: Sequence[Sequence[Samples]]
    failures: tuple[Failures, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """The measurement of a claim at one look, which can be judged at any level.

    Attributes:
        claim: The claim.
        measured: Its comparisons.
        held: The properties fixed in all runs, in words.
        chosen: Choices made after looking at verdicts, in words.
        look: The look.
    """

    claim: Claim
    measured: Sequence[Measured]
    held: str = ""
    chosen: str = ""
    look: InterimLook = field(default=InterimLook())

    @cached_property
    def p(self) -> float | None:
        """The smallest level at which the claim is decided, 1 if at none; None where every run decides, or nothing."""
        if self.claim.every_run or self.claim.no_verdict:
            return None
        return smallest_level(lambda level: _verdict(self._compared(self.claim, level)) != OPEN)

    def judged(self, level: float | None = None, *, family: int = 1, p: float | None = None) -> Judgement:
        """Return the verdict.

        Args:
            level: The error of all intervals of the claim together; by default as set by the claim.
            family: The number of claims judged together.
            p: The p-value, if it is to be reported.
        """
        level = 1 - self.claim.confidence if level is None else level
        claim = self.claim
        found = self._compared(claim, level)
        verdict, margins = _verdict(found), dict[str, Verdict]()
        if claim.no_verdict:
            verdict = NOT_TESTED if claim.not_tested else BY_TEXT
            found = [replace(one, verdict=verdict) for one in found]
        else:
            margins = {name: _verdict(self._compared(one, level)) for name, one in claim.by_margin().items()}
            verdict = _over_margins(set(margins.values())) if margins else verdict
        failures = tuple(one for each in self.measured for one in each.failures)
        return Judgement(claim, found, verdict, self.held, self.chosen, self.look, level, p, family, failures, margins)

    def _compared(self, claim: Claim, level: float) -> list[Comparison]:
        """Return the comparisons of the claim, with its own region or with another."""
        confidence = 1 - level / max(1, len(self.measured)) / self.look.of
        return [_compared(claim, each, confidence) for each in self.measured]


def _verdict(comparisons: Sequence[Comparison]) -> Verdict:
    verdicts = {comparison.verdict for comparison in comparisons}
    return verdicts.pop() if len(verdicts) == 1 else FAILS if FAILS in verdicts else OPEN


def _over_margins(verdicts: AbstractSet[Verdict]) -> Verdict:
    """Return what all margins agree on; where one holds and another does not, the text would have to say which."""
    if len(verdicts) == 1:
        return next(iter(verdicts))
    return BY_TEXT if {HOLDS, FAILS} <= verdicts else OPEN


def _compared(claim: Claim, measured: Measured, confidence: float) -> Comparison:
    what, points, failures = measured
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
        mean = math.fsum(values) / len(values)
        interval: Interval | None = Interval(mean, min(values), max(values), 1.0, len(values))
        # One run outside refutes; one run inside does not prove.
        verdict = FAILS if not claim.region.holds_all(values) else HOLDS if len(values) > 1 else OPEN
    else:
        interval = _interval(claim, columns, confidence)
        if interval is None:
            return Comparison(what, None, OPEN)
        verdict = claim.region.verdict(interval)
    if short := _too_short(claim, failures):
        return Comparison(what, interval, OPEN, too_few(min(short, key=lambda one: one.runs)))
    return Comparison(what, interval, _decided(claim, verdict))


def _too_short(claim: Claim, failures: Sequence[Failures]) -> list[Failures]:
    """Return those of *failures* that leave a mean open: of too few runs, of which some can fail."""
    if not failures or not claim.averages:
        return []
    metrics = {name for formula in claim.formulas for name in formula.metrics}
    return [one for one in failures if any(map(one.leave_open, metrics))]


def _decided(claim: Claim, verdict: Verdict) -> Verdict:
    """Return the verdict on the quantity from that on the number, which may be a bound: a bound refutes nothing."""
    shows_nothing = (claim.bound == "upper" and claim.region.lowest > -math.inf) or (
        claim.bound == "lower" and claim.region.highest < math.inf
    )
    return OPEN if shows_nothing or (verdict == FAILS and claim.bound in ("upper", "lower")) else verdict


def _each(claim: Claim, columns: Sequence[Sequence[Sequence[float]]]) -> list[float] | None:
    """Return the number of each run or pair of runs; None if one of them does not exist."""
    if claim.measure in ("mean", "median"):
        return list(columns[0][0])
    pairs = list(zip(columns[0][0], columns[1][0], strict=True))
    if claim.measure in ("difference", "median difference"):
        return [one - other for one, other in pairs]
    return None if any(other == 0 for _, other in pairs) else [one / other for one, other in pairs]


def _interval(claim: Claim, columns: Sequence[Sequence[list[float]]], confidence: float) -> Interval | None:
    first, second = columns[0][0], columns[-1][0]
    match claim.measure:
        case "mean":
            return intervals.mean(first, confidence)
        case "share":
            return intervals.share(first, confidence)
        case "difference":
            return intervals.difference(first, second, confidence, paired=claim.paired)
        case "ratio":
            return intervals.ratio(first, second, confidence, paired=claim.paired)
        case "geometric ratio":
            return None if min(first + second) <= 0 else intervals.geometric_ratio(first, second, confidence)
        case "median" | "median difference" | "median ratio":
            values = _each(claim, columns)
            return None if values is None else MEDIAN.of(values, confidence)
        case "slope":
            return intervals.slope([point[1] for point in columns], [point[0] for point in columns], confidence)
