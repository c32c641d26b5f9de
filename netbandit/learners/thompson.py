"""Thompson sampling, alone or with what others have observed."""

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.counts import CountingLearner
from netbandit.learners.world import World


class Thompson(CountingLearner):
    """Pulls the arm with the largest draw from its posterior: Beta(1 + S, 1 + N - S), or Normal(S/N, sigma^2 / N).

    The latter with Gaussian rewards. One draw an own arm, ascending, from the stream ``thompson`` of the agent.
    """

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Know nothing yet."""
        super().start(world, agents, rng)
        self._rngs = [world.streams.generator("thompson", agent) for agent in range(agents)]

    def best(self, slot: int, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the arm with the largest draw; each agent draws from a stream of its own, whoever else decides."""
        known = self.known
        found = np.empty(len(agents), dtype=np.int64)
        for row, agent in enumerate(agents.tolist()):
            arms = known.arms[agent, : known.counts[agent]]
            pulls, sums = known.pulls[agent, arms], known.sums[agent, arms]
            if self.world.law == "gaussian":
                normals = self._rngs[agent].standard_normal(len(arms))
                some = np.maximum(pulls, 1e-300)
                draws = sums / some + self.world.sub_gaussian / np.sqrt(some) * normals
                draws[pulls == 0] = np.inf
            else:
                draws = self._rngs[agent].beta(1.0 + sums, 1.0 + np.maximum(pulls - sums, 0.0))
            found[row] = arms[draws.argmax()]
        return found
