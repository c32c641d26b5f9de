"""The claims of a paper, as data.

A claim is one sentence of a paper, or a question of our own, expressed as one or more comparisons of numbers.

A measured value is exact, or a bound: an accountant's epsilon is an upper bound of the privacy spent, an attack's a
lower bound. An upper bound can confirm that a number is small, but never refute it.
"""

import math
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from netbandit.parts.settings import Settings
from netbandit.studies.papers.expressions import Expression
from netbandit.studies.papers.regions import Region
from netbandit.studies.papers.selectors import Selector, selector_text


def _arithmetic(text: str) -> str:
    Expression(text)
    return text


Formula = Annotated[str, AfterValidator(_arithmetic)]
"""The text of an `Expression`."""


BOUNDS = frozenset({"epsilon", "delta"})
"""Metrics of an accountant, which are in general upper bounds of the privacy spent."""


Measure = Literal[
    "mean", "share", "difference", "ratio", "geometric ratio", "slope", "median", "median difference", "median ratio"
]
"""The measured quantity; see `Claim`."""

Kind = Literal["the paper's", "not the paper's number", "fitted", "ours"]
"""What a claim's verdict is worth as a test of the paper; see `Claim`."""

MARGINS = {"5 %": 0.05, "10 %": 0.1, "20 %": 0.2, "50 %": 0.5}
"""The margins at which a claim is judged whose sentence has a word such as "close" and no number."""

OF_TWO_POINTS = ("difference", "ratio", "geometric ratio", "median difference", "median ratio")
"""Measures that compare points."""

_OF_PAIRS = ("geometric ratio", "median difference", "median ratio")
"""Measures that are of pairs in any case."""


