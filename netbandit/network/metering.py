"""Accounts for transmissions as they happen: ledger, link activations, queues, batteries, trace."""

from typing import TYPE_CHECKING

from netbandit.network.link import Channel, Queue
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


def occupy(channel: Channel, wait: int, busy: int) -> Queue:
    """Count how long (ns) a message has waited for *channel*, and for how much of the run it occupies it."""
    queue = channel.queue
    if queue is None:
        channel.queue = queue = Queue()
    queue.busy += busy
    if wait > 0:
        queue.waited += wait
        queue.longest_wait = max(queue.longest_wait, wait)
    return queue


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


def write_trace(
    network: "Network", channel: Channel, message: Message, put_at: int, start: int, arrival: int, lost: bool
) -> None:
    """Write a hop to the trace, if there is one: when (ns) it was put on its channel, starts and arrives."""
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
        )
