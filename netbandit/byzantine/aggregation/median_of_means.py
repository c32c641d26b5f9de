"""The median of means: contributions are averaged in groups, and a lie spoils its own group only."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netbandit.byzantine.aggregation.mean import mean
from netbandit.byzantine.aggregation.median import median
from netbandit.byzantine.aggregation.rows import checked_rows


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
