"""Confidence intervals for measured and compared values: means, quantiles, differences, ratios, shares, slopes.

Two points of a study are compared in pairs if they share the seed: the same replication at both points. Effects common
to both, such as an instance that is hard for all methods, cancel.

``scipy.stats`` has the standard intervals of means, shares and Welch's differences, but not Fieller's and none for
counts. It is slow to import and ten times slower for a mean, so only Welch's comes from there.

One replication, or identical values, give no variance estimate and hence no interval; `Interval.why_none` says so.

**Samples with repeated values**: counts, and differences that are often zero. Student's t relies on the sample
variance. For a metric that rarely changes, few replications underestimate it: the interval is too narrow, or has width
zero. Samples with repeated values are therefore treated as counts of a few values, some of which may not have been
observed.

For values within known limits there is a distribution-free interval (Gaffke 2005; Learned-Miller and Thomas 2019): the
upper end is the quantile of ``sum w_i x_i + w_{n+1} limit``, where the weights are uniform on the simplex. For zeros
and ones it is the Clopper-Pearson interval. The density of that sum is a B-spline with the knots ``x_1 .. x_n, limit``
(Curry and Schoenberg 1966); its integral is computed as one of a moment generating function, which takes no longer
with many replications, and needs no library that would take longer to import than a small study to run.

Our values have no known limits. If values repeat, the observed extremes are the limits. If the few values that differ
from the most frequent one are all distinct, unobserved values lie farther away (Good 1953: the share of values seen
once is the probability of an unseen value). The next of k such values lies beyond all of them with probability
2 / (k + 1); how much farther it lies, `_FARTHER`, is chosen so that intervals of 95 % cover in at least 90 % at 3, 5,
10 and 20 replications: tests/results/test_repeated_values.py.

Ten values that occur once estimate the variance as well as ten replications of a continuous metric do, whatever else
repeats; then Student's t is used. A few pairs without any difference do not rule it out. scipy has no such interval.

**Medians and other quantiles** are alternatives to the mean over replications. If few runs fail, regret is skewed: its
mean is determined by these few, and poorly known. The median describes a typical run, and its interval is
distribution-free. It lies between two order statistics, whose ranks are quantiles of the binomial distribution (David
and Nagaraja 2003, Order Statistics, section 7.1). ``scipy.stats.quantile_test`` finds the same ends, but is some 500
times slower and does not say why there is none.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from netbandit.results.metrics import RATES

CONFIDENCE = 0.95
"""The confidence level of intervals in tables and pictures."""

Samples = Sequence[float]
"""One number per replication."""

ONE = "one replication says nothing of others"
"""Why a single number has no interval."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its two-sided confidence interval.

    Attributes:
        value: The estimate.
        low: The lower end; ``-inf`` where the data give no bound.
        high: The upper end; ``inf`` where the data give no bound.
        confidence: The confidence level.
        replications: The number of replications behind the estimate.
        why_none: Why there is no interval; empty where there is one.
    """

    value: float
    low: float
    high: float
    confidence: float
    replications: int
    why_none: str = ""

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends; None where there is no interval, or one without bounds."""
        return (self.low, self.high) if math.isfinite(self.high - self.low) else None

    @property
    def half_width(self) -> float | None:
        """Half the width; None where there is none."""
        return None if self.ends is None else (self.high - self.low) / 2


def mean(samples: Samples, confidence: float) -> Interval:
    """Return the mean of *samples* with Student's interval, or a wider one where they are treated as counts.

    `are_counts` decides that. One sample, or identical samples, give no variance estimate and hence no interval.

    Raises:
        ValueError: There is no sample.
    """
    count = len(samples)
    if not count:
        raise ValueError("no replication has a value")
    if count == 1 or all_equal(samples):
        return _none(float(samples[0]), confidence, count)
    centre, variance = _moments(samples)
    half = student_quantile(count - 1, confidence) * math.sqrt(variance / count)
    if are_counts(samples):
        half = max(half, half_width_of_counts(tuple(samples), confidence))
    return Interval(centre, centre - half, centre + half, confidence, count)


