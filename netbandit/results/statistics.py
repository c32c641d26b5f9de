"""Intervals for what a claim compares: means, differences, ratios, shares and slopes over replications.

Two points of a study whose scenarios share the root seed have the same random numbers in the same replication, so
they are compared pair by pair: what both have in common is no part of the interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Samples = Sequence[float]
"""One number for each replication."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the two-sided interval around it.

    Attributes:
        value: The estimate.
        low: The lower end; ``-inf`` where the data say nothing.
        high: The upper end; ``inf`` where the data say nothing.
        confidence: The probability with which such intervals cover what they estimate.
        replications: How many replications the estimate is of.
    """

    value: float
    low: float
    high: float
    confidence: float
    replications: int


def mean(samples: Samples, confidence: float) -> Interval:
    """Return the mean of *samples* with its interval of Student's t.

    With one sample the interval is the whole line: one number says nothing about the spread.

    Raises:
        ValueError: There is no sample.
    """
    count = len(samples)
    if not count:
        raise ValueError("no replication has a value")
    if count == 1:
        return Interval(float(samples[0]), -math.inf, math.inf, confidence, 1)
    centre, variance = _moments(samples)
    half = _t(count - 1, confidence) * math.sqrt(variance / count)
    return Interval(centre, centre - half, centre + half, confidence, count)


def difference(first: Samples, second: Samples, confidence: float, *, paired: bool) -> Interval:
    """Return ``mean(first) - mean(second)`` with its interval: of the pairs, or Welch's if they are not *paired*.

    Raises:
        ValueError: There is no sample, or pairs were asked for and the lengths differ.
    """
    if paired:
        return mean([one - other for one, other in zip(first, second, strict=True)], confidence)
    if not first or not second:
        raise ValueError("no replication has a value")
    counts = len(first), len(second)
    if min(counts) == 1:
        return Interval(
            math.fsum(first) / counts[0] - math.fsum(second) / counts[1], -math.inf, math.inf, confidence, 1
        )
    (one, spread), (other, width) = _moments(first), _moments(second)
    parts = spread / counts[0], width / counts[1]
    half = 0.0
    if sum(parts) > 0:
        freedom = sum(parts) ** 2 / sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
        half = _t(freedom, confidence) * math.sqrt(sum(parts))
    return Interval(one - other, one - other - half, one - other + half, confidence, min(counts))


def ratio(first: Samples, second: Samples, confidence: float, *, paired: bool) -> Interval:
    """Return ``mean(first) / mean(second)`` with Fieller's interval.

    It holds each ratio theta for which ``mean(first) - theta mean(second) = 0`` is not rejected by a t-test (of the
    pairs, if they are *paired*). Where the second mean may be zero no ratio can be ruled out from one side, and the
    interval is the whole line. Samples that are not paired take the degrees of freedom of the smaller sample, which
    makes the interval a little wider than it must be.

    Raises:
        ValueError: There is no sample, or pairs were asked for and the lengths differ.
    """
    if paired and len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} replications are no pairs")
    if not first or not second:
        raise ValueError("no replication has a value")
    count = min(len(first), len(second))
    above, below = math.fsum(first) / len(first), math.fsum(second) / len(second)
    if below == 0:
        return Interval(math.nan, -math.inf, math.inf, confidence, count)
    value = above / below
    if count == 1:
        return Interval(value, -math.inf, math.inf, confidence, 1)
    (above, spread), (below, width) = _moments(first), _moments(second)
    common = _covariance(first, second, above, below) / count if paired else 0.0
    if spread == 0 and width == 0:
        return Interval(value, value, value, confidence, count)
    square = _t(count - 1, confidence) ** 2
    # mean(first)^2 - 2 theta ... <= t^2 var: a quadratic in theta, opened downwards only if the lower mean is sure.
    leading = below**2 - square * width / len(second)
    middle = above * below - square * common
    constant = above**2 - square * spread / len(first)
    if leading <= 0:
        return Interval(value, -math.inf, math.inf, confidence, count)
    root = math.sqrt(max(middle**2 - leading * constant, 0.0))
    ends = sorted(((middle - root) / leading, (middle + root) / leading))
    return Interval(value, min(ends[0], value), max(ends[1], value), confidence, count)


def share(samples: Samples, confidence: float) -> Interval:
    """Return the share of *samples* that are 1, the others being 0, with the interval of Clopper and Pearson.

    Raises:
        ValueError: There is no sample, or one is neither 0 nor 1.
    """
    count = len(samples)
    if not count:
        raise ValueError("no replication has a value")
    if any(sample not in (0, 1) for sample in samples):
        raise ValueError("a share is counted over samples that are 0 or 1")
    from scipy.special import betaincinv

    found = sum(map(int, samples))
    tail = (1 - confidence) / 2
    low = float(betaincinv(found, count - found + 1, tail)) if found else 0.0
    high = float(betaincinv(found + 1, count - found, 1 - tail)) if found < count else 1.0
    return Interval(found / count, low, high, confidence, count)


def slope(across: Sequence[Samples], upward: Sequence[Samples], confidence: float) -> Interval:
    """Return the slope of least-squares lines through some points, one line for each replication, all as steep.

    It is the ratio of the mean products and squares about each replication's own centre, with Fieller's interval: a
    replication whose points are all in one place says nothing, and none of the others is left out for it.

    Args:
        across: For each point its place on the horizontal axis, one number for each replication.
        upward: The same on the vertical axis.
        confidence: Of the interval.

    Raises:
        ValueError: There is no replication.
    """
    products, squares = [], []
    for xs, ys in zip(zip(*across, strict=True), zip(*upward, strict=True), strict=True):
        centre, height = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
        products.append(math.fsum((x - centre) * (y - height) for x, y in zip(xs, ys, strict=True)))
        squares.append(math.fsum((x - centre) ** 2 for x in xs))
    return ratio(products, squares, confidence, paired=True)


def _moments(samples: Samples) -> tuple[float, float]:
    """Return mean and sample variance; equal samples have that mean and no variance, to the last digit."""
    if min(samples) == max(samples):
        return float(samples[0]), 0.0
    centre = math.fsum(samples) / len(samples)
    return centre, math.fsum((sample - centre) ** 2 for sample in samples) / (len(samples) - 1)


def _covariance(first: Samples, second: Samples, one: float, other: float) -> float:
    products = ((a - one) * (b - other) for a, b in zip(first, second, strict=True))
    return math.fsum(products) / (len(first) - 1)


def _t(freedom: float, confidence: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))
