"""Paired differences between entries on a track: significance, ranks, dominance, variance."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.results import intervals
from netbandit.results.paired import holm
from netbandit.studies.suite.cells import Cell

LEVEL = 0.05
"""All decisions of a table together are wrong in at most this share of tables."""

Numbers = NDArray[np.float64]


def p_values(differences: Numbers) -> Numbers:
    """Return the smallest level at which the mean of each row of *differences* differs from zero, shape (n,).

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
    if spread.any():
        found[spread] = ttest_1samp(differences[spread], 0.0, axis=1).pvalue  # Student's
    for index in np.flatnonzero(counted).tolist():
        found[index] = max(found[index], intervals.level_of_counts(tuple(rows[index])))
    return found


def decided(levels: Sequence[float]) -> NDArray[np.bool_]:
    """Return which of a family are decided by Holm's procedure, from the `p_values` of all of it, shape (n,)."""
    return np.array([level is not None and level <= LEVEL for level in holm(list(levels))], dtype=np.bool_)


def pairs_of(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the second of each pair of *count* entries, each shape (count (count - 1) / 2,)."""
    first, second = np.triu_indices(count, 1)
    return first, second


def ranks(cells: Mapping[str, Cell]) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank that each entry may have, from 1.

    An entry is behind those that are decidedly better, and before those that are decidedly worse: differences of regret
    are paired by replication, with Holm's correction over all pairs.

    Args:
        cells: The entries that ran on a track, none of which is a reference alone.
    """
    names = list(cells)
    better, worse = np.zeros((2, len(names)), dtype=np.int64)
    first, second = pairs_of(len(names))
    if len(first):
        regret = np.array([cell.of("regret") for cell in cells.values()])
        differences = regret[first] - regret[second]
        known = decided(p_values(differences).tolist())
        first_wins = differences.mean(axis=1) < 0
        np.add.at(better, np.where(first_wins, second, first)[known], 1)
        np.add.at(worse, np.where(first_wins, first, second)[known], 1)
    return {
        name: (1 + int(above), len(names) - int(below)) for name, above, below in zip(names, better, worse, strict=True)
    }


def dominated(cells: Mapping[str, Cell]) -> dict[str, list[str]]:
    """Return, for each dominated entry, those that dominate it: with less regret, and no more bytes, or the reverse.

    A dominates B if A has less regret and sends fewer bytes, and both differences, paired by replication, are decided:
    the larger of both p-values counts, with Holm's correction over all pairs of entries. Where one of both is the same
    in every replication, as the bytes of two entries that send nothing, the other decides.

    Args:
        cells: The entries that ran on a track, none of which is a reference alone.
    """
    names = list(cells)
    first, second = pairs_of(len(names))
    if not len(first):
        return {}
    differences = [
        values[first] - values[second]
        for values in (np.array([cell.of(metric) for cell in cells.values()]) for metric in ("regret", "bytes"))
    ]
    signs = [np.sign(each.mean(axis=1)) for each in differences]
    equal = [(each == 0).all(axis=1) for each in differences]
    # Where regret and bytes differ in opposite directions nobody dominates, whatever the levels.
    agree = (signs[0] == signs[1]) | equal[0] | equal[1]
    direction = np.where(equal[0], signs[1], signs[0])
    levels = np.ones(len(first))
    parts = [np.where(same[agree], 0.0, p_values(each[agree])) for each, same in zip(differences, equal, strict=True)]
    levels[agree] = np.where(equal[0][agree] & equal[1][agree], 1.0, np.maximum(*parts))
    found: dict[str, list[str]] = {}
    for index in np.flatnonzero(decided(levels.tolist())).tolist():
        one, other = names[first[index]], names[second[index]]
        better, worse = (one, other) if direction[index] < 0 else (other, one)
        found.setdefault(worse, []).append(better)
    return found


def pairing(cells: Mapping[str, Cell]) -> float | None:
    """Return the variance of a difference of regrets over the sum of both variances, median over pairs of entries.

    It is 1 where replications have nothing in common, and 0 where they have all; None where no pair of entries has
    regrets that vary.

    Args:
        cells: The entries that ran on a track.
    """
    if len(cells) < 2:
        return None
    regret = np.array([cell.of("regret") for cell in cells.values()])
    first, second = pairs_of(len(regret))
    apart = regret.var(axis=1, ddof=1)
    together = (regret[first] - regret[second]).var(axis=1, ddof=1)
    sums = apart[first] + apart[second]
    varying = sums > 0
    return float(np.median(together[varying] / sums[varying])) if varying.any() else None
