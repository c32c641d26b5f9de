"""The Gaussian mechanism: calibration and exact privacy guarantees."""

from math import inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

CLASSICAL_LIMIT = 1.0
"""The largest epsilon for which the classical bound of the Gaussian mechanism is proven."""


def noise_multiplier(epsilon: float, delta: float) -> float:
    """Return the standard deviation, in units of the sensitivity, that the classical bound requires.

    ``sqrt(2 ln(1.25 / delta)) / epsilon`` (Dwork & Roth 2014, Theorem A.1); proven for epsilon up to 1 only.

    Raises:
        ValueError: A parameter is out of range.
    """
    if not epsilon > 0 or not 0 < delta < 1:
        raise ValueError(f"no Gaussian noise for epsilon {epsilon} and delta {delta}")
    return 0.0 if epsilon == inf else sqrt(2 * log(1.25 / delta)) / epsilon


def gaussian(rng: np.random.Generator, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw independent Gaussian noise of mean 0.

    Args:
        rng: The stream of this noise.
        scale: The standard deviation of each number; if all are 0, nothing is drawn.
    """
    if not scale.any():
        return np.zeros(scale.shape)
    return rng.normal(size=scale.shape) * scale


def exact_delta(epsilon: float, multiplier: float) -> float:
    """Return the smallest delta at *epsilon* of one Gaussian release (Balle & Wang 2018, Theorem 8).

    Args:
        epsilon: At least 0.
        multiplier: Standard deviation over sensitivity, above 0.
    """
    from scipy.special import log_ndtr, ndtr

    shift = 0.5 / multiplier
    return float(ndtr(shift - epsilon * multiplier) - np.exp(epsilon + log_ndtr(-shift - epsilon * multiplier)))


def exact_epsilon(delta: float, multiplier: float) -> float:
    """Return the smallest epsilon at *delta* of one Gaussian release; ``inf`` without noise.

    dp_accounting's ``get_epsilon_gaussian`` agrees to twelve digits (a test compares them), but takes a second to
    import in every process. This function needs only scipy's root finder.
    """
    from scipy.optimize import brentq

    if multiplier == 0:
        return inf
    if exact_delta(0.0, multiplier) <= delta:
        return 0.0
    upper = 1.0
    while exact_delta(upper, multiplier) > delta:
        upper *= 2
    return float(brentq(lambda epsilon: exact_delta(epsilon, multiplier) - delta, 0.0, upper, xtol=1e-12))
