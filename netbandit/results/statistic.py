"""What stands for the replications of a point: their mean, or a quantile such as the median.

Regret is skewed where few runs fail: its mean is that of these few, and hardly known; a median tells what a run mostly
comes to, and its interval needs no law. It lies between two of the sorted values, of which the ranks are quantiles of
the binomial law (David and Nagaraja 2003, Order Statistics, section 7.1). ``scipy.stats.quantile_test`` finds the same
ends, in some 500 times the time and without saying why there are none.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from netbandit.results import intervals
from netbandit.results.intervals import Interval

_QUANTILE = re.compile(r"q(\d{1,2})")


class StatisticError(ValueError):
    """A text that names no statistic."""


@dataclass(frozen=True)
class Statistic:
    """What stands for the replications of a point.

    Attributes:
        share: For a quantile the share of values below it; None for the mean.
    """

    share: float | None = None

    @classmethod
    def named(cls, text: str) -> "Statistic":
        """Return the statistic of a name: ``mean``, ``median``, or ``q90`` for the quantile of 90 %.

        Raises:
            StatisticError: There is none of this name.
        """
        if text in ("mean", "median"):
            return cls(None if text == "mean" else 0.5)
        found = _QUANTILE.fullmatch(text)
        if found is None or not int(found[1]):
            raise StatisticError(f"there is no statistic {text!r}; there are mean, median, and q1 to q99 for quantiles")
        return cls(int(found[1]) / 100)

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean, whose interval lies around it."""
        return self.share is None

    @property
    def key(self) -> str:
        """The name by which `named` finds it."""
        if self.share is None:
            return "mean"
        return "median" if self.share == 0.5 else f"q{round(100 * self.share)}"

    @property
    def name(self) -> str:
        """What it is called: ``mean``, ``median`` or ``90 % quantile``."""
        if self.share is None:
            return "mean"
        return "median" if self.share == 0.5 else f"{100 * self.share:g} % quantile"

    def of(self, samples: Sequence[float], confidence: float) -> Interval:
        """Return the statistic of *samples* with its interval.

        Raises:
            ValueError: There is no sample.
        """
        return intervals.mean(samples, confidence) if self.share is None else quantile(samples, self.share, confidence)


MEAN = Statistic()
MEDIAN = Statistic(0.5)


def quantile(samples: Sequence[float], share: float, confidence: float) -> Interval:
    """Return a quantile of *samples*, interpolated between neighbours, with an interval that needs no law.

    Raises:
        ValueError: There is no sample.
    """
    if not samples:
        raise ValueError("no replication has a value")
    count, ordered = len(samples), sorted(map(float, samples))
    below, part = divmod((count - 1) * share, 1)
    value = ordered[int(below)] + part * (ordered[min(int(below) + 1, count - 1)] - ordered[int(below)])
    lower, upper = ranks(count, share, confidence)
    low = ordered[lower - 1] if lower else -math.inf
    high = ordered[upper - 1] if upper <= count else math.inf
    which = f"a {100 * confidence:.4g} % interval of the {Statistic(share).name}"
    why = "" if lower and upper <= count else f"{which} takes {least_for(share, confidence)} replications"
    return Interval(value, low, high, confidence, count, why)


@cache
def ranks(count: int, share: float, confidence: float) -> tuple[int, int]:
    """Return the ranks, from 1, of the sorted values between which the quantile lies; 0 or ``count + 1`` for none.

    How many of *count* values are at most the quantile has a binomial law; each rank is the innermost beyond which it
    lies with a probability of at most half the error.
    """
    places = np.arange(count + 1)
    logarithms = np.concatenate([[0.0], np.cumsum(np.log(places[:0:-1] / places[1:]))])  # of the binomial coefficients
    law = np.exp(logarithms + places * math.log(share) + (count - places) * math.log1p(-share))
    error = (1 - confidence) / 2 * (1 + 1e-9)  # what is equal but for rounding is equal
    lower = int((np.cumsum(law) <= error).sum())
    upper = count + 1 - int((np.cumsum(law[::-1]) <= error).sum())
    return lower, upper


def least_for(share: float, confidence: float) -> int:
    """Return how many replications it takes to have an interval of a quantile."""
    error = (1 - confidence) / 2
    return max(math.ceil(math.log(error) / math.log(part) - 1e-9) for part in (share, 1 - share))
