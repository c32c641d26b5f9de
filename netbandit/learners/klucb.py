"""KL-UCB (Garivier & Cappé 2011), alone or with what others have observed."""

from math import log, sqrt
from typing import Any

import numpy as np
from pydantic import Field

from netbandit.learners.counts import CountingLearner
from netbandit.learners.world import World


class KlUcb(CountingLearner):
    """Pulls the arm with the largest q in [p, 1], p = S/N, with ``N kl(p, q) <= ln tau + c ln ln tau``.

    kl is that of Bernoulli laws; with Gaussian rewards the index is in closed form that of ``ucb`` with alpha 1.
    """

    log_log: float = Field(default=0.0, ge=0)
    """c; theory requires 3."""

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Know nothing yet."""
        super().start(world, agents, rng)
        self._gaussian = world.law == "gaussian"

    def level_of(self, log_time: float) -> float:
        """Return ``ln tau + c ln ln tau``, or with Gaussian rewards the width that follows from it."""
        level = log_time
        if self.log_log > 0.0:
            level += self.log_log * log(max(level, 1.0))
        return self.world.sub_gaussian * sqrt(2 * level) if self._gaussian else level

    def best_one(self, slot: int, agent: int) -> Any:
        """Return the arm with the largest index."""
        pulls, sums = self.known.pulls[agent], self.known.sums[agent]
        if self._combined:
            self.combine_one(agent)
            pulls, sums = self._robust_pulls, self._robust_sums
        arms, count = self.known.arms[agent], self.known.counts[agent]
        level = self.level(slot, agent)
        if self._gaussian:
            return self._steps.best_upper(pulls, sums, arms, count, level)
        return self._steps.best_divergence(pulls, sums, arms, count, level)
