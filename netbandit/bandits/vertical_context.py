"""Base of bandits with contexts: one user arrives in each slot, with a context for every arm."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import Bandit, GeneratorOf
from netbandit.parts.component import state


@dataclass(frozen=True)
class Users:
    """The users of one block of slots.

    Attributes:
        contexts: What the learner may see of each user and arm, shape (users, K, m).
        rewards: The reward of each arm, shape (users, K); NaN if unknown.
        regrets: How much less than the best arm each arm pays on average, shape (users, K); NaN if unknown, or
            where the choice does not count.
    """

    contexts: NDArray[np.float64]
    rewards: NDArray[np.float64]
    regrets: NDArray[np.float64]


@dataclass(frozen=True)
class Findings:
    """The figures of a bandit over all decisions of a run.

    Attributes:
        metrics: Its own figures by name, the most telling first; None where one does not exist.
        tracks: Quantities by name, each as it stood after every decision, shape (decisions,).
        remarks: What must be known to read these figures, a line each.
    """

    metrics: Mapping[str, float | int | None] = field(default_factory=dict)
    tracks: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class VerticalContextBandit(Bandit):
    """A bandit whose contexts lie in columns that are split among participants."""

    arm_count: int = state()
    """The number K of arms."""
    seen: int = state()
    """The number m of columns the learner sees."""
    columns: list[NDArray[np.int64]] = state()
    """For each participant, the columns it holds among those that are seen, ascending."""
    block: int = state()
    """The slots of a block; the users of a block are drawn together."""
    knows_best: bool = state(default=True)
    """Whether the mean reward of the best arm is known; if not there is no regret."""

    @abstractmethod
    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Return the users of the block that begins at slot ``block * self.block``.

        Args:
            block: The number of the block, from 0.
            generator: Streams of the replication.
        """

    def parameter(self) -> NDArray[np.float64] | None:
        """Return what rewards are linear in, shape (d,), the columns that are seen first; None if unknown."""
        return None

    def findings(self, users: NDArray[np.int64], arms: NDArray[np.int64], generator: GeneratorOf) -> Findings:
        """Return what there is to say of all decisions; nothing by default.

        Args:
            users: The slot in which each user came that was decided for, ascending, shape (decisions,).
            arms: The arm chosen for each, shape (decisions,).
            generator: Streams of the replication.
        """
        return Findings()
