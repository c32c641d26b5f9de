"""Quantiles of Student's t for whole degrees of freedom.

``scipy.special.stdtrit`` gives the same quantile, but takes a quarter of a second to import, which would delay every
table and picture.
"""

import math
from functools import cache

import numpy as np


@cache
def quantile(freedom: int, confidence: float) -> float:
    """Return the two-sided quantile t of Student's distribution: ``|T| > t`` has probability ``1 - confidence``.

    Newton's method finds the angle whose tangent is ``t / sqrt(freedom)``. The probability is concave in the angle, so
    the iterates approach from below and never overshoot.

    Args:
        freedom: Degrees of freedom, at least 1.
        confidence: The central probability, at least 0 and below 1.
    """
    # The derivative of the probability by the angle is proportional to cos(angle)^(freedom - 1).
    logarithm = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    steepest = 2 / math.sqrt(math.pi) * math.exp(logarithm)
    angle = 0.0
    while True:
        slope = steepest * math.cos(angle) ** (freedom - 1)
        following = angle + (confidence - _probability(freedom, angle)) / slope
        if following <= angle:
            return math.sqrt(freedom) * math.tan(angle)
        angle = following


def _probability(freedom: int, angle: float) -> float:
    """Return the probability within ``sqrt(freedom) tan(angle)`` of zero: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2 == 0:
        factors = np.arange(1, freedom - 2, 2) / np.arange(2, freedom - 1, 2)
        return sine * (1 + float(np.cumprod(factors * cosine**2).sum()))
    factors = np.arange(2, freedom - 2, 2) / np.arange(3, freedom - 1, 2)
    terms = cosine * (1 + float(np.cumprod(factors * cosine**2).sum())) if freedom > 1 else 0.0
    return 2 / math.pi * (angle + sine * terms)
