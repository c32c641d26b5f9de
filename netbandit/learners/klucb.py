"""KL-UCB (Garivier & Cappé 2011), alone or with what others have observed."""

from math import inf, log, sqrt
from typing import Any

import numpy as np
from pydantic import Field

from netbandit.learners.counts import CountingLearner, Numbers
from netbandit.learners.world import World

HALVINGS = 40
"""Halvings of the interval that holds the index; its lower end is taken."""


class KlUcb(CountingLearner):
    """Pulls the arm with the largest q in [p, 1], p = S/N, with ``N kl(p, q) <= ln tau + c ln ln tau``.

    kl is that of Bernoulli rewards; with Gaussian rewards the index is in closed form that of ``ucb`` with alpha 1.
    """

    log_log: float = Field(default=0.0, ge=0)
    """c; theory requires 3."""

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state."""
        super().start(world, agents, rng)
        self._deviation = world.sub_gaussian if world.law == "gaussian" else None

    def level_of(self, log_time: float) -> float:
        """Return ``ln tau + c ln ln tau``, or with Gaussian rewards the width that follows from it."""
        level = log_time
        if self.log_log > 0.0:
            level += self.log_log * log(max(level, 1.0))
        if self._deviation is not None:
            return self._deviation * sqrt(2 * level)
        return level

    def best_one(self, slot: int, agent: int) -> Any:
        """Return the arm with the largest index."""
        level = self.level(slot, agent)
        if self._combined is not None:
            self.combine_one(agent, self._combined)
            return self.best_of_one(self._combined.pulls, self._combined.sums, 0, agent, level)
        return self.best_of_one(self.known.pulls, self.known.sums, agent, agent, level)

    def best_of_one(self, pulls: Numbers, sums: Numbers, row: int, agent: int, level: float) -> Any:
        """Return the own arm of *agent* with the largest index, the lowest among equals.

        Args:
            pulls: N, shape (n, K).
            sums: S, shape (n, K).
            row: The row of the agent in these.
            agent: The agent.
            level: What `level_of` returns.
        """
        if self._deviation is not None:
            return self.best_upper_one(pulls, sums, row, agent, level)
        best = self.known.arms[agent, 0]
        highest = -inf
        for place in range(self.known.counts[agent]):
            arm = self.known.arms[agent, place]
            index = inf
            if pulls[row, arm] > 0.0:
                mean = sums[row, arm] / pulls[row, arm]
                if mean < highest < 1.0:
                    # Not even the highest index so far is near enough to this mean: no need to find how near is.
                    apart = divergence(mean, highest)
                    if apart > level / pulls[row, arm]:
                        continue
                index = upper_mean(mean, level / pulls[row, arm])
            if index > highest:
                highest = index
                best = arm
        return best


def divergence(p: float, q: float) -> float:
    """Return the Kullback-Leibler divergence of Bernoulli laws of means *p* and *q*, 0 < q."""
    if p < q == 1.0:  # halfway between 1 and the number before it
        return inf
    found = 0.0
    if p > 0.0:
        found += p * log(p / q)
    if p < 1.0:
        found += (1.0 - p) * log((1.0 - p) / (1.0 - q))
    return found


def upper_mean(p: float, level: float) -> float:
    """Return the largest q in [p, 1] with ``kl(p, q) <= level``: the lower end after `HALVINGS` halvings."""
    low = min(max(p, 0.0), 1.0)
    mean = low
    high = 1.0
    if mean >= 1.0:
        return 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        apart = divergence(mean, middle)  # as statements calls are written in place, which compiles in half the time
        if apart <= level:
            low = middle
        else:
            high = middle
    return low
