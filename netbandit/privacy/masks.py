"""Masks for vertically partitioned contexts: orthogonal matrices and secure sums.

An orthogonal mask (O3M) is lossless: it preserves inner products, which are all that a linear learner needs. For the
same reason it is not encryption. The receiver still learns:

* each participant's norms and inner products, exactly, because its columns Q_i of the mask are orthonormal;
* Q_i itself, from as many known contexts of that participant as it has columns (:func:`recover_mask`).

The party that draws the mask can remove it for all participants: it must not collude with the receiver.

With :func:`secure_sum` the receiver learns only the sum of the other participants' parts, hence their joint inner
products; ``d - d_1`` known joint contexts still reveal the joint mask.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

GRID = 2.0**-52
"""The fixed-point grid of secure sums: multiples of it are integers, which add without rounding."""

LIMIT = 2.0**10
"""The largest absolute value of a sum that the grid can represent."""


def orthogonal_matrix(rng: np.random.Generator, dimension: int) -> NDArray[np.float64]:
    """Return a uniformly drawn orthogonal matrix, shape (dimension, dimension).

    Uses QR of a Gaussian matrix. The diagonal of R is made positive; otherwise the draw would not be uniform.
    """
    q, r = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    drawn: NDArray[np.float64] = np.ascontiguousarray(q * np.where(np.diagonal(r) < 0, -1.0, 1.0))
    return drawn


def masked_part(mask: NDArray[np.float64], part: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the masked part of each context that a participant sends.

    Args:
        mask: The participant's columns of the mask, shape (d, d_i).
        part: The participant's columns of the contexts, shape (..., d_i).

    Returns:
        The masked part, shape (..., d).
    """
    # One matrix product: many small products take several times as long.
    rows = np.ascontiguousarray(part).reshape(prod(part.shape[:-1]), part.shape[-1])
    masked: NDArray[np.float64] = np.matmul(rows, mask.T).reshape(*part.shape[:-1], len(mask))
    return masked


def recover_mask(known: NDArray[np.float64], seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Recover a participant's mask from contexts that the receiver knows (known-plaintext attack).

    Args:
        known: Known parts, shape (k, d_i) with k at least d_i.
        seen: The masked parts received for them, shape (k, d).

    Returns:
        The mask that fits them best, shape (d, d_i).
    """
    return np.asarray(np.linalg.lstsq(known, seen, rcond=None)[0], dtype=np.float64).T


def to_grid(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return *values* as multiples of :data:`GRID`, modulo 2^64.

    Raises:
        OverflowError: A value exceeds :data:`LIMIT`.
    """
    # The root of the sum of squares bounds every value and is faster to compute; usually it suffices.
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
    """Return the padded parts that participants send, which reveal only the sum of the parts.

    Each pair shares a one-time pad, uniform modulo 2^64: one of the two adds it, the other subtracts it.

    Args:
        parts: The part of each participant, all of one shape.
        pads: ``pads[i][j]`` for ``j < i``: the random words of the pair (i, j), seeded end to end.

    Returns:
        The padded part of each participant; each one alone is uniform, whatever the part.
    """
    sent = [to_grid(part) for part in parts]
    for first in range(len(parts)):
        for second in range(first):
            pad = pads[first][second].random_raw(parts[first].shape)
            sent[first] += pad
            sent[second] -= pad
    return sent


def secure_sum(sent: Sequence[NDArray[np.uint64]]) -> NDArray[np.float64]:
    """Return the sum of the parts from all padded parts: the pads cancel exactly."""
    total = sent[0].copy()
    for numbers in sent[1:]:
        total += numbers
    return from_grid(total)
