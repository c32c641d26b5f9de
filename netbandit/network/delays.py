"""Delay models beyond those of `netbandit.network.jitter`: uniform numbers on [0, 1) become whole nanoseconds."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from netbandit.network.jitter import ExponentialJitter, LognormalJitter, Nanoseconds, UniformJitter, Uniforms, whole

INFINITE = -1
"""Represents an infinite delay."""


@dataclass(frozen=True)
class GeometricDelay:
    """Whole slots from 0: P(k) = (1 - q) q^k, q = mean / (1 + mean).

    Attributes:
        mean: In slots, above 0.
        slot: The length of a slot (ns).
    """

    mean: float
    slot: int

    def times(self, uniforms: Uniforms) -> Nanoseconds:
        """Return nanoseconds from numbers uniform on [0, 1)."""
        return whole(np.floor(np.log1p(-uniforms) / -np.log1p(1 / self.mean)) * self.slot)


@dataclass(frozen=True)
class ParetoDelay:
    """P(D > d) = (least / d)^shape.

    Attributes:
        least: In nanoseconds.
        shape: Above 0.
    """

    least: int
    shape: float

    def times(self, uniforms: Uniforms) -> Nanoseconds:
        """Return nanoseconds from numbers uniform on [0, 1)."""
        with np.errstate(over="ignore"):  # an overflow means a time beyond the horizon
            return whole(np.rint(self.least * (1 - uniforms) ** (-1 / self.shape)))


@dataclass(frozen=True)
class ListedDelay:
    """A uniform choice from a list.

    Attributes:
        delays: Nanoseconds, or `INFINITE`.
    """

    delays: tuple[int, ...]

    def times(self, uniforms: Uniforms) -> Nanoseconds:
        """Return nanoseconds, or `INFINITE`, from numbers uniform on [0, 1)."""
        return np.array(self.delays, dtype=np.int64)[(uniforms * len(self.delays)).astype(np.int64)]


Delay: TypeAlias = UniformJitter | ExponentialJitter | LognormalJitter | GeometricDelay | ParetoDelay | ListedDelay
"""A delay model."""
