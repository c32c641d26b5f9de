"""Delivery: messages are popped from their channels, acknowledged, and passed to their receivers.

SimPy's queue holds a single event for the whole network: its next arrival. From there the network delivers instant
after instant for as long as nothing else is due before, so a message costs no SimPy event of its own.
"""

from heapq import heappop, heappush
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from simpy import Event
from simpy.core import Infinity

from netbandit.network.acknowledgements import LATE, give_up, is_late, schedule_retransmission
from netbandit.network.calendar import NEVER, enter
from netbandit.network.computing import HANDLED, REFUSED
from netbandit.network.link import BY_RANK, Arrival, Channel
from netbandit.network.message import Message
from netbandit.network.metering import is_broadcast, is_uplink, note, pay_to_receive, write_fate, write_trace
from netbandit.network.retry import ACK, ACK_BYTES, Packet, repetition_of
from netbandit.network.transmission import DROPPED, NOT_SENT, is_missed, put, start_next

if TYPE_CHECKING:
    from netbandit.network.network import Network

_FLUSH_AT = 1 << 16
_RANK_AND_SERIAL = itemgetter(0, 1)


def deliver_due(network: "Network", event: Event) -> None:
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
            if network.instantaneous:
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


def deliver_together(network: "Network", due: list[Channel], now: int) -> None:
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
            enter(network, network.due, following, channel)
    for receiver, inbox in inboxes.items():
        network.handler(receiver, inbox)


def deliver_deciding(network: "Network", event: Event) -> None:
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
            for channel, queued in network.starts.pop(now, ()):
                start_next(network, channel, queued)
        due = calendar.pop(now, None)
        if due is not None:
            decide(network, due, now)
        if network.timers:
            for packet, channel in network.timers.pop(now, ()):
                retransmit(network, channel, packet)
        if len(pending) > _FLUSH_AT:
            network.fingerprint.flush()
    network.appointed = Infinity
    if instants:
        network.appoint(instants[0])


def decide(network: "Network", due: list[Any], now: int) -> None:
    """Decide the entries due *now* (ns), and pass each receiver the new messages among them."""
    deferred, handler = network.deferred_outcomes, network.handler
    together = network.instantaneous or network.decides_on_arrival
    inboxes: list[tuple[int, list[Arrival]]] = []
    inbox: list[Arrival] = []
    receiver = -1
    for channel, entry in pop_entries(network, due, now):
        if channel.receiver != receiver:
            if inbox and not together:
                handler(receiver, inbox)
            receiver, inbox = channel.receiver, []
            if together:
                inboxes.append((receiver, inbox))
        if deferred:
            _, message, packet, put_at, start, on_time, copy = entry
            news = arrive(network, channel, message, packet, put_at, start, on_time, copy, now)
        else:
            _, message, packet, ack_index = entry
            news = receive(network, channel, message, packet, ack_index, now)
        if news:
            inbox.append((now, channel.sender, message if packet is None else packet.message))
    if inbox and not together:
        handler(receiver, inbox)
    for receiver, inbox in inboxes:
        if inbox:
            handler(receiver, inbox)


def pop_entries(network: "Network", due: list[Any], now: int) -> list[tuple[Channel, tuple[Any, ...]]]:
    """Pop all entries due *now* (ns); return them with their channels, by receiver and sender, then as sent."""
    if not network.in_order:
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


def arrive(
    network: "Network",
    channel: Channel,
    message: Message,
    packet: Packet | None,
    put_at: int,
    start: int,
    due: int,
    copy: bool,
    now: int,
) -> bool:
    """Resolve the arrival of a deferred message, the second half of a hop; return whether it is new.

    It was put on its channel at *put_at*, started at *start*, and was *due* (all in ns), which is *now*, or a
    nanosecond ago. Nothing is counted from the end on, when it was under way; whether it is a *copy* is for the trace.
    """
    in_time = now < network.end
    missed = is_missed(network, channel, due)
    if not missed and network.radio is not None and not is_uplink(network, channel):
        missed = network.radio.has_collided(channel, due)
    write_trace(network, channel, message, put_at, start, due, missed and in_time, copy)
    if not missed:
        if in_time:
            pay_to_receive(network, channel, message.size)
        return receive(network, channel, message, packet, LATE, now)
    if in_time:
        note_miss(network, channel, message)
    return False


def note_miss(network: "Network", channel: Channel, message: Message) -> None:
    """Count a message that its receiver did not take in."""
    if is_broadcast(channel):
        network.tally.copies_missed += 1
    else:
        note(channel, "lost", message.size)


