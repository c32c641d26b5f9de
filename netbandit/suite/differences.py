"""Whether two entries differ on a track, pair by pair: all meet the same worlds and faults in a replication."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.results import intervals
from netbandit.results.paired import holm, p_value

LEVEL = 0.05
"""All decisions of a table together are wrong in at most this share of tables."""

Numbers = NDArray[np.float64]


def p_values(differences: Numbers) -> Numbers:
    """Return the smallest level at which the mean of each row of *differences* is told from zero, shape (n,).

    Of the interval of `netbandit.results.intervals.mean`, which has none where all differences are one number: then
    the level of the sign test, ``2^(1 - k)`` of k replications, and 1 if that number is zero.

    Args:
        differences: A row a pair of entries, a column a replication, shape (n, k).
    """
    from scipy.stats import ttest_1samp

    rows = differences.tolist()
    found = np.ones(len(rows))
    spread = np.array([not intervals.all_equal(row) for row in rows], dtype=np.bool_)
    counted = np.array([intervals.are_counts(row) for row in rows], dtype=np.bool_) & spread
    found[~spread & (differences != 0).all(axis=1)] = 2.0 ** (1 - differences.shape[1])
    for place in np.flatnonzero(counted).tolist():
        found[place] = _of_counts(rows[place])
    plain = spread & ~counted
    if plain.any():
        found[plain] = ttest_1samp(differences[plain], 0.0, axis=1).pvalue  # Student's, in a hundredth of the time
    return found


def _of_counts(differences: Sequence[float]) -> float:
    found = p_value(lambda confidence: intervals.mean(differences, confidence))
    return 1.0 if found is None else found


def decided(levels: Sequence[float]) -> NDArray[np.bool_]:
    """Return which of a family are decided by Holm's procedure, from the `p_values` of all of it, shape (n,)."""
    return np.array([level is not None and level <= LEVEL for level in holm(list(levels))], dtype=np.bool_)


def pairs_of(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the second of each pair of so many entries, each shape (count (count - 1) / 2,)."""
    first, second = np.triu_indices(count, 1)
    return first, second
