"""What is gained by all entries meeting the same luck: how much less a difference varies than one of unpaired runs."""

from collections.abc import Mapping

import numpy as np

from netbandit.suite.cells import Cell
from netbandit.suite.differences import pairs_of


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
