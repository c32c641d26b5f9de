"""What every bandit with contexts is: users who come one a slot, each with a context for every arm."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import Bandit, GeneratorOf


@dataclass(frozen=True)
class Users:
    """The users of one block of slots.

    Attributes:
        contexts: What the learner may see of each user and arm, shape (users, K, m).
        rewards: What each arm would pay, shape (users, K); NaN where nobody knows.
        regrets: How much less than the best arm each arm pays on average, shape (users, K); NaN where nobody knows.
    """

    contexts: NDArray[np.float64]
    rewards: NDArray[np.float64]
    regrets: NDArray[np.float64]


class ContextBandit(Bandit):
    """A bandit whose contexts lie in columns that are split among participants.

    Attributes:
        arms: The number K of arms.
        dimension: The number m of columns the learner sees.
        columns: For each participant, the columns it holds among those that are seen, ascending.
        block: The slots of a block; the users of a block are drawn together.
    """

    arms: int
    dimension: int
    columns: list[NDArray[np.int64]]
    block: int

    @abstractmethod
    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Return the users of the block that begins at slot ``block * self.block``.

        Args:
            block: The number of the block, from 0.
            generator: Streams of the replication.
        """
