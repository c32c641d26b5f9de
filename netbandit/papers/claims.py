"""What a paper claims, as data, and whether runs bear it out.

A claim is one sentence of a paper, read as one or more comparisons of numbers. Each comparison has an interval, and a
region in which the number must lie for the sentence to be true: the comparison ``holds`` if the whole interval lies
inside, ``does not hold`` if it lies outside, and is ``not decidable`` else. The claim holds if all its comparisons do,
and does not hold if one of them does not. Its confidence is that of all its intervals together (Bonferroni).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from netbandit.papers.expressions import Expression
from netbandit.results import statistics as intervals
from netbandit.results.statistics import Interval
from netbandit.settings import Settings

Verdict = Literal["holds", "does not hold", "not decidable"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "does not hold"
OPEN: Verdict = "not decidable"

Selector = dict[str, Any]
"""Which points: dotted key of the scenario -> value; ``series`` and ``scenario`` name one of the figure."""


def _arithmetic(text: str) -> str:
    Expression(text)
    return text


Formula = Annotated[str, AfterValidator(_arithmetic)]
"""The text of an `Expression`."""


class Region(Settings):
    """Where a number must lie; a bound that is left out is no bound."""

    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if self.above is not None and self.at_least is not None:
            raise ValueError("above and at_least are both lower bounds: give one")
        if self.below is not None and self.at_most is not None:
            raise ValueError("below and at_most are both upper bounds: give one")
        if not self.model_dump(exclude_none=True):
            raise ValueError("a region needs a bound: above, at_least, below or at_most")
        if self.lowest >= self.highest and not self.lowest == self.highest == self.at_least == self.at_most:
            raise ValueError("the region is empty: its lower bound must be below its upper bound")
        return self

    @property
    def lowest(self) -> float:
        """The lower bound, ``-inf`` without one."""
        return next((bound for bound in (self.above, self.at_least) if bound is not None), -math.inf)

    @property
    def highest(self) -> float:
        """The upper bound, ``inf`` without one."""
        return next((bound for bound in (self.below, self.at_most) if bound is not None), math.inf)

    def __str__(self) -> str:
        bounds = self.model_dump(exclude_none=True)
        if len(set(bounds.values())) == 1 and len(bounds) == 2:
            return f"exactly {shortest(self.lowest)}"
        return " and ".join(f"{name.replace('_', ' ')} {shortest(bound)}" for name, bound in bounds.items())

    def verdict(self, interval: Interval) -> Verdict:
        """Say whether *interval* lies inside the region, outside of it, or neither."""
        if math.isnan(interval.low) or math.isnan(interval.high):
            return OPEN
        enough = interval.low > self.lowest or (interval.low == self.lowest and self.above is None)
        not_too_much = interval.high < self.highest or (interval.high == self.highest and self.below is None)
        if enough and not_too_much:
            return HOLDS
        too_low = interval.high < self.lowest or (interval.high == self.lowest and self.above is not None)
        too_high = interval.low > self.highest or (interval.low == self.highest and self.below is not None)
        return FAILS if too_low or too_high else OPEN

    def room(self, interval: Interval) -> float:
        """Return how far inside the region *interval* ends; negative where it sticks out."""
        return min(interval.low - self.lowest, self.highest - interval.high)


class Claim(Settings):
    """A sentence of a paper, and how it is measured.

    The points to measure are those of *points*, each with every combination of *each*; with *along*, each value
    of the key is compared to the one before it; with *against*, each point to each of those.

    Attributes:
        id: Its name, such as ``fig4-order``.
        figure: The figure whose runs decide it.
        where: Where the paper says it.
        says: What the paper says.
        read_as: What that means in numbers.
        measure: The number: the mean of a formula at a point, the share of runs in which it is true, the difference or
            the ratio of the means at two points, or the slope of a line through all points that are selected.
        of: The formula, taken of each run.
        to: The formula taken of what it is compared to, if that is another one.
        over: The formula of the horizontal axis of a slope.
        points: Selectors of the points.
        against: Selectors of the points they are compared to.
        less: Keys that, in place of a point's own, select the one point whose figure is taken off both sides first,
            replication by replication: the ratio of two gains over it.
        along: One key and the values along which neighbours are compared.
        each: Keys and their values: everything is measured for each combination.
        paired: Whether replications of two points with the same number are pairs.
        region: Where each number must lie.
        confidence: Of all intervals of the claim together.
        note: What a reader must know in any case.
        if_not: The reason that was looked for, shown if the claim is not found to hold.
    """

    id: str
    figure: str
    where: str
    says: str
    read_as: str
    measure: Literal["mean", "share", "difference", "ratio", "slope"]
    of: Formula
    to: Formula | None = None
    over: Formula | None = None
    points: list[Selector] = Field(default=[{}], min_length=1)
    against: list[Selector] = Field(default=[])
    less: Selector | None = None
    along: dict[str, list[Any]] = Field(default={}, max_length=1)
    each: dict[str, list[Any]] = Field(default={})
    paired: bool = True
    region: Region
    confidence: float = Field(default=0.95, gt=0, lt=1)
    note: str = ""
    if_not: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        compares = self.measure in ("difference", "ratio")
        if compares != bool(self.along or self.against) or (self.along and self.against):
            raise ValueError("a difference or a ratio needs along or against (one of them), other measures neither")
        if self.to is not None and not compares:
            raise ValueError("to is the formula that a difference or a ratio compares to; other measures have none")
        if self.less is not None and (not compares or self.to is not None or not self.paired):
            raise ValueError("less belongs to a difference or a ratio of pairs, with the same formula on both sides")
        if (self.measure == "slope") != (self.over is not None):
            raise ValueError("a slope needs over, the formula of its horizontal axis; other measures do not")
        return self

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """All formulas of the claim."""
        return tuple(Expression(text) for text in (self.of, self.to, self.over) if text is not None)

    def taken(self, place: int) -> tuple[Expression, ...]:
        """Return what is taken of the runs at a point: at the first, what is compared, and for a slope both axes."""
        upward = self.to if place and self.to is not None else self.of
        return tuple(Expression(text) for text in (upward, self.over) if text is not None)

    def comparisons(self) -> "Iterator[tuple[Selector, Selector | None]]":
        """Yield the selector of each point and of what it is compared to, None where it is compared to nothing."""
        for values in product(*self.each.values()):
            fixed = dict(zip(self.each, values, strict=True))
            for point in self.points:
                for key, steps in self.along.items():
                    for before, after in pairwise(steps):
                        yield {**fixed, **point, key: after}, {**fixed, **point, key: before}
                for other in self.against:
                    yield {**fixed, **point}, {**fixed, **other}
                if not self.along and not self.against:
                    yield {**fixed, **point}, None


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


def shortest(value: float) -> str:
    """Return a number as a person writes it: ``10,000``, ``0.95``, ``1``."""
    text = f"{value:,.6f}".rstrip("0").rstrip(".") if abs(value) >= 1e-4 or value == 0 else f"{value:g}"
    return text.replace("-0", "0") if text in ("-0",) else text


def interval_text(interval: Interval | None) -> str:
    """Return an interval with as many digits as it is wide: ``0.926 [0.921, 0.931]``."""
    if interval is None:
        return "does not exist in some run"
    if not math.isfinite(interval.low) or not math.isfinite(interval.high):
        return f"{shortest(float(f'{interval.value:.4g}'))} [no interval]"
    width = interval.high - interval.low
    largest = max(abs(interval.low), abs(interval.high))
    digits = 6 if width <= 0 or largest == 0 else max(0, 1 - math.floor(math.log10(width / 2)))
    ends = [shortest(round(end, min(digits, 9))) for end in (interval.value, interval.low, interval.high)]
    return f"{ends[0]} [{ends[1]}, {ends[2]}]"


def selector_text(point: Mapping[str, Any], against: Mapping[str, Any] | None) -> str:
    """Return which points a comparison is of: ``star against ring, horizon 10,000``."""
    if against is None:
        return ", ".join(_named(key, value) for key, value in point.items()) or "all runs"
    differ = [key for key in dict.fromkeys([*point, *against]) if point.get(key) != against.get(key)]
    sides = [" ".join(_named(key, side[key]) for key in differ if key in side) or "all" for side in (point, against)]
    alike = [_named(key, value) for key, value in point.items() if key not in differ]
    return ", ".join([" against ".join(sides) if differ else "", *alike]).removeprefix(", ")


def _named(key: str, value: Any) -> str:
    text = shortest(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
    return text if key in ("series", "scenario") else f"{key.split('.')[-1]} {text}"
