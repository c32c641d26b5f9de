"""The transmission engine: resolves the outcome of a message that is put on a channel.

When a message is put on a channel, its outcome is known: whether it arrives, and when. It waits for the messages
before it, and takes size / bandwidth, then the latency, which does not occupy the channel. It is lost

- at random, by the loss model of its channel; or
- if its link is down at any moment from the start of its transmission to its arrival; or
- if its receiver is down when it arrives.

Where agents see which of their links are up, it waits for its link (`netbandit.network.wait_for_contact`).

The sender pays for it in each case. Where too many messages wait for a busy channel, a further message is dropped. A
message that would start at or after the horizon, that a node would send while it is down, or that is still queued when
its node goes down, is unsent. Neither is put on the channel, and both cost nothing.

What would arrive at the horizon or later is under way at the end: it is neither delivered nor lost, unless it was lost
before. It still arrives, and enters the fingerprint, but nothing that happens from the horizon on is counted.

So a hop has two halves: `begin`, when its transmission starts, and `netbandit.network.delivery.arrive`, when it is due.
If messages do not interfere, a hop is resolved when the message is put on its channel. Otherwise its outcome is
deferred (`Network.deferred_outcomes`): the message waits in its sender's queue, and each half runs at its own time.
Agents that share a radio channel wait for their transmitter, see `netbandit.network.radio`.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heappush
from typing import TYPE_CHECKING, Any

from netbandit.network.acknowledgements import LATE, schedule_retransmission, start_ack_timer
from netbandit.network.calendar import NEVER, enter, expect
from netbandit.network.link import NOTHING_YET, Channel, LinkClass
from netbandit.network.loss_models import chance_of_bits
from netbandit.network.message import Message
from netbandit.network.metering import (
    count,
    never_begin,
    note,
    note_under_way,
    occupy,
    pay_to_send,
    wait_in_queue,
    write_trace,
)
from netbandit.network.retry import ACK, Packet
from netbandit.network.transmit_queue import QueuedMessage
from netbandit.network.wait_for_contact import (
    latest_start,
    next_start,
    note_wait,
    received_from,
    start_in_contact,
    try_in_contact,
)

if TYPE_CHECKING:
    from netbandit.network.network import Network
    from netbandit.network.radio import Transmission

LOST = -1
NOT_SENT = -2
DROPPED = -3


def send(network: "Network", message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
    """Put *message* on all of these *channels*, of one class of links, but not on the one to the node *excepted*.

    The channels are its sender's; nodes that send the same message at an instant may share a call.
    """
    put(network, channels, message, None, excepted)


def send_reliably(network: "Network", message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
    """As `send`, if nothing queues, fails, waits or is traced (`Network.is_reliable`), which is the most common case.

    It is `put` and `begin` without everything that cannot happen then, with the calls of `enter` and `count` inlined.
    """
    now = network.environment._now
    if now >= network.late_from or not channels:  # some may still be under way at the end
        put(network, channels, message, None, excepted)
        return
    period = now // network.slot if channels[0].link.second != network.server else message.round
    due = network.due
    size = message.size
    sent = 0
    for channel in channels:
        if channel.receiver == excepted:
            continue
        channel.messages += 1
        channel.bytes += size
        link = channel.link
        if link.latest != period:
            link.latest = period
            link.activations += 1
        arrival = now + channel.latency
        flight: deque[Any] = channel.flight
        if not flight:
            if flight is NOTHING_YET:
                channel.flight = flight = deque()
            if arrival in due:
                due[arrival].append(channel)
            else:
                due[arrival] = [channel]
                heappush(network.instants, arrival)
                if arrival < network.appointed:
                    network.appoint(arrival)
        flight.append((arrival, channel.sender, message))
        sent += 1
    if sent:
        counts = network.ledger.counts[message.kind]
        counts[0] += sent
        counts[1] += sent * size


def put(
    network: "Network",
    channels: Sequence[Channel],
    message: Message,
    packet: Packet | None,
    excepted: int = -1,
) -> int:
    """Put a message on *channels*, of one class of links, and resolve its outcome.

    Args:
        network: The network.
        channels: The channels.
        message: The message as it is counted: acknowledgements and retransmissions are separate messages.
        packet: The packet that it transmits; None: a first transmission, which has no packet.
        excepted: The node to which it is not sent; -1: none.

    Returns:
        When it arrives on the last channel (ns), `LOST`, `DROPPED`, or `NOT_SENT`; this also where its outcome is
        deferred.
    """
    now = network.environment._now
    if now >= network.end or not channels:
        return NOT_SENT
    slot = now // network.slot
    link_class = network.link_class_of(channels[0])
    duration = link_class.transmission(message.size)
    if link_class.most_waiting is not None:
        others = [channel for channel in channels if channel.receiver != excepted]
        channels = [channel for channel in others if not is_dropped(network, channel, link_class, message, packet)]
        if not channels:
            return DROPPED if others else NOT_SENT
    if network.always_up and not network.deferred_outcomes:  # only its queue can delay it
        return begin(network, channels, message, packet, now, now, slot, duration, excepted)
    arrival = NOT_SENT
    for channel in channels:
        if channel.receiver == excepted:
            continue
        if network.deferred_outcomes:
            enqueue(network, channel, QueuedMessage(message, packet, now, slot, duration))
            continue
        start = start_of(network, channel, message, now, slot, duration)
        if start != NEVER:
            arrival = begin(network, (channel,), message, packet, now, start, slot, duration)
    return arrival


def is_dropped(
    network: "Network", channel: Channel, link_class: LinkClass, message: Message, packet: Packet | None
) -> bool:
    """Return whether a message is dropped because too many wait for *channel* already; if so, count that.

    What would start only after the horizon waits as well. The sender of a message that is dropped waits for an
    acknowledgement all the same, where it would, and has made an attempt.
    """
    now, most = network.environment._now, link_class.most_waiting
    assert most is not None
    waiting = occupied = 0
    if network.deferred_outcomes:
        sizes = [queued.message.size for queued in network.queues[channel]]
        waiting, occupied = len(sizes), sum(sizes)
    elif channel.queue is not None:
        queue = channel.queue
        while queue.starts and queue.starts[0][0] <= now:
            queue.waiting_bytes -= queue.starts.popleft()[1]
        waiting, occupied = len(queue.starts), queue.waiting_bytes
    if channel.free_at <= now and not waiting:
        return False
    if (occupied + message.size if link_class.counts_bytes else waiting + 1) <= most:
        return False
    never_begin(network, channel, message, now, "dropped")
    if channel.faults.attempts and message.kind is not ACK:
        packet = packet or Packet(message, channel, channel.messages)
        packet.since = now
        packet.sent += 1
        schedule_retransmission(network, channel, packet)
    return True


def start_of(network: "Network", channel: Channel, message: Message, now: int, slot: int, duration: int) -> int:
    """Return when (ns) the transmission starts of a message that is put on *channel* *now*; `NEVER`: it is not sent."""
    start = max(channel.free_at, now) if duration else now
    attempts = channel.messages
    if is_withheld(network, channel, now, start):
        never_begin(network, channel, message, now, "unsent")
        start = NEVER
    elif network.waits:
        start = start_in_contact(network, channel, message, now, start, slot, duration)
    limited = network.link_class_of(channel).most_waiting is not None
    if start == NEVER and limited and channel.messages == attempts and latest_start(network, now) == network.end:
        outages = network.node_outages  # it waits to the end, or until its sender loses all that it has queued
        down = NEVER if outages is None else outages.node(channel.sender).down(now)
        wait_in_queue(network, channel, int(min(down, network.end)), message.size)
    return start


def is_withheld(network: "Network", channel: Channel, now: int, start: int) -> bool:
    """Return whether a message put on *channel* at *now* (ns) is discarded before its turn, at *start* (ns)."""
    return start >= network.end or network.is_down_during(channel.sender, now, start)


def begin(
    network: "Network",
    channels: Sequence[Channel],
    message: Message,
    packet: Packet | None,
    put_at: int,
    start: int,
    slot: int,
    duration: int,
    excepted: int = -1,
) -> int:
    """Start the transmission of a message on *channels*: the first half of a hop, in which it is counted.

    Args:
        network: The network.
        channels: The channels, of one class of links.
        message: See `put`.
        packet: See `put`.
        put_at: When it was put on its channels (ns), in *slot*.
        start: When it starts (ns), or, on a channel that is occupied until later, as soon as that is free.
        slot: See *put_at*.
        duration: How long (ns) it occupies each channel; 0: their bandwidth is unlimited.
        excepted: See `put`.

    Returns:
        When it arrives on the last channel (ns), `LOST`, or `NOT_SENT`, as it would start after the horizon.
    """
    faults = channels[0].faults
    size, end = message.size, network.end
    uplink = channels[0].link.second == network.server
    loses, jitters, doubles = faults.loses, faults.jitters, faults.duplicate > 0
    attempts = 0 if message.kind is ACK else faults.attempts
    batteries, trace, waits_for_links = network.batteries, network.trace, network.waits
    always_up, in_order, watchers = network.always_up, network.in_order, network.watchers
    deferred, decided_now = network.deferred_outcomes, not network.decides_on_arrival
    limited = duration > 0 and not deferred and network.link_class_of(channels[0]).most_waiting is not None
    arrival = NOT_SENT
    begun = 0
    for channel in channels:
        if channel.receiver == excepted:
            continue
        sent = began = start
        if duration:
            if channel.free_at > start:
                began = channel.free_at
            if limited and began > put_at:
                wait_in_queue(network, channel, began, size)
            if began >= end:
                never_begin(network, channel, message, put_at, "unsent")
                continue
            sent = channel.free_at = began + duration
            occupy(channel, began - put_at, min(sent, end) - began)
        begun += 1
        for watcher in watchers:
            watcher.sent(channel, message, began)
        index = channel.messages
        channel.messages = index + 1
        channel.bytes += size
        if batteries is not None:
            pay_to_send(network, channel, size, min(sent, end) - began)
        link = channel.link
        if (duration or waits_for_links) and not uplink:
            link.activate_ahead(began // network.slot, slot)
        else:
            period = message.round if uplink else slot
            if link.latest != period:
                link.latest = period
                link.activations += 1
        arrival = sent + channel.latency
        if jitters:
            arrival += next(channel.jitters)
            if packet is None and not faults.overtaking:
                arrival = max(arrival, channel.latest)
        lost = False
        if loses:
            # Where all have the same chance, `losses` yields 0 for those that are lost and 1 for the others.
            chance = faults.chance if faults.loses_alike else chance_of_loss(channel, size, began)
            lost = next(channel.losses) < chance
        stops = lost
        if not lost and not always_up and is_cut(network, channel, began, arrival):
            stops = True
            lost = is_cut_in_time(network, channel, began, arrival)
        copied = False
        if doubles:  # drawn for each message, whatever its outcome
            copied = next(channel.duplicates) < faults.duplicate
            copy_arrival = sent + channel.latency
            if jitters:
                copy_arrival += next(channel.copy_jitters)
        if trace is not None and (stops or not deferred):
            write_trace(network, channel, message, put_at, began, arrival, lost)
        record, ack_index = packet, LATE
        if attempts:
            if network.prompt and packet is None and not stops and channel.latency <= faults.least_timeout:
                ack_index = index  # a message that may be acknowledged in time needs no record yet
            else:
                record = packet or Packet(message, channel, index)
                ack_index = start_ack_timer(network, channel, record, sent, arrival, stops)
        if stops:
            if lost:
                note(channel, "lost", size)
            else:
                note_under_way(channel, size, min(sent, end) - began)
            arrival = LOST
            continue
        if jitters and packet is None:
            channel.latest = arrival
        due = arrival
        if waits_for_links:
            arrival = received_from(network, channel, put_at, began, arrival)
        if arrival >= end:
            note_under_way(channel, size, min(sent, end) - began)
        if copied:
            record = record or Packet(message)
            if not faults.overtaking:
                copy_arrival = max(copy_arrival, arrival)
            put_copy(network, channel, message, record, put_at, began, copy_arrival)
        entry: tuple[Any, ...]
        if deferred:
            entry = (arrival, message, record, put_at, began, due, False)
        elif decided_now:
            entry = (arrival, channel.sender, message)
        else:
            entry = (arrival, message, record, ack_index)
        if in_order:
            flight: deque[Any] = channel.flight  # as `expect` does, for less
            if not flight:
                if flight is NOTHING_YET:
                    channel.flight = flight = deque()
                enter(network, network.due, arrival, channel)
            flight.append(entry)
        else:
            expect(network, channel, entry)
    if begun:
        count(network, message.kind, size, begun)
    return arrival


def put_copy(
    network: "Network",
    channel: Channel,
    message: Message,
    packet: Packet,
    put_at: int,
    start: int,
    arrival: int,
) -> None:
    """Schedule a duplicate of a message, made by the network, for *arrival* (ns)."""
    note(channel, "duplicates", message.size)
    stops = is_cut(network, channel, start, arrival)
    lost = stops and is_cut_in_time(network, channel, start, arrival)
    if lost:
        note(channel, "lost", message.size)
    elif arrival >= network.end:
        note(channel, "in_flight", message.size)
    if stops or not network.deferred_outcomes:
        write_trace(network, channel, message, put_at, start, arrival, lost, copy=True)
    if stops:
        return
    if network.deferred_outcomes:
        expect(network, channel, (arrival, message, packet, put_at, start, arrival, True))
    else:
        expect(network, channel, (arrival, message, packet, LATE))


def chance_of_loss(channel: Channel, size: int, start: int) -> float:
    """Return the loss probability of a message of *size* bytes whose transmission starts at *start* (ns)."""
    faults = channel.faults
    if faults.loses_bits:
        return chance_of_bits(faults.chance, size)
    if channel.bursts is not None and channel.bursts.is_bad(start):
        return faults.chance_while_bad
    return faults.chance


def is_cut(network: "Network", channel: Channel, start: int, arrival: int) -> bool:
    """Return whether *channel* is down while a message is on its way, or, if that is known, its receiver then."""
    if network.links_fail and channel.down.during(start, arrival):
        return True
    return not network.deferred_outcomes and is_missed(network, channel, arrival)


def is_cut_in_time(network: "Network", channel: Channel, start: int, arrival: int) -> bool:
    """Return whether a message that is cut, see `is_cut`, is lost before the end, and not under way then."""
    return arrival < network.end or (network.links_fail and channel.down.during(start, network.end - 1))


def is_missed(network: "Network", channel: Channel, due: int) -> bool:
    """Return whether the receiver of *channel* is down when a message is *due* (ns)."""
    return network.is_down_during(channel.receiver, due, due)


def broadcast(network: "Network", message: Message, agents: Iterable[int]) -> None:
    """Broadcast *message* of the server to *agents*, without using any link.

    It reaches each agent after the transmission time and the latency of its uplink, which it does not occupy, and
    faults are those of the uplink. Where uplinks retransmit, each agent acknowledges it over its own uplink, over which
    it is retransmitted.
    """
    now = network.environment._now
    sent = now + network.uplink_class.transmission(message.size)
    for agent in agents:
        channel = network.air(agent)
        faults = channel.faults
        index = channel.messages
        channel.messages = index + 1
        arrival: int = sent + channel.latency
        if faults.jitters:
            arrival += next(channel.jitters)
        if not faults.overtaking:
            arrival = max(arrival, channel.latest)
        missed = lost = faults.loses and next(channel.losses) < chance_of_loss(channel, message.size, now)
        if not missed and not network.deferred_outcomes:
            missed = is_missed(network, channel, arrival)
            lost = missed and arrival < network.end
        network.tally.copies_sent += 1
        network.tally.copies_missed += lost
        network.tally.copies_in_flight += arrival >= network.end and not lost
        if missed or not network.deferred_outcomes:
            write_trace(network, channel, message, now, now, arrival, lost)
        packet = None
        ack_index = LATE
        if faults.attempts:
            packet = Packet(message, channel, index)
            ack_index = start_ack_timer(network, channel, packet, sent, arrival, missed)
        if missed:
            continue
        channel.latest = arrival
        if network.deferred_outcomes:
            expect(network, channel, (arrival, message, packet, now, now, arrival, False))
        elif network.decides_on_arrival:
            expect(network, channel, (arrival, message, packet, ack_index))
        else:
            expect(network, channel, (arrival, channel.sender, message))


# Where outcomes are deferred.


def enqueue(network: "Network", channel: Channel, queued: QueuedMessage) -> None:
    """Let a message whose outcome is deferred begin now, or, if its channel is in use, after those before it."""
    queue = network.queues[channel]
    if queued.duration and queue.first is not None:
        queue.others.append(queued)
    else:
        start_next(network, channel, queued)
    if network.drops and (waiting := sum(1 for _ in queue)) > network.tally.waiting_most:
        network.tally.waiting_most = waiting


def start_next(network: "Network", channel: Channel, queued: QueuedMessage) -> None:
    """Begin the next message on *channel*, and those after it, or schedule another try for when it may begin."""
    queue = network.queues[channel]
    again = try_to_begin(network, channel, queued)
    while again == NEVER and queue.others:
        queued = queue.others.popleft()
        again = try_to_begin(network, channel, queued)
    queue.first = None
    if again != NEVER:
        enter(network, network.starts, again, (channel, queued))
        if queued.duration:
            queue.first = queued


def try_to_begin(network: "Network", channel: Channel, queued: QueuedMessage) -> int:
    """Begin a message now if possible; return when (ns) to try again, or `NEVER`: it has begun, or never will.

    It begins when it would if everything was known ahead, see `put`; but nothing is decided before its time.
    """
    now, end = network.environment._now, network.end
    if queued.start < 0:  # its turn has not come before
        queued.start = max(channel.free_at, queued.put_at) if queued.duration else queued.put_at
    if min(queued.start, end) > now:
        return min(queued.start, end)
    if queued.tried < 0:
        if is_withheld(network, channel, queued.put_at, queued.start):
            never_begin(network, channel, queued.message, queued.put_at, "unsent")
            return NEVER
        queued.tried = next_start(network, channel, queued.start) if network.waits else queued.start
    while network.waits:
        if min(queued.tried, end) > now:
            return min(queued.tried, end)
        again = try_in_contact(
            network,
            channel,
            queued.message,
            queued.put_at,
            queued.tried,
            queued.first,
            queued.slot,
            queued.duration,
        )
        if again == NEVER:
            return NEVER
        if again == queued.tried:
            note_wait(network, queued.tried - queued.start)
            break
        queued.tried = again
        queued.first = False
    begin(network, (channel,), queued.message, queued.packet, queued.put_at, queued.tried, queued.slot, queued.duration)
    return NEVER


def transmit(network: "Network", transmission: "Transmission") -> int:
    """Start a transmission on the shared radio channel: the first half of a hop to each of its receivers.

    Receivers that are not in contact, or are cut off, get another transmission once they are in contact.

    Returns:
        For how many receivers it starts, including those whose link goes down before it is over; 0: it does not.
    """
    radio = network.radio
    assert radio is not None
    now = network.environment._now
    slot = now // network.slot
    message, put_at = transmission.message, transmission.put_at
    duration = network.peer_class.transmission(message.size)
    begun = 0
    for channel in transmission.channels:
        before = channel.messages
        again = next_start(network, channel, now) if network.waits else now
        if network.waits and again == now:
            again = try_in_contact(network, channel, message, put_at, now, transmission.first, slot, duration)
            if again not in (now, NEVER):
                radio.wait_for_contact(transmission, channel, again, False)
        elif network.waits and again < latest_start(network, put_at):
            radio.wait_for_contact(transmission, channel, again, transmission.first)
        elif network.waits and transmission.first:
            never_begin(network, channel, message, put_at, "unsent")
        if again == now:
            if network.waits:
                note_wait(network, now - transmission.turn)
            begin(network, (channel,), message, None, put_at, now, slot, duration)
        begun += channel.messages - before
    return begun
