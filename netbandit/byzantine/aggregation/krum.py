"""Krum: the one contribution that lies nearest to most others."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netbandit.byzantine.aggregation.rows import checked_rows


def krum(values: ArrayLike, tolerate: int) -> int:
    """Return the number of the row with the least sum of squared distances to its n - f' - 2 nearest.

    Of several the first is returned. The row is one contribution, as uncertain as a single agent is.

    Source: Blanchard et al. 2017, Section 4.

    Args:
        values: A row for each contribution, shape (n, d).
        tolerate: f', how many rows may be lies.

    Raises:
        ValueError: There are fewer than 2 f' + 3 rows, for which Krum promises something.
    """
    rows = checked_rows(values)
    if tolerate < 0 or len(rows) < 2 * tolerate + 3:
        raise ValueError(f"needs at least 2 x {tolerate} + 3 rows, not {len(rows)}")
    nearest = len(rows) - tolerate - 2
    columns = np.ascontiguousarray(rows.T)
    scores = np.empty(len(rows))
    with np.errstate(over="ignore", invalid="ignore"):  # what is too far away is infinitely far
        for place, row in enumerate(rows):
            ahead = columns - row[:, np.newaxis]
            squares = np.nan_to_num((ahead * ahead).sum(axis=0), nan=np.inf, posinf=np.inf)
            squares[place] = np.inf
            scores[place] = np.sort(squares)[:nearest].cumsum()[-1]
    return int(scores.argmin())


def krum_row(values: ArrayLike, tolerate: int) -> NDArray[np.float64]:
    """Return the row that `krum` picks, shape (d,)."""
    rows = checked_rows(values)
    return np.array(rows[krum(rows, tolerate)])
