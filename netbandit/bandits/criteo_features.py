"""From the integers and words of a log's lines to users, arms and contexts (papers/vertical-2022-vfucb, D.3).

Integers describe the user, words the item that was shown: its words are hashed into three buckets and counted, and the
three counts, paired into one number, are the item's label.
"""

from hashlib import md5
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

BUCKETS = 3
MOST_MISSING = 0.4
"""Columns in which more than this share is missing are dropped."""

Combination = Literal["sum", "product"]

_MOST_WORDS = 1 << 20


class Buckets(dict[bytes, int]):
    """The bucket of each word: its MD5, read as a number, modulo 3; -1 for an empty word, which is missing.

    Words are remembered, for they come again and again.
    """

    def __missing__(self, word: bytes) -> int:
        if len(self) >= _MOST_WORDS:
            self.clear()
        digest = md5(word, usedforsecurity=False).digest()
        bucket = int.from_bytes(digest, "big") % BUCKETS if word else -1
        self[word] = bucket
        return bucket

    def of(self, words: list[bytes]) -> NDArray[np.int8]:
        """Return the bucket of each of *words*, shape (n,)."""
        return np.fromiter(map(self.__getitem__, words), dtype=np.int8, count=len(words))


def pair(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return Cantor's pairing ``(a + b)(a + b + 1) / 2 + b`` of integers at least 0: another one for each pair."""
    total = first + second
    return total * (total + 1) // 2 + second


def label(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the label of items by the *counts* of their buckets, shape (..., 3): ``pair(pair(a, b), c)``."""
    return pair(pair(counts[..., 0], counts[..., 1]), counts[..., 2])


def filled(values: NDArray[np.int64], missing: NDArray[np.bool_], before: int) -> NDArray[np.int64]:
    """Return *values* with the last one that is there in place of each *missing* one; all of shape (n,).

    Args:
        values: The values; anything where one is missing.
        missing: Where one is.
        before: What stands before the first: filled forward, and at the very beginning of a log backward.
    """
    last = np.maximum.accumulate(np.where(missing, 0, np.arange(1, len(values) + 1)))
    return np.concatenate([np.array([before]), values])[last]


def scaled(
    values: NDArray[np.integer[Any]], lowest: NDArray[np.int64], highest: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return *values*, shape (n, p), scaled so that each column's *lowest* is 0 and its *highest* 1, shape (p,) each.

    A column that is the same everywhere is 0.
    """
    share: NDArray[np.float64] = (values - lowest) / np.maximum(highest - lowest, 1)
    return share


def combined(users: NDArray[np.float64], items: NDArray[np.float64], combination: Combination) -> NDArray[np.float64]:
    """Return the context of each user and item: ``user_i + item_j``, or times, for all i and j, row by row.

    Args:
        users: Shape (..., p).
        items: Shape (..., q), such that all but the last axis broadcast.
        combination: ``sum`` (the paper's) or ``product``. With the sum a linear reward has no part that depends on
            user and item together, so the same arm is best for every user.

    Returns:
        Shape (..., p q).
    """
    left, right = users[..., :, np.newaxis], items[..., np.newaxis, :]
    both = left + right if combination == "sum" else left * right
    return both.reshape(*both.shape[:-2], -1)
