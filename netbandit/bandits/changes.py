"""Means that change while agents play: at given slots, at random ones, or a little in every slot."""

from bisect import bisect_right
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.bandit import GeneratorOf
from netbandit.parts.component import Checks, Mistake, Others, Part
from netbandit.parts.settings import Settings
from netbandit.util.memory import exceeded, shown

MOST_MEANS = 5 * 10**7
"""The most means that are computed ahead: slots, or breakpoints, times arms."""

_BYTES_A_NUMBER = 8
_BYTES_A_BREAKPOINT = 60
"""Memory of a breakpoint without its means; measured."""

_FEW = 50
"""Where one slot in more than so many is drawn, numpy does without an array of all."""


class Change(Settings):
    """New means from a slot on."""

    slot: int = Field(ge=1)
    """The first slot with the new means."""
    means: list[float] = Field(min_length=1)
    """The mean of each arm."""


class ChangingMeans(Part):
    """The keys of a world whose means change; at most one of them."""

    changes: Annotated[list[Change] | None, Field(min_length=1)] = None
    """Slots at which the means change, ascending: ``[{ slot = 5000, means = [0.8, 0.2] }]``."""
    breakpoints: int = Field(default=0, ge=0)
    """Number of distinct slots, drawn uniformly, at each of which all means are drawn afresh."""
    drift: float = Field(default=0.0, ge=0)
    """Standard deviation of the normal step that each mean takes in every slot, reflected at 0 and 1."""

    @property
    def changing(self) -> bool:
        """Whether means are not the same in all slots."""
        return self.changes is not None or self.breakpoints > 0 or self.drift > 0

    def check_changes(self, arms: int | None, drawn: bool) -> Checks:
        """Yield what is wrong with these keys.

        Args:
            arms: The number K of arms, if it is known.
            drawn: Whether the means are drawn.
        """
        chosen = [key for key in ("changes", "breakpoints", "drift") if getattr(self, key)]
        for key in chosen[1:]:
            yield Mistake(key, f"cannot be together with {chosen[0]}: means change in one way")
        if self.breakpoints and not drawn:
            yield Mistake("breakpoints", 'needs means that are drawn: means = "uniform"')
        before = 0
        for place, change in enumerate(self.changes or []):
            if change.slot <= before:
                yield Mistake(("changes", place, "slot"), f"must be larger than {before}: changes are in their order")
            before = change.slot
            if arms is not None and len(change.means) != arms:
                yield Mistake(
                    ("changes", place, "means"), f"lists {len(change.means)} means, but there are {arms} arms"
                )

    def check_course(self, others: Others, arms: int | None) -> Checks:
        """Yield more breakpoints than slots, and what is too much to be computed ahead."""
        if self.breakpoints >= others.horizon:
            yield Mistake("breakpoints", f"must be less than run.horizon = {others.horizon}")
        elif self.breakpoints and arms is not None:
            yield from self._check_breakpoints(others.horizon, arms)
        if self.drift and arms is not None and others.horizon * arms > MOST_MEANS:
            text = f"is computed for every slot and arm ahead, here {others.horizon * arms:,} of them"
            yield Mistake("drift", f"{text}; at most {MOST_MEANS:,}: make run.horizon or arms smaller")

    def _check_breakpoints(self, horizon: int, arms: int) -> Checks:
        """Yield breakpoints whose means are too many, or that do not fit the memory while they are drawn."""
        means = (self.breakpoints + 1) * arms
        drawn_from = horizon if self.breakpoints > horizon // _FEW else 0
        kept = 2 * _BYTES_A_NUMBER * means + _BYTES_A_BREAKPOINT * self.breakpoints
        size = max(_BYTES_A_NUMBER * (drawn_from + self.breakpoints), kept)
        if means > MOST_MEANS:
            text = f"too many: all {means:,} means, of each arm one after each of them, are drawn ahead"
            yield Mistake("breakpoints", f"{text}; at most {MOST_MEANS:,}")
        elif (most := exceeded(size)) is not None:
            text = f"too many: to draw {self.breakpoints:,} of {horizon:,} slots takes some {shown(size)} of memory"
            yield Mistake("breakpoints", f"{text}; {shown(most)} is available here")


class Course:
    """The common means of all slots.

    Args:
        keys: How means change.
        first: The means of slot 0, shape (K,).
        horizon: T, in slots.
        generator: Streams of the instance: ``bandit.breakpoints`` and ``bandit.drift``.

    Attributes:
        starts: The first slot of each period of constant means, ascending.
        means: The means of each period, shape (periods, K).
    """

    def __init__(self, keys: ChangingMeans, first: NDArray[np.float64], horizon: int, generator: GeneratorOf) -> None:
        arms = len(first)
        if keys.changes is not None:
            rows = [first, *(np.array(change.means, dtype=np.float64) for change in keys.changes)]
            self.starts, self.means = [0, *(change.slot for change in keys.changes)], np.stack(rows)
        elif keys.breakpoints:
            rng = generator("bandit.breakpoints", 0)
            slots = 1 + np.sort(rng.choice(horizon - 1, size=keys.breakpoints, replace=False))
            self.starts = [0, *slots.tolist()]
            self.means = np.concatenate([first[None], rng.random((keys.breakpoints, arms))])
        elif keys.drift:
            steps = generator("bandit.drift", 0).normal(0.0, keys.drift, size=(horizon - 1, arms))
            walk = np.cumsum(np.concatenate([first[None], steps]), axis=0)
            # Reflected at 0 and 1: a walk on the line, folded like a strip of paper two units long.
            folded = np.mod(walk, 2.0)
            self.starts, self.means = list(range(horizon)), np.where(folded > 1.0, 2.0 - folded, folded)
        else:
            self.starts, self.means = [0], first[None]
        self.means.setflags(write=False)
        self._horizon = horizon

    def at(self, slot: int) -> NDArray[np.float64]:
        """Return the means of *slot*, shape (K,)."""
        found: NDArray[np.float64] = self.means[self.period(slot)]
        return found

    def period(self, slot: int) -> int:
        """Return the number of the period that *slot* is in."""
        return slot if len(self.starts) == self._horizon else bisect_right(self.starts, slot) - 1

    def lengths(self) -> NDArray[np.int64]:
        """Return how many slots before the horizon each period has, shape (periods,)."""
        bounds = np.minimum([*self.starts, self._horizon], self._horizon)
        return np.diff(bounds).astype(np.int64)
