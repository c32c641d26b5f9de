"""A link: two channels, one per direction, that delay messages, and the counters of the pair."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal, Protocol, cast, get_args

from netbandit.network.airtime import LoRa
from netbandit.network.downtimes import NEVER_DOWN, Downtimes
from netbandit.network.message import Message
from netbandit.network.packet import Packet

Arrival = tuple[int, int, Message]
"""When a message arrives (ns), from which neighbour, and the message."""


Fate = Literal["lost", "dropped", "unsent", "duplicates", "duplicates_dropped", "in_flight"]
"""What becomes of messages, but for those that are delivered; and the copies that the network makes of some.

What was handed to a channel, and its copies, is delivered, or has one of these fates: see `Outcomes`.
"""

FATES: tuple[Fate, ...] = get_args(Fate)

Counted = dict[Fate, list[int]]
"""How many messages, and how many bytes, have each fate."""

NO_FATES: Counted = {}
"""The fates of a channel whose messages are all delivered; never changed."""


@dataclass(frozen=True)
class LinkClass:
    """The parameters of one class of links (agent-agent or agent-server).

    Attributes:
        bandwidth: Bits a second in each direction; None is unlimited.
        cost: The price of one activation (c2 between agents, c1 to the server, in Li & Song).
        energy_per_message: Joule a message, sender and receiver together.
        energy_per_byte: Joule a byte, sender and receiver together.
        received_per_message: Of these, what the receiver spends on a message,
        received_per_byte: and on a byte: nothing, as long as it is under way.
        modulation: The modulation that determines the airtime; None: bits divided by the bandwidth.
        most_waiting: The queue limit of a busy channel, in messages or bytes; None: unlimited.
        counts_bytes: Whether the limit is in bytes.
    """

    bandwidth: int | None = None
    cost: float = 1.0
    energy_per_message: float = 0.0
    energy_per_byte: float = 0.0
    received_per_message: float = 0.0
    received_per_byte: float = 0.0
    modulation: LoRa | None = None
    most_waiting: int | None = None
    counts_bytes: bool = False

    @property
    def takes_time(self) -> bool:
        """Whether messages occupy a link for a time."""
        return self.bandwidth is not None or self.modulation is not None

    def transmission(self, size: int) -> int:
        """Return the nanoseconds that *size* bytes occupy the link, rounded up."""
        if self.modulation is not None:
            return self.modulation.airtime(size)
        if self.bandwidth is None:
            return 0
        return -(-size * 8_000_000_000 // self.bandwidth)


class Link:
    """Both directions of a link: the counters of the pair.

    An activation is a distinct slot (for an uplink: a distinct round) in which at least one message is put on
    the link, whichever way it goes: equation (2) of Li & Song counts built connections, not messages.

    Attributes:
        first: The node at one end.
        second: The node at the other.
        activations: The activations so far.
        latest: The latest period counted, where nothing queues, so that periods never decrease.
    """

    __slots__ = ("_recent", "activations", "first", "latest", "second")

    def __init__(self, first: int, second: int) -> None:
        self.first = first
        self.second = second
        self.activations = 0
        self.latest = -1
        self._recent: set[int] | None = None

    def activate_ahead(self, period: int, now: int) -> None:
        """Count *period*, which may lie ahead of periods that the other direction is still to use.

        A queue in one direction books slots of the future, so the two directions reach a slot in any order.

        Args:
            period: The slot in which the message is put on the link.
            now: The present slot; no later call can name an earlier one.
        """
        recent = self._recent
        if recent is None:
            recent = self._recent = set()
        if period not in recent:
            if len(recent) >= 256:
                recent.difference_update([slot for slot in recent if slot < now])
            recent.add(period)
            self.activations += 1


@dataclass(slots=True)
class Queue:
    """The queue for a channel whose bandwidth is limited, and how long the channel is occupied.

    Attributes:
        busy: The time (ns) of the run in which the channel was busy.
        waited: The total queueing delay (ns).
        longest_wait: The longest queueing delay (ns).
        under_way: How much of *busy* is that of messages that are under way at the end.
        starts: The start (ns) and the bytes of each message that may still wait, where the queue is limited; some would
            start only after the end.
        waiting_bytes: The bytes of all these.
    """

    busy: int = 0
    waited: int = 0
    longest_wait: int = 0
    under_way: int = 0
    starts: deque[tuple[int, int]] = field(default_factory=deque)
    waiting_bytes: int = 0


NOTHING_YET: deque[Arrival] = cast(deque[Arrival], ())
"""The flight of a channel that was never used: a deque takes 600 bytes, and most channels of a large network
are never used."""


class Carrier(Protocol):
    """The links of a class, which carry the messages of their channels; see `netbandit.network.wire.Wire`."""

    uplink: bool

    def put(self, channels: "Sequence[Channel]", message: Message, packet: Packet | None, excepted: int = -1) -> int:
        """Put a message on *channels*, of this class of links."""

    def begin(
        self, channels: "Sequence[Channel]", message: Message, packet: Packet | None, put_at: int, earliest: int
    ) -> int:
        """Start the transmission of a message on *channels*."""

    def arrive(self, channel: "Channel", entry: tuple[Any, ...], now: int) -> bool:
        """Resolve what is due *now* (ns) on *channel*; return whether it is new to its receiver."""


class Channel:
    """A fault-free channel: one direction of a link; see also `FaultyChannel`.

    Attributes:
        wire: The links of its class.
        sender: The node at its beginning.
        receiver: The node at its end.
        latency: Propagation in nanoseconds; it does not occupy the channel.
        link: The link that it is one direction of.
        rank: Sorts channels by receiver, then sender.
        flight: The messages in flight, in order of arrival.
        free_at: The time in ns at which the last queued message will have been put on it.
        latest: The arrival (ns) behind which others are held back.
        messages: Messages put on it so far.
        bytes: Bytes put on it so far.
        fates: What became of those that were not delivered, see `note`.
        queue: The state of its queue; None: it was never used, or its bandwidth is unlimited.
    """

    # As on a faulty channel; nothing of this is stored with each channel of a network without faults.
    back: "Channel"
    down: Downtimes = NEVER_DOWN
    contacts: Downtimes = NEVER_DOWN
    away_from: int = 0
    away_until: int = 0
    up_from: int = 0
    up_until: int = 0
    column: int
    undrawn: int

    __slots__ = (
        "bytes",
        "fates",
        "flight",
        "free_at",
        "latency",
        "latest",
        "link",
        "messages",
        "queue",
        "rank",
        "receiver",
        "sender",
        "wire",
    )

    def __init__(self, wire: Carrier, sender: int, receiver: int, latency: int, link: Link, rank: int) -> None:
        self.wire = wire
        self.sender = sender
        self.receiver = receiver
        self.latency = latency
        self.link = link
        self.rank = rank
        self.flight: deque[Arrival] = NOTHING_YET
        self.free_at = self.latest = 0
        self.messages = 0
        self.bytes = 0
        self.fates: Counted = NO_FATES
        self.queue: Queue | None = None

    @property
    def is_broadcast(self) -> bool:
        """Whether it carries the server's broadcasts to an agent."""
        return bool(self.rank & 1)

    def note(self, fate: Fate, size: int, messages: int = 1) -> None:
        """Count so many *messages*, *size* bytes all together, that have a *fate*."""
        if self.fates is NO_FATES:
            self.fates = {}
        counted = self.fates.setdefault(fate, [0, 0])
        counted[0] += messages
        counted[1] += size

    def note_under_way(self, size: int, busy: int) -> None:
        """Count a message of *size* bytes that is under way at the end, and how long (ns) it occupies this by then."""
        self.note("in_flight", size)
        if self.queue is not None:
            self.queue.under_way += busy

    def count_of(self, fate: Fate) -> int:
        """Return how many of its messages and copies have a *fate*."""
        return self.fates[fate][0] if fate in self.fates else 0


class FaultyChannel(Channel):
    """A channel with faults.

    Attributes:
        back: The other direction; of the air between the server and an agent, the agent's uplink.
        down: When its link is down.
        contacts: The downtimes that its sender sees: the gaps between contacts.
        up_from, up_until: The contact looked up last, or a part of it (ns).
        away_from, away_until: The gap before it, from where it was looked up (ns).
        column: The column of its random numbers in the tables of its class.
        undrawn: The number of its messages counted before the first slot, without random draws.
    """

    __slots__ = ("away_from", "away_until", "back", "column", "contacts", "down", "undrawn", "up_from", "up_until")

    def __init__(
        self, wire: Carrier, sender: int, receiver: int, latency: int, link: Link, rank: int, column: int
    ) -> None:
        super().__init__(wire, sender, receiver, latency, link, rank)
        self.back = self
        self.down = self.contacts = NEVER_DOWN
        self.column = column
        self.undrawn = self.up_from = self.up_until = self.away_from = self.away_until = 0


BY_RANK = attrgetter("rank")
"""Sorts channels in the order in which simultaneous arrivals are handled."""
