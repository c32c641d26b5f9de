"""The trimmed mean: the extremes of each coordinate are left out, as many as may be lies at either end."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netbandit.byzantine.aggregation.mean import mean
from netbandit.byzantine.aggregation.rows import checked_rows


def trimmed_mean(values: ArrayLike, tolerate: int) -> NDArray[np.float64]:
    """Return the mean of each coordinate without its smallest and its largest values, shape (d,).

    Source: Yin et al. 2018, Definition 2.

    Args:
        values: A row for each contribution, shape (n, d).
        tolerate: How many values are left out at either end; with 0 it is the mean, bit by bit.

    Raises:
        ValueError: Nothing would be left.
    """
    rows = checked_rows(values)
    if not 0 <= 2 * tolerate < len(rows):
        raise ValueError(f"leaves nothing of {len(rows)} rows without {tolerate} at either end")
    if not tolerate:
        return mean(rows)
    return mean(np.sort(rows.T, axis=1)[:, tolerate : len(rows) - tolerate].T)
