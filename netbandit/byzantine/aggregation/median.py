"""The median of each coordinate: below one half, lies of any size leave it among the honest values."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netbandit.byzantine.aggregation.rows import checked_rows


def median(values: ArrayLike) -> NDArray[np.float64]:
    """Return the median of each coordinate, of an even number of rows the mean of the two middle values, shape (d,).

    Source: Yin et al. 2018, Definition 1.

    Args:
        values: A row for each contribution, shape (n, d); infinities are allowed.
    """
    columns = np.sort(checked_rows(values).T, axis=1)
    n = columns.shape[1]
    lower, upper = columns[:, (n - 1) // 2], columns[:, n // 2]
    return np.where(lower == upper, lower, 0.5 * lower + 0.5 * upper)  # halves first: the sum may overflow
