"""What every learner is: a rhythm, the ways it needs to talk, and its keys."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from netbandit.privacy.accountant import PrivacySpent
from netbandit.settings import Problem, Settings

Rhythm = Literal["epochs", "slots"]
"""``epochs``: phases known ahead; ``slots``: a decision in every slot."""

Talk = Literal["round", "call", "broadcast", "gather"]
"""``round``: everyone contributes and it has an end; ``call``: a round that somebody calls for;
``broadcast``: an item reaches others one by one; ``gather``: one node needs all parts before it can act."""


class LearnerSettings(Settings):
    """The keys that every learner has.

    Attributes:
        kind: Which learner.
    """

    kind: str

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the mistakes between keys of a raw *table*, paths relative to it.

        The table is the raw one, so that these mistakes are shown together with those of single keys; what is
        wrong with a key alone is reported by the model and must be passed over here.
        """
        yield from ()

    def problems_with(self, facts: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the mistakes between these keys and the bandit, paths relative to the learner's table.

        Args:
            facts: What the bandit's settings know before anything is drawn; a fact may be missing.
        """
        yield from ()

    def problems_over(self, *, server_chooses: bool) -> Iterator[Problem]:
        """Yield the mistakes between these keys and the protocol, paths relative to the learner's table.

        Args:
            server_chooses: Whether the protocol has a server that can choose the participants of a round.
        """
        yield from ()


class Learner(ABC):
    """Marks a learner; what it must be able to do follows from its rhythm.

    Attributes:
        Settings: Its keys.
        rhythm: What drives it.
        talks: The ways to talk it can use; the protocol must offer one of them.
    """

    Settings: ClassVar[type[LearnerSettings]]
    rhythm: ClassVar[Rhythm]
    talks: ClassVar[frozenset[Talk]]


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


class EpochLearner(Learner):
    """A learner whose phases are known ahead: explore, share, conclude, and again.

    One object is the common state of a *cohort*: agents that move through the epochs together. Once an epoch:
    :meth:`begin`, then (unless the horizon cuts the phase) :meth:`observe` with the rewards, then, when the round
    has ended, :meth:`conclude` with the aggregated means. Arrays it has handed out never change.

    Attributes:
        active: The active arms, ascending, shape (a,).
        releases: After :meth:`observe`: what each member may share of the active arms, shape (members, a).
        best_arms: After :meth:`observe`: what each member pulls while it waits, shape (members,).
    """

    rhythm: ClassVar[Rhythm] = "epochs"
    talks: ClassVar[frozenset[Talk]] = frozenset({"round"})

    active: NDArray[np.int64]
    releases: NDArray[np.float64]
    best_arms: NDArray[np.int64]

    @classmethod
    @abstractmethod
    def build(
        cls, settings: Any, *, arms: int, horizon: int, members: int, participants: int, smallest_gap: float | None
    ) -> Self:
        """Return the state of a cohort before its first epoch.

        Args:
            settings: The validated keys, an instance of ``cls.Settings``.
            arms: The number K of arms.
            horizon: T, in slots.
            members: Agents in the cohort; row i of every array is member i.
            participants: The number N of agents that share in a round.
            smallest_gap: The bandit's smallest gap above zero, or None where no arm is worse than another.
        """

    @classmethod
    def participants(cls, settings: Any, members: int) -> int:
        """Return the number N of agents that share in a round of *members*; by default all of them."""
        return members

    @classmethod
    def weighted(cls, settings: Any) -> bool:
        """Return whether averages of groups of agents are to be weighted by their sizes; by default they are."""
        return True

    @abstractmethod
    def begin(self, epoch: int) -> Phase | Commit:
        """Return what the cohort does next: explore in *epoch* (1, 2, ... in turn), or commit to an arm."""

    @abstractmethod
    def observe(self, sums: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Take in the rewards of the phase, and make :attr:`releases` and :attr:`best_arms` from them.

        Args:
            sums: The rewards of each member and active arm, summed over the phase's pulls, shape (members, a).
            rng: The stream of this epoch's noise; one draw for the whole cohort, row i is member i.
        """

    @abstractmethod
    def conclude(self, means: NDArray[np.float64]) -> None:
        """End the round with the aggregated mean of each active arm, shape (a,)."""

    @staticmethod
    @abstractmethod
    def combine(
        values: NDArray[np.float64] | Sequence[NDArray[np.float64]], weights: Sequence[int] | None = None
    ) -> NDArray[np.float64]:
        """Return the mean of what was released, for each arm; one row a participant, shape (n, a)."""

    @classmethod
    @abstractmethod
    def account(cls, settings: Any, *, participants: int, members: int, releases: int) -> PrivacySpent:
        """Return the privacy spent by the agent that is worst off.

        Args:
            settings: The validated keys.
            participants: The number N of agents that share in a round.
            members: The number M of agents.
            releases: How often the agent that shared most often did.
        """