def half_widths(samples: NDArray[np.float64], confidence: float = CONFIDENCE) -> NDArray[np.float64]:
    """Return half-widths of Student's intervals of many means at once, such as at the points of a curve.

    Args:
        samples: One row for each replication, shape (replications, ...).
        confidence: The level of each interval.

    Returns:
        Shape (...); NaN where there is no interval: one replication, or identical values.
    """
    count = len(samples)
    if count < 2:
        return np.full(samples.shape[1:], math.nan)
    half = student_quantile(count - 1, confidence) * samples.std(axis=0, ddof=1) / math.sqrt(count)
    # In floating point the mean of equal values may differ from them in the last digit.
    return np.where(samples.max(axis=0) == samples.min(axis=0), math.nan, half)


def difference(first: Samples, second: Samples, confidence: float, *, paired: bool) -> Interval:
    """Return ``mean(first) - mean(second)`` with its interval: Student's of the pairs, or Welch's if not *paired*.

    Where either sample is treated as counts, it is no narrower than the square root of the sum of squares of both
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
    if are_counts(first) or are_counts(second):
        half = max(half, math.hypot(halves[0], halves[1]))
    return Interval(value, value - half, value + half, confidence, count)


def ratio(first: Samples, second: Samples, confidence: float, *, paired: bool) -> Interval:
    """Return ``mean(first) / mean(second)`` with Fieller's interval.

    It contains each ratio theta for which a t-test (of the pairs, if *paired*) does not reject
    ``mean(first) - theta mean(second) = 0``. Where the second mean may be zero, one end is unbounded and the interval
    is the whole line. Unpaired samples use the degrees of freedom of the smaller sample, which makes the interval
    slightly wider than necessary. Where values are treated as counts, it is no narrower than the interval of
    ``mean(first) - ratio mean(second)``, divided by the second mean; where the differences of pairs are (most of them
    are equal), no narrower than the interval of their mean, divided likewise.

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
    square = student_quantile(count - 1, confidence) ** 2
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
    halves = [linear.half_width] if any(map(are_counts, (first, second))) else []
    differences = [one - other for one, other in zip(first, second, strict=True)] if paired else []
    if paired and are_counts(differences):
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
    # The rounding error between equal numbers is not a difference.
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

    def highest(ones: int) -> float:
        weights = np.repeat([0.0, 1.0], [count - ones, ones + 1])
        return _weighted_quantile(weights, (1 + confidence) / 2) if ones < count else 1.0

    ones = sum(map(int, samples))
    low, high = 1 - highest(count - ones), highest(ones)
    return Interval(ones / count, low, high, confidence, count)


def share_difference(differences: Samples, confidence: float) -> Interval:
    """Return the mean difference of pairs of samples that are 0 or 1, with its interval.

    It is that of Gaffke with the limits -1 and 1, as that of Clopper and Pearson is with 0 and 1. It leaves out zero
    where McNemar's exact test decides.

    Raises:
        ValueError: There is no sample.
    """
    count = len(differences)
    if not count:
        raise ValueError("no replication has a value")
    more, less = (sum(each == sign for each in differences) for sign in (1, -1))
    same, tail = count - more - less, (1 - confidence) / 2
    low, high = _least_difference(more, less + 1, same, tail), -_least_difference(less, more + 1, same, tail)
    return Interval((more - less) / count, low, high, confidence, count)


def _least_difference(more: int, less: int, same: int, tail: float) -> float:
    """Return a quantile of the first weight less the second, of weights with the law Dirichlet(more, less, same)."""
    from scipy.special import betainc, betaincinv

    if not more:
        return -float(betaincinv(less, same, 1 - tail)) if same else -1.0
    if not same:
        return 2 * float(betaincinv(more, less, tail)) - 1
    nodes, weights = _legendre()
    both = 1 - betaincinv(same, more + less, nodes)  # the weight of those that differ
    low, high = -1.0, 1.0
    while high - low > _SAME:
        middle = (low + high) / 2
        below = weights @ betainc(more, less, np.clip((1 + middle / both) / 2, 0, 1))
        low, high = (middle, high) if below < tail else (low, middle)
    return (low + high) / 2


@cache
def _legendre() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the nodes and weights by which functions on [0, 1] are integrated."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return (nodes + 1) / 2, weights / 2


