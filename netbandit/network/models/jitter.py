"""Jitter: ``jitter`` of a class of links, a random addition to the latency of each message, and ``overtaking``."""

from collections.abc import Iterator
from typing import Any, ClassVar

from netbandit.network.jitter import Jitter as Law
from netbandit.network.link import Channel
from netbandit.network.packet import Packet
from netbandit.network.steps import ByColumn, Model, Steps


class Jitter(Model):
    """Adds a time to the latency of each message.

    Args:
        law: Its distribution.
        overtaking: Whether messages overtake each other; if not, they are held back. Retransmissions always do.
    """

    in_order: ClassVar[bool] = False

    def __init__(self, law: Law, overtaking: bool) -> None:
        self._law, self._overtaking = law, overtaking

    def join(self, steps: Steps) -> None:
        """See `Model.join`."""
        times, copy_times = steps.draws("jitter"), steps.draws("duplicate.jitter")
        law, overtaking = self._law.times, self._overtaking
        added: ByColumn[Iterator[Any]] = ByColumn(lambda column: times.mapped(column, law))

        def late(channel: Channel, arrival: int, packet: Packet | None) -> int:
            arrival += next(added[channel.column])
            return arrival if overtaking or packet is not None or arrival > channel.latest else channel.latest

        steps.own(late=late, copy_late=ByColumn(lambda column: copy_times.mapped(column, law)))
        steps.skips.append(lambda channel: next(added[channel.column]))
        steps.overtaking = overtaking
