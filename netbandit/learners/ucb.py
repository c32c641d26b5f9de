"""UCB1 and its relatives (Auer, Cesa-Bianchi, Fischer 2002), alone or with what others have observed."""

from math import sqrt
from typing import Any

import numpy as np
from pydantic import Field

from netbandit.learners.counts import CountingLearner
from netbandit.learners.world import World


class Ucb(CountingLearner):
    """Pulls the arm with the largest ``S/N + sigma sqrt(2 alpha ln tau / N)``, tau the slots already played."""

    exploration: float = Field(default=4.0, ge=0)
    """alpha: 4 is UCB1 on [0, 1], 2.1 RCL, 8 GosInE, and 1.5 with sigma = 1 FwA."""

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state."""
        super().start(world, agents, rng)
        self._width = world.sub_gaussian * sqrt(2 * self.exploration)

    def level_of(self, log_time: float) -> float:
        """Return ``sigma sqrt(2 alpha ln tau)``."""
        return self._width * sqrt(log_time)

    def best_one(self, slot: int, agent: int) -> Any:
        """Return the arm with the largest upper bound."""
        width = self.level(slot, agent)
        if self._combined is not None:
            self.combine_one(agent, self._combined)
            return self.best_upper_one(self._combined.pulls, self._combined.sums, 0, agent, width)
        return self.best_upper_one(self.known.pulls, self.known.sums, agent, agent, width)
