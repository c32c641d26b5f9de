"""Resilient means: of an arm, an agent trusts its own mean, and its neighbours' without the extremes.

Source: Zhu, Koppel, Velasquez & Liu 2023.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netbandit.aggregation.mean import mean
from netbandit.aggregation.rows import checked_rows


class ResilientMean(NamedTuple):
    """What an agent goes by.

    Attributes:
        mean: z, its estimate of the arm's mean.
        factor: g, by which the variance in its index is multiplied: the index is
            ``z + sqrt(2 g ln(t) / n)`` with the agent's own pulls n.
    """

    mean: float
    factor: float


def resilient_mean(
    own_mean: float, own_pulls: int, means: ArrayLike, pulls: ArrayLike, tolerate: int, kappa: float = 1.5
) -> ResilientMean:
    """Return the resilient mean of one arm.

    With A the neighbours that have pulled it, and ``kappa n_h >= n_i``: if there are more than 2 f' of these,
    ``z = (own mean + means of A without the f' smallest and largest) / (|A| - 2 f' + 1)`` and
    ``g = (4 eta^2 + kappa eta + kappa) / 4`` with ``eta = 1 / (|A| - 2 f' + 1)``; else the own mean and 1.

    Args:
        own_mean: The agent's mean of the arm.
        own_pulls: n_i, how often it has pulled the arm, at least 1.
        means: What each neighbour says its mean is, shape (h,).
        pulls: n_h, how often each says it has pulled the arm, shape (h,).
        tolerate: f', how many neighbours may lie.
        kappa: How much rarer than the agent a neighbour may have pulled the arm to be heard.
    """
    told, counts = np.asarray(means, dtype=np.float64), np.asarray(pulls)
    heard = np.sort(told[(kappa * counts >= own_pulls) & (counts > 0)])
    if len(heard) <= 2 * tolerate:
        return ResilientMean(own_mean, 1.0)
    kept = heard[tolerate : len(heard) - tolerate]
    eta = 1 / (len(kept) + 1)
    (found,) = mean(checked_rows(np.append(kept, own_mean)[:, np.newaxis])).tolist()
    return ResilientMean(found, (4 * eta**2 + kappa * eta + kappa) / 4)
