"""How sure a mean is whose samples repeat: counts, and differences of which many are zero.

Student's t trusts the spread that was seen. Of a metric that rarely changes, few replications see too little of it:
the interval is too narrow, or has no width at all. Samples that repeat are therefore read as counts of a few values,
of which others may not have been seen.

For values between known limits there is an interval that needs no law (Gaffke 2005; Learned-Miller and Thomas 2019): an
upper end is the quantile of ``sum w_i x_i + w_{n+1} limit``, where the weights are uniform on the simplex. Of zeros and
ones it is the interval of Clopper and Pearson. The law of that sum has a B-spline with the knots ``x_1 .. x_n, limit``
as its density (Curry and Schoenberg 1966), so that no random numbers are needed, but for many replications.

Our values have no known limits. What was seen is the limit where values repeat; where the few that differ from the most
frequent one are all different from one another, others lie farther away (Good 1953: the share of values seen once is
the probability of one that was not seen). The next of k such values lies beyond all of them with probability
2 / (k + 1); how much farther it then lies, `_FARTHER`, is chosen so that intervals of 95 % cover in at least 90 % at
3, 5, 10 and 20 replications: tests/results/test_repeated_values.py.

Ten values that are there once tell the spread as well as ten replications of a continuous metric do, whatever else
repeats: then Student's t is taken. It is not trusted less for some pairs that do not differ at all. scipy has no
such interval.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_FARTHER = 4.0
"""How far beyond what was seen a value may lie, in ranges of what was seen and times 1 / (k + 1) for k rare values."""

_ENOUGH = 10
"""So many values that are there once tell the spread."""

_MOST_KNOTS = 200
"""A spline of more knots takes longer than drawing the weights."""

_DRAWS = 4_000_000
"""Weights that are drawn then, all together."""

_SAME = 1e-12
"""Values are the same if they differ by less than this part of the largest: they may have been added up otherwise."""


def all_equal(samples: Sequence[float]) -> bool:
    """Say whether all samples are one number."""
    low, high = min(samples), max(samples)
    return high - low <= _SAME * max(abs(low), abs(high))


def are_counts(samples: Sequence[float]) -> bool:
    """Say whether samples are to be read as counts of a few values.

    They are where a value is there more than once, or some of several values are exactly zero, unless enough others
    are there once.
    """
    _, counts = _counted(samples)
    return bool(counts.max() > 1 and (counts == 1).sum() < _ENOUGH)


def half_width(samples: Sequence[float], confidence: float) -> float:
    """Return how far from the mean the farther end of the interval lies.

    Args:
        samples: One number for each replication, not all `alike`.
        confidence: The probability with which such intervals cover the expectation, were there no values farther away.
    """
    return _half_width(np.asarray(samples, dtype=np.float64).tobytes(), confidence)


@lru_cache(maxsize=1_000)
def _half_width(samples: bytes, confidence: float) -> float:
    """Return the same of samples as bytes: tables, summaries and pictures ask for the same ones."""
    seen = np.frombuffer(samples, dtype=np.float64)
    values, counts = _counted(seen)
    count = len(seen)
    # A measured zero is a value of its own: it stands where nothing happened, so one is as good as two.
    most = int(counts.max())
    others = count - int(np.unique(np.round(seen / _unit(seen), 12), return_counts=True)[1].max())
    once = int((counts == 1).sum())
    farther = _FARTHER * min(1.0, (most - 1) / (count - 1)) * once / max(others, 1) / (others + 1)
    beyond = farther * float(values[-1] - values[0])
    tail = (1 + confidence) / 2
    mean = float(seen.mean())
    upper = _quantile(np.append(seen, values[-1] + beyond), tail)
    lower = -_quantile(np.append(-seen, beyond - values[0]), tail)
    return max(upper - mean, mean - lower)


def _unit(seen: NDArray[np.float64]) -> float:
    return float(np.abs(seen).max()) or 1.0


def _counted(samples: Sequence[float] | NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the values there are, ascending, and how often each is there; a zero counts once more."""
    seen = np.asarray(samples, dtype=np.float64)
    unit = _unit(seen)
    values, counts = np.unique(np.round(seen / unit, 12), return_counts=True)
    return values * unit, counts + (values == 0)


def _quantile(knots: NDArray[np.float64], probability: float) -> float:
    """Return a quantile of the sum of *knots* with weights that are uniform on the simplex."""
    knots = np.sort(knots)
    low, width = float(knots[0]), float(knots[-1] - knots[0])
    places = (knots - low) / width
    highest = int((places == 1).sum())
    if highest + int((places == 0).sum()) == len(places):  # two values: the weight of the upper one has a beta law
        from scipy.special import betaincinv

        return low + width * float(betaincinv(highest, len(places) - highest, probability))
    if len(places) > _MOST_KNOTS:
        return low + width * _drawn_quantile(places, probability)
    from scipy.interpolate import BSpline

    law = BSpline.basis_element(places, extrapolate=False).antiderivative()
    last = math.nextafter(1.0, 0.0)
    start, end = (float(law(place)) for place in (0.0, last))
    wanted = start + probability * (end - start)
    left, right = 0.0, last
    for _ in range(8):  # each step narrows the place to a 32nd
        grid = np.linspace(left, right, 33)
        after = int(np.clip(np.searchsorted(law(grid), wanted), 1, 32))
        left, right = float(grid[after - 1]), float(grid[after])
    return low + width * (left + right) / 2


def _drawn_quantile(places: NDArray[np.float64], probability: float) -> float:
    """Return the quantile of drawn sums; equal places share a weight, and the draws are the same each time."""
    values, counts = np.unique(places, return_counts=True)
    draws = max(2_000, min(40_000, _DRAWS // len(values)))
    weights = np.random.default_rng(0).standard_gamma(counts, size=(draws, len(values)))
    return float(np.quantile(weights @ values / weights.sum(axis=1), probability))
