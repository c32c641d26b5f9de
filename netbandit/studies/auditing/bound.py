"""A lower bound of a mechanism's epsilon, from samples of its output on two neighbouring inputs.

A mechanism is (epsilon, delta)-private only if each event has ``p <= exp(epsilon) q + delta``, with p its probability
under one input and q under the other. So any event gives a lower bound ``ln((p - delta) / q)``; with p and q measured,
their confidence limits do (Clopper & Pearson 1934). The event is selected on one half of the samples and measured on
the other, so that the selection needs no correction (Jagielski, Ullman & Oprea 2020).

The bound is valid for every event. A better event only makes it tighter.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from scipy.stats import binomtest

CONFIDENCE = 0.999
"""The default confidence level of a lower bound: one audit in a thousand may overstate epsilon."""

_THRESHOLDS = 200
"""The number of quantiles that are tried as thresholds of each score."""


@dataclass(frozen=True)
class LowerBound:
    """The lower bound for one pair of inputs.

    Attributes:
        epsilon: The lower bound at the required confidence; 0 if nothing was found.
        estimate: The point estimate from the event's observed frequencies; 0 if they show no difference, infinite if
            the event never occurred under the other input.
        p: The frequency of the event under the input that makes it likelier.
        q: The frequency of the event under the other input.
        samples: The number of samples of each input in the half used for measuring.
    """

    epsilon: float
    estimate: float
    p: float
    q: float
    samples: int


@dataclass(frozen=True)
class _Event:
    """The event that a linear score reaches a threshold.

    Attributes:
        weights: The weights of the numbers of a transcript, shape (numbers,).
        threshold: The threshold of the score.
        likelier: The input under which the event is likelier, 0 or 1.
    """

    weights: NDArray[np.float64]
    threshold: float
    likelier: int

    def count(self, transcripts: NDArray[np.float64]) -> int:
        return int(np.count_nonzero(transcripts @ self.weights >= self.threshold))


def lower_bound(
    first: NDArray[np.float64], second: NDArray[np.float64], *, delta: float = 0.0, confidence: float = CONFIDENCE
) -> LowerBound:
    """Return a lower bound of epsilon from the transcripts of two neighbouring inputs.

    Args:
        first: Independent transcripts of the first input, one per row, shape (samples, numbers).
        second: The same for the second input.
        delta: The delta at which epsilon is bounded.
        confidence: The probability with which the bound holds at least.

    Raises:
        ValueError: The shapes of the transcripts do not match, or there are too few to split in half.
    """
    if first.ndim != 2 or first.shape != second.shape or len(first) < 4:
        shapes = f"{first.shape}, {second.shape}"
        raise ValueError(f"transcripts need one shape (samples, numbers), with 4 samples at least, not {shapes}")
    if not 0 <= delta < 1 or not 0 < confidence < 1:
        raise ValueError(f"no bound for delta {delta} and confidence {confidence}")
    half = len(first) // 2
    event = _best_event((first[:half], second[:half]), delta, confidence)
    likely, other = (first, second)[event.likelier][half:], (first, second)[1 - event.likelier][half:]
    hits, misses, samples = event.count(likely), event.count(other), len(likely)
    # Each limit is violated with probability at most (1 - confidence) / 2.
    least = binomtest(hits, samples).proportion_ci(confidence, method="exact").low
    most = binomtest(misses, samples).proportion_ci(confidence, method="exact").high
    p, q = hits / samples, misses / samples
    return LowerBound(_epsilon(least, most, delta), _epsilon(p, q, delta), p, q, samples)


def _epsilon(p: float, q: float, delta: float) -> float:
    """Return the bound of epsilon from an event with probability *p* under one input and *q* under the other."""
    if p <= delta:
        return 0.0
    return max(0.0, log((p - delta) / q)) if q > 0 else inf


def _best_event(halves: tuple[NDArray[np.float64], NDArray[np.float64]], delta: float, confidence: float) -> _Event:
    """Return the event with the largest bound on these samples, over linear scores, thresholds and both inputs."""
    samples = len(halves[0])
    found: list[tuple[float, _Event]] = []
    for weights in _scores(*halves):
        scores = [np.sort(transcripts @ weights) for transcripts in halves]
        thresholds = np.unique(np.quantile(np.concatenate(scores), np.linspace(0.0, 1.0, _THRESHOLDS)))
        counts = [samples - np.searchsorted(each, thresholds, side="left") for each in scores]
        for likelier in (0, 1):
            hits, misses = counts[likelier], counts[1 - likelier]
            # The limits of Clopper & Pearson for all thresholds at once.
            level = (1 - confidence) / 2
            least = np.where(hits > 0, betaincinv(np.maximum(hits, 1), samples - hits + 1, level), 0.0)
            most = np.where(misses < samples, betaincinv(misses + 1, np.maximum(samples - misses, 1), 1 - level), 1.0)
            ratios = np.maximum(least - delta, 1e-300) / most
            best = int(ratios.argmax())
            found.append((float(ratios[best]), _Event(weights, float(thresholds[best]), likelier)))
    return max(found, key=lambda pair: pair[0])[1]


def _scores(first: NDArray[np.float64], second: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield the weights of scores, with both signs.

    Fisher's linear discriminant is the optimal score for Gaussian noise with any correlation between releases. The
    second score is the single number whose means differ most in units of the standard deviation; it is optimal for one
    number with any noise that decreases on both sides.
    """
    shift = second.mean(axis=0) - first.mean(axis=0)
    centred = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
    covariance = centred.T @ centred / len(centred)
    scores = [np.linalg.pinv(covariance, hermitian=True) @ shift]
    deviations = np.sqrt(np.diag(covariance))
    apart = np.divide(np.abs(shift), deviations, out=np.where(shift != 0, np.inf, 0.0), where=deviations > 0)
    single = np.zeros(len(shift))
    single[int(apart.argmax())] = 1.0
    scores.append(single)
    for weights in scores:
        yield weights
        yield -weights
