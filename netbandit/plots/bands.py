"""Means over replications and how sure they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.results import statistics
from netbandit.results.statistics import CONFIDENCE


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
    """Return the mean over the first axis of *samples* with its interval, which has no width where all are alike.

    Args:
        samples: One row (or number) per replication, shape (replications, ...), at least one.
    """
    values = np.asarray(samples, dtype=np.float64)
    count = len(values)
    mean = values.mean(axis=0)
    if count < 2:
        return Band(mean, mean, mean, count)
    if values.ndim == 1:  # a number, as the table has it
        width = statistics.mean(values.tolist(), CONFIDENCE).half_width
        half = np.asarray(np.nan if width is None else width)
    else:
        half = statistics.half_widths(values)
    half = np.where(np.isnan(half), 0.0, half)  # all alike: no interval, and nothing to draw
    return Band(mean, mean - half, mean + half, count)
