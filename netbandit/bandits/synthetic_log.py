"""A made log in the format of Criteo's challenge: arms shown at random, clicks by a law that is known.

Criteo's own log cannot be shipped. A made one has its columns, its missing fields and its labels; but every arm is
shown as often as any other, whoever comes, so the replay of a learner on it tells without bias how it would do.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import GeneratorOf
from netbandit.bandits.criteo_features import BUCKETS, Combination, label, scaled
from netbandit.bandits.criteo_lines import CATEGORIES, INTEGERS
from netbandit.bandits.recorded import Events, Recorded

DROPPED_INTEGERS = (0, 9, 11)
DROPPED_CATEGORIES = (18, 19, 21, 24, 25)
"""Columns, from 0, in which too much of Criteo's log is missing: I1, I10, I12, C19, C20, C22, C25, C26."""

FEATURES = INTEGERS - len(DROPPED_INTEGERS)
_WORDS = CATEGORIES - len(DROPPED_CATEGORIES)
DIMENSION = FEATURES * BUCKETS
MOST_ARMS = (_WORDS + 1) * (_WORDS + 2) // 2
"""The ways to put the words of a line into three buckets."""

_HIGHEST = 100
_LARGEST_CHANCE = 0.8


@dataclass(frozen=True)
class ClickLaw:
    """The law of users, arms shown and clicks.

    A user is described by integers that are low or high rather than in between, an arm by how many of its words fall
    into each bucket. A click has the chance ``<theta, x>``, x the context of user and arm (:func:`combined`). With the
    product each figure of the user favours a bucket of its own, so different users want different arms; with the sum
    all favour the same.

    Attributes:
        counts: The words of each arm in each bucket, shape (K, 3), in the order of their labels.
        theta: The parameter, shape (30,); with it no chance is above 0.8, nor below 0.
        combination: How a user and an item make a context.
    """

    counts: NDArray[np.int64]
    theta: NDArray[np.float64]
    combination: Combination

    @classmethod
    def draw(cls, arms: int, combination: Combination, generator: GeneratorOf) -> Self:
        """Draw the arms and theta (streams ``bandit.items`` and ``bandit.theta``).

        Raises:
            ValueError: There are not so many arms.
        """
        if not 1 <= arms <= MOST_ARMS:
            raise ValueError(f"no log of {arms} arms, at most of {MOST_ARMS}")
        ways = [(first, second) for first in range(_WORDS + 1) for second in range(_WORDS + 1 - first)]
        whole = np.array([(first, second, _WORDS - first - second) for first, second in ways], dtype=np.int64)
        counts = whole[generator("bandit.items", 0).choice(len(whole), size=arms, replace=False)]
        counts = counts[np.argsort(label(counts))]
        rng = generator("bandit.theta", 0)
        if combination == "product":
            theta = np.zeros((FEATURES, BUCKETS))
            theta[np.arange(FEATURES), rng.permutation(np.arange(FEATURES) % BUCKETS)] = 1.0
        else:
            theta = rng.random((FEATURES, 1)) * rng.permutation([1.0, 0.5, 0.0])
        law = cls(counts, theta.ravel(), combination)
        # No coefficient is below zero, so the click rate is highest for a user with the highest value of all.
        scale = _LARGEST_CHANCE / float(law.chances(np.ones((1, FEATURES)), None).max())
        return cls(counts, theta.ravel() * scale, combination)

    @property
    def items(self) -> NDArray[np.float64]:
        """The counts, scaled to [0, 1], shape (K, 3)."""
        return scaled(self.counts, self.counts.min(axis=0), self.counts.max(axis=0))

    def chances(self, users: NDArray[np.float64], arms: NDArray[np.int64] | None) -> NDArray[np.float64]:
        """Return the chance of a click of *users*, shape (n, 10), on one arm each, shape (n,), or on all (None).

        Returns:
            Shape (n,), or (n, K) for all arms.
        """
        theta = self.theta.reshape(FEATURES, BUCKETS)
        items = self.items if arms is None else self.items[arms]
        found: NDArray[np.float64]
        if self.combination == "product":
            left = users @ theta
            found = left @ items.T if arms is None else (left * items).sum(axis=1)
        else:
            left, right = users @ theta.sum(axis=1), items @ theta.sum(axis=0)
            found = left[:, np.newaxis] + right if arms is None else left + right
        return found

    def events(self, block: int, size: int, generator: GeneratorOf) -> tuple[NDArray[np.int64], Events]:
        """Return the integers of the *size* users of a block, from 0 to 100, and the events (stream ``log``).

        The first two users of all have the lowest and the highest of all integers, so that scaling them over a log
        gives what it gives over any other.
        """
        rng = generator("log", block)
        integers = np.rint(_HIGHEST * rng.beta(0.5, 0.5, size=(size, FEATURES))).astype(np.int64)
        shown, luck = rng.integers(len(self.counts), size=size), rng.random(size)
        for user in range(2 * block, min(2, block * size + size)):
            integers[user] = user * _HIGHEST
        users = integers / _HIGHEST
        return integers, Events(users, shown, (luck < self.chances(users, shown)).astype(np.float64))


class MadeLog(Recorded):
    """The events of a made log, as reading a file of them would give, without end.

    Args:
        law: What they follow.
    """

    knows_best = True

    def __init__(self, law: ClickLaw) -> None:
        super().__init__(law.items, FEATURES, law.combination)
        self.law = law

    def events(self, block: int, generator: GeneratorOf) -> Events:
        """Draw the events of a block (stream ``log``)."""
        return self.law.events(block, self.block, generator)[1]

    def chances(self, users: NDArray[np.float64], arms: NDArray[np.int64] | None) -> NDArray[np.float64]:
        """Return the chances of clicks; see the base class."""
        return self.law.chances(users, arms)
