"""The cost of communication: messages, bytes, activations, energy, money."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from netbandit.network.link import FATES, Channel, Counted, Link, LinkClass
from netbandit.network.message import Kind


@dataclass(frozen=True)
class Totals:
    """The traffic totals of one class of links.

    Attributes:
        messages: Messages put on its links.
        bytes: Bytes put on its links.
        activations: Activations of its links.
        cost: activations x the class's cost, equation (2) of Li & Song.
        energy: Joule; receivers spend nothing on what is under way at the end.
        fates: How many messages and bytes have each fate, in the order of `FATES`.
    """

    messages: int
    bytes: int
    activations: int
    cost: float
    energy: float
    fates: Counted

    @classmethod
    def of(cls, link_class: LinkClass, channels: Iterable[Channel], links: Iterable[Link]) -> "Totals":
        """Add up the *channels* and *links* of one class; integers first, so the order cannot matter."""
        messages = size = 0
        fates: Counted = {fate: [0, 0] for fate in FATES}
        for channel in channels:
            messages += channel.messages
            size += channel.bytes
            for fate, (number, total) in channel.fates.items():
                fates[fate][0] += number
                fates[fate][1] += total
        coming, bytes_coming = fates["in_flight"]
        activations = sum(link.activations for link in links)
        return cls(
            messages,
            size,
            activations,
            activations * link_class.cost,
            messages * link_class.energy_per_message
            + size * link_class.energy_per_byte
            - (coming * link_class.received_per_message + bytes_coming * link_class.received_per_byte),
            fates,
        )


@dataclass
class Outcomes:
    """The outcomes of all messages handed to links; broadcasts, which use no link, are not counted.

    Each message, and each copy that the network made of one, ends in exactly one way, on each link and in all:
    ``handed + duplicates = delivered + lost + dropped + duplicates_dropped + unsent + in_flight``, in messages and in
    bytes. Of those handed to links, ``handed - dropped - unsent`` are put on them. Each attempt is handed, also where a
    message is sent again because its link went down, or no acknowledgement came.

    Attributes:
        handed, handed_bytes: What was handed to links.
        delivered, delivered_bytes: What reached its receiver for the first time within the run, acknowledgements
            included.
        lost, lost_bytes: Messages and copies that never arrive.
        dropped, dropped_bytes: What found a finite queue full.
        unsent, unsent_bytes: What never began: its turn would come after the end, its link or the air was not free in
            time, or its sender was down.
        duplicates, duplicates_bytes: Copies that the network made.
        duplicates_dropped, duplicates_dropped_bytes: Copies and retransmissions of messages that the receiver had.
        in_flight, in_flight_bytes: What is under way at the end: it would arrive at the horizon or later.
        retransmissions: Retransmissions, each counted as a message.
        given_up: Messages whose sender stopped waiting for an acknowledgement, and copies of broadcasts likewise.
    """

    handed: int = 0
    delivered: int = 0
    lost: int = 0
    dropped: int = 0
    unsent: int = 0
    duplicates: int = 0
    duplicates_dropped: int = 0
    in_flight: int = 0
    retransmissions: int = 0
    given_up: int = 0
    handed_bytes: int = 0
    delivered_bytes: int = 0
    lost_bytes: int = 0
    dropped_bytes: int = 0
    unsent_bytes: int = 0
    duplicates_bytes: int = 0
    duplicates_dropped_bytes: int = 0
    in_flight_bytes: int = 0

    @property
    def delivery_ratio(self) -> float | None:
        """The share of what was put on links, or should have been, that was delivered; None: there was nothing."""
        asked = self.handed + self.duplicates - self.dropped
        return self.delivered / asked if asked else None

    @classmethod
    def of(cls, classes: Iterable[Totals], retransmissions: int, given_up: int) -> "Outcomes":
        """Return the outcomes of messages, given the totals of all *classes* of links."""
        found = cls(retransmissions=retransmissions, given_up=given_up)
        for totals in classes:
            for index, (unit, put) in enumerate((("", totals.messages), ("_bytes", totals.bytes))):
                number: dict[str, int] = {fate: counted[index] for fate, counted in totals.fates.items()}
                number["handed"] = put + number["dropped"] + number["unsent"]
                number["delivered"] = put + number["duplicates"]
                number["delivered"] -= number["lost"] + number["duplicates_dropped"] + number["in_flight"]
                for name, value in number.items():
                    setattr(found, name + unit, getattr(found, name + unit) + value)
        return found


@dataclass
class BroadcastCopies:
    """The outcomes of the server's broadcasts: each has one copy per receiving agent.

    Each copy ends in exactly one way: ``sent = delivered + missed + in_flight``. Missed copies may be retransmitted, as
    messages.

    Attributes:
        sent: Copies in all.
        delivered: Those that arrived.
        missed: Those that never did.
        in_flight: Those under way at the end.
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
class Tally:
    """Running counters of what channels do not count, see `Channel.fates`.

    Attributes:
        delivered: Messages that were delivered, where they are counted one by one.
        retransmissions, given_up: See `Outcomes`.
        given_up_on_uplinks: How many of those given up were to or from the server.
        copies_sent, copies_delivered, copies_missed, copies_in_flight: See `BroadcastCopies`.
        waiting_most: The longest queue, in messages, of a channel with a queue limit.
    """

    delivered: int = 0
    retransmissions: int = 0
    given_up: int = 0
    given_up_on_uplinks: int = 0
    copies_sent: int = 0
    copies_delivered: int = 0
    copies_missed: int = 0
    copies_in_flight: int = 0
    waiting_most: int = 0


class Ledger:
    """Counts messages by kind; channels and links count their own.

    Attributes:
        counts: For each kind that was sent, [messages, bytes].
        broadcasts: Broadcasts of the server, which use no link and are free.
        copies: Their outcomes.
        outcomes: The outcomes of messages handed to links.
    """

    def __init__(self) -> None:
        self.counts: defaultdict[Kind, list[int]] = defaultdict(lambda: [0, 0])
        self.broadcasts = 0
        self.copies = BroadcastCopies()
        self.outcomes = Outcomes()

    def count(self, kind: Kind, size: int, messages: int) -> None:
        """Enter so many *messages* of a *kind*, of *size* bytes each."""
        counts = self.counts[kind]
        counts[0] += messages
        counts[1] += messages * size

    @property
    def kinds(self) -> dict[str, tuple[int, int]]:
        """For the kinds of each name, in alphabetical order, their messages and bytes."""
        found: dict[str, tuple[int, int]] = {}
        for kind, (messages, size) in sorted(self.counts.items(), key=lambda counted: counted[0].name):
            before = found.get(kind.name, (0, 0))
            found[kind.name] = before[0] + messages, before[1] + size
        return found
