"""The wire format: messages as bytes, with the sizes that the ledger counts.

A frame begins with the 20 bytes of the ledger's header: its length, the number of its kind, its form, the number of
labels, the round, and the start (ns) of its hop. AgentMask take 4 bytes: the lower two are the agent, the upper two the
number of arms in its item. The items follow in the same order, 8 bytes per number. Payloads of coroutines, which may
hold any object, are encoded as msgpack instead, so their frames may be longer than in the ledger.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from netbandit.learners.differing_sets import Told
from netbandit.network.message import LABEL_BYTES, NUMBER_BYTES, Kind, Message
from netbandit.protocols.broadcast import Heard
from netbandit.protocols.node import AgentMask, LabelMessage, OpenRound
from netbandit.protocols.protocol import Item

HEADER = struct.Struct("!IBBHIQ")
LABELS, MEANS, TOLD, PACKED, DONE = range(5)
_ITEM, _TUPLE, _ARRAY = range(3)


Carries = Literal["labels", "heard", "payload"]
"""The content of a protocol's messages: labels of items, an item that an agent broadcasts, or a coroutine's payload."""


class Frame(NamedTuple):
    """A frame that was read.

    Attributes:
        kind: The kind of message.
        size: Its bytes.
        round: The round.
        begun: The start (ns) of its hop.
        labels: The labels of its items, as a set; 0 for a coroutine's payload.
        items: Its items, by source.
        own_size: The size (bytes) set by its protocol; None: computed from its content.
        payload: What a coroutine has sent.
    """

    kind: Kind
    size: int
    round: int
    begun: int
    labels: AgentMask = 0
    items: Mapping[int, Item] = MappingProxyType({})
    own_size: int | None = None
    payload: Any = None

    def message(self, carries: Carries, round: OpenRound | None) -> Message:
        """Return the message as its protocol expects it, where labels are told in an open *round*."""
        if carries == "labels":
            assert round is not None
            return LabelMessage(round, self.kind, self.labels, bool(self.items), self.own_size, self.begun)
        value = self.payload
        if carries == "heard":
            source = self.labels.bit_length() - 1
            value = Heard(source, self.round, self.items.get(source))  # type: ignore[arg-type]  # see Heard
        return Message(self.kind, self.size, (value, self.begun), self.round)


def begun_of(message: Message) -> int:
    """Return when (ns) the hop of a *message* began."""
    begun: int = message.begun if isinstance(message, LabelMessage) else message.value[1]
    return begun


class Codec:
    """Writes messages between agents out, and reads them.

    Args:
        carries: What they say.
    """

    def __init__(self, carries: Carries) -> None:
        self._carries = carries

    def encode(self, message: Message, items: Mapping[int, Item]) -> bytes:
        """Return the frame of a *message*, which may tell some of the *items* of its round.

        Raises:
            TypeError: It says something that has no bytes.
        """
        labels: list[int] = []
        told: list[Item] = []
        own_size = payload = None
        if isinstance(message, LabelMessage):
            labels = [label for label in range(message.labels.bit_length()) if message.labels >> label & 1]
            own_size = message.size if message.items is None else None
            told = [items[label] for label in labels if message.items is not False and label in items]
        elif self._carries == "heard":
            heard: Heard = message.value[0]
            if heard.item is None:  # a header is all, in which there is room for one label
                return self._header(message, DONE, heard.source, 0)
            labels, told = [heard.source], [heard.item]
        else:
            payload = message.value[0]
        form, arms, body = _written(told)
        if self._carries == "payload":
            form, body = PACKED, _pack(payload)
        elif form == PACKED or own_size is not None:
            form, body = PACKED, _pack([labels, told, own_size])
            labels, arms = [], []
        words = [label | count << 16 for label, count in zip(labels, arms or [0] * len(labels), strict=True)]
        body = struct.pack(f"!{len(words)}I", *words) + body
        return self._header(message, form, len(labels), len(body)) + body

    def _header(self, message: Message, form: int, labels: int, body: int) -> bytes:
        kind = Kind.all.index(message.kind)  # the processes are forks, which have the same ones
        return HEADER.pack(HEADER.size + body, kind, form, labels, message.round, begun_of(message))

    def decode(self, frame: bytes) -> Frame:
        """Return what a *frame* says."""
        _, number, form, count, round, begun = HEADER.unpack_from(frame)
        head = Kind.all[number], len(frame), round, begun
        own_size = None
        if form == DONE:
            return Frame(*head, labels=1 << count)
        if form == PACKED:
            value = _unpack(frame[HEADER.size :])
            if self._carries == "payload":
                return Frame(*head, payload=value)
            labels, found, own_size = value
        else:
            words = struct.unpack_from(f"!{count}I", frame, HEADER.size)
            labels = [word & 0xFFFF for word in words]
            found = [] if form == LABELS else _read(frame, form, [word >> 16 for word in words])
        items = dict(zip(labels, found, strict=False))
        return Frame(*head, sum(1 << label for label in labels), items, own_size)


def _written(items: Sequence[Item]) -> tuple[int, list[int], bytes]:
    """Return the form of *items*, of how many arms each tells, and the bytes of all of them."""
    values = [item.value for item in items]
    if all(isinstance(value, Told) for value in values) and values:
        parts = (
            value.arms.astype(">u4").tobytes() + value.means.astype(">f8").tobytes() + struct.pack("!Q", value.pulls)
            for value in values
        )
        return TOLD, [len(value.arms) for value in values], b"".join(parts)
    if not all(_is_means(item) for item in items):
        return PACKED, [], b""
    body = b"".join(np.asarray(value, ">f8").tobytes() for value in values)
    return (MEANS if items else LABELS), [len(value) for value in values], body


def _is_means(item: Item) -> bool:
    value = item.value
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and item.size == NUMBER_BYTES * value.size


def _read(frame: bytes, form: int, arms: Iterable[int]) -> list[Item]:
    """Return the items behind the labels of a *frame*."""
    arms = list(arms)
    at = HEADER.size + LABEL_BYTES * len(arms)
    found = []
    for count in arms:
        begin = at
        named = np.frombuffer(frame, ">u4", count if form == TOLD else 0, at).astype(np.int64)
        at += LABEL_BYTES * len(named)
        means = np.frombuffer(frame, ">f8", count, at).astype(np.float64)
        at += NUMBER_BYTES * count
        value: Any = means
        if form == TOLD:
            value = Told(named, means, struct.unpack_from("!Q", frame, at)[0])
            at += NUMBER_BYTES
        found.append(Item(at - begin, value))
    return found


def _pack(value: Any) -> bytes:
    from netbandit.util.extras.emulate import msgpack

    def other(part: Any) -> Any:
        if isinstance(part, Item):
            return msgpack.ExtType(_ITEM, _pack(list(part)))
        if isinstance(part, tuple):
            return msgpack.ExtType(_TUPLE, _pack(list(part)))
        if isinstance(part, np.ndarray):
            return msgpack.ExtType(_ARRAY, _pack([part.dtype.str, list(part.shape), part.tobytes()]))
        if isinstance(part, np.generic):
            return part.item()
        raise TypeError(f"a {type(part).__name__} cannot be sent: give it as numbers, lists, arrays or dictionaries")

    packed: bytes = msgpack.packb(value, default=other, strict_types=True)
    return packed


def _unpack(data: bytes) -> Any:
    from netbandit.util.extras.emulate import msgpack

    def other(code: int, inner: bytes) -> Any:
        parts = _unpack(inner)
        if code == _ITEM:
            return Item(*parts)
        if code == _TUPLE:
            return tuple(parts)
        return np.frombuffer(parts[2], parts[0]).reshape(parts[1]).copy()

    return msgpack.unpackb(data, ext_hook=other, strict_map_key=False)
