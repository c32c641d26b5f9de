"""What every rule is given: a row of finite numbers for each contribution."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


def checked_rows(values: ArrayLike) -> NDArray[np.float64]:
    """Return *values* as an array of shape (n, d), n >= 1.

    Raises:
        ValueError: There is no row, rows differ in length, or something is not a number (infinities are).
    """
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 2 or not len(rows):
        raise ValueError(f"needs at least one row of numbers, shape (n, d), not shape {rows.shape}")
    if np.isnan(rows).any():
        raise ValueError("cannot order or average what is not a number (NaN)")
    return rows


def repeated(rows: ArrayLike, weights: Sequence[int] | None) -> NDArray[np.float64]:
    """Return each row as often as its weight says: a group's row counts as if each of its members had sent it.

    Args:
        rows: Shape (n, d).
        weights: The size of each group, n integers >= 1; None: all are 1.
    """
    given = np.asarray(rows, dtype=np.float64)
    return given if weights is None else np.repeat(given, np.asarray(weights, dtype=np.int64), axis=0)
