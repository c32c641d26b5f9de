"""What communication has cost: messages, bytes, activations, energy, money."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from netbandit.network.link import Channel, Link, LinkClass
from netbandit.network.message import Kind


@dataclass(frozen=True)
class Totals:
    """What one class of links carried.

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


class Ledger:
    """Counts messages by kind; channels and links count their own.

    Attributes:
        counts: For each kind that was sent, [messages, bytes].
        broadcasts: Broadcasts of the server, which use no link and are free.
    """

    def __init__(self) -> None:
        self.counts: defaultdict[Kind, list[int]] = defaultdict(lambda: [0, 0])
        self.broadcasts = 0

    @property
    def kinds(self) -> dict[str, tuple[int, int]]:
        """For each kind, in alphabetical order, its messages and bytes."""
        named = sorted((kind.name, messages, size) for kind, (messages, size) in self.counts.items())
        return {name: (messages, size) for name, messages, size in named}
