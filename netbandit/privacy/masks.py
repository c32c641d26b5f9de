"""Masks for contexts that are split by columns: orthogonal matrices, and sums that hide their terms.

An orthogonal mask (O3M) loses nothing: inner products survive it, and a linear learner needs no more. For the same
reason it is no encryption. What the receiver learns all the same:

* each participant's norms and inner products, exactly, because its columns Q_i of the mask are orthonormal;
* Q_i itself, from as many known contexts of that participant as it has columns (:func:`recover_mask`).

Whoever draws the mask can take it off for all: it must not collude with the receiver.

With :func:`secure_sum` the receiver learns only the sum of the other participants' parts, hence their joint inner
products; ``d - d_1`` known joint contexts still give the joint mask away.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

GRID = 2.0**-52
"""The grid on which sums are kept secret: its multiples are whole numbers, which can be added without rounding."""

LIMIT = 2.0**10
"""The largest absolute value of a sum that the grid can hold."""


def orthogonal_matrix(rng: np.random.Generator, dimension: int) -> NDArray[np.float64]:
    """Return a uniformly drawn orthogonal matrix, shape (dimension, dimension).

    QR of a Gaussian matrix; without making the diagonal of R positive the draw would not be uniform.
    """
    q, r = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    drawn: NDArray[np.float64] = np.ascontiguousarray(q * np.where(np.diagonal(r) < 0, -1.0, 1.0))
    return drawn


def masked_part(mask: NDArray[np.float64], part: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a participant sends: its part of each context, masked.

    Args:
        mask: Its columns of the mask, shape (d, d_i).
        part: Its columns of the contexts, shape (..., d_i).

    Returns:
        The masked part, shape (..., d).
    """
    # As one product of matrices: many small ones take several times as long.
    rows = np.ascontiguousarray(part).reshape(prod(part.shape[:-1]), part.shape[-1])
    masked: NDArray[np.float64] = np.matmul(rows, mask.T).reshape(*part.shape[:-1], len(mask))
    return masked


def recover_mask(known: NDArray[np.float64], seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mount the attack: find a participant's mask from contexts that the receiver happens to know.

    Args:
        known: Known parts, shape (k, d_i) with k at least d_i.
        seen: What was received for them, shape (k, d).

    Returns:
        The mask that explains them best, shape (d, d_i).
    """
    return np.asarray(np.linalg.lstsq(known, seen, rcond=None)[0], dtype=np.float64).T


def to_grid(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return *values* as multiples of :data:`GRID`, modulo 2^64.

    Raises:
        OverflowError: A value beyond :data:`LIMIT`.
    """
    # No value is beyond the root of the sum of squares, which is sooner found; mostly that is answer enough.
    flat = values.ravel()
    if not np.dot(flat, flat) < LIMIT**2 and not max(values.max(), -values.min()) < LIMIT:
        raise OverflowError(f"a secure sum holds values below {LIMIT:g} only")
    multiples = values * (1 / GRID)
    return np.rint(multiples, out=multiples).astype(np.int64).view(np.uint64)


def from_grid(numbers: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the values of multiples of :data:`GRID`, modulo 2^64."""
    return np.asarray(numbers.view(np.int64) * GRID, dtype=np.float64)


def padded_parts(
    parts: Sequence[NDArray[np.float64]], pads: Sequence[Sequence[np.random.BitGenerator]]
) -> list[NDArray[np.uint64]]:
    """Return what participants send so that nothing but the sum of their parts can be learnt.

    Each pair shares a one-time pad, uniform modulo 2^64: one of the two adds it, the other takes it away.

    Args:
        parts: The part of each participant, all of one shape.
        pads: ``pads[i][j]`` for ``j < i``: the words of the pair (i, j), seeded end to end.

    Returns:
        What each sends; a single one is uniform, whatever the part.
    """
    sent = [to_grid(part) for part in parts]
    for first in range(len(parts)):
        for second in range(first):
            pad = pads[first][second].random_raw(parts[first].shape)
            sent[first] += pad
            sent[second] -= pad
    return sent


def secure_sum(sent: Sequence[NDArray[np.uint64]]) -> NDArray[np.float64]:
    """Return the sum of the parts from what was sent by all: the pads cancel exactly."""
    total = sent[0].copy()
    for numbers in sent[1:]:
        total += numbers
    return from_grid(total)
