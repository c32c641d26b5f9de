"""Accounts for messages as they are handled: the ledger, what becomes of them, and who is told of it."""

from typing import TYPE_CHECKING

from netbandit.network.link import NO_FATES, Channel, Fate
from netbandit.network.message import Kind, Message

if TYPE_CHECKING:
    from netbandit.network.network import Network


def is_uplink(network: "Network", channel: Channel) -> bool:
    """Return whether *channel* leads to or from the server; broadcasts of the server count as such."""
    return channel.link.second == network.server


def is_broadcast(channel: Channel) -> bool:
    """Return whether *channel* carries the server's broadcasts to an agent."""
    return bool(channel.rank & 1)


def count(network: "Network", kind: Kind, size: int, messages: int) -> None:
    """Enter so many *messages* of a *kind*, of *size* bytes each, into the ledger."""
    counts = network.ledger.counts[kind]
    counts[0] += messages
    counts[1] += messages * size


def note(channel: Channel, fate: Fate, size: int, messages: int = 1) -> None:
    """Count so many *messages* on *channel*, *size* bytes all together, that have a *fate*."""
    if channel.fates is NO_FATES:
        channel.fates = {}
    counted = channel.fates.setdefault(fate, [0, 0])
    counted[0] += messages
    counted[1] += size


def note_under_way(channel: Channel, size: int, busy: int) -> None:
    """Count a message of *size* bytes that is under way at the end, and how long (ns) it occupies *channel* by then."""
    note(channel, "in_flight", size)
    if channel.queue is not None:
        channel.queue.under_way += busy


def never_begin(network: "Network", channel: Channel, message: Message, put_at: int, fate: Fate) -> None:
    """Count a message that was handed to *channel* at *put_at* (ns), and is never put on it."""
    note(channel, fate, message.size)
    for observer in network.observers:
        observer.fate(channel, message, fate, put_at)
