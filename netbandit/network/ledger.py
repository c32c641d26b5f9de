"""The cost of communication: messages, bytes, activations, energy, money."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields

from netbandit.network.link import Channel, Link, LinkClass
from netbandit.network.message import Kind


@dataclass(frozen=True)
class Totals:
    """The traffic totals of one class of links.

    Attributes:
        messages: Messages put on its links.
        bytes: Bytes put on its links.
        activations: Activations of its links.
        cost: activations x the class's cost, equation (2) of Li & Song.
        energy: Joule.
    """

    messages: int
    bytes: int
    activations: int
    cost: float
    energy: float

    @classmethod
    def of(cls, link_class: LinkClass, channels: Iterable[Channel], links: Iterable[Link]) -> "Totals":
        """Add up the *channels* and *links* of one class; integers first, so the order cannot matter."""
        messages = size = 0
        for channel in channels:
            messages += channel.messages
            size += channel.bytes
        activations = sum(link.activations for link in links)
        return cls(
            messages,
            size,
            activations,
            activations * link_class.cost,
            messages * link_class.energy_per_message + size * link_class.energy_per_byte,
        )


@dataclass
class Outcomes:
    """The outcomes of all messages put on links; broadcasts, which use no link, are not counted.

    Each message, and each copy that the network made of one, ends in exactly one way:
    ``messages + duplicates = delivered + lost + duplicates_dropped + in_flight``.

    Attributes:
        delivered: Messages that reached their receiver for the first time, acknowledgements included.
        lost: Messages and copies that never arrived.
        duplicates: Copies that the network made.
        duplicates_dropped: Copies and retransmissions of messages that the receiver already had.
        in_flight: Those still in flight at the end; none, unless the run was cut.
        retransmissions: Retransmissions, each counted as a message.
        given_up: Messages whose sender stopped waiting for an acknowledgement, and copies of broadcasts likewise.
    """

    delivered: int = 0
    lost: int = 0
    duplicates: int = 0
    duplicates_dropped: int = 0
    in_flight: int = 0
    retransmissions: int = 0
    given_up: int = 0

    def check(self, messages: int) -> None:
        """Make sure that each of *messages* has ended in exactly one way.

        Raises:
            AssertionError: Some have not: a mistake of the simulator.
        """
        ended = self.delivered + self.lost + self.duplicates_dropped + self.in_flight
        assert messages + self.duplicates == ended, f"{messages} messages and {self.duplicates} copies, {self}"


COUNTED_FATES = tuple(field.name for field in fields(Outcomes) if field.name != "in_flight")
"""The outcomes that are counted as they happen."""


@dataclass
class BroadcastCopies:
    """The outcomes of the server's broadcasts: each has one copy per receiving agent.

    Each copy ends in exactly one way: ``sent = delivered + missed + in_flight``. Missed copies may be retransmitted, as
    messages.

    Attributes:
        sent: Copies in all.
        delivered: Those that arrived.
        missed: Those that never did.
        in_flight: Those still in flight at the end; none, unless the run was cut.
    """

    sent: int = 0
    delivered: int = 0
    missed: int = 0
    in_flight: int = 0

    def check(self) -> None:
        """Make sure that each copy has ended in exactly one way.

        Raises:
            AssertionError: Some have not: a mistake of the simulator.
        """
        assert self.sent == self.delivered + self.missed + self.in_flight, f"{self}"


@dataclass(slots=True)
class Waiting:
    """Counters of messages between agents that wait for their links to come up.

    Attributes:
        cut_off: Attempts whose link went down before they were due, as their senders saw.
        unsent: Messages that never started.
        started: Messages that started, and were not cut off.
        waited: How long (ns) these waited for their links, all of them together.
    """

    cut_off: int = 0
    unsent: int = 0
    started: int = 0
    waited: int = 0


@dataclass(slots=True)
class Tally:
    """Running counters of the outcomes of messages and broadcasts.

    Attributes:
        delivered, lost, duplicates, duplicates_dropped, retransmissions, given_up: See `Outcomes`.
        given_up_on_uplinks: How many of those given up were to or from the server.
        copies_sent, copies_delivered, copies_missed: See `BroadcastCopies`.
        dropped: Messages that were not put on their channels because too many waited there already.
        dropped_on_uplinks: How many of these were to or from the server.
        waiting_most: The longest queue, in messages, of a channel with a queue limit.
    """

    delivered: int = 0
    lost: int = 0
    duplicates: int = 0
    duplicates_dropped: int = 0
    retransmissions: int = 0
    given_up: int = 0
    given_up_on_uplinks: int = 0
    copies_sent: int = 0
    copies_delivered: int = 0
    copies_missed: int = 0
    dropped: int = 0
    dropped_on_uplinks: int = 0
    waiting_most: int = 0

    def outcomes(self, in_flight: int) -> Outcomes:
        """Return the outcomes of messages, with so many still in flight."""
        return Outcomes(in_flight=in_flight, **{name: getattr(self, name) for name in COUNTED_FATES})

    def copies(self, in_flight: int) -> BroadcastCopies:
        """Return the outcomes of broadcasts, with so many copies still in flight."""
        return BroadcastCopies(self.copies_sent, self.copies_delivered, self.copies_missed, in_flight)


class Ledger:
    """Counts messages by kind; channels and links count their own.

    Attributes:
        counts: For each kind that was sent, [messages, bytes].
        broadcasts: Broadcasts of the server, which use no link and are free.
        copies: Their outcomes.
        outcomes: The outcomes of messages put on links.
    """

    def __init__(self) -> None:
        self.counts: defaultdict[Kind, list[int]] = defaultdict(lambda: [0, 0])
        self.broadcasts = 0
        self.copies = BroadcastCopies()
        self.outcomes = Outcomes()

    @property
    def kinds(self) -> dict[str, tuple[int, int]]:
        """For the kinds of each name, in alphabetical order, their messages and bytes."""
        found: dict[str, tuple[int, int]] = {}
        for kind, (messages, size) in sorted(self.counts.items(), key=lambda counted: counted[0].name):
            before = found.get(kind.name, (0, 0))
            found[kind.name] = before[0] + messages, before[1] + size
        return found
