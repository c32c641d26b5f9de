"""Handwritten digits as contexts: everything is known of every arm, so nothing is discarded.

In each slot ten pictures are on offer, one of each digit, in any order. One digit is wanted, the same one in all
slots; its picture pays 1, every other one 0. The columns of a context are the 64 pixels of a picture, so participants
hold strips of every picture. The pictures are the 1,797 of scikit-learn, from the UCI collection of handwritten digits.
"""

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import GeneratorOf
from netbandit.bandits.recorded import LoggedFeedback, Source
from netbandit.bandits.vertical_context import Users

DIGITS = 10
PIXELS = 64
_BRIGHTEST = 16.0
_BLOCK = 1 << 8


class Digits(Source):
    """Ten pictures a slot, one of which shows the digit that is wanted.

    Args:
        wanted: The digit.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """

    arms = DIGITS
    dimension = PIXELS
    block = _BLOCK
    knows_best = True

    def __init__(self, wanted: int) -> None:
        from netbandit.util.extras.digits import load_digits

        pictures, digits = load_digits(return_X_y=True)
        self._pictures = [pictures[digits == digit] / _BRIGHTEST for digit in range(DIGITS)]
        self.wanted = wanted

    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Draw the pictures of a block (streams ``log``, their order, and ``log.pictures``)."""
        order = self._order(block, generator)
        rng = generator("log.pictures", block)
        drawn = np.stack([own[rng.integers(len(own), size=_BLOCK)] for own in self._pictures], axis=1)
        rewards = (order == self.wanted).astype(np.float64)
        return Users(drawn[np.arange(_BLOCK)[:, np.newaxis], order], rewards, 1.0 - rewards)

    def feedback(self, users: NDArray[np.int64], generator: GeneratorOf) -> LoggedFeedback:
        """Return what is known of *users*: all."""
        blocks = np.unique(users // _BLOCK).tolist()
        rows = [self._order(block, generator)[users[users // _BLOCK == block] % _BLOCK] for block in blocks]
        return _Known(np.concatenate([np.empty((0, DIGITS), dtype=np.int64), *rows]) == self.wanted)

    @staticmethod
    def _order(block: int, generator: GeneratorOf) -> NDArray[np.int64]:
        """Return the digit of each picture, shape (256, 10)."""
        return generator("log", block).permuted(np.tile(np.arange(DIGITS), (_BLOCK, 1)), axis=1)


class _Known(LoggedFeedback):
    def __init__(self, pays: NDArray[np.bool_]) -> None:
        self._pays = pays

    def paid(self, arms: NDArray[np.int64]) -> NDArray[np.float64]:
        return self._pays[np.arange(len(arms)), arms].astype(np.float64)

    def means(self, arms: NDArray[np.int64]) -> NDArray[np.float64] | None:
        return self.paid(arms)
