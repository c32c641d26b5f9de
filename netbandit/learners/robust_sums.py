"""Robust aggregation of the sums of linear learners, some of which may be Byzantine.

Contributions are sums over different numbers of observations, so each is divided by its count. The quotients are
combined as vectors, so that the distance of two matrices is the Frobenius distance. The result, which stands for one
observation, is multiplied by the number of agents times the median of their counts.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.aggregation.rules import median
from netbandit.learners.defence import Defence

Floats = NDArray[np.float64]


def robust_sums(
    defence: Defence, rows: Sequence[Floats], dimension: int, weights: Sequence[int] | None = None
) -> Floats:
    """Return the packed sums that stand for *rows*, with their count as the last number.

    The geometric median is a weighted mean of contributions, so that ``U = sum w_i U_i`` is positive semidefinite and u
    goes with it. Medians and trimmed means of single entries need not be: eigenvalues below 0 are set to 0.

    Args:
        defence: The rule, which is not the mean.
        rows: The upper triangle of U, row by row, then u, and the count, each of shape (d (d + 1) / 2 + d + 1,).
        dimension: d.
        weights: The number of agents whose sums each row combines; None: one each.
    """
    upper = np.triu_indices(dimension)
    agents = np.ones(len(rows), dtype=np.int64) if weights is None else np.asarray(weights, dtype=np.int64)
    defence.hear(int(agents.sum()))
    told = np.array(rows)
    known = told[:, -1] > 0  # who has seen nothing has nothing to say
    if not known.any():
        return np.zeros(told.shape[1])
    told, agents = told[known], agents[known]
    scale = np.ones(told.shape[1] - 1)
    scale[: len(upper[0])] = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
    observations = scale * told[:, :-1] / told[:, -1:]
    one = defence.combine(observations, None if weights is None else agents.tolist(), np.random.default_rng) / scale
    counts = np.repeat(told[:, -1] / agents, agents)
    total = float(median(counts[:, np.newaxis])[0]) * len(counts)
    if defence.rule in ("median", "trimmed"):
        _repair(one, upper, dimension, defence)
    return np.append(one * total, total)


def _repair(row: Floats, upper: tuple[NDArray[np.int64], ...], dimension: int, defence: Defence) -> None:
    """Set the negative eigenvalues of the matrix in *row* to 0."""
    values, vectors = np.linalg.eigh(unpacked_gram(row, upper, dimension))
    if values[0] >= -_ROUNDING * values[-1]:
        return
    defence.tally.repaired += 1
    repaired = (vectors * np.maximum(values, 0.0)) @ vectors.T
    row[: len(upper[0])] = repaired[upper]


_ROUNDING = 1e-12


def unpacked_gram(
    row: NDArray[np.float64], upper: tuple[NDArray[np.int64], ...], dimension: int
) -> NDArray[np.float64]:
    """Return the matrix whose upper triangle begins a packed *row*, shape (d, d).

    Args:
        row: The upper triangle, row by row, and what follows it.
        upper: The places of the triangle, as ``numpy.triu_indices(d)`` has them.
        dimension: d.
    """
    gram = np.empty((dimension, dimension))
    gram[upper] = gram.T[upper] = row[: upper[0].size]
    return gram
