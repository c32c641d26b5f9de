"""What a receiver can see to be wrong, of whatever a message says: such a message is left out.

Nothing here raises, whatever is given.
"""

from typing import Any

import numpy as np

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
