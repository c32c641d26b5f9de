"""LinUCB and linear Thompson sampling for agents that each decide in every slot, and share their sums now and then."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.oful import Oful
from netbandit.learners.world import World


class SharedLinUcb(Oful):
    """OFUL with a radius that does not grow: alpha of ``linucb`` (Li et al. 2010)."""

    @property
    def weight(self) -> float:
        """What the width of an arm is multiplied with."""
        assert not isinstance(self.radius, str)
        return self.radius

    def remarks(self) -> tuple[str, ...]:
        """Say that agents explore too little for the noise of the rewards, where they do."""
        return self._daring("alpha", self.weight, 2 * self.world.sub_gaussian)

    def _daring(self, key: str, value: float, enough: float) -> tuple[str, ...]:
        if value >= enough:
            return ()
        return (
            f"{key} = {value:g} is small relative to the noise of these rewards: agents may settle early on a "
            f"suboptimal arm; with {key} = {enough:g} they continue to explore",
        )


class SharedLinTs(SharedLinUcb):
    """Chooses the arm with the largest ``<x, theta>``, ``theta ~ N(theta_hat, v^2 V^-1)`` (Agrawal & Goyal 2013)."""

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Begin as OFUL; draws come from ``thompson``, index: the agent."""
        super().start(world, agents, rng)
        # An agent draws one stream, whichever of its sets decides.
        self._rngs = self._common.setdefault(
            "thompson", [world.streams.generator("thompson", agent) for agent in range(agents)]
        )

    def remarks(self) -> tuple[str, ...]:
        """Say that agents explore too little for the noise of the rewards, where they do."""
        return self._daring("v", self.weight, self.world.sub_gaussian)

    def choose(self, slot: int, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Draw theta for each agent, and choose."""
        beliefs, param_set = self.beliefs, self.world.param_set
        self._steps.take_in_all(beliefs, agents, self.columns)
        beliefs.tally[1] += (beliefs.tally[0] - beliefs.held[param_set, agents]).sum()
        # With V^-1 = C C', C z has the covariance V^-1.
        factors = np.linalg.cholesky(beliefs.inverse[param_set, agents])
        normals: Any = np.stack([self._rngs[agent].standard_normal(factors.shape[-1]) for agent in agents.tolist()])
        drawn = beliefs.estimate[param_set, agents] + self.weight * (factors @ normals[:, :, None])[:, :, 0]
        return np.asarray(np.argmax((self._shown(agents) @ drawn[:, :, None])[:, :, 0], axis=1))
