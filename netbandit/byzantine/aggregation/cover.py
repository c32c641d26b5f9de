"""Widening of confidence intervals for robust means under Byzantine contributions.

The standard deviation of an honest agent's mean of S rewards in [0, 1] is at most ``1 / (2 sqrt(S))``. The factors
assume the normal approximation, and the worst case that all forged values lie at one end.
"""

from math import pi, sqrt
from statistics import NormalDist
from typing import NamedTuple

_NORMAL = NormalDist()


class Cover(NamedTuple):
    """The terms of ``loss sqrt(L / (2 N S)) + bias / (2 sqrt(S))``, which replaces ``sqrt(L / (2 N S))``.

    Attributes:
        loss: c, by how much the deviation exceeds that of the mean; 1 for the mean.
        bias: b, the largest bias, in deviations of one honest agent; 0 without lies.
    """

    loss: float = 1.0
    bias: float = 0.0


def cover_of_median(share: float) -> Cover:
    """Return the cover of the median where a *share* of all, below one half, are lies."""
    return Cover(sqrt(pi / 2), _NORMAL.inv_cdf(1 / (2 * (1 - share))))


def cover_of_trimmed_mean(share: float) -> Cover:
    """Return the cover of the mean without a *share* of all, below one half, at either end, as many being lies."""
    if share == 0:
        return Cover()
    cut = _NORMAL.inv_cdf(1 - share)
    variance = 1 - 2 * share - 2 * cut * _NORMAL.pdf(cut) + 2 * share * cut**2
    least = _NORMAL.inv_cdf(share / (1 - share))
    return Cover(sqrt(variance) / (1 - 2 * share), _NORMAL.pdf(least) / (1 - _NORMAL.cdf(least)))


def cover_of_median_of_means(agents: int, groups: int, liars: int) -> Cover:
    """Return the cover of the median of the means of so many *groups*, more than twice as many as there are *liars*."""
    return Cover(sqrt(pi / 2), sqrt(groups / agents) * _NORMAL.inv_cdf(1 / (2 * (1 - liars / groups))))
