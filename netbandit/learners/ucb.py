"""UCB1 and its relatives (Auer, Cesa-Bianchi, Fischer 2002), alone or with what others have observed."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.learners.counts import CountingLearner


class Ucb(CountingLearner):
    """Pulls the arm with the largest ``S/N + sigma sqrt(2 alpha ln tau / N)``, tau the slots already played."""

    exploration: float = Field(default=4.0, ge=0)
    """alpha: 4 is UCB1 on [0, 1], 2.1 RCL, 8 GosInE, and 1.5 with sigma = 1 FwA."""

    def width(self) -> float:
        """Return ``sigma sqrt(2 alpha)``: what ``sqrt(ln tau / N)`` is multiplied with."""
        return self.world.sub_gaussian * sqrt(2 * self.exploration)

    def best(self, slot: int, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the arm with the largest upper bound."""
        widths = self.width() * np.sqrt(self.log_time(slot, agents))
        return np.asarray(self._steps.best_upper_all(self.known, agents, widths))
