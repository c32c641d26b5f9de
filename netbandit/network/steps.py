"""The steps of a hop on the links of a class, and the models that take part in them.

A message that is put on a channel waits for its turn (`queue`, and `contacts` while its link is down), where there is
room for it (`admits`). It is not sent if its sender is `absent` before. It arrives after its latency and what is added
to that (`late`), unless it is lost: by chance (`lose`), because its link is down while it is on its way (`cuts`), or
because its receiver does not take it in (`misses`). Its sender waits for its acknowledgement (`retry`), and the network
may `double` it. Both ends may have to pay (`spend`, `receive`).

Each step is a function of a model that is there, or None: what is absent costs nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from netbandit.network.draws import Draws
from netbandit.network.engine import Engine
from netbandit.network.link import Channel, LinkClass
from netbandit.network.message import Message
from netbandit.network.packet import Packet
from netbandit.parts.metric import Metric

T = TypeVar("T")

Test = Callable[[Channel, int, int, int], bool]
"""(channel, bytes, start, arrival) -> whether that stops a message; times in nanoseconds."""


class Model:
    """What may happen to messages on the links of a class: it sets the steps of a hop that it takes part in.

    Its random numbers are those of the channel's column for a purpose of its own (`Steps.draws`), one for each message,
    so that no model changes what another one draws.

    Attributes:
        in_order: Whether messages arrive on a channel in the order of sending, each transmission at most once.
    """

    in_order: ClassVar[bool] = True

    def join(self, steps: "Steps") -> None:
        """Set its part of the *steps* of the links of a class, once in a replication."""
        raise NotImplementedError

    @classmethod
    def metrics(cls, models: Sequence[Self]) -> Mapping[str, Metric]:
        """Return what *models*, all of this class in a replication, have counted, after the last event."""
        return {}


class ByColumn(dict[int, T], Generic[T]):
    """What a model keeps for each channel, by its column, made when it is first asked for."""

    def __init__(self, make: Callable[[int], T]) -> None:
        self._make = make

    def __missing__(self, column: int) -> T:
        found = self[column] = self._make(column)
        return found


class QueueStep(Protocol):
    """How messages follow one another on a channel that they occupy for a time."""

    def duration(self, size: int) -> int:
        """Return how long (ns) a message of *size* bytes occupies its channel."""

    def occupy(self, channel: Channel, size: int, duration: int, put_at: int, start: int) -> int:
        """Let a message that was put on *channel* at *put_at* (ns) occupy it from *start*; return until when."""

    def count(self, channel: Channel, wait: int, busy: int) -> None:
        """Count how long (ns) a message has waited for *channel*, and for how much of the run it occupies it."""

    def keep_place(self, channel: Channel, put_at: int, size: int) -> None:
        """Let a message that is never sent wait all the same, for as long as its sender does not know that."""


class ContactStep(Protocol):
    """How messages wait for links that are seen to be down."""

    def next_start(self, channel: Channel, time: int) -> int:
        """Return when (ns) the link of *channel* is up for a message that is ready at *time*."""

    def attempt(self, channel: Channel, message: Message, put_at: int, start: int, first: bool, duration: int) -> int:
        """Try a message at *start* (ns), with its link up, that was put on its channel at *put_at*; *first*: it is new.

        Return *start*: it gets through; else when its link comes up again (ns); or `NEVER`: it is given up.
        """

    def taken_in(self, channel: Channel, put_at: int, start: int, arrival: int) -> int:
        """Return when (ns) a message is taken in that started at *start*, and arrives at *arrival*."""

    def note_wait(self, waited: int) -> None:
        """Count a message that has waited so long (ns) for its link, and starts."""


class RetryStep(Protocol):
    """How senders wait for acknowledgements."""

    def begun(
        self,
        channel: Channel,
        message: Message,
        packet: Packet | None,
        index: int,
        sent: int,
        arrival: int,
        stops: bool,
    ) -> tuple[Packet | None, int]:
        """Note the transmission of message number *index* of *channel*, on it until *sent* (ns).

        Return its record, if it needs one, and its number while its sender waits for the acknowledgement, else `LATE`.
        """

    def received(self, channel: Channel, message: Message, packet: Packet | None, ack_index: int, now: int) -> None:
        """Acknowledge what has arrived on *channel*."""

    def dropped(self, channel: Channel, message: Message, packet: Packet | None) -> None:
        """Note an attempt that found no room in the queue: its sender waits for an acknowledgement all the same."""

    def refused(self, channel: Channel, message: Message, packet: Packet | None, ack_index: int, now: int) -> None:
        """Note an arrival that its receiver had no room for: its sender waits in vain."""

    def repeat(self, channel: Channel, packet: Packet) -> None:
        """Send *packet* again: its timeout is over."""


class Steps:
    """The steps of a hop on the links of a class.

    Args:
        network: The network.
        name: The name of the class, ``"peer"`` or ``"uplink"``: its random streams are ``"loss.peer"`` and so on.
        columns: The number of its channels, each of which has a column of random numbers.
        link_class: Its parameters.
        models: What may happen.

    Attributes:
        uplink: Whether its links are those of the server.
        queue, contacts, retry: See `QueueStep`, `ContactStep`, `RetryStep`.
        admits: (channel, message, packet) -> whether there is room for a message now; if not, it is dropped.
        absent: (node, from, until) -> whether a node is down at any moment in between (ns).
        late: (channel, arrival, packet) -> the arrival (ns), with what is added to the latency.
        copy_late: What is added to the latency of the copies of a channel, by its column.
        overtaking: Whether messages may overtake each other.
        lose: (channel, bytes, start) -> whether a message is lost by chance; asked once for each.
        cuts, misses: See the module; a receiver is asked when a message is due.
        double: (channel) -> how much later than after its latency (ns) a copy of a message arrives that the network
            makes; -1: it makes none. Asked once for each message.
        spend: (channel, bytes, airtime): charges the sender of a message.
        receive: (channel, bytes): charges its receiver.
        skips: Each draws for a message that is cut off what it would have drawn, so that later ones are as they are.
    """

    __slots__ = (
        "absent",
        "admits",
        "columns",
        "contacts",
        "copy_late",
        "cuts",
        "double",
        "late",
        "link_class",
        "lose",
        "misses",
        "models",
        "name",
        "network",
        "overtaking",
        "queue",
        "receive",
        "retry",
        "skips",
        "spend",
        "uplink",
    )

    def __init__(
        self, network: Engine, name: str, columns: int, link_class: LinkClass, models: Sequence[Model]
    ) -> None:
        self.network, self.name, self.columns = network, name, columns
        self.link_class, self.models = link_class, models
        self.uplink = name == "uplink"
        self.queue: QueueStep | None = None
        self.contacts: ContactStep | None = None
        self.retry: RetryStep | None = None
        self.admits: Callable[[Channel, Message, Packet | None], bool] | None = None
        self.absent: Callable[[int, int, int], bool] | None = None
        self.late: Callable[[Channel, int, Packet | None], int] | None = None
        self.copy_late: Mapping[int, Iterator[Any]] | None = None  # any: numpy says float of integers, too
        self.overtaking = False
        self.lose: Callable[[Channel, int, int], bool] | None = None
        self.double: Callable[[Channel], int] | None = None
        self.spend: Callable[[Channel, int, int], None] | None = None
        self.receive: Callable[[Channel, int], None] | None = None
        self.cuts: list[Test] = []
        self.misses: list[Test] = []
        self.skips: list[Callable[[Channel], object]] = []
        for model in models:
            model.join(self)

    def own(self, **steps: Any) -> None:
        """Set *steps* that only one model can have.

        Raises:
            ValueError: Another model has one of them.
        """
        for name, step in steps.items():
            if getattr(self, name) is not None:
                raise ValueError(f"two models of links.{self.name} have the step {name!r} of a hop: only one can")
            setattr(self, name, step)

    def withhold(self, channel: Channel, message: Message, put_at: int) -> None:
        """Count a message that never starts: its turn comes too late, or its sender goes down before."""
        self.network.never_begin(channel, message, put_at, "unsent")
        if self.queue is not None:
            self.queue.keep_place(channel, put_at, message.size)

    def draws(self, purpose: str) -> Draws:
        """Return the random numbers of its channels for a *purpose*."""
        return Draws(self.network.streams, f"{purpose}.{self.name}", self.columns)

    def channels(self) -> Iterable[Channel]:
        """Return its channels, of uplinks those in use."""
        return self.network.links.uplink_channels() if self.uplink else self.network.links.peer_channels()

    @staticmethod
    def state_column(channel: Channel) -> int:
        """Return the column of the state that *channel* is in: broadcasts to an agent share that of its way down."""
        return channel.column - (channel.rank & 1)
