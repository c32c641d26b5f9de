"""The ranks of entries on a track, as far as the differences of their regrets are decided."""

from collections.abc import Mapping

import numpy as np

from netbandit.suite.cells import Cell
from netbandit.suite.differences import decided, p_values, pairs_of


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
