"""What a learner is that decides in every slot among vectors, and now and then synchronises with its group."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.learner import Learner, Rhythm, Talk
from netbandit.privacy.accountant import PrivacySpent
from netbandit.streams import Streams


@dataclass(frozen=True)
class Surroundings:
    """What a learner is told of the world and of the protocol when it is built, as plain data.

    Attributes:
        agents: The number M of agents.
        arms: The number K of actions in a slot.
        dimension: The length d of an action; no action is longer than 1.
        fixed_actions: The actions of all slots where they stay the same, shape (K, d), or None.
        sub_gaussian: The sub-Gaussian constant sigma of the rewards.
        horizon: T, in slots.
        members: For each agent the size of the group that it synchronises with, itself included, shape (M,).
        sets: Sets of parameters an agent keeps and uses in turn.
        alone: Whether nothing is shared at all.
    """

    agents: int
    arms: int
    dimension: int
    fixed_actions: NDArray[np.float64] | None
    sub_gaussian: float
    horizon: int
    members: NDArray[np.int64]
    sets: int
    alone: bool


class SlotLearner(Learner):
    """The learner of all agents: one object that keeps what each of them knows.

    In every slot, for each agent: :meth:`choose`, then :meth:`learn`, which says whether the agent wants to
    synchronise. For each agent of a group that does: :meth:`release`, and when the sums of the group are there
    :meth:`adopt`; slots may have been played in between. From its wish on, or from :meth:`sync_started`, until it
    adopts, an agent must not wish again.

    Attributes:
        called: Whether a synchronisation must be called for by a message; if not, all agents know its slot.
    """

    rhythm: ClassVar[Rhythm] = "slots"
    talks: ClassVar[frozenset[Talk]] = frozenset({"call"})
    called: bool = True

    @classmethod
    @abstractmethod
    def build(cls, settings: Any, surroundings: Surroundings, streams: Streams) -> Self:
        """Return the learner before the first slot.

        Args:
            settings: The validated keys, an instance of ``cls.Settings``.
            surroundings: What it must know of the world and of the protocol.
            streams: The random streams of this replication.
        """

    @abstractmethod
    def choose(self, agent: int, own: int, slot: int, actions: NDArray[np.float64]) -> int:
        """Return the arm that *agent* pulls.

        Args:
            agent: The agent.
            own: The set of parameters that is in use.
            slot: The slot, from 0.
            actions: What there is to choose from, shape (K, d).
        """

    @abstractmethod
    def learn(self, agent: int, own: int, action: NDArray[np.float64], reward: float) -> bool:
        """Take in what *action*, shape (d,), paid *agent*; return whether it wants to synchronise set *own*."""

    def sync_started(self, agent: int, own: int) -> None:
        """Tell *agent* that a synchronisation of its set *own* is under way; by default it need not know."""

    @classmethod
    @abstractmethod
    def release_numbers(cls, dimension: int) -> int:
        """Return how many numbers a release has, for actions of this *dimension*."""

    @abstractmethod
    def release(self, agent: int, own: int) -> NDArray[np.float64]:
        """Return the numbers that *agent* gives away of its set *own*, shape (release_numbers,)."""

    def combine(self, releases: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return what a group makes of its members' *releases*: by default their sum, in order.

        A protocol may combine some of them on the way, and what comes of that later: as for a sum, what comes out must
        not depend on how releases are put together.
        """
        total = releases[0].copy()
        for release in releases[1:]:
            total += release
        return total

    @abstractmethod
    def adopt(self, agent: int, own: int, combined: NDArray[np.float64]) -> None:
        """Let *agent* take over in its set *own* what its group has *combined*; the array is not to be changed."""

    @abstractmethod
    def account(self, releases: int) -> PrivacySpent:
        """Return the privacy spent by the agent that released one of its sets most often, *releases* times."""

    def figures(self) -> dict[str, float | int | None]:
        """Return metrics of its own; by default there are none."""
        return {}

    def remarks(self) -> tuple[str, ...]:
        """Return what must be known to read its metrics, a line each; by default there is nothing."""
        return ()
