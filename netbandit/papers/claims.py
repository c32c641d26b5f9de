"""What a paper claims, as data.

A claim is one sentence of a paper, read as one or more comparisons of numbers.
"""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from netbandit.papers.expressions import Expression
from netbandit.papers.regions import Region
from netbandit.settings import Settings

Selector = dict[str, Any]
"""Which points: dotted key of the scenario -> value; ``series`` and ``scenario`` name one of the figure."""


def _arithmetic(text: str) -> str:
    Expression(text)
    return text


Formula = Annotated[str, AfterValidator(_arithmetic)]
"""The text of an `Expression`."""


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
