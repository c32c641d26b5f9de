"""Jitter distributions: random additions to the latency of each message."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Uniforms = NDArray[np.float64]
Nanoseconds = NDArray[np.int64]

LONGEST = float(1 << 60)

_LEAST_NORMAL = -40.0
"""Less than all normal variates of numbers uniform on [0, 1), but that of 0, which is infinite."""
_MOST_EXPONENT = 600.0
"""e to this power is beyond all times, in nanoseconds, and far within the numbers that there are."""


@dataclass(frozen=True)
class UniformJitter:
    """Uniform from a shortest to a longest time.

    Attributes:
        longest, shortest: In nanoseconds.
    """

    longest: int
    shortest: int = 0

    def times(self, uniforms: Uniforms) -> Nanoseconds:
        """Return whole nanoseconds, each of these times as likely, from numbers uniform on [0, 1)."""
        return whole(self.shortest + np.floor(uniforms * (self.longest - self.shortest + 1)))


@dataclass(frozen=True)
class ExponentialJitter:
    """Exponential.

    Attributes:
        mean: In nanoseconds.
    """

    mean: int

    def times(self, uniforms: Uniforms) -> Nanoseconds:
        """Return nanoseconds from numbers uniform on [0, 1)."""
        return whole(np.rint(-np.log1p(-uniforms) * self.mean))


@dataclass(frozen=True)
class LognormalJitter:
    """Lognormal.

    Attributes:
        median: In nanoseconds.
        sigma: The standard deviation of its logarithm.
    """

    median: int
    sigma: float

    def times(self, uniforms: Uniforms) -> Nanoseconds:
        """Return nanoseconds from numbers uniform on [0, 1)."""
        from scipy.special import ndtri

        normal = np.maximum(ndtri(uniforms), _LEAST_NORMAL)
        with np.errstate(over="ignore"):  # an overflow means a time beyond the horizon
            exponents = np.minimum(self.sigma * normal, _MOST_EXPONENT)
        return whole(np.rint(self.median * np.exp(exponents)))


@dataclass(frozen=True)
class GeometricJitter:
    """Whole slots, P(k) proportional to q^k for k from 0 to a largest one, with q such that the mean is as given.

    Attributes:
        mean: In slots, at most half the largest.
        largest: In slots.
        slot: The length of a slot (ns).
    """

    mean: float
    largest: int
    slot: int

    @cached_property
    def distribution(self) -> NDArray[np.float64]:
        """The probability of at most k slots, shape (largest + 1,)."""
        from scipy.optimize import brentq

        slots = np.arange(self.largest + 1)

        def surplus(q: float) -> float:
            weights = q**slots
            return float(weights @ slots / weights.sum() - self.mean)

        if self.mean <= 0 or not self.largest:
            return np.ones(1)
        q = 1.0 if surplus(1.0) <= 0 else brentq(surplus, 0.0, 1.0, xtol=1e-15)
        weights = q**slots
        return np.cumsum(weights / weights.sum())

    def times(self, uniforms: Uniforms) -> Nanoseconds:
        """Return nanoseconds from numbers uniform on [0, 1)."""
        slots = np.searchsorted(self.distribution[:-1], uniforms, side="right")
        return np.minimum(slots, int(LONGEST) // self.slot).astype(np.int64) * self.slot


Jitter: TypeAlias = UniformJitter | ExponentialJitter | LognormalJitter | GeometricJitter
"""A jitter model."""


def whole(times: NDArray[np.float64]) -> Nanoseconds:
    """Return *times* as integers, 2^60 at most."""
    return np.minimum(times, LONGEST).astype(np.int64)
