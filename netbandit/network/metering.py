"""Accounts for transmissions as they happen: ledger, link activations, queues, batteries, trace."""

from typing import TYPE_CHECKING

from netbandit.network.link import NO_FATES, Channel, Fate, Queue
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
    write_fate(network, channel, message, fate, put_at)


def occupy(channel: Channel, wait: int, busy: int) -> None:
    """Count how long (ns) a message has waited for *channel*, and for how much of the run it occupies it."""
    queue = channel.queue
    if queue is None:
        channel.queue = queue = Queue()
    queue.busy += busy
    if wait > 0:
        queue.waited += wait
        queue.longest_wait = max(queue.longest_wait, wait)


def wait_in_queue(network: "Network", channel: Channel, until: int, size: int) -> None:
    """Let a message of *size* bytes take a place in the finite queue of *channel* *until* (ns) it starts, or leaves."""
    queue = channel.queue
    if queue is None:
        channel.queue = queue = Queue()
    if until <= network.environment._now:
        return
    queue.starts.append((until, size))
    queue.waiting_bytes += size
    if len(queue.starts) > network.tally.waiting_most:
        network.tally.waiting_most = len(queue.starts)


def pay_to_send(network: "Network", channel: Channel, size: int, airtime: int) -> None:
    """Charge the sender's battery for *size* bytes of this *airtime* (ns), unless a transmitter pays for them."""
    if network.batteries is None or channel.sender == network.server:
        return
    uplink = channel.receiver == network.server
    if uplink or network.radio is None:
        network.batteries.pay_to_send(channel.sender, uplink=uplink, size=size, airtime=airtime)


def pay_to_receive(network: "Network", channel: Channel, size: int) -> None:
    """Charge the receiver's battery for *size* bytes; broadcasts of the server are free."""
    if network.batteries is None or channel.receiver == network.server or is_broadcast(channel):
        return
    uplink = channel.sender == network.server
    if uplink or network.radio is None:
        airtime = network.link_class_of(channel).transmission(size)
        network.batteries.pay_to_receive(channel.receiver, uplink=uplink, size=size, airtime=airtime)


def write_fate(network: "Network", channel: Channel, message: Message, fate: str, time: int) -> None:
    """Write to the trace, if there is one, what became of a message at a *time* (ns), beside its hop or without one."""
    if network.trace is not None:
        network.trace.fate(
            fate,
            message.kind,
            message.size,
            message.round,
            channel.sender,
            channel.receiver,
            time,
            is_broadcast(channel),
        )


def write_trace(
    network: "Network",
    channel: Channel,
    message: Message,
    put_at: int,
    start: int,
    arrival: int,
    lost: bool,
    copy: bool = False,
) -> None:
    """Write a hop to the trace, if there is one: when (ns) it was put on its channel, starts and arrives.

    Args:
        network: The network.
        channel: The channel.
        message: The message.
        put_at: When (ns) it was put on the channel.
        start: When it starts.
        arrival: When it arrives, or would if it was not lost.
        lost: Whether it is lost.
        copy: Whether it is a copy that the network has made.
    """
    if network.trace is not None:
        network.trace.record(
            message.kind,
            message.size,
            message.round,
            channel.sender,
            channel.receiver,
            put_at,
            start,
            arrival,
            is_broadcast(channel),
            lost,
            copy,
        )
