"""Robust aggregation rules: combine one row of finite numbers per contribution, some of which may be Byzantine.

Mean: the most accurate rule if all contributions are honest, but one forged row can move it anywhere. Coordinate-wise
median: stays within the honest values if fewer than half of the rows are forged. Trimmed mean: omits as many extremes
at either end of each coordinate as there may be forged rows. Median of means: averages rows in groups, so that a forged
row affects only its own group. Krum: selects the one contribution that is nearest to most others.
"""

from collections.abc import Sequence
from math import fsum

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


def median_of_means(values: ArrayLike, groups: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the median, coordinate by coordinate, of the means of groups of rows, shape (d,).

    Groups have equal sizes, give or take one. Rows are brought into one order before their groups are drawn, so that
    the order in which they came changes no bit.

    Args:
        values: A row for each contribution, shape (n, d).
        groups: How many groups, 1 to n: with n it is the median, with 1 the mean.
        rng: Draws who is in which group.

    Raises:
        ValueError: There are more groups than rows, or none.
    """
    rows = checked_rows(values)
    if not 1 <= groups <= len(rows):
        raise ValueError(f"cannot make {groups} groups of {len(rows)} rows")
    drawn = rng.permutation(len(rows))
    ordered = (rows + 0.0)[np.lexsort(rows.T[::-1])] if rows.shape[1] else rows
    return median(np.array([mean(ordered[members]) for members in np.array_split(drawn, groups)]))


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
        for index, row in enumerate(rows):
            ahead = columns - row[:, np.newaxis]
            squares = np.nan_to_num((ahead * ahead).sum(axis=0), nan=np.inf, posinf=np.inf)
            squares[index] = np.inf
            scores[index] = np.sort(squares)[:nearest].cumsum()[-1]
    return int(scores.argmin())


def krum_row(values: ArrayLike, tolerate: int) -> NDArray[np.float64]:
    """Return the row that `krum` picks, shape (d,)."""
    rows = checked_rows(values)
    return np.array(rows[krum(rows, tolerate)])
