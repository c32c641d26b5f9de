"""The compiled loop of LinUCB."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

_REFRESH = 500
"""After so many rank-one updates the inverse is made afresh."""


@njit(cache=True)  # type: ignore[untyped-decorator]
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
) -> None:
    """Play user after user; see :class:`netbandit.learners.linear.LinUcb`.

    Args:
        contexts: Shape (users, K, m), C-contiguous.
        rewards: Shape (users, K); NaN: the user teaches nothing.
        alpha: The weight of the width.
        tie: Scores closer than this are equal.
        gram: V, shape (m, m), updated in place.
        inverse: V^-1, shape (m, m), updated in place.
        response: u, shape (m,), updated in place.
        updates: Updates so far, shape (1,).
        arms: Takes the arms, shape (users,).
    """
    dimension = len(response)
    choices = contexts.shape[1]
    scores = np.empty(choices)
    for user in range(len(contexts)):
        context = contexts[user]
        theta = np.dot(inverse, response)
        spread = np.dot(context, inverse)
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
        x = context[chosen]
        direction = spread[chosen]
        square = 1.0
        for column in range(dimension):
            square += x[column] * direction[column]
            response[column] += reward * x[column]
        for row in range(dimension):
            scaled = direction[row] / square
            for column in range(dimension):
                gram[row, column] += x[row] * x[column]
                inverse[row, column] -= scaled * direction[column]
        updates[0] += 1
        if updates[0] % _REFRESH == 0:
            inverse[:] = np.linalg.inv(gram)
