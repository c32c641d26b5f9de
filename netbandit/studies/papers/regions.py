"""Regions in which a number must lie for a claim to be true."""

import math
from collections.abc import Sequence
from typing import Literal, Self

from pydantic import model_validator

from netbandit.parts.settings import Settings
from netbandit.results.intervals import Interval
from netbandit.results.numbers import shortest

Verdict = Literal["holds", "does not hold", "not decidable", "not decidable by the text", "not tested"]

HOLDS: Verdict = "holds"

FAILS: Verdict = "does not hold"

OPEN: Verdict = "not decidable"

BY_TEXT: Verdict = "not decidable by the text"
"""The sentence can be read in several ways, which decide differently: no number of replications decides it."""

NOT_TESTED: Verdict = "not tested"
"""The measured quantity is not that of the sentence: no number of replications decides it."""


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
        """Return whether *interval* lies inside the region, outside of it, or neither."""
        if math.isnan(interval.low) or math.isnan(interval.high):
            return OPEN
        enough = interval.low > self.lowest or (interval.low == self.lowest and self.above is None)
        not_too_much = interval.high < self.highest or (interval.high == self.highest and self.below is None)
        if enough and not_too_much:
            return HOLDS
        too_low = interval.high < self.lowest or (interval.high == self.lowest and self.above is not None)
        too_high = interval.low > self.highest or (interval.low == self.highest and self.below is not None)
        return FAILS if too_low or too_high else OPEN

    def holds_all(self, values: Sequence[float]) -> bool:
        """Return whether each of *values* lies inside the region."""
        return all(self.verdict(Interval(value, value, value, 1.0, 1)) == HOLDS for value in values)

    def with_margin(self, margin: float, around: float) -> Self:
        """Return the region with each bound moved to where it is the share *margin* of *around* away from it."""
        bounds = self.model_dump(exclude_none=True)
        moved = {name: around * (1 + (margin if bound > around else -margin)) for name, bound in bounds.items()}
        return type(self)(**moved)

    def room(self, interval: Interval) -> float:
        """Return how far inside the region *interval* ends; negative where it sticks out."""
        return min(interval.low - self.lowest, self.highest - interval.high)
