"""Random losses: ``loss`` of a class of links."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from netbandit.network.downtimes import Downtimes, failing
from netbandit.network.draws import Draws
from netbandit.network.link import Channel
from netbandit.network.models.settings import ModelSettings, nanoseconds
from netbandit.network.steps import ByColumn, Model, Steps
from netbandit.parts.settings import PositiveDuration, Probability

Chance = Callable[[Channel, int, int], float]
"""(channel, bytes, start (ns)) -> the probability that a message is lost."""


class Loss(Model):
    """A loss model: whether a message is lost is drawn with a `chance`."""

    def join(self, steps: Steps) -> None:
        """See `Model.join`: each message draws a number, whatever its chance."""
        numbers, chance = ByColumn(steps.draws("loss").numbers), self.chance(steps)
        steps.own(lose=lambda channel, size, start: next(numbers[channel.column]) < chance(channel, size, start))
        steps.skips.append(lambda channel: next(numbers[channel.column]))

    def chance(self, steps: Steps) -> Chance:
        """Return the chance of the messages of a class of links in a replication."""
        raise NotImplementedError


class LossSettings(ModelSettings):
    """One of the tables that ``loss`` takes."""

    def model(self, slot: int) -> Loss | None:
        """Return the loss model, None: no message is lost; *slot* is the length of a slot (ns)."""
        raise NotImplementedError


def loss_of(loss: float | LossSettings, slot: int) -> Loss | None:
    """Return the model of ``loss``, a probability or a table; None: no message is lost."""
    if isinstance(loss, LossSettings):
        return loss.model(slot)
    return ConstantLoss(loss) if loss else None


@dataclass(frozen=True)
class ConstantLoss(Loss):
    """Every message is lost with the same probability.

    Attributes:
        probability: The loss probability per message and hop.
    """

    probability: float

    def join(self, steps: Steps) -> None:
        """See `Model.join`: the outcomes are drawn, not numbers to be compared, which is faster."""
        draws = steps.draws("loss")
        arrives = ByColumn(lambda column: draws.flags(column, self.probability))
        steps.own(lose=lambda channel, size, start: not next(arrives[channel.column]))
        steps.skips.append(lambda channel: next(arrives[channel.column]))


def chance_of_bits(chance: float, size: int) -> float:
    """Return the probability that a message of *size* bytes is lost, for a bit error probability *chance*."""
    return 1.0 - (1.0 - chance) ** float(8 * size)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class BitLoss(Loss):
    """A message is lost if any of its bits is in error: long messages are lost more often.

    Attributes:
        probability: The bit error probability.
    """

    probability: float

    def chance(self, steps: Steps) -> Chance:
        """See `Loss.chance`."""
        return lambda channel, size, start: chance_of_bits(self.probability, size)


@dataclass(frozen=True)
class BurstLoss(Loss):
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

    def chance(self, steps: Steps) -> Chance:
        """See `Loss.chance`."""
        draws, column_of, good, bad = steps.draws("bursts"), steps.state_column, self.good, self.bad
        states = ByColumn(lambda column: bursts(self, draws, column))
        return lambda channel, size, start: bad if states[column_of(channel)].is_bad(start) else good


class PerBitLoss(LossSettings):
    """A message is lost if one of its bits is: 1 - (1 - p)^(8 bytes)."""

    FORM: ClassVar[str] = "{ per_bit = 1e-6 }"

    per_bit: Probability = Field(description="The probability that a bit is lost.")

    def model(self, slot: int) -> Loss | None:
        """See `LossSettings.model`."""
        return BitLoss(self.per_bit) if self.per_bit else None


class BurstLossSettings(LossSettings):
    """Gilbert-Elliott in continuous time: good and bad states of exponential length, independent in each direction."""

    FORM: ClassVar[str] = '{ good = 0.001, bad = 0.5, good_for = "10 s", bad_for = "500 ms" }'

    good: Probability = Field(description="The probability that a message is lost in the good state.")
    bad: Probability = Field(description="The probability that a message is lost in the bad state.")
    good_for: PositiveDuration = Field(description="Mean duration of the good state.")
    bad_for: PositiveDuration = Field(description="Mean duration of the bad state.")

    def model(self, slot: int) -> Loss | None:
        """See `LossSettings.model`."""
        good_for, bad_for = (max(1, nanoseconds(text, slot)) for text in (self.good_for, self.bad_for))
        return BurstLoss(self.good, self.bad, good_for, bad_for)


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
