"""How private a mechanism can at most be: a lower bound of epsilon, from what it releases on two neighbouring inputs.

A mechanism is (epsilon, delta)-private only if each event has ``p <= exp(epsilon) q + delta``, with p its probability
under one input and q under the other. So any event gives a lower bound ``ln((p - delta) / q)``; with p and q measured,
their confidence limits do (Clopper & Pearson 1934). The event is chosen on one half of the samples and measured on the
other, so that to have looked for the best one costs nothing (Jagielski, Ullman & Oprea 2020).

The bound holds whatever the event is. A clever event only makes it larger.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from scipy.stats import binomtest

CONFIDENCE = 0.999
"""How sure a lower bound is, by default: one audit in a thousand may find more than there is."""

_THRESHOLDS = 200
"""Events looked at for each score: at so many quantiles."""


@dataclass(frozen=True)
class LowerBound:
    """What was found of one pair of inputs.

    Attributes:
        epsilon: Epsilon is at least this, with the confidence asked for; 0 where nothing was found.
        estimate: The same without confidence: of the event's observed frequencies; 0 where they tell nothing, infinite
            where the event was never seen under the other input.
        p: How often the event was seen under the input that makes it likelier.
        q: How often under the other.
        samples: Of each input, in the half that was measured.
    """

    epsilon: float
    estimate: float
    p: float
    q: float
    samples: int


@dataclass(frozen=True)
class _Event:
    """A score that reaches a threshold.

    Attributes:
        weights: What the numbers of a transcript are multiplied with, shape (numbers,).
        threshold: What the score must reach.
        likelier: Under which of the two inputs the event is likelier, 0 or 1.
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
        first: What was released under the first input: a transcript a row, shape (samples, numbers), independent.
        second: The same under the second.
        delta: The delta at which epsilon is asked for.
        confidence: With which probability the bound holds at least.

    Raises:
        ValueError: Transcripts that do not fit, or too few to be halved.
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
    # Each limit is passed with probability (1 - confidence) / 2 at most.
    least = binomtest(hits, samples).proportion_ci(confidence, method="exact").low
    most = binomtest(misses, samples).proportion_ci(confidence, method="exact").high
    p, q = hits / samples, misses / samples
    return LowerBound(_epsilon(least, most, delta), _epsilon(p, q, delta), p, q, samples)


def _epsilon(p: float, q: float, delta: float) -> float:
    """Return what an event says of epsilon that has probability *p* under one input and *q* under the other."""
    if p <= delta:
        return 0.0
    return max(0.0, log((p - delta) / q)) if q > 0 else inf


def _best_event(halves: tuple[NDArray[np.float64], NDArray[np.float64]], delta: float, confidence: float) -> _Event:
    """Return the event that gives the largest bound on these samples: linear scores, many thresholds, both inputs."""
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

    Fisher's linear discriminant is the best score there is for Gaussian noise, whatever of it releases have in common;
    beside it the number whose means lie farthest apart, in deviations, which is best for one number with any noise that
    falls on both sides.
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
