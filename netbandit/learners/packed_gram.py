"""A symmetric matrix of d x d numbers, sent as its upper triangle."""

import numpy as np
from numpy.typing import NDArray


def unpacked_gram(
    row: NDArray[np.float64], upper: tuple[NDArray[np.int64], ...], dimension: int
) -> NDArray[np.float64]:
    """Return the matrix whose upper triangle begins a packed *row*, shape (d, d).

    Args:
        row: The upper triangle, row by row, and what follows it.
        upper: The places of the triangle, as ``numpy.triu_indices(d)`` has them.
        dimension: d.
    """
    gram = np.zeros((dimension, dimension))
    gram[upper] = row[: upper[0].size]
    gram += np.triu(gram, 1).T
    return gram
