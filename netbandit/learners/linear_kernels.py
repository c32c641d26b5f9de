"""The compiled loops of LinUCB and of linear Thompson sampling."""

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.symmetric_root import Expansion
from netbandit.util.jit import blas, copy_vector, njit

REFRESH = 500
"""After so many rank-one updates the inverse is made afresh."""

_GEMV, _GEMM = blas("dgemv", 11), blas("dgemm", 13)
_AS_IT_IS, _TRANSPOSED = ord("n") * 0x01010101, ord("t") * 0x01010101
"""BLAS's letters for how a matrix is read, in each byte of a number."""


@njit(cache=True)
def play_linucb(
    contexts: NDArray[np.float64],
    rewards: NDArray[np.float64],
    alpha: float,
    tie: float,
    gram: NDArray[np.float64],
    inverse: NDArray[np.float64],
    response: NDArray[np.float64],
    updates: NDArray[np.int64],
    arms: NDArray[np.int64],
    first: int,
) -> int:
    """Play user after user until the inverse is to be made afresh; see :class:`netbandit.learners.linear.LinUcb`.

    Args:
        contexts: Shape (users, K, m), C-contiguous.
        rewards: Shape (users, K); NaN: the user teaches nothing.
        alpha: The weight of the width.
        tie: Scores closer than this are equal.
        gram: V, shape (m, m), updated in place.
        inverse: V^-1, shape (m, m), updated in place.
        response: u, shape (m,), updated in place.
        updates: Updates since the inverse was made afresh, `REFRESH` at most, shape (1,).
        arms: Takes the arms, shape (users,).
        first: The user to begin with.

    Returns:
        The user to go on with; their number if all have played.
    """
    dimension = len(response)
    choices = contexts.shape[1]
    scores, theta, spread = np.empty(choices), np.empty(dimension), np.empty((choices, dimension))
    size, factor = np.empty(5, dtype=np.int32), np.empty(2)
    count, one, same, turned, nothing = size[1:], size[2:], size[3:], size[4:], factor[1:]
    size[0] = dimension
    count[0] = choices
    one[0] = 1
    same[0] = _AS_IT_IS
    turned[0] = _TRANSPOSED
    factor[0] = 1.0
    nothing[0] = 0.0
    for user in range(first, len(contexts)):
        context = contexts[user]
        _GEMV(
            turned.ctypes, size.ctypes, size.ctypes, factor.ctypes, inverse.ctypes, size.ctypes,
            response.ctypes, one.ctypes, nothing.ctypes, theta.ctypes, one.ctypes,
        )  # fmt: skip
        _GEMM(
            same.ctypes, same.ctypes, size.ctypes, count.ctypes, size.ctypes, factor.ctypes, inverse.ctypes,
            size.ctypes, context.ctypes, size.ctypes, nothing.ctypes, spread.ctypes, size.ctypes,
        )  # fmt: skip
        best = -np.inf
        for arm in range(choices):
            mean = 0.0
            square = 0.0
            for column in range(dimension):
                mean += context[arm, column] * theta[column]
                square += context[arm, column] * spread[arm, column]
            scores[arm] = mean + alpha * np.sqrt(max(square, 0.0))
            best = max(best, scores[arm])
        chosen = 0
        while scores[chosen] < best - tie:
            chosen += 1
        arms[user] = chosen
        reward = rewards[user, chosen]
        if np.isnan(reward):
            continue
        square = 1.0
        for column in range(dimension):
            square += context[chosen, column] * spread[chosen, column]
            response[column] += reward * context[chosen, column]
        for row in range(dimension):
            scaled = spread[chosen, row] / square
            for column in range(dimension):
                gram[row, column] += context[chosen, row] * context[chosen, column]
                inverse[row, column] -= scaled * spread[chosen, column]
        updates[0] += 1
        if updates[0] == REFRESH:
            return user + 1
    return len(contexts)


@njit(cache=True)
def play_lints(
    contexts: NDArray[np.float64],
    rewards: NDArray[np.float64],
    normals: NDArray[np.float64],
    v: float,
    tie: float,
    gram: NDArray[np.float64],
    response: NDArray[np.float64],
    expansion: Expansion,
    arms: NDArray[np.int64],
    first: int,
) -> int:
    """Play user after user until the expansion has no room; see :class:`netbandit.learners.linear.LinTs`.

    Args:
        contexts: Shape (users, K, m), C-contiguous.
        rewards: Shape (users, K); NaN: the user teaches nothing.
        normals: Shape (users, m).
        v: The spread of the draw.
        tie: Scores closer than this are equal.
        gram: V, shape (m, m), updated in place.
        response: u, shape (m,), updated in place.
        expansion: Of V, updated in place.
        arms: Takes the arms, shape (users,).
        first: The user to begin with.

    Returns:
        The user to go on with; their number if all have played.
    """
    vectors, inverses, weights, rotated, images, factors, used = expansion
    nodes, dimension = inverses.shape
    parts = np.empty((nodes, dimension))
    for user in range(first, len(contexts)):
        rows = used[0]
        if rows == len(images):
            return user
        known = images[:rows]
        normal = np.dot(normals[user], vectors)
        for node in range(nodes):
            for column in range(dimension):
                parts[node, column] = inverses[node, column] * (normal[column] if node else rotated[column])
        inner = np.dot(parts, known.T)
        for node in range(nodes):
            _solve(factors[node], rows, inner[node])
        outer = np.dot(inner, known)
        drawn = np.zeros(dimension)
        for node in range(nodes):
            weight = v * weights[node] if node else 1.0
            for column in range(dimension):
                drawn[column] += weight * (parts[node, column] - inverses[node, column] * outer[node, column])
        context = contexts[user]
        scores = np.dot(context, np.dot(vectors, drawn))
        best = scores.max()
        chosen = 0
        while scores[chosen] < best - tie:
            chosen += 1
        arms[user] = chosen
        reward = rewards[user, chosen]
        if np.isnan(reward):
            continue
        x = context[chosen]
        image = np.dot(x, vectors)
        for row in range(dimension):
            rotated[row] += reward * image[row]
            response[row] += reward * x[row]
            for column in range(dimension):
                gram[row, column] += x[row] * x[column]
        copy_vector(image, images[rows])
        for node in range(nodes):
            for column in range(dimension):
                parts[node, column] = inverses[node, column] * image[column]
        inner = np.dot(parts, images[: rows + 1].T)
        for node in range(nodes):
            _append(factors[node], rows, inner[node])
        used[0] = rows + 1
    return len(contexts)


@njit(cache=True)
def _solve(factor: NDArray[np.float64], rows: int, values: NDArray[np.float64]) -> None:
    """Solve ``L L' y = values`` in place, L the first *rows* rows of *factor*."""
    for row in range(rows):
        value = values[row]
        for column in range(row):
            value -= factor[row, column] * values[column]
        values[row] = value / factor[row, row]
    for row in range(rows - 1, -1, -1):
        values[row] /= factor[row, row]
        for column in range(row):
            values[column] -= factor[row, column] * values[row]


@njit(cache=True)
def _append(factor: NDArray[np.float64], rows: int, products: NDArray[np.float64]) -> None:
    """Append the row of a new context to ``L``, whose matrix is the identity plus *products* of contexts."""
    square = 1.0 + products[rows]
    for row in range(rows):
        value = products[row]
        for column in range(row):
            value -= factor[row, column] * factor[rows, column]
        factor[rows, row] = value / factor[row, row]
        square -= factor[rows, row] ** 2
    factor[rows, rows] = np.sqrt(square)
