"""Means over replications and how sure they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.results.summary import CONFIDENCE


@dataclass(frozen=True)
class Band:
    """Means with their two-sided 95 % intervals of Student's t; all arrays have the shape of the mean.

    Attributes:
        mean: The mean over replications.
        low: The lower end of the interval; equal to the mean where there is only one replication.
        high: The upper end.
        replications: How many replications there are.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    replications: int

    @property
    def known(self) -> bool:
        """Whether there is an interval: it takes two replications."""
        return self.replications > 1


def band(samples: Sequence[NDArray[np.float64]] | NDArray[np.float64]) -> Band:
    """Return the mean over the first axis of *samples* with its t-interval.

    Args:
        samples: One row (or number) per replication, shape (replications, ...), at least one.
    """
    values = np.asarray(samples, dtype=np.float64)
    count = len(values)
    mean = values.mean(axis=0)
    if count < 2:
        return Band(mean, mean, mean, count)
    from scipy.special import stdtrit

    quantile = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    half = quantile * values.std(axis=0, ddof=1) / np.sqrt(count)
    # Equal values have no spread; in floats their mean may differ from them in the last digit.
    half = np.where(values.max(axis=0) == values.min(axis=0), 0.0, half)
    return Band(mean, mean - half, mean + half, count)
