"""Delivery: messages are popped from their channels, acknowledged, and passed to their receivers.

SimPy's queue holds a single event for the whole network: its next arrival. From there the network delivers instant
after instant for as long as nothing else is due before, so a message costs no SimPy event of its own.
"""

from heapq import heappop, heappush
from operator import itemgetter
from typing import Any

from simpy import Event
from simpy.core import Infinity

from netbandit.network.downtimes import NEVER
from netbandit.network.engine import Engine
from netbandit.network.link import BY_RANK, Arrival, Channel

_FLUSH_AT = 1 << 16
_RANK_AND_SERIAL = itemgetter(0, 1)


def deliver_due(network: Engine, event: Event) -> None:
    """Deliver instant after instant, until something else in the simulation is due first.

    At an instant, each receiver gets all its arrivals in one call. Replies over channels without latency arrive at the
    same instant, but in a later pass. Most messages of most runs pass through here and `send_reliably`, which therefore
    call nothing that they can do themselves.
    """
    if event is not network.appointment:  # replaced by an earlier appointment
        return
    environment, instants, calendar = network.environment, network.instants, network.due
    pending, queue, handler = network.pending, environment._queue, network.handler
    network.appointed = -1  # while it delivers it needs no appointment
    while instants and not (queue and queue[0][0] < instants[0]):
        if len(pending) > _FLUSH_AT:
            network.fingerprint.flush()
        environment._now = now = heappop(instants)
        due = calendar.pop(now)
        if len(due) > 1:
            due.sort(key=BY_RANK)
            if network.links.instantaneous:
                deliver_together(network, due, now)
                continue
        receiver = -1
        inbox: list[Arrival] = []
        for channel in due:
            if channel.receiver != receiver:
                if inbox:  # before anything is popped from this channel, on which the handler may send
                    handler(receiver, inbox)
                    inbox = []
                receiver = channel.receiver
            flight = channel.flight
            arrival = flight.popleft()
            inbox.append(arrival)
            message = arrival[2]
            pending += (now, receiver, message.code, message.size)
            while flight:
                following = flight[0][0]
                if following != now:
                    if following in calendar:
                        calendar[following].append(channel)
                    else:
                        calendar[following] = [channel]
                        heappush(instants, following)
                    break
                arrival = flight.popleft()
                inbox.append(arrival)
                message = arrival[2]
                pending += (now, receiver, message.code, message.size)
        handler(receiver, inbox)
    network.appointed = Infinity
    if instants:
        network.appoint(instants[0])


def deliver_together(network: Engine, due: list[Channel], now: int) -> None:
    """Deliver all arrivals of an instant at which a reply may be due as well: pop all before any receiver acts."""
    inboxes: dict[int, list[Arrival]] = {}
    for channel in due:
        flight, inbox = channel.flight, inboxes.setdefault(channel.receiver, [])
        following = now
        while following == now:
            arrival = flight.popleft()
            message = arrival[2]
            network.pending += (now, channel.receiver, message.code, message.size)
            inbox.append(arrival)
            following = flight[0][0] if flight else NEVER
        if following != NEVER:
            network.enter(network.due, following, channel)
    for receiver, inbox in inboxes.items():
        network.handler(receiver, inbox)


def deliver_deciding(network: Engine, event: Event) -> None:
    """As `deliver_due`, where the arrival decides whether a message is new, or lost."""
    if event is not network.appointment:
        return
    environment, instants, calendar = network.environment, network.instants, network.due
    pending, queue, computing = network.pending, environment._queue, network.computing
    network.appointed = -1
    while instants and not (queue and queue[0][0] < instants[0]):
        environment._now = now = heappop(instants)
        if computing is not None and now in computing.jobs:
            computing.finish_jobs(now)
        if network.starts:
            for wire, channel, queued in network.starts.pop(now, ()):
                wire.start_next(channel, queued)
        due = calendar.pop(now, None)
        if due is not None:
            decide(network, due, now)
        if network.timers:
            for retry, channel, packet in network.timers.pop(now, ()):
                retry.repeat(channel, packet)
        if len(pending) > _FLUSH_AT:
            network.fingerprint.flush()
    network.appointed = Infinity
    if instants:
        network.appoint(instants[0])


def decide(network: Engine, due: list[Any], now: int) -> None:
    """Decide the entries due *now* (ns), and pass each receiver the new messages among them."""
    handler = network.handler
    entries = pop_entries(network, due, now)
    if len(entries) == 1:  # as at most instants where links differ
        ((channel, entry),) = entries
        if channel.wire.arrive(channel, entry, now):
            handler(channel.receiver, [(now, channel.sender, entry[1] if entry[2] is None else entry[2].message)])
        return
    together = network.links.instantaneous or network.flags.decides
    inboxes: list[tuple[int, list[Arrival]]] = []
    inbox: list[Arrival] = []
    receiver = -1
    for channel, entry in entries:
        if channel.receiver != receiver:
            if inbox and not together:
                handler(receiver, inbox)
            receiver, inbox = channel.receiver, []
            if together:
                inboxes.append((receiver, inbox))
        if channel.wire.arrive(channel, entry, now):
            packet = entry[2]
            inbox.append((now, channel.sender, entry[1] if packet is None else packet.message))
    if inbox and not together:
        handler(receiver, inbox)
    for receiver, inbox in inboxes:
        if inbox:
            handler(receiver, inbox)


def pop_entries(network: Engine, due: list[Any], now: int) -> list[tuple[Channel, tuple[Any, ...]]]:
    """Pop all entries due *now* (ns); return them with their channels, by receiver and sender, then as sent."""
    if not network.flags.in_order:
        due.sort(key=_RANK_AND_SERIAL)
        return [(channel, entry) for _, _, channel, entry in due]
    if len(due) > 1:
        due.sort(key=BY_RANK)
    found: list[tuple[Channel, tuple[Any, ...]]] = []
    calendar = network.due
    for channel in due:
        flight: Any = channel.flight
        found.append((channel, flight.popleft()))
        while flight:
            following = flight[0][0]
            if following != now:
                if following in calendar:
                    calendar[following].append(channel)
                else:
                    calendar[following] = [channel]
                    heappush(network.instants, following)
                break
            found.append((channel, flight.popleft()))
    return found
