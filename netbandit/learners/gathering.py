"""Learners that see the contexts of users at one node, and the learners that stand for them in slots."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.learner import NO_DEFENCE, AnyLearner
from netbandit.learners.slots import Learner
from netbandit.parts.component import CommunicationPattern


class GatherLearner(AnyLearner):
    """A learner at one node that sees the contexts of a user once all parts of them have arrived."""

    impossible: ClassVar[Mapping[str, str]] = {"robust": NO_DEFENCE}
    late_rewards: ClassVar[bool] = True
    talks: ClassVar[frozenset[CommunicationPattern]] = frozenset({"gather"})
    draws_normals: ClassVar[bool] = False
    """Whether it needs a standard normal vector a user."""
    stands_in_slots: ClassVar[bool] = False
    """Whether there is a learner that stands for it where each agent decides in every slot."""

    def in_slots(self) -> Learner:
        """Return the learner that stands for it where each agent decides in every slot, if there is one."""
        raise NotImplementedError

    @abstractmethod
    def start(self, dimension: int) -> None:
        """Make the state before the first user, whose contexts have as many columns m."""

    @abstractmethod
    def play(
        self, contexts: NDArray[np.float64], rewards: NDArray[np.float64], normals: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Choose an arm for each user, one after another, and learn from its reward.

        Args:
            contexts: Shape (users, K, m), C-contiguous.
            rewards: What each arm would pay, shape (users, K); only that of the chosen arm is looked at, and where
                it is NaN the user teaches nothing.
            normals: Standard normal vectors, shape (users, m); may have no rows where none are needed. They belong
                to the coordinates of the contexts: where these are rotated, so must they be.

        Returns:
            The arm of each user, shape (users,).
        """

    def operations(self, arms: int, dimension: int) -> int | None:
        """Return the unit operations of a decision, by the paper's count; None, the default: unknown.

        Args:
            arms: K.
            dimension: The columns m of a context.
        """
        return None

    @property
    @abstractmethod
    def parameter(self) -> NDArray[np.float64]:
        """The present estimate theta_hat, shape (m,)."""


def in_slots(learner: AnyLearner) -> Learner:
    """Return the learner that decides in every slot of each agent: *learner*, or the one in its place."""
    found = learner.in_slots() if isinstance(learner, GatherLearner) else learner
    assert isinstance(found, Learner)  # checked before anything runs
    return found
