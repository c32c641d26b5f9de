"""What waits at its sender, where the fate of messages is open: it begins when its turn and its link have come."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from netbandit.network.message import Kind, Message


class Pending:
    """A message that was put on a channel, and has not begun.

    Attributes:
        kind: The kind in which it is counted.
        size: Its bytes.
        round: The round that it belongs to.
        message: What its receiver is told.
        packet: What it is a transmission of, if there is a record of that.
        handed: When (ns) it was put on its channel,
        slot: and in which slot.
        duration: How long (ns) it occupies the channel.
        start: When (ns) its turn comes; -1: that is not known.
        tried: When (ns) it is tried next, once its turn has come; -1: it has not.
        first: Whether it was never tried.
    """

    __slots__ = ("duration", "first", "handed", "kind", "message", "packet", "round", "size", "slot", "start", "tried")

    def __init__(
        self, kind: Kind, size: int, round: int, message: Message, packet: Any, handed: int, slot: int, duration: int
    ) -> None:
        self.kind = kind
        self.size = size
        self.round = round
        self.message = message
        self.packet = packet
        self.handed = handed
        self.slot = slot
        self.duration = duration
        self.start = self.tried = -1
        self.first = True


class Line:
    """What waits for a channel, in the order in which it was put there.

    Attributes:
        first: What begins next, if its channel queues; None: nothing waits.
        others: What follows.
    """

    __slots__ = ("first", "others")

    def __init__(self) -> None:
        self.first: Pending | None = None
        self.others: deque[Pending] = deque()

    def __iter__(self) -> Iterator[Pending]:
        """Yield all that waits, in order."""
        if self.first is not None:
            yield self.first
            yield from self.others
