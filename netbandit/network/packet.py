"""A message that may be sent again, or doubled, and what becomes of a message that is put on a channel."""

from typing import Any

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message

ACK = Kind("ACK")

ACK_BYTES = HEADER_BYTES + LABEL_BYTES

LOST, NOT_SENT, DROPPED = -1, -2, -3
"""In place of the arrival of a message that was put on a channel."""

LATE = -1
"""Replaces the index of a message on its channel once its sender no longer waits for the acknowledgement."""


class Packet:
    """A message that its sender may send several times, or that the network may double: one sequence number.

    Most messages arrive and are acknowledged in time. They need none: it is made when an acknowledgement may be late.

    Attributes:
        message: The message, as it was sent first.
        origin: The channel on which it was put first.
        index: Its number among all messages put there.
        sent: How often it was sent.
        since: When (ns) all of the latest transmission was on the channel: its sender waits since then.
        received_in: The incarnation of the receiver that received it; -1 before that.
        settled: Whether the sender has its acknowledgement, or has given up.
    """

    __slots__ = ("index", "message", "origin", "received_in", "sent", "settled", "since")

    def __init__(self, message: Message, origin: Any = None, index: int = 0) -> None:
        self.message = message
        self.origin = origin
        self.index = index
        self.sent = self.since = 0
        self.received_in = -1
        self.settled = False


_REPETITIONS: dict[Kind, Kind] = {}


def repetition_of(kind: Kind) -> Kind:
    """Return the kind under which retransmissions of messages of *kind* are counted."""
    found = _REPETITIONS.get(kind)
    if found is None:
        found = _REPETITIONS[kind] = Kind(f"{kind.name}-RETRY")
    return found
