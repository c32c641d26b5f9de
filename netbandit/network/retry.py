"""Retransmission: its parameters, and the state of a message that may be sent again.

Timers are in `netbandit.network.acknowledgements`; `netbandit.network.delivery.retransmit` sends again.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message

ACK = Kind("ACK")

ACK_BYTES = HEADER_BYTES + LABEL_BYTES


@dataclass(frozen=True)
class Retry:
    """How long a sender waits for an acknowledgement, and how often it tries; the parameters of CoAP.

    The timeout runs from the end of a transmission. It is multiplied by a number drawn once per message from
    [1, spread], so that senders do not repeat in step, and by *factor* at each repetition.

    Source:
        RFC 7252, section 4.8: 2 s, 2, 1.5, 5 transmissions in all.

    Attributes:
        timeout: In nanoseconds.
        factor: The factor of the timeout at each retransmission.
        spread: The largest factor drawn for a message.
        attempts: Transmissions in all.
    """

    timeout: int
    factor: float
    spread: float
    attempts: int

    @cached_property
    def factors(self) -> Sequence[float]:
        """The factor of the timeout at each retransmission, shape (attempts,); infinity on overflow."""
        found = [inf] * self.attempts
        with suppress(OverflowError):
            for repetition in range(self.attempts):
                found[repetition] = float(self.factor**repetition)
        return found


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
