"""Interface of epoch learners whose agents may have different active sets, because they received different items.

Each agent then concludes from the items that it holds, or adopts the answer of a server.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Told:
    """The item that an agent sends about its active arms.

    Attributes:
        arms: The arms, ascending, shape (a,).
        means: What it releases of each, shape (a,).
        pulls: S_i, of how many pulls it knows the rewards: of each arm, or by arm, shape (a,).
    """

    arms: NDArray[np.int64]
    means: NDArray[np.float64]
    pulls: int | NDArray[np.int64]


@dataclass(frozen=True)
class Answer:
    """The conclusion of a server, for all its receivers.

    Attributes:
        active: The arms left, ascending, shape (a,).
        commit: The arm to pull until the horizon, or None.
    """

    active: NDArray[np.int64]
    commit: int | None


class DifferingSets(ABC):
    """The methods of an `EpochLearner` whose agents may have different active sets.

    Each agent has a learner of its own, a cohort of one; a server has one that never begins an epoch.
    """

    @abstractmethod
    def start_per_agent(
        self, *, arms: int, horizon: int, participants: int, members: int, smallest_gap: float | None
    ) -> None:
        """Make the state of one agent, or of the server, before the first epoch.

        Args:
            arms: The number K of arms.
            horizon: T, in slots.
            participants: The number N0 of agents that S(r) and the noise are made for: those that share with it.
            members: The number of agents that these are drawn from.
            smallest_gap: The bandit's smallest gap above zero, or None where no arm is worse than another.
        """

    def observe_some(self, sums: NDArray[np.int64], pulls: NDArray[np.int64]) -> None:
        """Take in those rewards of a phase that have come, in place of `EpochLearner.observe`.

        Args:
            sums: The rewards of each active arm, shape (1, a).
            pulls: How many these are of each arm, shape (a,).

        Raises:
            NotImplementedError: It cannot do without some, and its `late_rewards` is False.
        """
        raise NotImplementedError

    @abstractmethod
    def tell(self) -> Told:
        """Return the item of the agent for the epoch that it has observed."""

    @abstractmethod
    def pool(self, told: Sequence[Any]) -> Any:
        """Aggregate items (`Told`), or aggregates of items."""

    @abstractmethod
    def conclude_pooled(self, pooled: Any) -> None:
        """End the round of the agent with the aggregate of all items that it holds, its own included."""

    @abstractmethod
    def keep(self) -> None:
        """End the round of an agent that has received nothing."""

    @abstractmethod
    def adopt(self, answer: Answer) -> None:
        """End the round of an agent that receives the answer of a server."""

    @abstractmethod
    def answer(self, epoch: int, pooled: Any) -> Answer:
        """Let the server conclude a round of *epoch*."""
