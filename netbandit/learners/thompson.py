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
        self.rngs = [world.streams.generator("thompson", agent) for agent in range(agents)]

    def best(self, slot: int, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the arm with the largest draw; each agent draws from a stream of its own, whoever else decides."""
        known = self.known
        counts = known.counts[agents]
        arms = known.arms[agents, : counts.max()]
        rows = np.arange(len(agents))
        pulls, sums = known.pulls[agents[:, None], arms], known.sums[agents[:, None], arms]
        drawn = np.zeros(arms.shape)
        if self.world.law == "gaussian":
            for row, (agent, count) in enumerate(zip(agents.tolist(), counts.tolist(), strict=True)):
                drawn[row, :count] = self.rngs[agent].standard_normal(count)
            some = np.maximum(pulls, 1e-300)
            drawn = sums / some + self.world.sub_gaussian / np.sqrt(some) * drawn
            drawn[pulls == 0] = np.inf
        else:
            ones, zeros = 1.0 + sums, 1.0 + np.maximum(pulls - sums, 0.0)
            for row, (agent, count) in enumerate(zip(agents.tolist(), counts.tolist(), strict=True)):
                drawn[row, :count] = self.rngs[agent].beta(ones[row, :count], zeros[row, :count])
        drawn[np.arange(arms.shape[1]) >= counts[:, None]] = -np.inf
        return np.asarray(arms[rows, drawn.argmax(axis=1)])
