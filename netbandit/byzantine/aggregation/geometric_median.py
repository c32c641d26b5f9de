"""The geometric median: the point with the least sum of distances, a weighted mean of the contributions themselves.

Source: Weiszfeld 1937, with the step at a contribution of Vardi & Zhang 2000. Unlike the coordinates of `median` it
turns with its points, and of positive semidefinite matrices it is positive semidefinite.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netbandit.byzantine.aggregation.rules import checked_rows, median

_PRECISION = 1e-12
_MOST_STEPS = 1_000
_LARGEST = 1e150  # squares of larger ones overflow


class GeometricMedian(NamedTuple):
    """The result of the iteration.

    Attributes:
        point: The geometric median, shape (d,).
        converged: Whether the step size fell below 1e-12 of the median distance within 1,000 steps.
    """

    point: NDArray[np.float64]
    converged: bool


def geometric_median(values: ArrayLike) -> GeometricMedian:
    """Return the point that minimises the sum of distances to the rows.

    Rows are brought into one order first, and summed in it: the order in which they came changes no bit.

    Args:
        values: A row for each contribution, shape (n, d), at most 1e150 in magnitude.

    Raises:
        ValueError: A value is larger.
    """
    given = checked_rows(values)
    if given.size and np.abs(given).max() > _LARGEST:
        raise ValueError(f"distances overflow: values must be at most {_LARGEST:g} in magnitude")
    start = median(given)
    rows, counts = np.unique(given - start + 0.0, axis=0, return_counts=True)  # + 0.0: there is one zero
    weights = counts.astype(np.float64)
    columns = np.ascontiguousarray(rows.T)
    scale = _median_distance(_distances(columns), counts)
    if scale == 0 or len(given) == 1:
        return GeometricMedian(start, True)
    columns = columns / scale
    point = np.zeros(len(start))
    for _ in range(_MOST_STEPS):
        ahead = columns - point[:, np.newaxis]
        distances = _distances(ahead)
        near = distances < _PRECISION
        here = float(weights[near].sum())
        inverse = np.divide(weights, distances, out=np.zeros_like(weights), where=~near)
        pull = (ahead * inverse).sum(axis=1)
        strength = float(np.sqrt((pull * pull).sum()))
        if strength <= here or not strength:
            return GeometricMedian(start + scale * point, True)
        step = (1 - here / strength) * pull / inverse.sum()
        point = point + step
        if np.sqrt((step * step).sum()) <= _PRECISION:
            return GeometricMedian(start + scale * point, True)
    return GeometricMedian(start + scale * point, False)


def _distances(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    # Along the first axis numpy adds one row after the other, on every machine alike.
    return np.asarray(np.sqrt((columns * columns).sum(axis=0)))


def _median_distance(distances: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    return float(median(np.repeat(distances, counts)[:, np.newaxis])[0])
