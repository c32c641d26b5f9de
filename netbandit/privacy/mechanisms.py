"""The Laplace mechanism: noise added to a number before an agent releases it."""

from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray


def laplace(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw independent Laplace noise of mean 0 and density ``exp(-|z| / scale) / (2 scale)``.

    Args:
        rng: The stream of this noise.
        scale: In units of the number to be protected; 0 (no privacy required) gives zeros and draws nothing.
        shape: The shape of the result.

    Raises:
        ValueError: The scale is negative, NaN or infinite.
    """
    if not (isfinite(scale) and scale >= 0):
        raise ValueError(f"the scale of Laplace noise must be a finite number, at least 0, not {scale}")
    if scale == 0:
        return np.zeros(shape)
    return rng.laplace(0.0, scale, shape)


def block_mean_scale(participants: int, epsilon: float, pulls: int) -> float:
    """Return the Laplace scale ``1 / (N epsilon n)`` for the mean of a block of rewards in [0, 1].

    One reward changes the mean of n by at most 1/n, so the mean with this noise is ``N epsilon``-private for one
    reward (Li & Song 2022, Algorithm 1 line 9, with N for M under partial participation).

    Args:
        participants: The number N of agents that share in a round.
        epsilon: The epsilon of the scenario; ``inf`` means no noise, scale 0.
        pulls: The number n of rewards in the mean, at least 1.
    """
    if participants < 1 or pulls < 1 or not epsilon > 0:
        raise ValueError(f"no noise for {participants} participants, epsilon {epsilon}, {pulls} pulls")
    return 0.0 if epsilon == inf else 1.0 / (participants * pulls * epsilon)
