"""Random numbers of the messages of one class of links, drawn per channel."""

from collections.abc import Iterator
from itertools import repeat
from typing import Any

from netbandit.network.draws import Draws
from netbandit.network.faults import ChannelFaults, FaultModel
from netbandit.network.loss_models import BurstLoss, Bursts, ConstantLoss, bursts
from netbandit.util.streams import Streams


class ClassDraws:
    """Provides the random draws of the messages of one class of links.

    Args:
        faults: The faults of the class.
        name: The name of the class, ``"peer"`` or ``"uplink"``: its streams are ``"loss.peer"`` and so on.
        channels: The number of directed channels.
        streams: The streams of the replication.

    Attributes:
        model: The faults, in the form that the engine reads.
        spreads: The random factors of timeouts; number n of a channel is that of its message n.
    """

    def __init__(self, faults: ChannelFaults, name: str, channels: int, streams: Streams) -> None:
        self._faults = faults
        self._losses = Draws(streams, f"loss.{name}", channels)
        self._states = Draws(streams, f"bursts.{name}", channels)
        self._jitters = Draws(streams, f"jitter.{name}", channels)
        self._duplicates = Draws(streams, f"duplicate.{name}", channels)
        self._copy_jitters = Draws(streams, f"duplicate.jitter.{name}", channels)
        self.spreads = Draws(streams, f"retry.{name}", channels)
        self.model = FaultModel.of(faults)

    def bursts(self, column: int) -> Bursts | None:
        """Return the bad periods of the channel of this *column*; None: it has one state."""
        loss = self._faults.loss
        return bursts(loss, self._states, column) if isinstance(loss, BurstLoss) else None

    def losses(self, column: int) -> Iterator[float]:
        """Yield a number for each message of the channel of this *column*: below its chance, the message is lost.

        Where all have the same chance, it is 0 for those that are lost and 1 for the others, which is faster.
        """
        loss = self._faults.loss
        if loss is None:
            return repeat(1)
        if isinstance(loss, ConstantLoss):
            return self._losses.flags(column, loss.probability)
        return self._losses.numbers(column)

    def jitters(self, column: int) -> Iterator[Any]:
        """Yield the jitter of each message (ns)."""
        jitter = self._faults.jitter
        return repeat(0) if jitter is None else self._jitters.mapped(column, jitter.times)

    def duplicates(self, column: int) -> Iterator[float]:
        """Yield a number for each message: below the duplication probability, it arrives once more."""
        return self._duplicates.numbers(column)

    def copy_jitters(self, column: int) -> Iterator[Any]:
        """Yield the jitter of the copy of each message (ns)."""
        jitter = self._faults.jitter
        return repeat(0) if jitter is None else self._copy_jitters.mapped(column, jitter.times)
