"""Where replayed events come from: users, what was shown to them, and what they did."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import GeneratorOf
from netbandit.bandits.criteo_features import Combination, combined
from netbandit.bandits.vertical_context import Users

_NUMBERS_OF_A_BLOCK = 1 << 18


class LoggedFeedback(ABC):
    """Recorded attributes of some users that do not depend on the decisions."""

    @abstractmethod
    def paid(self, arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what *arms*, one for each user, shape (n,), have paid; NaN where the arm was not shown."""

    @abstractmethod
    def means(self, arms: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return what *arms*, one for each user, shape (n,), pay on average; None if unknown."""


class Source(ABC):
    """A sequence of users with what is known of them.

    Attributes:
        arms: The number K of arms.
        dimension: The number d of columns of a context.
        block: How many users make a block.
        knows_best: Whether it is known what every arm pays on average.
        remarks: What must be known of it, a line each.
    """

    arms: int
    dimension: int
    block: int
    knows_best: bool
    remarks: tuple[str, ...] = ()

    @abstractmethod
    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Return the users of a block, with all columns of their contexts.

        Args:
            block: The number of the block, from 0.
            generator: Streams of the replication.
        """

    @abstractmethod
    def feedback(self, users: NDArray[np.int64], generator: GeneratorOf) -> LoggedFeedback:
        """Return what is known of *users*, ascending numbers from 0, shape (n,)."""


@dataclass(frozen=True)
class Events:
    """Some events of a log.

    Attributes:
        users: What describes each user, in [0, 1], shape (n, p).
        shown: The arm that was shown to it, shape (n,).
        clicks: What the arm paid, 1 or 0, shape (n,).
    """

    users: NDArray[np.float64]
    shown: NDArray[np.int64]
    clicks: NDArray[np.float64]


class Recorded(Source):
    """A log: of each user it is known what one arm paid.

    Args:
        items: What describes each arm, in [0, 1], shape (K, q).
        features: The number p of figures that describe a user.
        combination: How a user and an item make a context.
    """

    def __init__(self, items: NDArray[np.float64], features: int, combination: Combination) -> None:
        self.items = items
        self.features = features
        self.combination: Combination = combination
        self.arms = len(items)
        self.dimension = features * items.shape[1]
        self.block = max(1, _NUMBERS_OF_A_BLOCK // (self.arms * self.dimension))

    @abstractmethod
    def events(self, block: int, generator: GeneratorOf) -> Events:
        """Return the events of a block."""

    def chances(self, users: NDArray[np.float64], arms: NDArray[np.int64] | None) -> NDArray[np.float64] | None:
        """Return what arms pay on average; None, the default: unknown.

        Args:
            users: Shape (n, p).
            arms: One for each user, shape (n,); None: all of them.

        Returns:
            Shape (n,), or (n, K) for all arms.
        """
        return None

    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Return the users of a block; see the base class."""
        events = self.events(block, generator)
        contexts = combined(events.users[:, np.newaxis, :], self.items, self.combination)
        event = np.arange(len(events.shown))
        rewards = np.full((len(event), self.arms), np.nan)
        rewards[event, events.shown] = events.clicks
        # A user for whom another arm is chosen than was shown is none: it costs no regret either.
        regrets = np.full((len(event), self.arms), np.nan)
        chances = self.chances(events.users, None)
        if chances is not None:
            regrets[event, events.shown] = chances.max(axis=1) - chances[event, events.shown]
        return Users(contexts, rewards, regrets)

    def feedback(self, users: NDArray[np.int64], generator: GeneratorOf) -> LoggedFeedback:
        """Return what the log says of *users*; see the base class."""
        users_of, shown, clicks = [], [], []
        for block in np.unique(users // self.block).tolist():
            events = self.events(block, generator)
            rows = users[users // self.block == block] - block * self.block
            users_of.append(events.users[rows])
            shown.append(events.shown[rows])
            clicks.append(events.clicks[rows])
        if not users_of:
            none = np.empty(0)
            return _EventFeedback(self, Events(none.reshape(0, self.features), none.astype(np.int64), none))
        return _EventFeedback(self, Events(np.concatenate(users_of), np.concatenate(shown), np.concatenate(clicks)))


class _EventFeedback(LoggedFeedback):
    def __init__(self, log: Recorded, events: Events) -> None:
        self._log = log
        self._events = events

    def paid(self, arms: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(arms == self._events.shown, self._events.clicks, np.nan)

    def means(self, arms: NDArray[np.int64]) -> NDArray[np.float64] | None:
        return self._log.chances(self._events.users, arms)
