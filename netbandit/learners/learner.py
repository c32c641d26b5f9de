"""The base classes of learners, with the communication patterns that they use."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attack_kinds import Form
from netbandit.parts.component import CommunicationPattern, Part
from netbandit.privacy.accountant import PrivacySpent, account_openly

NO_DEFENCE = "no combination of what its agents send is known that withstands lies"
"""The default reason why a learner has no key ``robust``."""
NO_LIES = "no lie is defined for what its agents send"
"""The default reason why agents of a learner cannot be Byzantine."""


class AnyLearner(Part, ABC):
    """The common base class of learners; the subclass for each driver defines the required methods.

    ``netbandit.learners.slots:Learner`` decides in every slot and is the common case; an `EpochLearner` pulls arms in
    blocks; a ``GatherLearner`` decides at one node.
    """

    talks: ClassVar[frozenset[CommunicationPattern]] = frozenset()
    """The communication patterns it can use; the protocol must offer one of them."""
    counts_slots: ClassVar[bool] = False
    """Whether its rounds, phases or bounds count slots in which every agent decides, so that no other activity fits."""

    late_rewards: ClassVar[bool] = False
    """Whether it supports late rewards."""
    zero_for_missing: ClassVar[bool] = True
    """Whether, if so, 0 may stand for a reward that has not come (``feedback.missing``)."""
    needs_window: ClassVar[bool] = False
    """Whether it requires ``feedback.window``."""
    identifies: ClassVar[bool] = False
    """Whether it is there to answer which arm is best; tables show the answers of built-in ones without being asked."""

    def tells(self) -> Form | None:
        """Return the form of what its agents send, for Byzantine agents; None, the default: no lie is defined."""
        return None

    @property
    def bounded_releases(self) -> bool:
        """Whether releases of rewards in [0, 1] are in [0, 1], so that receivers can detect lies outside."""
        return False


@dataclass(frozen=True)
class Phase:
    """An exploration phase: arms in index order, all pulls of one before the next.

    Attributes:
        epoch: Its number r, from 1.
        arms: The active arms, ascending, shape (a,).
        pulls: Pulls n of each arm by each agent; a plain int, it may exceed 64 bits where the horizon cuts it.
    """

    epoch: int
    arms: NDArray[np.int64]
    pulls: int

    @property
    def slots(self) -> int:
        """The length of the phase."""
        return len(self.arms) * self.pulls


@dataclass(frozen=True)
class Commit:
    """The decision to pull *arm* until the horizon."""

    arm: int


class EpochLearner(AnyLearner):
    """A learner whose phases are known in advance: explore, share, conclude, and again.

    One started object is the common state of a *cohort*: agents that move through the epochs together. Once an epoch:
    :meth:`begin`, then (unless the horizon cuts the phase) :meth:`observe` with the rewards, then, when the round
    has ended, :meth:`conclude` with the aggregated means. Arrays it has handed out never change.

    A learner keeps up to date:

    * ``active``: the active arms, ascending, shape (a,);
    * ``releases``, after :meth:`observe`: what each member may share of the active arms, shape (members, a);
    * ``best_arms``, after :meth:`observe`: what each member pulls while it waits, shape (members,).
    """

    talks: ClassVar[frozenset[CommunicationPattern]] = frozenset({"round"})
    counts_slots: ClassVar[bool] = True

    def start(self, *, arms: int, horizon: int, members: int, participants: int, smallest_gap: float | None) -> None:
        """Make the state of a cohort before its first epoch.

        Args:
            arms: The number K of arms.
            horizon: T, in slots.
            members: Agents in the cohort; row i of every array is member i.
            participants: The number N of agents that share in a round.
            smallest_gap: The bandit's smallest gap above zero, or None where no arm is worse than another.
        """
        self.active: NDArray[np.int64] = np.arange(arms)
        self.releases: NDArray[np.float64] = np.zeros((members, arms))
        self.best_arms: NDArray[np.int64] = np.zeros(members, dtype=np.int64)

    def participants(self, members: int) -> int:
        """Return the number N of agents that share in a round of *members*; by default all of them."""
        return members

    @property
    def weighted(self) -> bool:
        """Whether averages of groups of agents are weighted by the groups' sizes; by default they are."""
        return True

    @abstractmethod
    def begin(self, epoch: int) -> Phase | Commit:
        """Return the next action of the cohort: explore in *epoch* (called with 1, 2, ...), or commit to an arm."""

    @abstractmethod
    def observe(self, sums: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Process the rewards of the phase, and set ``releases`` and ``best_arms``.

        Args:
            sums: The rewards of each member and active arm, summed over the phase's pulls, shape (members, a).
            rng: The stream of this epoch's noise; one draw for the whole cohort, row i is member i.
        """

    def best_given(self, member: int, sums: NDArray[np.int64], pulls: NDArray[np.int64]) -> int:
        """Return what a member pulls while it waits for rewards of its phase, where `late_rewards` is True.

        Args:
            member: The member.
            sums: The rewards of each active arm that it knows beside those observed, or minus those observed that it
                does not know yet; shape (a,).
            pulls: How many these are of each arm, or minus how many; shape (a,).
        """
        return int(self.best_arms[member])

    def local_answers(self) -> NDArray[np.int64] | None:
        """Return the arm that each member recommends for its own means, shape (members,); None: as for all.

        What it recommends for all is its entry of ``best_arms``, in the end the arm of `Commit`.
        """
        return None

    @abstractmethod
    def conclude(self, means: NDArray[np.float64]) -> None:
        """End the round with the aggregated mean of each active arm, shape (a,)."""

    def conclude_without(self, means: NDArray[np.float64], heard: int) -> None:
        """End the round with means of *heard* agents, fewer than participate; by default as if all were received."""
        self.conclude(means)

    def combine(
        self, values: NDArray[np.float64] | Sequence[NDArray[np.float64]], weights: Sequence[int] | None = None
    ) -> NDArray[np.float64]:
        """Combine releases: by default, return the mean of each arm.

        Args:
            values: One row for each participant or component, shape (n, a).
            weights: One for each row, such as a component's size; absent: all alike.
        """
        return np.asarray(np.average(np.asarray(values), axis=0, weights=weights))

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`."""
        return "means"

    def expect_lies(self, liars: int, groups: Callable[[], np.random.Generator]) -> None:
        """Receive, before :meth:`start`, the number of Byzantine agents of the run; by default does nothing.

        Args:
            liars: The number of Byzantine agents.
            groups: Returns the stream that draws groups of agents, one for each round.
        """
        return

    def figures(self) -> dict[str, float | int | None]:
        """Return additional metrics; by default there are none."""
        return {}

    def note_shared(self, agent: int, epoch: int, arms: NDArray[np.int64], numbers: NDArray[np.float64]) -> None:
        """Note that *agent* now shares *numbers*, its releases of *arms* in *epoch*; by default does nothing.

        An audit writes it down.
        """
        return

    def remarks(self, *, participants: int, members: int, difference: float) -> tuple[str, ...]:
        """Return remarks that readers of a run's metrics need, a line each; by default there are none.

        Args:
            participants: The number N of agents that share in a round.
            members: The number M of agents that they are drawn from.
            difference: The most that the means of one arm differ between two agents.
        """
        return ()

    def account(self, *, participants: int, members: int, releases: int) -> PrivacySpent:
        """Return the privacy spent by the agent that spent most; by default none is left once anything was shared.

        Args:
            participants: The number N of agents that share in a round.
            members: The number M of agents.
            releases: How often the agent that shared most often did, in all its lives.
        """
        return account_openly(releases)
