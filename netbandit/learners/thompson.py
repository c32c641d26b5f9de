"""Thompson sampling, alone or with what others have observed."""

from math import inf, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.counts import CountingLearner
from netbandit.learners.slots import Agents
from netbandit.learners.world import World


class Thompson(CountingLearner):
    """Pulls the arm with the largest draw from its posterior: Beta(1 + S, 1 + N - S), or Normal(S/N, sigma^2 / N).

    The latter with Gaussian rewards. One draw an own arm, ascending, from the stream ``thompson`` of the agent.
    """

    _combines: ClassVar[bool] = False

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state."""
        super().start(world, agents, rng)
        from netbandit.util import numpy_draws

        self.rngs = [world.streams.generator("thompson", agent) for agent in range(agents)]
        self._draws, self._states = numpy_draws, numpy_draws.addresses(self.rngs)
        self._deviation = world.sub_gaussian if world.law == "gaussian" else None

    def _choose_arms(self, slot: int, agents: Agents, found: NDArray[np.int64]) -> None:
        """Do what `choose_one` does; all numbers of an agent are drawn at once, which for numpy is faster."""
        known = self.known
        decided = known.decided[agents]
        known.decided[agents] += 1
        trying = (decided < known.counts[agents]) & (not self._in_turn)
        found[trying] = known.arms[agents[trying], decided[trying]]
        for row in np.flatnonzero(~trying).tolist():
            agent = agents[row]
            if self._open is not None and (unknown := self.unknown_one(agent)) >= 0:
                found[row] = unknown
                continue
            arms = known.arms[agent, : known.counts[agent]]
            pulls, sums = known.pulls[agent, arms], known.sums[agent, arms]
            if self._deviation is not None:
                some = np.maximum(pulls, 1e-300)
                drawn = sums / some + self._deviation / np.sqrt(some) * self.rngs[agent].standard_normal(len(arms))
                drawn[pulls == 0] = inf
            else:
                drawn = self.rngs[agent].beta(1.0 + sums, 1.0 + np.maximum(pulls - sums, 0.0))
            found[row] = arms[drawn.argmax()]
        if self._open is not None:
            self._open[agents, found] += 1.0
        if self.discount < 1.0:
            known.pulls[agents] *= self.discount
            known.sums[agents] *= self.discount

    def best_one(self, slot: int, agent: int) -> Any:
        """Return the arm with the largest draw; each agent draws from a stream of its own, whoever else decides."""
        best = self.known.arms[agent, 0]
        highest = -inf
        for place in range(self.known.counts[agent]):
            arm = self.known.arms[agent, place]
            pulls, sums = self.known.pulls[agent, arm], self.known.sums[agent, arm]
            if self._deviation is None:
                rest = pulls - sums if pulls > sums else 0.0
                drawn = self._draws.beta(self._states[agent], 1.0 + sums, 1.0 + rest)
            else:
                drawn = self._draws.standard_normal(self._states[agent])
                drawn = inf if pulls == 0.0 else sums / pulls + self._deviation / sqrt(pulls) * drawn
            if drawn > highest:
                highest = drawn
                best = arm
        return best