def slope(across: Sequence[Samples], upward: Sequence[Samples], confidence: float) -> Interval:
    """Return the slope of least-squares lines through some points, one line for each replication, all as steep.

    It is the ratio of the mean products and squares about each replication's own centre, with Fieller's interval: a
    replication whose points coincide has no slope and is ignored.

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
    """Return the differences of pairs; one that is negligible against its terms is zero."""
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


_FARTHER = 4.0
"""The distance of unseen values beyond the extremes, in observed ranges times 1 / (k + 1), for k rare values."""

_ENOUGH = 10
"""The number of values occurring once that suffices to estimate the spread."""

_PRECISE, _MOST_STEPS = 1e-9, 100
"""How close to a quantile, in ranges of the values, a search ends, or after how many steps."""

_NODES = np.arange(0, 14, 1 / 16)
"""Nodes of an integral; the integrand falls with the exponential function of each."""

_CROSSINGS = np.concatenate([2.0 ** np.arange(-25, -1, 0.25), 1 - 2.0 ** np.arange(-1, -20, -0.25)])
"""Where the path of an integral may cross the axis, as parts of the way from one pole to the other."""

_NEAR = 0.1
"""How far from the best place a path crosses the axis, in widths of the peak there."""

_SAME = 1e-12
"""Values are the same if they differ by less than this part of the largest: they may have been added up otherwise."""


def all_equal(samples: Sequence[float]) -> bool:
    """Return whether all samples are one number."""
    low, high = min(samples), max(samples)
    return high - low <= _SAME * max(abs(low), abs(high))


def are_counts(samples: Sequence[float]) -> bool:
    """Return whether samples are to be read as counts of a few values.

    They are where a value is there more than once, or some of several values are exactly zero, unless enough others
    are there once.
    """
    _, counts = _counted(samples)
    return bool(counts.max() > 1 and (counts == 1).sum() < _ENOUGH)


@lru_cache(maxsize=1_000)  # tables, summaries and pictures ask for the same ones
def half_width_of_counts(samples: tuple[float, ...], confidence: float) -> float:
    """Return the distance from the mean to the farther end of the interval.

    Args:
        samples: One number for each replication, not `all_equal`.
        confidence: The probability with which such intervals cover the expectation, were there no values farther away.
    """
    tail, mean = (1 + confidence) / 2, float(np.mean(samples))
    above, below = _with_limits(samples)
    return max(_weighted_quantile(above, tail) - mean, _weighted_quantile(below, tail) + mean)


def level_of_counts(samples: tuple[float, ...]) -> float:
    """Return the smallest level at which `half_width_of_counts` is less than the distance of the mean from zero."""
    mean = float(np.mean(samples))
    above, below = _with_limits(samples)
    return min(1.0, 2 * max(_chance_beyond(above, mean + abs(mean)), _chance_beyond(below, abs(mean) - mean)))


def _with_limits(samples: tuple[float, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the samples with their upper limit, and their negatives with the negative of the lower one."""
    seen = np.asarray(samples, dtype=np.float64)
    values, counts = _counted(seen)
    count = len(seen)
    # A measured zero is a value of its own: it stands where nothing happened, so one is as good as two.
    most = int(counts.max())
    others = count - int(np.unique(np.round(seen / _unit(seen), 12), return_counts=True)[1].max())
    once = int((counts == 1).sum())
    farther = _FARTHER * min(1.0, (most - 1) / (count - 1)) * once / max(others, 1) / (others + 1)
    beyond = farther * float(values[-1] - values[0])
    return np.append(seen, values[-1] + beyond), np.append(-seen, beyond - values[0])


def _unit(seen: NDArray[np.float64]) -> float:
    return float(np.abs(seen).max()) or 1.0


