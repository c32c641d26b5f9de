"""The luck of the messages of one class of links: all that they draw, each from its own channel's numbers."""

from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple

from netbandit.network.draws import Draws
from netbandit.network.faults import ChannelFaults
from netbandit.network.loss import Chance, ConstantLoss, chance
from netbandit.streams import Streams


class Draw(NamedTuple):
    """What one message draws.

    Attributes:
        loss: It is lost if this is below the chance of that; uniform on [0, 1).
        jitter: What is added to its latency (ns).
        duplicate: It arrives once more if this is below the probability of that; uniform on [0, 1).
        copy_jitter: What is added to the latency of the copy (ns).
        spread: What its timeouts are spread by; uniform on [0, 1).
    """

    loss: float
    jitter: float
    duplicate: float
    copy_jitter: float
    spread: float


class ClassLuck:
    """Gives out what the messages of one class of links draw.

    Args:
        faults: What can go wrong there.
        name: The name of the class, ``"peer"`` or ``"uplink"``: its streams are ``"loss.peer"`` and so on.
        channels: The number of directed channels.
        streams: The streams of the replication.
    """

    def __init__(self, faults: ChannelFaults, name: str, channels: int, streams: Streams) -> None:
        self._faults = faults
        self._loss = Draws(streams, f"loss.{name}", channels)
        self._states = Draws(streams, f"bursts.{name}", channels)
        self._jitter = Draws(streams, f"jitter.{name}", channels)
        self._duplicate = Draws(streams, f"duplicate.{name}", channels)
        self._copy_jitter = Draws(streams, f"duplicate.jitter.{name}", channels)
        self._spread = Draws(streams, f"retry.{name}", channels)
        self._chances: dict[int, Chance] = {}

    def chance(self, column: int) -> Chance:
        """Return with what probability the channel of this *column* loses a message."""
        found = self._chances.get(column)
        if found is None:
            loss = self._faults.loss
            found = _never if loss is None else chance(loss, self._states, column)
            self._chances[column] = found
        return found

    def losses(self, column: int) -> Iterator[float]:
        """Yield a number for each message of the channel of this *column*: below its chance, the message is lost.

        Where all have the same chance, it is 0 for those that are lost and 1 for the others, which is faster.
        """
        loss = self._faults.loss
        if loss is None:
            return repeat(1)
        if isinstance(loss, ConstantLoss):
            return self._loss.flags(column, loss.probability)
        return self._loss.numbers(column)

    def spread(self, column: int, message: int) -> float:
        """Return what message number *message* of the channel of this *column* draws for the spread of its timeouts."""
        return self._spread.number(column, message)

    def draws(self, column: int) -> Iterator[tuple[float, float, float, float, float]]:
        """Yield a `Draw` for each message of the channel of this *column*, as a plain tuple."""
        faults = self._faults
        none: Iterator[float] = repeat(0)
        jitter = faults.jitter
        return zip(
            none if faults.loss is None else self._loss.numbers(column),
            none if jitter is None else self._jitter.mapped(column, jitter.times),
            self._duplicate.numbers(column) if faults.duplicate else none,
            self._copy_jitter.mapped(column, jitter.times) if faults.duplicate and jitter is not None else none,
            none if faults.retry is None else self._spread.numbers(column),
            strict=False,
        )


def _never(size: int, start: int) -> float:
    return 0.0
