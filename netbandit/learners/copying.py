"""Copies in compiled loops, number by number.

An assignment of arrays, ``into[:] = values``, is the same; but it carries along the words with which it complains
where shapes differ, and to compile those takes seconds, in every loop that they are compiled into.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.util.jit import Floats, njit


@njit(cache=True)
def copy_vector(values: Floats, into: Floats) -> None:
    """Write *values* into an array of the same length."""
    for place in range(values.shape[0]):
        into[place] = values[place]


@njit(cache=True)
def copy_matrix(values: NDArray[np.floating[Any]], into: Floats) -> None:
    """Write *values* into an array of the same shape, (n, m)."""
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            into[row, column] = values[row, column]
