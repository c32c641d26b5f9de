"""LinUCB and linear Thompson sampling for agents that each decide in every slot, and share their sums now and then."""

from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.feducb import FedUcb, FedUcbSettings
from netbandit.learners.learner import LearnerSettings
from netbandit.learners.linear_settings import LinTsSettings, LinUcbSettings
from netbandit.learners.slots import Surroundings
from netbandit.streams import Streams


class SharedLinUcb(FedUcb):
    """FedUCB without noise, on a fixed schedule, with a bonus that does not grow (Li et al. 2010).

    Args:
        settings: The keys of ``linucb`` or ``lints``.
        surroundings: The world and the protocol.
        streams: The streams of this replication.
        alpha: The weight of the width of an arm.
    """

    Settings: ClassVar[type[LearnerSettings]] = LinUcbSettings

    def __init__(
        self, settings: LinUcbSettings | LinTsSettings, surroundings: Surroundings, streams: Streams, alpha: float
    ) -> None:
        schedule = FedUcbSettings(epsilon=inf, schedule="fixed", every=settings.every, regularizer=settings.regularizer)
        super().__init__(schedule, surroundings, streams)
        self.bonus_terms[:] = (0.0, 0.0, 1.0, 1.0, alpha)  # nothing but what does not grow
        self._alpha = alpha

    @classmethod
    def build(cls, settings: Any, surroundings: Surroundings, streams: Streams) -> Self:
        """See :meth:`SlotLearner.build`."""
        return cls(settings, surroundings, streams, settings.alpha)

    def bonus(self, agent: int, slot: int) -> float:
        """Return alpha."""
        return self._alpha

    def remarks(self) -> tuple[str, ...]:
        """Say that agents explore too little for the noise of the rewards, where they do."""
        return self._daring("alpha", self._alpha, 2 * self.surroundings.sub_gaussian)

    def _daring(self, key: str, value: float, enough: float) -> tuple[str, ...]:
        if value >= enough:
            return ()
        return (
            f"{key} = {value:g} weighs little beside the noise of these rewards: agents may keep to an early guess for "
            f"good; with {key} = {enough:g} they try the others again",
        )


class SharedLinTs(SharedLinUcb):
    """Chooses the arm with the largest ``<x, theta>``, ``theta ~ N(theta_hat, v^2 V^-1)`` (Agrawal & Goyal 2013).

    Args:
        settings: The keys.
        surroundings: The world and the protocol.
        streams: The streams of this replication; draws come from ``thompson``, index: the agent.
    """

    Settings: ClassVar[type[LearnerSettings]] = LinTsSettings

    def __init__(self, settings: LinTsSettings, surroundings: Surroundings, streams: Streams) -> None:
        super().__init__(settings, surroundings, streams, 0.0)
        self._v = settings.v
        self._rngs = [streams.generator("thompson", agent) for agent in range(surroundings.agents)]

    @classmethod
    def build(cls, settings: Any, surroundings: Surroundings, streams: Streams) -> Self:
        """See :meth:`SlotLearner.build`."""
        return cls(settings, surroundings, streams)

    def remarks(self) -> tuple[str, ...]:
        """Say that agents explore too little for the noise of the rewards, where they do."""
        return self._daring("v", self._v, self.surroundings.sub_gaussian)

    def choose(self, agent: int, own: int, slot: int, actions: NDArray[np.float64]) -> int:
        """Draw theta, and choose."""
        beliefs = self.beliefs
        # With V^-1 = C C', C z has the covariance V^-1.
        factor = np.linalg.cholesky(beliefs.inverse[own, agent])
        drawn = self._rngs[agent].standard_normal(len(factor))
        return int(np.argmax(actions @ (beliefs.estimate[own, agent] + self._v * (factor @ drawn))))