def receive(
    network: "Network", channel: Channel, message: Message, packet: Packet | None, ack_index: int, now: int
) -> bool:
    """Receive a message on *channel* and acknowledge it; return whether it is new to its receiver.

    Args:
        network: The network.
        channel: The channel.
        message: The message, as it was sent: an acknowledgement says which packet it acknowledges.
        packet: The packet that it transmits; None: it arrives for the first time, and has no packet yet.
        ack_index: The number of the message on its channel while its sender waits for the acknowledgement; `LATE`: it
            waits no more.
        now: The present time (ns).
    """
    network.pending += (now, channel.receiver, message.code, message.size)
    news, incarnation = True, 0
    if packet is not None:
        incarnation = network.incarnation(channel.receiver, now)
        news = packet.received_in != incarnation
    held = HANDLED
    if network.computing is not None and news and message.kind is not ACK:
        held = network.computing.arrive(channel, message if packet is None else packet.message)
        if held == REFUSED:
            refuse(network, channel, message, packet, ack_index, now)
            return False
    if packet is not None:
        packet.received_in = incarnation
    if now < network.end and not (news and network.in_order):
        # In order, all that are new are counted when the network closes.
        tally = network.tally
        if is_broadcast(channel):
            tally.copies_delivered += not network.in_order
        elif news:
            tally.delivered += 1
        else:
            note(channel, "duplicates_dropped", message.size)
            write_fate(network, channel, message, "duplicates_dropped", now)
    if message.kind is ACK:
        acknowledged: Packet | None = message.value
        if acknowledged is not None:
            acknowledged.settled = True
        return False
    if channel.faults.attempts:
        acknowledge(network, channel, message, packet, ack_index, now)
    return news and held == HANDLED


def refuse(
    network: "Network", channel: Channel, message: Message, packet: Packet | None, ack_index: int, now: int
) -> None:
    """Count an arrival that found its receiver's inbox full: it is lost, and not acknowledged; see `receive`."""
    if now < network.end:
        note_miss(network, channel, message)
        write_fate(network, channel, message, "refused", now)
    if channel.faults.attempts and ack_index != LATE:
        if packet is None:
            packet = _arrived_packet(channel, message, ack_index, now)
            packet.received_in = -1
        schedule_retransmission(network, channel, packet)


def acknowledge(
    network: "Network", channel: Channel, message: Message, packet: Packet | None, ack_index: int, now: int
) -> None:
    """Send the acknowledgement of an arrival on *channel*, or start its sender's timeout; see `receive`."""
    back, faults = channel.back, channel.faults
    if packet is None and channel.latency + back.latency > faults.least_timeout:
        packet = _arrived_packet(channel, message, ack_index, now)
    arrival = put(network, (back,), Message(ACK, ACK_BYTES, packet, message.round), None)
    if packet is None:
        if arrival < 0:
            schedule_retransmission(network, channel, _arrived_packet(channel, message, ack_index, now))
    elif ack_index != LATE and not packet.settled:
        if arrival < 0 or is_late(packet, arrival):
            schedule_retransmission(network, channel, packet)
        elif network.is_down_during(channel.sender, now, arrival):
            give_up(network, channel, packet)


def _arrived_packet(channel: Channel, message: Message, index: int, now: int) -> Packet:
    """Return a new packet for a *message* without one, which has arrived on *channel* now (ns)."""
    packet = Packet(message, channel, index)
    packet.since = now - channel.latency
    packet.sent = 1
    packet.received_in = 0
    return packet


def retransmit(network: "Network", channel: Channel, packet: Packet) -> None:
    """Retransmit *packet*, unless it was acknowledged after all, or had its last attempt.

    A broadcast is retransmitted over the uplink of the agent that did not acknowledge it.
    """
    now = network.environment._now
    if packet.settled or now >= network.end:
        return
    if is_broadcast(channel):
        channel = network.downlink(channel.receiver)
    if packet.sent >= channel.faults.attempts:
        give_up(network, channel, packet)
        return
    message = packet.message
    repetition = Message(repetition_of(message.kind), message.size, message.value, message.round)
    arrival = put(network, (channel,), repetition, packet)
    if arrival not in (NOT_SENT, DROPPED):
        network.tally.retransmissions += 1
    elif arrival == NOT_SENT and max(channel.free_at, now) < network.end:
        give_up(network, channel, packet)
