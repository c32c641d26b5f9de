"""A message that waits for its turn on a channel, and the queue of those whose outcome is deferred."""

from collections import deque
from collections.abc import Iterator

from netbandit.network.message import Message
from netbandit.network.packet import NOT_SENT, Packet


class QueuedMessage:
    """A message that was put on a channel, and has not begun.

    Attributes:
        message: The message.
        packet: The packet that it transmits; None: there is no record.
        put_at: When (ns) it was put on its channel.
        duration: How long (ns) it occupies the channel.
        start: When (ns) its turn comes; -1: unknown.
        tried: The time (ns) of its next attempt, once its turn has come; -1: it has not.
        first: Whether no attempt was made yet.
        arrival: When (ns) it arrives, once it has begun; see `netbandit.network.wire.Wire.put`.
    """

    __slots__ = ("arrival", "duration", "first", "message", "packet", "put_at", "start", "tried")

    def __init__(self, message: Message, packet: Packet | None, put_at: int, duration: int) -> None:
        self.message = message
        self.packet = packet
        self.put_at = put_at
        self.duration = duration
        self.start = self.tried = -1
        self.first = True
        self.arrival = NOT_SENT


class TransmitQueue:
    """The messages that wait for a channel, first in, first out.

    Attributes:
        first: The head of the queue, if its channel queues; None: the queue is empty.
        others: The rest of the queue.
    """

    __slots__ = ("first", "others")

    def __init__(self) -> None:
        self.first: QueuedMessage | None = None
        self.others: deque[QueuedMessage] = deque()

    def __iter__(self) -> Iterator[QueuedMessage]:
        """Yield all that waits, in order."""
        if self.first is not None:
            yield self.first
            yield from self.others
