"""With what probability a message is lost on its way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from netbandit.network.downtimes import Downtimes, failing
from netbandit.network.draws import Draws


@dataclass(frozen=True)
class ConstantLoss:
    """Every message is lost with the same probability.

    Attributes:
        probability: That of each message on each hop.
    """

    probability: float

    def of_size(self, size: int) -> float:
        """Return the probability that a message of *size* bytes is lost."""
        return self.probability


@dataclass(frozen=True)
class BitLoss:
    """A message is lost if any of its bits is: long messages are lost more often.

    Attributes:
        probability: That of each bit.
    """

    probability: float

    def of_size(self, size: int) -> float:
        """Return the probability that a message of *size* bytes is lost: 1 - (1 - p)^(8 size)."""
        return float(1.0 - (1.0 - self.probability) ** (8 * size))


@dataclass(frozen=True)
class BurstLoss:
    """Gilbert-Elliott in continuous time: a channel is good or bad for exponential times, and loses more while bad.

    Each direction of a link has a chain of its own, which begins in its stationary law. The state at the start of a
    transmission counts.

    Source:
        E. N. Gilbert, Capacity of a burst-noise channel, 1960; E. O. Elliott, 1963.

    Attributes:
        good, bad: The probability that a message is lost in each state.
        good_for, bad_for: How long (ns) a state lasts in the mean.
    """

    good: float
    bad: float
    good_for: int
    bad_for: int


Loss: TypeAlias = ConstantLoss | BitLoss | BurstLoss
"""A law of losses."""

Chance = Callable[[int, int], float]
"""The probability that a message of some bytes, whose transmission starts at some time (ns), is lost."""


class BurstChance:
    """The probability of one channel that is good or bad for a time: it is looked up once for each stay.

    Args:
        loss: The law.
        bursts: When the channel is bad.

    Attributes:
        present: The probability of the stay that was looked up last.
        since: From when (ns) it is known to hold.
        until: Until when; infinity: for good.
    """

    __slots__ = ("_bursts", "_loss", "present", "since", "until")

    def __init__(self, loss: BurstLoss, bursts: Downtimes) -> None:
        self._loss = loss
        self._bursts = bursts
        self.since = 0
        self.until = 0.0
        self.present = loss.good

    def renew(self, start: int) -> float:
        """Look up the stay of time *start* (ns); return its probability."""
        is_bad = self._bursts.at(start)
        self.since = start
        self.until = self._bursts.up(start) if is_bad else self._bursts.down(start)
        self.present = self._loss.bad if is_bad else self._loss.good
        return self.present

    def __call__(self, size: int, start: int) -> float:
        """Return the probability that what starts at *start* (ns) is lost."""
        return self.present if self.since <= start < self.until else self.renew(start)


def chance(loss: Loss, states: Draws, column: int) -> Chance:
    """Return the law of one channel.

    Args:
        loss: The law of its class of links.
        states: What the states of bursts draw.
        column: The channel's column there.
    """
    if isinstance(loss, BurstLoss):
        return burst_chance(loss, states, column)
    of_size = loss.of_size
    return lambda size, start: of_size(size)


def burst_chance(loss: BurstLoss, states: Draws, column: int) -> BurstChance:
    """As `chance`, of a channel that is good or bad for a time."""
    return BurstChance(loss, Downtimes(failing(states, column, loss.good_for, loss.bad_for)))
