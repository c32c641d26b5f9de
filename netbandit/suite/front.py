"""Dominated entries on a track: another has less regret and sends no more, or equal regret and sends less."""

from collections.abc import Mapping

import numpy as np

from netbandit.suite.cells import Cell
from netbandit.suite.differences import decided, p_values, pairs_of


def dominated(cells: Mapping[str, Cell]) -> dict[str, list[str]]:
    """Return, for each dominated entry, an entry that dominates it.

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
    for place in np.flatnonzero(decided(levels.tolist())).tolist():
        one, other = names[first[place]], names[second[place]]
        better, worse = (one, other) if direction[place] < 0 else (other, one)
        found.setdefault(worse, []).append(better)
    return found