class Claim(Settings):
    """A sentence of a paper, and how it is measured.

    The points to measure are those of *points*, each with every combination of *each*; with *along*, each value
    of the key is compared to the one before it; with *against*, each point to each of those.

    Attributes:
        id: Its name, such as ``fig4-order``.
        figure: The figure whose runs decide it.
        where: Where the paper says it.
        says: The paper's statement, or a question of ours.
        kind: ``the paper's``: a sentence of the paper, and what decides it is the paper's, too. ``ours``: a question of
            our own, no sentence of the paper. ``fitted``: the setting was chosen so that this comes out, so that
            measuring it again is no test of it. ``not the paper's number``: a sentence of the paper that is decided by
            something of ours: a margin, a threshold, the constant of an order, a formula or model reconstructed where
            the text lost it. Each kind is counted for itself.
        paraphrased: Whether *says* is no quotation but puts a formula, an axis or several sentences into words of ours.
        read_as: Its meaning in numbers.
        measure: The number: the mean of a formula at a point, the share of runs in which it is true, the difference or
            the ratio of the means at two points, the geometric mean of the ratios of pairs (which counts each alike
            where instances differ by much), the slope of a line through all points that are selected; or the median of
            a formula, or of the differences or ratios of pairs (which few runs that fail do not move).
        of: The formula, taken of each run.
        to: The formula at the baseline, if that is another one.
        over: The formula of the horizontal axis of a slope.
        points: Selectors of the points.
        against: Selectors of the points they are compared to.
        less: Keys that, in place of a point's own, select the one point whose figure is taken off both sides first,
            replication by replication: two gains over it are compared, and described so.
        along: One key and the values along which neighbours are compared.
        each: Keys and their values: everything is measured for each combination.
        every_run: Whether the region is for the number of each run, or pair of runs, and not for its mean: for what
            follows from an algorithm and no chance decides. One run outside refutes it.
        bound: The relation of the number to the sentence's quantity: the quantity itself, an upper or a lower bound
            of it. A formula that names a metric of `BOUNDS` must state it.
        paired: Whether replications of two points with the same number are pairs.
        region: Where each number must lie.
        around: The number that the bounds of the region are a margin of ours away from, where the sentence has a word
            for it ("close", "far fewer") and no number: the claim is judged with each of `MARGINS`, of which ours is
            one, and is *not decidable by the text* if it holds with one and not with another.
        confidence: Of all statistical claims of its figure together, with all their intervals and looks; of several in
            a figure the largest counts.
        note: A remark for the reader, whatever the verdict.
        if_not: The reason that was looked for, shown if the claim is not found to hold.
        not_tested: Why no number that our setting gives decides the sentence, such as a horizon that the paper does not
            print and that turns the verdict. The numbers are measured and shown; the verdict is *not tested*.
        left_open: What the paper's text leaves open, if readings of it decide the sentence differently. The numbers of
            one reading are measured and shown; the verdict is *not decidable by the text*.
    """

    id: str
    figure: str
    where: str
    says: str
    kind: Kind = "the paper's"
    paraphrased: bool = False
    read_as: str
    measure: Measure
    of: Formula
    to: Formula | None = None
    over: Formula | None = None
    points: list[Selector] = Field(default=[{}], min_length=1)
    against: list[Selector] = Field(default=[])
    less: Selector | None = None
    along: dict[str, list[Any]] = Field(default={}, max_length=1)
    each: dict[str, list[Any]] = Field(default={})
    every_run: bool = False
    bound: Literal["exact", "upper", "lower"] | None = None
    paired: bool = True
    region: Region
    around: float | None = Field(default=None, gt=0)
    confidence: float = Field(default=0.95, gt=0, lt=1)
    note: str = ""
    if_not: str = ""
    not_tested: str = ""
    left_open: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        compares = self.measure in OF_TWO_POINTS
        if compares != bool(self.along or self.against) or (self.along and self.against):
            raise ValueError("a difference or a ratio needs along or against (one of them), other measures neither")
        if self.to is not None and not compares:
            raise ValueError("to is the formula that a difference or a ratio compares to; other measures have none")
        if self.less is not None and (not compares or self.to is not None or not self.paired):
            raise ValueError("less belongs to a difference or a ratio of pairs, with the same formula on both sides")
        if (self.measure == "slope") != (self.over is not None):
            raise ValueError("a slope needs over, the formula of its horizontal axis; other measures do not")
        if self.measure in _OF_PAIRS and not self.paired:
            raise ValueError(f"a {self.measure} is one of pairs")
        if self.measure == "geometric ratio" and self.less is not None:
            raise ValueError("a geometric ratio is one of pairs, of which nothing is taken off")
        if self.every_run and (self.measure not in ("mean", "difference", "ratio") or not self.paired):
            raise ValueError("every_run belongs to a mean, or to a difference or a ratio of pairs")
        if sum(map(bool, (self.not_tested, self.left_open, self.if_not))) > 1:
            raise ValueError(
                "a claim that is not tested, or left open, is not found wrong: give not_tested, left_open or if_not"
            )
        if self.around is not None and self.kind != "not the paper's number":
            raise ValueError('around belongs to a margin of ours: say kind = "not the paper\'s number"')
        if self.around is not None and all(one.region != self.region for one in self.by_margin().values()):
            margins = ", ".join(self.by_margin())
            raise ValueError(f"the bounds of the region must be a margin away from {self.around:g}: one of {margins}")
        named = sorted(BOUNDS & Expression(self.of).names)
        if named and self.bound is None:
            raise ValueError(
                f"{' and '.join(named)} may be a bound of what was spent: say bound = exact, upper or lower"
            )
        if self.bound == "upper" and self.region.lowest > -math.inf:
            raise ValueError("an upper bound cannot show that a number is large: its region has below or at_most alone")
        if self.bound == "lower" and self.region.highest < math.inf:
            raise ValueError("a lower bound cannot show that a number is small: its region has above or at_least alone")
        return self

    @property
    def ours(self) -> bool:
        """Whether it is a question of our own."""
        return self.kind == "ours"

    @property
    def no_verdict(self) -> str:
        """Why its numbers decide nothing; empty if they may."""
        return self.not_tested or self.left_open

    def by_margin(self) -> "dict[str, Claim]":
        """Return the claim with each of `MARGINS`, by name; none where its region is around no number."""
        if self.around is None:
            return {}
        regions = {name: self.region.with_margin(margin, self.around) for name, margin in MARGINS.items()}
        return {name: self.model_copy(update={"region": region}) for name, region in regions.items()}

    @property
    def what(self) -> str:
        """The measured quantity, in words: ``regret less regret at epsilon 4`` where the regret there is taken off."""
        taken_off = "" if self.less is None else f" less {self.of} at {selector_text(self.less)}"
        return self.of + taken_off + (f" over {self.over}" if self.over else f" to {self.to}" if self.to else "")

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """All formulas of the claim."""
        return tuple(Expression(text) for text in (self.of, self.to, self.over) if text is not None)

    @property
    def averages(self) -> bool:
        """Whether it is a mean that decides, which few runs that fail may move far."""
        return not self.every_run and self.measure != "share" and not self.measure.startswith("median")

    def taken(self, place: int) -> tuple[Expression, ...]:
        """Return the formulas for the runs at a point: at the first, the compared one, and for a slope both axes."""
        upward = self.to if place and self.to is not None else self.of
        return tuple(Expression(text) for text in (upward, self.over) if text is not None)

    def comparisons(self) -> "Iterator[tuple[Selector, Selector | None]]":
        """Yield the selector of each point and of its baseline, None where there is none."""
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
