"""A made log in the format of Criteo's challenge: arms shown at random, clicks by a law that is known.

Criteo's own log cannot be shipped. A made one has its columns, its missing fields and its labels; but every arm is
shown as often as any other, whoever comes, so the replay of a learner on it tells without bias how it would do.
"""

import gzip
from dataclasses import dataclass
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import GeneratorOf
from netbandit.bandits.criteo import SHIFT, SHIFTED
from netbandit.bandits.criteo_features import BUCKETS, Buckets, Combination, label, scaled
from netbandit.bandits.criteo_lines import CATEGORIES, INTEGERS
from netbandit.bandits.recorded import Events, Recorded
from netbandit.streams import Streams

_DROPPED_INTEGERS = (0, 9, 11)
_DROPPED_CATEGORIES = (18, 19, 21, 24, 25)
"""Columns, from 0, in which too much of Criteo's log is missing: I1, I10, I12, C19, C20, C22, C25, C26."""

FEATURES = INTEGERS - len(_DROPPED_INTEGERS)
_WORDS = CATEGORIES - len(_DROPPED_CATEGORIES)
DIMENSION = FEATURES * BUCKETS
MOST_ARMS = (_WORDS + 1) * (_WORDS + 2) // 2
"""The ways to put the words of a line into three buckets."""

_HIGHEST = 100
_LARGEST_CHANCE = 0.8
_VOCABULARY = 256


@dataclass(frozen=True)
class ClickLaw:
    """Who comes, what is shown, and what is clicked.

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
        # No coefficient is below zero, so nobody clicks more than a user who has the highest of all.
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
    """The events of a made log, as reading the file of :func:`write_log` gives them, without end.

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


def write_log(
    file: str | PathLike[str],
    events: int,
    *,
    seed: int = 0,
    replication: int = 0,
    arms: int = 40,
    combine: Combination = "sum",
) -> ClickLaw:
    """Write a made log in the format of Criteo's challenge, gzipped if the file's name ends with ``.gz``.

    These are the events that replication *replication* of a scenario with ``run.seed = seed`` has where it names no
    file: the same users, arms and clicks, if every arm comes up.

    Args:
        file: The file; one that is there is replaced.
        events: The number of lines.
        seed: The root seed.
        replication: The replication.
        arms: The number K of arms, at most 253.
        combine: ``"sum"`` or ``"product"``: the contexts that the chance of a click is linear in.

    Returns:
        What the clicks follow.

    Raises:
        ValueError: No such log can be made.
        OSError: The file cannot be written.
    """
    if events < 1:
        raise ValueError(f"a log of {events} events would be empty")
    generator = Streams(seed, replication).generator
    log = MadeLog(ClickLaw.draw(arms, combine, generator))
    vocabulary = _vocabulary()
    path = Path(file)
    with gzip.open(path, "wt", encoding="utf-8") if path.suffix == ".gz" else path.open("w", encoding="utf-8") as out:
        for block in range(-(-events // log.block)):
            first = block * log.block
            integers, drawn = log.law.events(block, log.block, generator)
            words = _words(log.law.counts[drawn.shown], vocabulary, generator("log.words", block))
            out.writelines(_lines(integers, words, drawn.clicks, first)[: events - first])
    return log.law


def _vocabulary() -> NDArray[np.str_]:
    """Return words of eight hexadecimal digits, row i of bucket i, shape (3, 256)."""
    buckets = Buckets()
    found: list[list[str]] = [[] for _ in range(BUCKETS)]
    for number in count():
        word = f"{number * 2654435761 % 2**32:08x}"  # looks as arbitrary as Criteo's
        of_its_kind = found[buckets[word.encode()]]
        if len(of_its_kind) < _VOCABULARY:
            of_its_kind.append(word)
        elif all(len(words) == _VOCABULARY for words in found):
            return np.array(found)
    raise AssertionError("there is always another number")


def _words(counts: NDArray[np.int64], vocabulary: NDArray[np.str_], rng: np.random.Generator) -> NDArray[np.str_]:
    """Return the words of lines with *counts* in each bucket, shape (n, 3), in any order, shape (n, 21)."""
    buckets = np.array([np.repeat(np.arange(BUCKETS), row) for row in counts])
    words: NDArray[np.str_] = vocabulary[rng.permuted(buckets, axis=1), rng.integers(_VOCABULARY, size=buckets.shape)]
    return words


def _lines(integers: NDArray[np.int64], words: NDArray[np.str_], clicks: NDArray[np.float64], first: int) -> list[str]:
    """Return the lines of events, the first of which has the number *first*, from 0."""
    size = len(clicks)
    # More than 40 % are missing, of any number of lines.
    seldom = ["5f3c9a01" if event % 2 else "" for event in range(first, first + size)]
    rare = ["7" if word else "" for word in seldom]
    columns: list[list[str]] = [["1" if click else "0" for click in clicks]]
    numbers, texts = iter(integers.T), iter(words.T)
    for column in range(INTEGERS):
        shift = SHIFT * (column == SHIFTED)
        columns.append(
            rare if column in _DROPPED_INTEGERS else [str(value - shift) for value in next(numbers).tolist()]
        )
    columns += [seldom if column in _DROPPED_CATEGORIES else next(texts).tolist() for column in range(CATEGORIES)]
    return ["\t".join(line) + "\n" for line in zip(*columns, strict=True)]