def _counted(samples: Sequence[float] | NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the values there are, ascending, and how often each is there; a zero counts once more."""
    seen = np.asarray(samples, dtype=np.float64)
    unit = _unit(seen)
    values, counts = np.unique(np.round(seen / unit, 12), return_counts=True)
    return values * unit, counts + (values == 0)


def _weighted_quantile(knots: NDArray[np.float64], probability: float) -> float:
    """Return a quantile, at least the median, of the sum of *knots* with weights that are uniform on the simplex.

    Newton's method looks for the logarithm of the probability beyond, which is nearly linear in the tail.
    """
    values, counts = np.unique(knots, return_counts=True)
    low, width = float(values[0]), float(values[-1] - values[0])
    places = (values - low) / width
    mean = float(places @ counts) / len(knots)
    deviation = math.sqrt(float((places - mean) ** 2 @ counts) / len(knots) / (len(knots) + 1))
    left, right, place = 0.0, 1.0, mean + NormalDist().inv_cdf(probability) * deviation
    for _ in range(_MOST_STEPS):
        if not left < place < right:
            place = (left + right) / 2
        beyond, density = _beyond(places, counts, place)
        left, right = (place, right) if beyond > 1 - probability else (left, place)
        step = beyond * math.log(beyond / (1 - probability)) / density if min(beyond, density) > 0 else math.inf
        place += step
        if min(abs(step), right - left) < _PRECISE:
            break
    return low + width * min(max(place, left), right)


def _chance_beyond(knots: NDArray[np.float64], at: float) -> float:
    """Return the probability that the weighted sum of *knots* is larger than *at*, which is at least their mean."""
    values, counts = np.unique(knots, return_counts=True)
    low, width = float(values[0]), float(values[-1] - values[0])
    place = (at - low) / width
    return _beyond((values - low) / width, counts, place)[0] if place < 1 else 0.0


def _beyond(values: NDArray[np.float64], counts: NDArray[np.int64], at: float) -> tuple[float, float]:
    """Return the probability that the sum of weighted *values* is larger than *at*, and its density there.

    Weights on the simplex are exponential variables E_i over their sum, so that is the probability that the sum of
    (x_i - at) E_i is positive: an integral of M(s) / s, where M(s) is its moment generating function, between the poles
    at 0 and at 1 / max(x_i - at). The path crosses the axis where M(s) / s is least, and bends as that of steepest
    descent (Daniels 1954, Saddlepoint approximations in statistics); there the error of the trapezoidal rule falls
    exponentially with the number of nodes (Trefethen and Weideman 2014, The exponentially convergent trapezoidal rule).
    """
    away = values - at
    crossings = _CROSSINGS / away.max()
    heights = np.log1p(np.multiply.outer(-crossings, away)) @ counts + np.log(crossings)
    saddle, distance = float(crossings[heights.argmax()]), math.inf
    while distance > _NEAR:  # Newton's method, with steps that shrink with the distance and so stay between the poles
        slopes = away / (1 - saddle * away)
        slope = float(slopes @ counts) - 1 / saddle
        scale = 1 / math.sqrt(float(slopes**2 @ counts) + saddle**-2)
        distance = abs(slope) * scale
        saddle -= slope * scale**2 / (1 + distance)
    bend = 2 / 3 * (float(slopes**3 @ counts) - saddle**-3) * scale**3
    nodes = saddle + scale * (bend * (np.cosh(_NODES) - 1) + 1j * np.sinh(_NODES))
    steps = scale * (bend * np.sinh(_NODES) + 1j * np.cosh(_NODES)) * (_NODES[1] / math.pi)
    steps[0] /= 2  # the other half is the mirror image
    factors = 1 - np.multiply.outer(nodes, away)
    parts = np.exp(-(np.log(factors) @ counts)) * steps
    return float((parts / nodes).imag.sum()), float((parts * ((1 / factors) @ counts)).imag.sum())


_QUANTILE = re.compile(r"q(\d{1,2})")


class StatisticError(ValueError):
    """A text that names no statistic."""


@dataclass(frozen=True)
class Statistic:
    """A statistic over the replications of a point.

    Attributes:
        share: For a quantile the share of values below it; None for the mean.
        rate: Whether values are 0 or 1, so that the mean is a share of them, with its interval.
    """

    share: float | None = None
    rate: bool = False

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
        """Whether it is the mean."""
        return self.share is None

    @property
    def around(self) -> bool:
        """Whether its interval is symmetric: of a mean that is no share."""
        return self.is_mean and not self.rate

    @property
    def key(self) -> str:
        """The name by which `named` finds it."""
        if self.share is None:
            return "mean"
        return "median" if self.share == 0.5 else f"q{round(100 * self.share)}"

    @property
    def name(self) -> str:
        """Its name: ``mean``, ``median`` or ``90 % quantile``."""
        if self.share is None:
            return "mean"
        return "median" if self.share == 0.5 else f"{100 * self.share:g} % quantile"

    def of_metric(self, metric: str) -> "Statistic":
        """Return what it is of a *metric*: the mean of some is a share."""
        return replace(self, rate=self.is_mean and metric in RATES)

    def of(self, samples: Sequence[float], confidence: float) -> Interval:
        """Return the statistic of *samples* with its interval.

        Raises:
            ValueError: There is no sample.
        """
        if self.rate and len(samples) > 1:
            return share(samples, confidence)
        return mean(samples, confidence) if self.share is None else quantile(samples, self.share, confidence)

    def of_differences(self, differences: Sequence[float], confidence: float) -> Interval:
        """Return the statistic of *differences* of pairs of samples, with its interval.

        Raises:
            ValueError: There is no pair.
        """
        if self.rate and len(differences) > 1:
            return share_difference(differences, confidence)
        return self.of(differences, confidence)


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
    value = value_at(ordered, share)
    lower, upper = ranks(count, share, confidence)
    low = ordered[lower - 1] if lower else -math.inf
    high = ordered[upper - 1] if upper <= count else math.inf
    which = f"a {100 * confidence:.4g} % interval of the {Statistic(share).name}"
    why = "" if lower and upper <= count else f"{which} takes {least_for(share, confidence)} replications"
    return Interval(value, low, high, confidence, count, why)


def value_at(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of sorted samples, interpolated between neighbours."""
    below, part = divmod((len(ordered) - 1) * share, 1)
    low, high = ordered[int(below)], ordered[min(int(below) + 1, len(ordered) - 1)]
    return low + part * (high - low)


@cache
def ranks(count: int, share: float, confidence: float) -> tuple[int, int]:
    """Return the ranks, from 1, of the sorted values between which the quantile lies; 0 or ``count + 1`` for none.

    How many of *count* values are at most the quantile has a binomial law; each rank is the innermost beyond which it
    lies with a probability of at most half the error.
    """
    places = np.arange(count + 1)
    logarithms = np.concatenate([[0.0], np.cumsum(np.log(places[:0:-1] / places[1:]))])  # of the binomial coefficients
    law = np.exp(logarithms + places * math.log(share) + (count - places) * math.log1p(-share))
    error = (1 - confidence) / 2 * (1 + 1e-9)  # equality up to rounding
    lower = int((np.cumsum(law) <= error).sum())
    upper = count + 1 - int((np.cumsum(law[::-1]) <= error).sum())
    return lower, upper


def least_for(share: float, confidence: float) -> int:
    """Return how many replications it takes to have an interval of a quantile."""
    error = (1 - confidence) / 2
    return max(math.ceil(math.log(error) / math.log(part) - 1e-9) for part in (share, 1 - share))


@cache
def student_quantile(freedom: int, confidence: float) -> float:
    """Return the two-sided quantile t of Student's distribution: ``|T| > t`` has probability ``1 - confidence``.

    ``scipy.special.stdtrit`` gives the same, but takes a quarter of a second to import, which every table would wait
    for.
    Newton's method finds the angle whose tangent is ``t / sqrt(freedom)``. The probability is concave in the angle, so
    the iterates approach from below and never overshoot.

    Args:
        freedom: Degrees of freedom, at least 1.
        confidence: The central probability, at least 0 and below 1.
    """
    # The derivative of the probability by the angle is proportional to cos(angle)^(freedom - 1).
    logarithm = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    steepest = 2 / math.sqrt(math.pi) * math.exp(logarithm)
    angle = 0.0
    while True:
        slope = steepest * math.cos(angle) ** (freedom - 1)
        following = angle + (confidence - _student_within(freedom, angle)) / slope
        if following <= angle:
            return math.sqrt(freedom) * math.tan(angle)
        angle = following


def _student_within(freedom: int, angle: float) -> float:
    """Return the probability within ``sqrt(freedom) tan(angle)`` of zero: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2 == 0:
        factors = np.arange(1, freedom - 2, 2) / np.arange(2, freedom - 1, 2)
        return sine * (1 + float(np.cumprod(factors * cosine**2).sum()))
    factors = np.arange(2, freedom - 2, 2) / np.arange(3, freedom - 1, 2)
    terms = cosine * (1 + float(np.cumprod(factors * cosine**2).sum())) if freedom > 1 else 0.0
    return 2 / math.pi * (angle + sine * terms)
