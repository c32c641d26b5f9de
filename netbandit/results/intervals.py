"""Intervals for what is measured and compared: means, differences, ratios, shares and slopes over replications.

Two points of a study are compared pair by pair where they have the same seed and the same replication: what both have
in common, such as an instance that is hard for everybody, is no part of the interval.

``scipy.stats`` has the plain ones of means, shares and Welch's differences, no Fieller's and none for counts; it is
slow to import and takes ten times as long for a mean, so it is asked for Welch's alone.

Nothing here is sure of what it has not seen: one replication, or several that are all alike, have no interval, and
`Interval.why_none` says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.results import repeated_values
from netbandit.results.student import quantile

CONFIDENCE = 0.95
"""The probability with which the intervals of tables and pictures cover."""

Samples = Sequence[float]
"""One number for each replication."""

ONE = "one replication says nothing of others"
"""Why a single number has no interval."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the two-sided interval around it.

    Attributes:
        value: The estimate.
        low: The lower end; ``-inf`` where the data say nothing.
        high: The upper end; ``inf`` where the data say nothing.
        confidence: The probability with which such intervals cover what they estimate.
        replications: How many replications the estimate is of.
        why_none: Why there is no interval; empty where there is one.
    """

    value: float
    low: float
    high: float
    confidence: float
    replications: int
    why_none: str = ""

    @property
    def half_width(self) -> float | None:
        """Half the width; None where there is no interval."""
        return (self.high - self.low) / 2 if math.isfinite(self.high - self.low) else None


def mean(samples: Samples, confidence: float) -> Interval:
    """Return the mean of *samples* with its interval of Student's t, a wider one where they are read as counts.

    When they are is said in `repeated_values`. One sample, and several that are all alike, say nothing about
    the spread: there is no interval.

    Raises:
        ValueError: There is no sample.
    """
    count = len(samples)
    if not count:
        raise ValueError("no replication has a value")
    if count == 1 or repeated_values.all_equal(samples):
        return _none(float(samples[0]), confidence, count)
    centre, variance = _moments(samples)
    half = quantile(count - 1, confidence) * math.sqrt(variance / count)
    if repeated_values.are_counts(samples):
        half = max(half, repeated_values.half_width(samples, confidence))
    return Interval(centre, centre - half, centre + half, confidence, count)


def half_widths(samples: NDArray[np.float64], confidence: float = CONFIDENCE) -> NDArray[np.float64]:
    """Return half the widths of Student's intervals of many means at once, such as those of the points of a curve.

    Args:
        samples: One row for each replication, shape (replications, ...).
        confidence: Of each interval.

    Returns:
        Shape (...); NaN where there is no interval: one replication, or all are alike.
    """
    count = len(samples)
    if count < 2:
        return np.full(samples.shape[1:], math.nan)
    half = quantile(count - 1, confidence) * samples.std(axis=0, ddof=1) / math.sqrt(count)
    # In floats the mean of equal values may differ from them in the last digit.
    return np.where(samples.max(axis=0) == samples.min(axis=0), math.nan, half)


def difference(first: Samples, second: Samples, confidence: float, *, paired: bool) -> Interval:
    """Return ``mean(first) - mean(second)`` with its interval: of the pairs, or Welch's if they are not *paired*.

    Where either sample is read as counts, that is no narrower than the square root of the sum of squares of both
    half-widths (Zou and Donner 2008).

    Raises:
        ValueError: There is no sample, or pairs were asked for and the lengths differ.
    """
    if paired:
        return mean([one - other for one, other in zip(first, second, strict=True)], confidence)
    sides = [mean(side, confidence) for side in (first, second)]
    count = min(side.replications for side in sides)
    value = sides[0].value - sides[1].value
    halves = [side.half_width for side in sides]
    if halves[0] is None or halves[1] is None:
        return _none(value, confidence, count)
    from scipy.stats import ttest_ind

    ends = ttest_ind(first, second, equal_var=False).confidence_interval(confidence)
    half = float(ends.high - ends.low) / 2
    if repeated_values.are_counts(first) or repeated_values.are_counts(second):
        half = max(half, math.hypot(halves[0], halves[1]))
    return Interval(value, value - half, value + half, confidence, count)


def ratio(first: Samples, second: Samples, confidence: float, *, paired: bool) -> Interval:
    """Return ``mean(first) / mean(second)`` with Fieller's interval.

    It holds each ratio theta for which ``mean(first) - theta mean(second) = 0`` is not rejected by a t-test (of the
    pairs, if they are *paired*). Where the second mean may be zero no ratio can be ruled out from one side, and the
    interval is the whole line. Samples that are not paired take the degrees of freedom of the smaller sample, which
    makes the interval a little wider than it must be. Where values are read as counts, it is no narrower than the
    interval of ``mean(first) - ratio mean(second)``, divided by the second mean; where the differences of pairs are,
    as those are of which most are equal, no narrower than the interval of their mean, divided likewise.

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
        return Interval(math.nan, -math.inf, math.inf, confidence, count, "the mean that is divided by is zero")
    value = above / below
    scaled = [value * other for other in second]
    rests = _rests(first, scaled) if paired else []
    linear = mean(rests, confidence) if paired else difference(first, scaled, confidence, paired=False)
    if linear.half_width is None:
        return _none(value, confidence, count)
    # t^2 times the variance of the lower mean, of mean(first) - value mean(second), and the covariance of the two.
    square = quantile(count - 1, confidence) ** 2
    width = square * _moments(second)[1] / len(second)
    if paired:
        spread, common = square * _moments(rests)[1] / count, square * _covariance(rests, second) / count
    else:
        spread, common = square * _moments(first)[1] / len(first) + value**2 * width, -value * width
    # Of theta = value + away: away^2 mean(second)^2 = spread - 2 away common + away^2 width, a quadratic opened upwards
    # only if the lower mean is sure. Of theta itself its coefficients would be differences of nearly equal numbers.
    leading = below**2 - width
    if leading <= 0:
        return Interval(value, -math.inf, math.inf, confidence, count, "the mean that is divided by may be zero")
    root = math.sqrt(common**2 + leading * spread)
    ends = [value - (common + root) / leading, value + (root - common) / leading]
    halves = [linear.half_width] if any(map(repeated_values.are_counts, (first, second))) else []
    differences = [one - other for one, other in zip(first, second, strict=True)] if paired else []
    if paired and repeated_values.are_counts(differences):
        halves.append(mean(differences, confidence).half_width or 0.0)
    ends += [value + side * half / abs(below) for half in halves for side in (-1, 1)]
    return Interval(value, min(ends), max(ends), confidence, count)


