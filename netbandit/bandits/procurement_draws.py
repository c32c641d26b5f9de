"""Compiled draws of the ``procurement`` bandit: how many of some units are good."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.util.jit import njit

GUIDE = 64
"""Parts of [0, 1) for each of which a table says where the search for a quantile begins."""


class Tables(NamedTuple):
    """The binomial distributions of full capacities; n agents, m producers.

    Attributes:
        levels: The distributions, one after the other.
        starts: Where that of each agent and producer begins, shape (n, m).
        guides: For each agent and producer where in it the search begins, shape (n, m, GUIDE).
    """

    levels: NDArray[np.float64]
    starts: NDArray[np.int64]
    guides: NDArray[np.int64]


def tables(capacities: NDArray[np.int64], qualities: NDArray[np.float64]) -> Tables:
    """Return the distributions for *capacities*, shape (n, m), of units that are good with probability *qualities*."""
    from scipy.special import bdtr

    lengths = capacities.ravel() + 1
    starts = np.cumsum(lengths) - lengths
    rows = np.repeat(np.arange(len(lengths)), lengths)
    good = np.arange(len(rows)) - starts[rows]
    chances = np.broadcast_to(qualities, capacities.shape).ravel()
    found = np.asarray(bdtr(good.astype(np.float64), lengths[rows] - 1, chances[rows]), dtype=np.float64)
    found[starts + lengths - 1] = 1.0
    levels = np.arange(GUIDE) / GUIDE
    guides = np.array(
        [np.searchsorted(found[start : start + length], levels) for start, length in zip(starts, lengths, strict=True)]
    )
    return Tables(found, starts.reshape(capacities.shape), guides.reshape(*capacities.shape, GUIDE))


@njit(cache=True)
def quantile(uniform: float, units: int, quality: float) -> int:
    """Return the binomial quantile at *uniform* of *units* that are each good with probability *quality*."""
    if uniform <= 0.0:
        return 0
    flipped = quality > 0.5  # from the likelier end the first probability cannot underflow
    chance = 1.0 - quality if flipped else quality
    level = 1.0 - uniform if flipped else uniform
    mass = (1.0 - chance) ** units
    odds = chance / (1.0 - chance)
    total = mass
    drawn = 0
    while total < level and drawn < units:
        mass *= odds * (units - drawn) / (drawn + 1)
        drawn += 1
        total += mass
    return units - drawn if flipped else drawn
