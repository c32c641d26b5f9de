"""The mean: nothing is more exact where all tell the truth, and a single lie moves it anywhere."""

from collections.abc import Sequence
from math import fsum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netbandit.byzantine.aggregation.rows import checked_rows

_SMALLER = 2.0**-60
"""Scales sums that would overflow; a power of two, so that nothing is rounded."""


def mean(values: ArrayLike, weights: Sequence[float] | None = None) -> NDArray[np.float64]:
    """Return the mean of each coordinate, shape (d,).

    Each sum is exact before it is rounded once, so neither the order of the rows nor the machine changes a bit.

    Args:
        values: A row for each contribution, shape (n, d).
        weights: One for each row; None: all alike.
    """
    rows = checked_rows(values)
    if weights is None:
        total = float(len(rows))
    else:
        rows = rows * np.asarray(weights, dtype=np.float64)[:, np.newaxis]
        total = fsum(weights)
    return np.array([_mean(column.tolist(), total) for column in rows.T])


def _mean(column: list[float], total: float) -> float:
    try:
        return fsum(column) / total
    except OverflowError:
        return fsum(value * _SMALLER for value in column) / total / _SMALLER
    except ValueError:  # both infinities
        return float("nan")
