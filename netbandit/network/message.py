"""A message: kind, size, opaque payload and round number; its channel identifies the sender."""

from typing import Any, ClassVar
from zlib import crc32

HEADER_BYTES = 20
NUMBER_BYTES = 8
LABEL_BYTES = 4


class Kind:
    """A kind of message, counted separately in the ledger.

    Args:
        name: The name shown in tables and traces, ``"ADV"``.

    Raises:
        ValueError: It cannot be printed.
    """

    __slots__ = ("code", "name")

    all: ClassVar[list["Kind"]] = []
    """All kinds, in order of creation; forked processes share them."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name or not name.isprintable():
            raise ValueError(f"a kind of message must have a name that can be printed, not {name!r}")
        self.name = name
        # The same in every process, as the fingerprint needs it; ``hash`` of a string is not.
        self.code = crc32(name.encode())
        Kind.all.append(self)

    def __repr__(self) -> str:
        return f"Kind({self.name!r})"


class Message:
    """A message without sender and time, which its channel knows.

    All links on which a node puts it at one instant share one object, and a relay that changes nothing forwards
    the same object.

    Args:
        kind: What kind of message it is.
        size: Bytes on the wire, header included.
        value: The payload; opaque to the network.
        round: The number of the round it belongs to.

    Raises:
        ValueError: A size below 0, or NaN.
    """

    __slots__ = ("code", "kind", "round", "size", "value")

    def __init__(self, kind: Kind, size: int, value: Any, round: int) -> None:
        if not size >= 0:
            raise negative_size(kind, size)
        self.kind = kind
        self.code = kind.code
        self.size = size
        self.value = value
        self.round = round

    def __repr__(self) -> str:
        return f"Message({self.kind.name}, size={self.size}, round={self.round})"


def negative_size(kind: Kind, size: float) -> ValueError:
    """Return the error for a message of *kind* with a negative or NaN *size*."""
    return ValueError(f"a message of the kind {kind.name} cannot have {size} bytes")
