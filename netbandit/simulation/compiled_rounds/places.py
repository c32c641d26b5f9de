"""Places of what has a number, and is kept in the row that is the rest of it; there may come to be more rows."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


def moved(rows: NDArray[Number], numbers: Sequence[int] | NDArray[np.int64], places: int) -> NDArray[Number]:
    """Return so many rows: those of *numbers* in their new places, and 0.

    Args:
        rows: What there was, in places by the rest of their numbers.
        numbers: Those that are kept.
        places: How many rows there are to be.
    """
    kept = np.asarray(numbers, dtype=np.int64)
    found = np.zeros((places, *rows.shape[1:]), dtype=rows.dtype)
    found[kept % places] = rows[kept % max(1, len(rows))]
    return found
