"""Robust aggregation of received values, some of which may be Byzantine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netbandit.byzantine.aggregation.cover import (
    Cover,
    cover_of_median,
    cover_of_median_of_means,
    cover_of_trimmed_mean,
)
from netbandit.byzantine.aggregation.geometric_median import geometric_median
from netbandit.byzantine.aggregation.rules import krum_row, mean, median, median_of_means, repeated, trimmed_mean
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.util.text import pluralize

Rule = Literal["mean", "median", "trimmed", "geometric", "median-of-means", "krum"]

SumRule = Literal["mean", "geometric", "trimmed", "median", "krum"]
"""Rules for the sums of linear learners."""

BY_ARM: frozenset[Rule] = frozenset({"mean", "median", "trimmed"})
"""Rules that combine each arm by itself, so that contributions may speak of different arms."""
COVERED: frozenset[Rule] = frozenset({"mean", "median", "trimmed", "median-of-means"})
"""Rules for which it is known how wide an interval must be."""


@dataclass
class Tally:
    """Counts the cases in a replication in which a defence could not work as intended.

    Attributes:
        outnumbered: Combinations of fewer than 2 f' + 1 contributions, of which f' forged ones could be the majority.
        unconverged: Geometric medians that had not converged when the iteration stopped.
        repaired: Matrices with negative eigenvalues, which were set to 0.
    """

    outnumbered: int = 0
    unconverged: int = 0
    repaired: int = 0


@dataclass(frozen=True)
class Defence:
    """An aggregation rule and its parameters.

    Attributes:
        rule: The rule.
        tolerate: f', the number of forged contributions that it must tolerate.
        groups: Of the median of means; None: 2 f' + 1.
        tally: Counts what it could not do as it should.
    """

    rule: Rule = "mean"
    tolerate: int = 0
    groups: int | None = None
    tally: Tally = field(default_factory=Tally, compare=False)

    @property
    def group_count(self) -> int:
        """How many groups a median of means has."""
        return 2 * self.tolerate + 1 if self.groups is None else self.groups

    @property
    def least(self) -> int:
        """The fewest contributions for which the rule is made."""
        if self.rule == "krum":
            return 2 * self.tolerate + 3
        if self.rule == "median-of-means":
            return self.group_count
        return 1 if self.rule == "mean" else 2 * self.tolerate + 1

    def hear(self, contributions: int) -> None:
        """Note that so many *contributions* are combined."""
        self.tally.outnumbered += self.rule != "mean" and contributions < 2 * self.tolerate + 1

    def combine(
        self, values: ArrayLike, weights: Sequence[int] | None, groups: Callable[[], np.random.Generator]
    ) -> NDArray[np.float64]:
        """Return the aggregate of *values*, shape (d,).

        With fewer contributions than the rule requires, it trims or tolerates fewer.

        Args:
            values: A row for each contribution, shape (n, d), n >= 1.
            weights: How many agents each row stands for; None: one each. A row counts as if each of these had sent it.
            groups: Returns the stream that draws the groups of a median of means.
        """
        if self.rule == "mean":
            return mean(values, weights)
        rows = repeated(values, weights)
        n = len(rows)
        if self.rule == "median":
            return median(rows)
        if self.rule == "trimmed":
            return trimmed_mean(rows, min(self.tolerate, (n - 1) // 2))
        if self.rule == "geometric":
            found = geometric_median(rows)
            self.tally.unconverged += not found.converged
            return found.point
        if self.rule == "median-of-means":
            return median_of_means(rows, min(self.group_count, n), groups())
        return median(rows) if n < 3 else krum_row(rows, min(self.tolerate, (n - 3) // 2))

    def figures(self) -> dict[str, float | int | None]:
        """Return the metrics of its tally; nothing of a mean."""
        if self.rule == "mean":
            return {}
        geometric = {"unconverged": self.tally.unconverged} if self.rule == "geometric" else {}
        return {"outnumbered": self.tally.outnumbered, **geometric}

    def cover(self, agents: int) -> Cover:
        """Return by how much the intervals around what stands for so many *agents* must be wider than a mean's."""
        if self.rule == "median":
            return cover_of_median(self.tolerate / agents)
        if self.rule == "trimmed":
            return cover_of_trimmed_mean(self.tolerate / agents)
        if self.rule == "median-of-means":
            return cover_of_median_of_means(agents, self.group_count, self.tolerate)
        return Cover()


def defence_checks(learner: Any, others: Others) -> Checks:
    """Yield a defence of sums for which too few are put together, and one that has no effect.

    Args:
        learner: A learner with the keys ``robust`` and ``tolerate``.
        others: The other parts.
    """
    if learner.robust == "mean":
        if learner.tolerate is not None:
            yield Note("tolerate", 'is not used with robust = "mean"')
        return
    if others.protocol.isolated:
        yield Note("robust", "has no effect: agents never communicate")
        return
    if learner.robust in ("median", "geometric") and learner.tolerate is not None:
        yield Note("tolerate", f'robust = "{learner.robust}" withstands what it can: only what is noted depends on it')
    yield from enough_contributions(
        Defence(learner.robust, others.liars if learner.tolerate is None else learner.tolerate),
        others.protocol.fewest_together(others.graph),
    )
    yield from more_liars_than_withstood(learner.tolerate, others.liars)


def enough_contributions(defence: Defence, heard: int) -> Checks:
    """Yield a defence that needs more contributions than the number *heard*, or one against half of them."""
    if defence.least > heard and defence.rule != "median":
        key = "groups" if defence.rule == "median-of-means" else "tolerate"
        text = f'robust = "{defence.rule}" with {pluralize(defence.tolerate, "liar")} to withstand needs'
        yield Mistake(key, f"{text} {defence.least} contributions, and there are {heard} at one place")
    elif 2 * defence.tolerate >= heard:
        yield Note("tolerate", half_of(defence, heard))


def half_of(defence: Defence, heard: int) -> str:
    """Return what is to be said of a defence against half of those that are *heard*, or more."""
    return f"{defence.tolerate} of {heard} are half of all, or more, against which nothing helps"


def more_liars_than_withstood(tolerate: int | None, liars: int) -> Checks:
    """Yield more *liars* than the number that was written for a defence to *tolerate*."""
    if tolerate is not None and liars > tolerate:
        yield Note("tolerate", f"{pluralize(liars, 'agent')} lie, more than are to be withstood")
