"""What a receiver can see to be wrong, of whatever a message says: such a message is left out.

Nothing here raises, whatever is given.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e100
"""The largest magnitude of a number that is taken where nothing bounds it: sums and squares of many stay finite."""

_ROUNDING = 1e-9


def sound_means(values: Any, arms: int, *, bounded: bool) -> bool:
    """Return whether *values* can be the means of so many arms.

    Args:
        values: What was received.
        arms: How many arms it must speak of.
        bounded: Whether a mean is from 0 to 1: rewards are, and no noise is added.
    """
    if not isinstance(values, np.ndarray) or values.shape != (arms,) or values.dtype.kind not in "fiu":
        return False
    numbers = values.astype(np.float64)
    least, most = (-_ROUNDING, 1 + _ROUNDING) if bounded else (-LARGEST, LARGEST)
    return bool(((numbers >= least) & (numbers <= most)).all())  # NaN is neither


def sound_arms(values: Any, arms: int) -> bool:
    """Return whether *values* names some of *arms* arms, at least one, each once and in order."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "iu" or not len(values):
        return False
    numbers = values.tolist()
    return numbers[0] >= 0 and numbers[-1] < arms and all(map(int.__lt__, numbers, numbers[1:]))


def sound_pulls(value: Any, most: int) -> bool:
    """Return whether *value* is a number of pulls: a whole one from 1 to the slots played."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 1 <= int(value) <= most


def sound_sums(gram: Any, response: Any, count: Any, dimension: int, most: float) -> bool:
    """Return whether these can be the sums of a linear learner whose actions are not longer than 1.

    Args:
        gram: U: symmetric, with eigenvalues that are not negative and a trace of *count* at most.
        response: u: no longer than rewards of magnitude `LARGEST` allow.
        count: Of how many observations, at most *most*; None: that is not told.
        dimension: d.
        most: How many observations there can be.
    """
    if count is not None and not (_is_number(count) and 0 <= count <= most):
        return False
    if not (_is_floats(gram, (dimension, dimension)) and _is_floats(response, (dimension,))):
        return False
    if not (np.abs(gram) <= LARGEST).all() or not (np.abs(response) <= LARGEST).all():  # NaN is neither
        return False
    trace = float(np.trace(gram))
    heaviest = float(most if count is None else count)
    if not (gram == gram.T).all() or not 0 <= trace <= heaviest * (1 + _ROUNDING):
        return False
    return bool(np.linalg.eigvalsh(gram)[0] >= -_ROUNDING * trace)


def sound_totals(
    pulls: NDArray[np.float64], sums: NDArray[np.float64], most: NDArray[np.float64], *, bounded: bool
) -> NDArray[np.bool_]:
    """Return which rows can be numbers of pulls of arms and what these paid, shape (n,).

    Args:
        pulls: Shape (n, K).
        sums: Shape (n, K).
        most: How many pulls there can be of all arms together, shape (n,); infinite where pulls are noisy.
        bounded: Whether pulls are not negative and pay from 0 to 1: rewards do, and no noise is added.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        within = (np.abs(pulls) <= LARGEST) & (np.abs(sums) <= LARGEST)
        if bounded:
            within &= (pulls >= 0) & (sums >= -_ROUNDING) & (sums <= pulls * (1 + _ROUNDING) + _ROUNDING)
        return np.asarray(within.all(axis=1) & (pulls.sum(axis=1) <= most))


def sound_recommendation(value: Any, arms: int) -> bool:
    """Return whether *value* names one of so many *arms*: an array of one whole number."""
    if not isinstance(value, np.ndarray) or value.shape != (1,) or value.dtype.kind not in "fiu":
        return False
    number = float(value[0])
    return 0 <= number < arms and number == int(number)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _is_floats(value: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.shape == shape and value.dtype.kind in "fiu"
