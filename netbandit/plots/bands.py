"""Means or medians over replications with their intervals: each by itself, or for comparing points."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.results import intervals
from netbandit.results.intervals import CONFIDENCE, MEAN, Statistic, ranks

Name = tuple[int, int]
"""The seed and the number of a replication."""

_ALIKE = 3.0
"""Points whose spread is this many times the usual one are excluded from the common part of all points."""


MOST_DOTS = 20
"""Up to this many replications, each is drawn as a dot beside the estimate."""


@dataclass(frozen=True)
class Band:
    """Means, or another statistic, with two-sided 95 % intervals; all arrays have the shape of the mean.

    Attributes:
        mean: The mean over replications, or another statistic.
        low: The lower end of the interval; equal to the mean where there is only one replication.
        high: The upper end.
        replications: The number of replications.
        alone: The interval of the mean by itself, if *low* and *high* are the interval for comparisons.
        runs: The value of each run, drawn as a dot, if there are few.
        failed: How those of them failed that did, in words.
        shortfalls: What some of the runs failed to do, in words (see `netbandit.results.failures.shortfalls`).
        shown: Whether its interval is to be drawn.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    replications: int
    alone: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    runs: Mapping[Name, float] = field(default_factory=dict)
    failed: Mapping[Name, Collection[str]] = field(default_factory=dict)
    shortfalls: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    shown: bool = True

    @property
    def known(self) -> bool:
        """Whether there is an interval to draw, which takes two replications."""
        return self.replications > 1 and self.shown

    @property
    def widest(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends of the interval of the mean by itself."""
        return self.alone or (self.low, self.high)


def exact(value: float) -> Band:
    """Return *value* as a band without an interval, such as the value of a key."""
    where = np.float64(value)
    return Band(where, where, where, 1)  # type: ignore[arg-type]


def band(samples: Sequence[NDArray[np.float64]] | NDArray[np.float64], statistic: Statistic = MEAN) -> Band:
    """Return the mean over the first axis of *samples* with its interval, of width zero where there is none.

    Args:
        samples: One row (or number) per replication, shape (replications, ...), at least one.
        statistic: The statistic in place of the mean.
    """
    values = np.asarray(samples, dtype=np.float64)
    count = len(values)
    if statistic.share is not None:
        return _quantile_band(values, statistic.share)
    mean = values.mean(axis=0)
    if count < 2:
        return Band(mean, mean, mean, count)
    if values.ndim == 1:  # a number, as the table has it
        found = statistic.of(values.tolist(), CONFIDENCE)
        if statistic.rate:
            return Band(mean, np.asarray(found.low), np.asarray(found.high), count)
        width = found.half_width
        half = np.asarray(np.nan if width is None else width)
    else:
        half = intervals.half_widths(values)
    half = np.where(np.isnan(half), 0.0, half)  # all alike: no interval, and nothing to draw
    return Band(mean, mean - half, mean + half, count)


def _quantile_band(values: NDArray[np.float64], share: float) -> Band:
    """Return a quantile over the first axis with the interval between two of the sorted values."""
    count = len(values)
    middle = np.asarray(np.quantile(values, share, axis=0))
    lower, upper = ranks(count, share, CONFIDENCE)
    if not lower or upper > count:
        return Band(middle, middle, middle, count)
    ordered = np.sort(values, axis=0)
    return Band(middle, ordered[lower - 1], ordered[upper - 1], count)


Kind = Literal["auto", "mean", "comparison"] | None
"""The interval to draw: the 95 % interval of each mean, the one for comparing points, or none.

``auto``: of each mean, unless these hide a difference from the first point that pairs of replications decide.
"""

KINDS: tuple[Kind, ...] = ("auto", "mean", "comparison", None)


def bands_of(
    samples: Sequence[Mapping[Name, NDArray[np.float64]] | Mapping[Name, float]],
    statistic: Statistic = MEAN,
    kind: Kind = "mean",
) -> list[Band]:
    """Return a band for each of several points, with the intervals of one *kind*.

    Args:
        samples: For each point the value (or curve) of each replication, by the name of the replication.
        statistic: The statistic over the replications of a point.
        kind: The interval of each point by itself, the one for comparisons (see `side_by_side`), or none.
    """
    if kind == "comparison":
        return side_by_side(samples, statistic)
    found = [band([np.asarray(value, dtype=np.float64) for value in one.values()], statistic) for one in samples]
    return found if kind == "mean" else [replace(one, low=one.mean, high=one.mean, shown=False) for one in found]


def side_by_side(
    samples: Sequence[Mapping[Name, NDArray[np.float64]] | Mapping[Name, float]], statistic: Statistic = MEAN
) -> list[Band]:
    """Return a band for each of several points, with intervals suited to comparing them.

    The same replication is the same instance at all points, so an instance that is hard at all points is irrelevant
    to their comparison. The effect that a replication shares over points is therefore removed before the interval is
    computed (Cousineau 2005). That makes it too narrow by the square root of (points - 1) / points, which is corrected
    (Morey 2008). Points with a very different spread are left unchanged and do not affect the others. An interval
    never exceeds that of the mean by itself.

    Where fewer than two points, or fewer than two replications, are shared, the intervals are those of the means.
    Medians and other quantiles have intervals of their own.

    Args:
        samples: For each point the value (or curve) of each replication, by the name of the replication.
        statistic: The statistic over the replications of a point.
    """
    bands = [band([np.asarray(value, dtype=np.float64) for value in one.values()], statistic) for one in samples]
    if not statistic.is_mean:
        return bands
    shared = [key for key in samples[0] if all(key in one for one in samples)] if samples else []
    if len(samples) < 2 or len(shared) < 2:
        return bands
    table = np.array([[one[key] for key in shared] for one in samples], dtype=np.float64)  # (points, replications, ...)
    spread = table.std(axis=1, ddof=1)
    overall = np.sqrt((spread**2).reshape(len(samples), -1).mean(axis=1))  # of a curve: over all of its slots
    alike = overall <= _ALIKE * np.median(overall)
    count = int(alike.sum())
    inside = table[alike].mean(axis=0)  # (replications, ...)
    within = table - (inside - inside.mean(axis=0))
    grown = np.sqrt(count / max(count - 1, 1))
    found = []
    for point, one in enumerate(bands):
        # Of counts the common part says little about the spread.
        counts = table.ndim == 2 and intervals.are_counts(table[point].tolist())
        gains = alike[point] and count > 1 and not counts
        half = intervals.half_widths(within[point]) * grown if gains else np.inf
        half = np.where(np.isnan(half), 0.0, half)  # all alike
        low, high = np.maximum(one.low, one.mean - half), np.minimum(one.high, one.mean + half)
        found.append(replace(one, low=low, high=high, alone=(one.low, one.high)))
    return found
