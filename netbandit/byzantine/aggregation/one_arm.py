"""Robust means of one arm from the means of several agents: plain loops, compiled into the agents' decisions.

`median` and `trimmed_mean` of this package are the same rules for contributions with many coordinates.
"""

import numpy as np
from numpy.typing import NDArray


def median_of(means: NDArray[np.float64], count: int) -> float:
    """Return the median of the first *count* of *means*, at least one, in ascending order; of two middle ones the mean.

    Source: Yin et al. 2018, Definition 1.
    """
    lower: float = means[(count - 1) // 2]
    upper: float = means[count // 2]
    return lower if lower == upper else 0.5 * lower + 0.5 * upper


def trimmed_of(means: NDArray[np.float64], count: int, tolerate: int) -> float:
    """Return the mean of the first *count* of *means*, in ascending order, without *tolerate* at either end.

    Where that leaves none, as many are left out as leave one or two. Source: Yin et al. 2018, Definition 2.
    """
    cut = min(tolerate, (count - 1) // 2)
    total = 0.0
    for index in range(cut, count - cut):
        total += means[index]
    return total / (count - 2 * cut)


def resilient_of(
    own_mean: float, own_pulls: float, means: NDArray[np.float64], pulls: NDArray[np.float64], count: int,
    tolerate: int, kappa: float,
) -> tuple[float, float]:  # fmt: skip
    """Return what an agent takes the mean z of an arm to be, and the factor g of the variance in its index.

    The index is ``z + sqrt(2 g ln(t) / n_i)`` with the agent's own pulls n_i. With A the neighbours that have pulled
    the arm, and ``kappa n_h >= n_i``: if there are more than 2 f' of these,
    ``z = (own mean + means of A without the f' smallest and largest) / (|A| - 2 f' + 1)`` and
    ``g = (4 eta^2 + kappa eta + kappa) / 4`` with ``eta = 1 / (|A| - 2 f' + 1)``; else the own mean and 1.

    Source: Zhu, Koppel, Velasquez & Liu 2023.

    Args:
        own_mean: The agent's mean of the arm.
        own_pulls: n_i, how often it has pulled the arm, at least 1.
        means: What each neighbour says its mean is; its first places are written over.
        pulls: n_h, how often each says it has pulled the arm.
        count: How many neighbours these are; what stands behind is not looked at.
        tolerate: f', how many neighbours may lie.
        kappa: How much rarer than the agent a neighbour may have pulled the arm to be heard.
    """
    heard = 0
    for index in range(count):
        if pulls[index] > 0.0 and kappa * pulls[index] >= own_pulls:
            means[heard] = means[index]
            heard += 1
    if heard <= 2 * tolerate:
        return own_mean, 1.0
    means[:heard].sort()
    total = own_mean
    for index in range(tolerate, heard - tolerate):
        total += means[index]
    eta = 1.0 / (heard - 2 * tolerate + 1)
    return total * eta, (4.0 * eta * eta + kappa * eta + kappa) / 4.0
