"""Validation of received messages: a receiver discards messages that no honest agent could have sent.

These functions never raise, whatever the input.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e100
"""The largest accepted magnitude of an otherwise unbounded number: sums and squares of many stay finite."""

_ROUNDING = 1e-9


def valid_means(values: Any, arms: int, *, bounded: bool) -> bool:
    """Return whether *values* can be the means of *arms* arms.

    Args:
        values: The received values.
        arms: The required number of means.
        bounded: Whether means lie in [0, 1], because rewards do and no noise is added.
    """
    if not isinstance(values, np.ndarray) or values.shape != (arms,) or values.dtype.kind not in "fiu":
        return False
    numbers = values.astype(np.float64)
    least, most = (-_ROUNDING, 1 + _ROUNDING) if bounded else (-LARGEST, LARGEST)
    return bool(((numbers >= least) & (numbers <= most)).all())  # NaN is neither


def valid_arms(values: Any, arms: int) -> bool:
    """Return whether *values* is a strictly ascending list of some of *arms* arms: of none before rewards come."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in "iu":
        return False
    bounds = [-1, *values.tolist(), arms]
    return all(map(int.__lt__, bounds, bounds[1:]))


def valid_pulls(value: Any, most: int) -> bool:
    """Return whether *value* is a number of pulls: an integer from 1 to *most*."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 1 <= int(value) <= most


def valid_sums(gram: Any, response: Any, count: Any, dimension: int, most: float) -> bool:
    """Return whether these can be the sums of a linear learner with actions of norm at most 1.

    Args:
        gram: U: must be symmetric positive semidefinite with a trace of at most *count*.
        response: u: its norm must be consistent with rewards of magnitude up to `LARGEST`.
        count: The number of observations, at most *most*; None: not sent.
        dimension: d.
        most: The maximum number of observations.
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


def valid_totals(
    pulls: NDArray[np.float64], sums: NDArray[np.float64], most: NDArray[np.float64], *, bounded: bool
) -> NDArray[np.bool_]:
    """Return which rows can be pull counts and reward sums of arms, shape (n,).

    Args:
        pulls: The pull counts, shape (n, K).
        sums: The reward sums, shape (n, K).
        most: The maximum number of pulls of all arms together, shape (n,); infinite if pulls are noisy.
        bounded: Whether pulls are nonnegative and rewards lie in [0, 1], without noise.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        within = (np.abs(pulls) <= LARGEST) & (np.abs(sums) <= LARGEST)
        if bounded:
            within &= (pulls >= 0) & (sums >= -_ROUNDING) & (sums <= pulls * (1 + _ROUNDING) + _ROUNDING)
        return np.asarray(within.all(axis=1) & (pulls.sum(axis=1) <= most))


def valid_recommendation(value: Any, arms: int) -> bool:
    """Return whether *value* names one of *arms* arms: an array of one integer."""
    if not isinstance(value, np.ndarray) or value.shape != (1,) or value.dtype.kind not in "fiu":
        return False
    number = float(value[0])
    return 0 <= number < arms and number == int(number)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _is_floats(value: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.shape == shape and value.dtype.kind in "fiu"
