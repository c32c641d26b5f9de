"""KL-UCB (Garivier & Cappé 2011), alone or with what others have observed."""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.learners.counts import CountingLearner


class KlUcb(CountingLearner):
    """Pulls the arm with the largest q in [p, 1], p = S/N, with ``N kl(p, q) <= ln tau + c ln ln tau``.

    kl is that of Bernoulli laws; with Gaussian rewards the index is in closed form that of ``ucb`` with alpha 1.
    """

    log_log: float = Field(default=0.0, ge=0)
    """c; theory asks for 3."""

    def best(self, slot: int, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the arm with the largest index."""
        levels = self.log_time(slot, agents)
        if self.log_log:
            levels = levels + self.log_log * np.log(np.maximum(levels, 1.0))
        if self.world.law == "gaussian":
            widths = self.world.sub_gaussian * np.sqrt(2 * levels)
            return np.asarray(self._steps.best_upper_all(self.known, agents, widths))
        return np.asarray(self._steps.best_divergence_all(self.known, agents, levels))
