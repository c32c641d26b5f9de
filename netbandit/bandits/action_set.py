"""Bandits whose actions are vectors: what an agent sees in a slot, and what its choice pays."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import Bandit, GeneratorOf
from netbandit.parts.component import state


class ActionSetBandit(Bandit):
    """A bandit that shows each agent a set of action vectors in every slot."""

    arm_count: int = state()
    """The number K of actions in a set."""
    dimension: int = state()
    """The length d of an action vector; no vector is longer than 1."""
    sub_gaussian: float = state()
    """The sub-Gaussian constant sigma of the rewards."""
    fixed_actions: NDArray[np.float64] | None = state(default=None)
    """The actions of all agents and slots where they stay the same, shape (K, d), or None."""
    ignored: bool = state(default=False)
    """Whether the learner looks at no vector, so that `actions` may return any; known before `begin`."""

    @property
    def law(self) -> str:
        """The distribution of rewards as learners of arms see it: ``gaussian``, or any ``other`` within [0, 1]."""
        return "other"

    @abstractmethod
    def begin(self, generator: GeneratorOf) -> None:
        """Begin at slot 0, with the streams of the rewards (purpose ``rewards``, index: the agent)."""

    @abstractmethod
    def actions(self, agents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the actions of the next slot of some agents, shape (n, K, d); asked once a slot, and only read."""

    @abstractmethod
    def pull(
        self, agents: NDArray[np.int64], arms: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Play *arms* of the sets shown last to *agents*, shape (n,).

        Returns:
            The rewards, and the pseudo-regret of these choices, both of shape (n,); None, in every slot, for a regret
            that is unknown.
        """
