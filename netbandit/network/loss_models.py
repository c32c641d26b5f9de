"""Loss models: the probability that a message is lost on a hop; `begin` in `transmission` draws the outcome."""

from dataclasses import dataclass
from typing import TypeAlias

from netbandit.network.downtimes import Downtimes, failing
from netbandit.network.draws import Draws


def chance_of_bits(chance: float, size: int) -> float:
    """Return the probability that a message of *size* bytes is lost, for a bit error probability *chance*."""
    return 1.0 - (1.0 - chance) ** float(8 * size)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ConstantLoss:
    """Every message is lost with the same probability.

    Attributes:
        probability: The loss probability per message and hop.
    """

    probability: float


@dataclass(frozen=True)
class BitLoss:
    """A message is lost if any of its bits is in error: long messages are lost more often.

    Attributes:
        probability: The bit error probability.
    """

    probability: float


@dataclass(frozen=True)
class BurstLoss:
    """Gilbert-Elliott in continuous time: a channel is good or bad for exponential times, and loses more while bad.

    Each direction of a link has a separate chain, begun in its stationary distribution. The state at the start of a
    transmission counts.

    Source:
        E. N. Gilbert, Capacity of a burst-noise channel, 1960; E. O. Elliott, 1963.

    Attributes:
        good, bad: The probability that a message is lost in each state.
        good_for, bad_for: The mean duration (ns) of each state.
    """

    good: float
    bad: float
    good_for: int
    bad_for: int


Loss: TypeAlias = ConstantLoss | BitLoss | BurstLoss
"""A loss model."""


class Bursts:
    """The bad periods of one channel, looked up once per stay in a state.

    Args:
        bad: When it is.

    Attributes:
        present: Whether it is bad in the stay that was looked up last.
        since: From when (ns) that is known to hold.
        until: Until when; infinity: for good.
    """

    __slots__ = ("_bad", "present", "since", "until")

    def __init__(self, bad: Downtimes) -> None:
        self._bad = bad
        self.since = 0
        self.until = 0.0
        self.present = False

    def is_bad(self, time: int) -> bool:
        """Return whether the channel is bad at *time* (ns)."""
        if not self.since <= time < self.until:
            self.present = self._bad.at(time)
            self.since = time
            self.until = self._bad.up(time) if self.present else self._bad.down(time)
        return self.present


def bursts(loss: BurstLoss, states: Draws, column: int) -> Bursts:
    """Return the bad periods of a channel.

    Args:
        loss: The loss model of its class of links.
        states: The random numbers for the states of all channels.
        column: The channel's column there.
    """
    return Bursts(Downtimes(failing(states, column, loss.good_for, loss.bad_for)))
