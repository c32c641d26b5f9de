"""Hop-by-hop retransmission: a message is sent again until the receiver has acknowledged it."""

from dataclasses import dataclass

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message

ACK = Kind("ACK")

ACK_BYTES = HEADER_BYTES + LABEL_BYTES


_LONGEST = float(1 << 62)


@dataclass(frozen=True)
class Retry:
    """How long a sender waits for an acknowledgement, and how often it tries; the parameters of CoAP.

    The timeout runs from the end of a transmission. It is multiplied by a number drawn once per message from
    [1, spread], so that senders do not repeat in step, and by *factor* at each repetition.

    Source:
        RFC 7252, section 4.8: 2 s, 2, 1.5, 5 transmissions in all.

    Attributes:
        timeout: In nanoseconds.
        factor: What each repetition multiplies it by.
        spread: The largest factor drawn for a message.
        attempts: Transmissions in all.
    """

    timeout: int
    factor: float
    spread: float
    attempts: int

    def patience(self, number: float, repetition: int) -> int:
        """Return how long (ns) a sender waits after a transmission.

        Args:
            number: What the message has drawn, uniform on [0, 1).
            repetition: 0 for the first transmission, 1 for the second, and so on.
        """
        drawn = 1.0 + number * (self.spread - 1.0)
        wait = self.timeout * drawn * self.factor**repetition
        return round(wait) if wait < _LONGEST else 1 << 62


class SequencedMessage:
    """A message that its sender may send several times, or that the network may double: one sequence number.

    Attributes:
        message: What the receiver is told.
        number: What it has drawn for its timeouts, uniform on [0, 1).
        sent: How often it was sent.
        taken: The life of the receiver in which it was taken in; -1 before that.
        settled: Whether the sender has its acknowledgement, or has given up.
    """

    __slots__ = ("message", "number", "sent", "settled", "taken")

    def __init__(self, message: Message, number: float = 0.0) -> None:
        self.message = message
        self.number = number
        self.sent = 0
        self.taken = -1
        self.settled = False


_REPETITIONS: dict[Kind, Kind] = {}


def repetition_of(kind: Kind) -> Kind:
    """Return the kind under which repetitions of messages of *kind* are counted."""
    found = _REPETITIONS.get(kind)
    if found is None:
        found = _REPETITIONS[kind] = Kind(f"{kind.name}-RETRY")
    return found