def geometric_ratio(first: Samples, second: Samples, confidence: float) -> Interval:
    """Return the geometric mean of ``first / second`` over pairs, with the interval that its logarithm has.

    Where instances differ by orders of magnitude, a ratio of means is that of the few largest, and hardly known; this
    one counts each pair alike.

    Raises:
        ValueError: There is no pair, the lengths differ, or a sample is not above zero.
    """
    if min([*first, *second], default=0.0) <= 0:
        raise ValueError("only numbers above zero have a geometric mean")
    logs = [math.log(one) - math.log(other) for one, other in zip(first, second, strict=True)]
    # What is left of two equal numbers is no difference.
    found = mean([0.0 if abs(each) < 1e-12 else each for each in logs], confidence)
    ends = [math.exp(end) if end < 700 else math.inf for end in (found.low, found.high)]
    low = -math.inf if found.why_none else ends[0]
    return Interval(math.exp(found.value), low, ends[1], confidence, found.replications, found.why_none)


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
    from scipy.special import betaincinv  # in half the time that scipy.stats takes to import

    ones, tail = sum(map(int, samples)), (1 - confidence) / 2
    low = float(betaincinv(ones, count - ones + 1, tail)) if ones else 0.0
    high = float(betaincinv(ones + 1, count - ones, 1 - tail)) if ones < count else 1.0
    return Interval(ones / count, low, high, confidence, count)


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


def _none(value: float, confidence: float, count: int) -> Interval:
    """Return an estimate without an interval, of samples that are all alike."""
    return Interval(value, -math.inf, math.inf, confidence, count, ONE if count == 1 else why_no_spread(count))


def why_no_spread(count: int) -> str:
    """Say why replications that are all alike have no interval."""
    return f"all {count} replications are identical, so their spread cannot be estimated"


def _rests(first: Samples, scaled: Samples) -> list[float]:
    """Return the differences of pairs; one that is nothing beside what it is the rest of is zero."""
    largest = max(map(abs, [*first, *scaled]))
    rests = [one - other for one, other in zip(first, scaled, strict=True)]
    return [0.0 if abs(rest) <= 1e-12 * largest else rest for rest in rests]


def _moments(samples: Samples) -> tuple[float, float]:
    """Return mean and sample variance; equal samples have that mean and no variance, to the last digit."""
    if min(samples) == max(samples):
        return float(samples[0]), 0.0
    centre = math.fsum(samples) / len(samples)
    return centre, math.fsum((sample - centre) ** 2 for sample in samples) / (len(samples) - 1)


def _covariance(first: Samples, second: Samples) -> float:
    one, other = math.fsum(first) / len(first), math.fsum(second) / len(second)
    products = ((a - one) * (b - other) for a, b in zip(first, second, strict=True))
    return math.fsum(products) / (len(first) - 1)
