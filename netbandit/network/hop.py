"""What happens to a message on a hop in compiled loops; event by event `netbandit.network.transmission` says it.

When a message is put on a channel, all that will become of it is known: when it arrives, and whether. It waits for
those before it, and takes size / bandwidth, then the latency, which does not occupy the channel. It is lost

- by the chance of its channel; or
- if its link is down at any moment from the start of its transmission to its arrival; or
- if its receiver is down when it arrives.

Where agents see which of their links are up, it waits for its link, see `start_in_contact`.

The sender has paid for it in each case. What would start at or after the horizon, what a node would send while it is
down, and what still queues when it goes down, is neither sent nor counted.

So a hop has two halves: `begin`, when its transmission starts, and `arrive`, when it is due. As long as nothing that
is sent changes what becomes of other messages, both run when a message is put on its channel. Else its fate is open
(`FATES_ARE_OPEN`): it waits in line at its sender, and each half runs at its own time (`go_on`, `take_open`). Where
agents share the air it waits for its sender's one transmitter, see `netbandit.network.radio` (`transmit`).

Where senders repeat what is not acknowledged, a timer is set only once it is known that no acknowledgement will come in
time, so timers cost nothing where nothing goes wrong.
"""

from collections.abc import Iterable

from netbandit.network.loss_laws import chance_of_bits
from netbandit.network.primitives import (
    NOTHING,
    Channel,
    Kind,
    Message,
    Network,
    Packet,
    Pending,
    acknowledgement,
    back_of,
    book,
    carry_of,
    channel_of,
    code_of,
    contact_end,
    copy_jitter_of,
    count,
    count_acknowledgement,
    deliver_at,
    duplicate_number_of,
    duration_of,
    end_of,
    expect_arrival,
    forget,
    is_acknowledgement,
    is_air,
    is_bad,
    is_link_down,
    is_node_down,
    is_nothing,
    is_uplink,
    jitter_of,
    law_of,
    life_of,
    line_of,
    link_of,
    loss_number_of,
    message_of,
    new_packet,
    new_pending,
    next_start,
    now_of,
    originate,
    packet_of,
    pay_to_send,
    queue_of,
    record,
    repeating_channel,
    repeats_on,
    repetition,
    slot_of,
    spread_number_of,
    start_at,
    tally_of,
    timeout_factor,
    transmission_of,
    waiting_of,
    waits_for_slots,
    wake_at,
    write_trace,
)
from netbandit.network.retry import ACK_BYTES
from netbandit.texts import text

# What can happen; whoever executes the texts says so.
UPLINKS = True
"""There is a server."""
QUEUES = True
"""Bandwidth is limited somewhere."""
TRACES = True
"""A trace is written."""
LOSES = True
"""Messages are lost by chance,"""
LOSES_BITS = True
"""somewhere bit by bit,"""
LOSES_IN_BURSTS = True
"""somewhere more often for a time."""
JITTERS = True
"""Latencies vary from message to message,"""
OVERTAKES = True
"""and messages overtake one another somewhere."""
DOUBLES = True
"""Messages arrive twice."""
REPEATS = True
"""Senders repeat what is not acknowledged."""
LINKS_FAIL = True
"""Links are down at times."""
WAITS = True
"""Senders see when links between agents go down and come up: what they are handed for one that is down waits."""
NODES_FAIL = True
"""Agents, or the server, are down at times,"""
FORGETS = True
"""and have lost their memory when they come back."""
PROMPT = True
"""It is known how long a message was under way: nothing queues, is late or doubled, and no node is ever down."""
COUNTS_DELIVERIES = True
"""Deliveries are counted; else they follow from all else."""
PAYS = False
"""Agents pay for messages from batteries, which run empty."""
FATES_ARE_OPEN = False
"""What becomes of a message depends on what else is sent: it is decided as it happens, and nothing is repeated."""
SHARES_AIR = False
"""Agents share the air, so that what they send at the same time may collide."""

LOST = -1
NOT_SENT = -2
LATE = -1
NEVER = 1 << 62
"""Later than any time (ns)."""
_LONGEST = 1 << 62
_LONGEST_WAIT = float(_LONGEST)


@text
def send(network: Network, message: Message, channels: Iterable[Channel], excepted: int = -1) -> None:
    """Put *message* on all of these *channels*, but not on the one to the node *excepted*.

    They are those of its sender; nodes that say the same at once may do so together.
    """
    now = now_of(network)
    if now < end_of(network):
        kind = message_of(network, message).kind
        size = message_of(network, message).size
        round = message_of(network, message).round
        slot = slot_of(network, now)
        duration = 0
        if QUEUES:
            duration = duration_of(network, size)
        sent = 0
        for channel in channels:
            if channel_of(network, channel).receiver != excepted:
                arrival = put(network, channel, kind, size, round, message, NOTHING, now, slot, duration)
                if not (QUEUES or NODES_FAIL or WAITS or FATES_ARE_OPEN) or arrival != NOT_SENT:
                    sent += 1
        if sent > 0:
            count(network, kind, size, sent)


@text
def put(
    network: Network,
    channel: Channel,
    kind: Kind,
    size: int,
    round: int,
    message: Message,
    packet: Packet,
    now: int,
    slot: int,
    duration: int,
) -> int:
    """Put a message on *channel* before the horizon, and decide what will become of it.

    Args:
        network: The network.
        channel: The channel.
        kind: The kind in which it is counted.
        size: Its bytes.
        round: The round that it belongs to.
        message: What its receiver is told; of an acknowledgement, the packet that it acknowledges.
        packet: What is transmitted again; `NOTHING`: it is put on a channel for the first time.
        now: The present time (ns),
        slot: and its slot.
        duration: How long (ns) it occupies the channel.

    Returns:
        When it arrives (ns), `LOST`, or `NOT_SENT`; this also where its fate is open, as it counts once it begins.
    """
    if FATES_ARE_OPEN:
        pending = new_pending(network, kind, size, round, message, packet, now, slot, duration)
        put_in_line(network, channel, pending)
        return NOT_SENT
    row = channel_of(network, channel)
    start = now
    if QUEUES:
        start = row.free_at if row.free_at > now else now
    if QUEUES and WAITS and start >= end_of(network):
        waiting_of(network).unsent += 1
    if is_withheld(network, channel, now, start):
        return NOT_SENT
    if WAITS:
        start = start_in_contact(network, channel, kind, size, round, now, start, slot, duration)
        if start == NEVER:
            return NOT_SENT
    return begin(network, channel, kind, size, round, message, packet, now, start, slot, duration)


@text
def is_withheld(network: Network, channel: Channel, now: int, start: int) -> bool:
    """Return whether what is put on *channel* at *now* (ns) is not sent when its turn comes, at *start* (ns)."""
    return (QUEUES and start >= end_of(network)) or (
        NODES_FAIL and is_node_down(network, channel_of(network, channel).sender, now, start)
    )


@text
def begin(
    network: Network,
    channel: Channel,
    kind: Kind,
    size: int,
    round: int,
    message: Message,
    packet: Packet,
    now: int,
    start: int,
    slot: int,
    duration: int,
) -> int:
    """Let the transmission of a message start, at *start* (ns): the first half of a hop, in which it is counted.

    All else is as it was when it was `put` on its channel, at *now* (ns). Return when it arrives (ns), or `LOST`.
    """
    row = channel_of(network, channel)
    sent = start
    if QUEUES:
        sent = start + duration
        row.free_at = sent
        if duration > 0:  # else its bandwidth is unlimited, and nothing is kept of it
            queue(network, channel, start - now, min(sent, end_of(network)) - start)
    place = row.messages
    row.messages = place + 1
    row.bytes += size
    if PAYS and not (SHARES_AIR and not is_uplink(network, channel)):  # of the air a transmission pays
        pay_to_send(network, channel, size, min(sent, end_of(network)) - start)
    activate(network, channel, round, start, sent, slot)
    arrival: int = sent + row.latency
    first = is_nothing(packet)
    if JITTERS:
        arrival += jitter_of(network, channel)
        if first and not (OVERTAKES and law_of(network, channel).overtaking):
            arrival = max(arrival, row.latest)
    lost = False
    if LOSES:
        lost = loss_number_of(network, channel) < chance_of(network, channel, size, start)
    if (LINKS_FAIL or NODES_FAIL) and not lost:
        lost = is_cut(network, channel, start, arrival)
    if DOUBLES:  # drawn for each message, whatever becomes of it
        doubled = duplicate_number_of(network, channel) < law_of(network, channel).duplicate
        copy_arrival = sent + row.latency
        if JITTERS:
            copy_arrival += copy_jitter_of(network, channel)
    if TRACES and (lost or not FATES_ARE_OPEN):
        write_trace(network, channel, kind, size, round, now, start, arrival, lost)
    waits = LATE
    if REPEATS and repeats_on(network, channel) and not is_acknowledgement(network, kind):
        if PROMPT and first and not lost and row.latency <= law_of(network, channel).least_patience:
            waits = place  # of what may be acknowledged in time nothing is kept
        else:
            if first:
                packet = new_packet(network, kind, message)
                originate(network, packet, channel, place)
            waits = wait_for_arrival(network, channel, packet, sent, arrival, lost)
    if lost:
        row.lost += 1
        tally_of(network).lost += 1
        if REPEATS:
            forget(network, packet)
        return LOST
    if JITTERS and first:
        row.latest = arrival
    due = arrival
    if WAITS:
        arrival = taken_in_later(network, channel, now, start, arrival)
    if DOUBLES and doubled:
        if is_nothing(packet):
            packet = new_packet(network, kind, message)
        put_copy(network, channel, kind, size, round, message, packet, now, start, arrival, copy_arrival)
    if FATES_ARE_OPEN:
        expect_arrival(network, arrival, channel, kind, size, round, message, packet, now, start, due, False)
    else:
        deliver_at(network, arrival, channel, kind, size, message, packet, waits)
    return arrival


@text
def is_missed(network: Network, channel: Channel, due: int) -> bool:
    """Return whether the receiver of *channel* is down when a message is *due* (ns)."""
    return is_node_down(network, channel_of(network, channel).receiver, due, due)


@text
def put_in_line(network: Network, channel: Channel, pending: Pending) -> None:
    """Let a message whose fate is open begin now, or, if its channel is in use, after those before it."""
    line = line_of(network, channel)
    if QUEUES and not is_nothing(line.first):
        line.others.append(pending)
    else:
        go_on(network, channel, pending)


@text
def go_on(network: Network, channel: Channel, pending: Pending) -> None:
    """Let what is next on *channel* begin, and what follows on it; or have it looked at again when it may begin."""
    line = line_of(network, channel)
    again = look_at(network, channel, pending)
    while again == NEVER and line.others:
        pending = line.others.popleft()
        again = look_at(network, channel, pending)
    line.first = NOTHING
    if again != NEVER:
        start_at(network, again, channel, pending)
        if QUEUES:
            line.first = pending


@text
def look_at(network: Network, channel: Channel, pending: Pending) -> int:
    """Let a message begin now if it can; return when (ns) to look at it again, or `NEVER`: it has begun, or will not.

    It begins when it would if all was known ahead, see `put`; but nothing is decided before its time.
    """
    now, end = now_of(network), end_of(network)
    if pending.start < 0:  # its turn has not come before
        pending.start = pending.handed
        if QUEUES:
            pending.start = max(channel_of(network, channel).free_at, pending.handed)
    if min(pending.start, end) > now:
        return int(min(pending.start, end))
    if pending.tried < 0:
        if QUEUES and WAITS and pending.start >= end:
            waiting_of(network).unsent += 1
        if is_withheld(network, channel, pending.handed, pending.start):
            return NEVER
        pending.tried = pending.start
        if WAITS:
            pending.tried = next_start(network, channel, pending.start)
    while WAITS:
        if min(pending.tried, end) > now:
            return int(min(pending.tried, end))
        again = try_in_contact(
            network,
            channel,
            pending.kind,
            pending.size,
            pending.round,
            pending.handed,
            pending.tried,
            pending.first,
            pending.slot,
            pending.duration,
        )
        if again == NEVER:
            return NEVER
        if again == pending.tried:
            note_wait(network, pending.tried - pending.start)
            break
        pending.tried = again
        pending.first = False
    begin(
        network,
        channel,
        pending.kind,
        pending.size,
        pending.round,
        pending.message,
        pending.packet,
        pending.handed,
        pending.tried,
        pending.slot,
        pending.duration,
    )
    count(network, pending.kind, pending.size, 1)
    return NEVER


@text
def start_in_contact(
    network: Network,
    channel: Channel,
    kind: Kind,
    size: int,
    round: int,
    now: int,
    start: int,
    slot: int,
    duration: int,
) -> int:
    """Return when (ns) a message starts that could start at *start* if its link were always up; `NEVER`: not at all.

    It waits for its link. If that goes down before the message is due, its sender sees it, and sends it again once the
    link is up again; each attempt is a message. When the horizon has come, or `carry_of` is over, it is not started.
    """
    first = True
    begin = next_start(network, channel, start)
    tried = NEVER
    again = True
    while again:
        tried = begin
        begin = try_in_contact(network, channel, kind, size, round, now, tried, first, slot, duration)
        first = False
        again = begin != tried
    if begin != NEVER:
        note_wait(network, begin - start)
    return begin


@text
def try_in_contact(
    network: Network,
    channel: Channel,
    kind: Kind,
    size: int,
    round: int,
    now: int,
    start: int,
    first: bool,
    slot: int,
    duration: int,
) -> int:
    """Try a message, put on its channel at *now* (ns), at *start*, when its link comes up; *first*: for the first time.

    Return *start*: it gets through; else when its link comes up again (ns); or `NEVER`: it is given up.
    """
    last = latest_start(network, now)
    gone = False
    if NODES_FAIL:
        gone = is_node_down(network, channel_of(network, channel).sender, now, min(start, end_of(network)))
    again = NEVER
    if not gone and start >= last:
        if first:
            waiting_of(network).unsent += 1
    elif not gone:
        again = start
        over = contact_end(network, channel, start)
        if over <= start + duration + channel_of(network, channel).latency:
            cut_off(network, channel, kind, size, round, now, start, over, slot, duration)
            again = next_start(network, channel, over)
            if again >= last:
                again = NEVER
    return again


@text
def latest_start(network: Network, handed: int) -> int:
    """Return the time (ns) from which on a message is not started any more that was *handed* over then (ns)."""
    last = end_of(network)
    if carry_of(network) < last - handed:
        last = handed + carry_of(network) + 1
    return last


@text
def note_wait(network: Network, waited: int) -> None:
    """Count a message that has waited so long (ns) for its link, and starts."""
    waiting_of(network).waited += waited
    waiting_of(network).started += 1


@text
def cut_off(
    network: Network,
    channel: Channel,
    kind: Kind,
    size: int,
    round: int,
    now: int,
    start: int,
    over: int,
    slot: int,
    duration: int,
) -> None:
    """Count a message that its sender sees cut off, as its link goes down at *over* (ns)."""
    row = channel_of(network, channel)
    row.messages += 1
    row.bytes += size
    row.lost += 1
    sent = start + duration
    if QUEUES and duration > 0:
        queue(network, channel, start - now, min(sent, over, end_of(network)) - start)
    if PAYS and not SHARES_AIR:
        pay_to_send(network, channel, size, min(sent, over, end_of(network)) - start)
    activate(network, channel, round, start, sent, slot)
    if JITTERS:
        jitter_of(network, channel)
    if LOSES:
        loss_number_of(network, channel)
    if DOUBLES:
        duplicate_number_of(network, channel)
    if DOUBLES and JITTERS:
        copy_jitter_of(network, channel)
    tally_of(network).lost += 1
    waiting_of(network).cut_off += 1
    count(network, kind, size, 1)
    if TRACES:
        write_trace(network, channel, kind, size, round, now, start, sent + row.latency, True)


@text
def taken_in_later(network: Network, channel: Channel, now: int, start: int, arrival: int) -> int:
    """Return when (ns) a message is taken off its channel that has arrived, and has waited for its link.

    Slotted, what starts at a boundary takes effect at the next one at the earliest. But its hop began when it was
    handed over; so if it arrives at the boundary at which it has started, it is taken off a nanosecond later, and what
    follows on the channel not before it.
    """
    row = channel_of(network, channel)
    taken = arrival
    if waits_for_slots(network) and start > now and arrival == start:
        taken = start + 1
    if not JITTERS:
        taken = max(taken, row.latest)
        row.latest = taken
    return taken


@text
def put_copy(
    network: Network,
    channel: Channel,
    kind: Kind,
    size: int,
    round: int,
    message: Message,
    packet: Packet,
    now: int,
    start: int,
    original: int,
    arrival: int,
) -> None:
    """Let a message arrive once more, not before its *original* does unless messages may overtake."""
    tally_of(network).duplicates += 1
    if not (OVERTAKES and law_of(network, channel).overtaking):
        arrival = max(arrival, original)
    cut = False
    if LINKS_FAIL or NODES_FAIL:
        cut = is_cut(network, channel, start, arrival)
    if cut:
        tally_of(network).lost += 1
    elif FATES_ARE_OPEN:
        expect_arrival(network, arrival, channel, kind, size, round, message, packet, now, start, arrival, True)
    else:
        deliver_at(network, arrival, channel, kind, size, message, packet, LATE)


@text
def queue(network: Network, channel: Channel, wait: int, busy: int) -> None:
    """Count how long (ns) a message has waited for *channel*, and for how much of the run it occupies it."""
    row = queue_of(network, channel)
    row.busy += busy
    if wait > 0:
        row.waited += wait
        row.longest_wait = max(row.longest_wait, wait)


@text
def activate(network: Network, channel: Channel, round: int, start: int, sent: int, slot: int) -> None:
    """Count an activation: a slot (of an uplink: a round) in which something is put on a link, whichever way it goes.

    Where nothing waits slots never decrease, so that the latest is all that must be known.
    """
    if ((QUEUES and sent > start) or WAITS) and not (UPLINKS and is_uplink(network, channel)):
        book(network, channel, slot_of(network, start), slot)
    else:
        period = slot
        if UPLINKS and is_uplink(network, channel):
            period = round
        link = link_of(network, channel)
        if link.latest != period:
            link.latest = period
            link.activations += 1


@text
def chance_of(network: Network, channel: Channel, size: int, start: int) -> float:
    """Return with what probability a message of *size* bytes is lost whose transmission starts at a time (ns)."""
    law = law_of(network, channel)
    chance: float = law.chance
    if LOSES_BITS and law.loses_bits:
        chance = chance_of_bits(law.chance, size)
    bad = False
    if LOSES_IN_BURSTS and law.loses_in_bursts:
        bad = is_bad(network, channel, start)
    if LOSES_IN_BURSTS and bad:
        chance = law.chance_while_bad
    return chance


@text
def is_cut(network: Network, channel: Channel, start: int, arrival: int) -> bool:
    """Return whether *channel* is down while a message is on its way, or, if that is known, its receiver then."""
    cut = False
    if LINKS_FAIL:
        cut = is_link_down(network, channel, start, arrival)
    if NODES_FAIL and not FATES_ARE_OPEN and not cut:
        cut = is_missed(network, channel, arrival)
    return cut


@text
def wait_for_arrival(network: Network, channel: Channel, packet: Packet, sent: int, arrival: int, lost: bool) -> int:
    """Let the sender of a transmission of *packet* wait for its acknowledgement.

    Args:
        network: The network.
        channel: Where it was put.
        packet: What is transmitted, for the first time or again.
        sent: When (ns) all of it was on the channel: the timeout runs from then.
        arrival: When it arrives, if it does.
        lost: Whether it does not.

    Returns:
        `LATE`: the acknowledgement comes too late, or never. Else that is looked at on arrival.
    """
    row = packet_of(network, packet)
    row.since = sent
    row.sent += 1
    waits: int = row.place
    late = lost
    if not lost:
        late = is_late(network, packet, arrival)
    if late:
        waits = LATE
        wait_in_vain(network, channel, packet)
    elif NODES_FAIL and is_node_down(network, channel_of(network, channel).sender, now_of(network), arrival):
        give_up(network, channel, packet)
    return waits


@text
def is_late(network: Network, packet: Packet, time: int) -> bool:
    """Return whether the sender of *packet* waits no longer at a *time* (ns); mostly nothing has to be drawn."""
    row = packet_of(network, packet)
    late = False
    if time - row.since > law_of(network, row.origin).least_patience:
        late = time - row.since > patience_of(network, packet)
    return late


@text
def patience_of(network: Network, packet: Packet) -> int:
    """Return how long (ns) the sender of *packet* waits after its latest transmission; see `Retry`."""
    row = packet_of(network, packet)
    law = law_of(network, row.origin)
    drawn = 1.0 + spread_number_of(network, packet) * (law.spread - 1.0)
    wait = law.timeout * drawn * timeout_factor(network, row.origin, row.sent - 1)
    patience = _LONGEST
    if wait < _LONGEST_WAIT:
        patience = round(wait)
    return patience


@text
def wait_in_vain(network: Network, channel: Channel, packet: Packet) -> None:
    """Let the sender of *packet* repeat it when it waits no longer, if it is up till then."""
    row = packet_of(network, packet)
    if not row.settled:
        until = row.since + patience_of(network, packet)
        if NODES_FAIL and is_node_down(network, channel_of(network, channel).sender, now_of(network), until):
            give_up(network, channel, packet)
        else:
            wake_at(network, until, packet, channel)


@text
def give_up(network: Network, channel: Channel, packet: Packet) -> None:
    """Let the sender of *packet* wait no longer, and repeat nothing."""
    row = packet_of(network, packet)
    if not row.settled:
        row.settled = True
        tally_of(network).given_up += 1
        if UPLINKS and is_uplink(network, channel):
            tally_of(network).given_up_on_uplinks += 1


@text
def take(
    network: Network, channel: Channel, kind: Kind, size: int, message: Message, packet: Packet, waits: int, now: int
) -> bool:
    """Let something arrive on *channel*, and be acknowledged; return whether it is news to its receiver.

    Args:
        network: The network.
        channel: The channel.
        kind: The kind in which it was sent.
        size: Its bytes.
        message: What its receiver is told; of an acknowledgement, the packet that it acknowledges.
        packet: What it is a transmission of; `NOTHING`: it comes for the first time, and there is no record of it.
        waits: `LATE`: its sender waits no more when it hears of this. Else its place on the channel.
        now: The present time (ns).
    """
    receiver = channel_of(network, channel).receiver
    record(network, now, receiver, code_of(network, kind), size)
    news = True
    if (REPEATS or DOUBLES) and not is_nothing(packet):
        life = 0
        if FORGETS:
            life = life_of(network, receiver, now)
        news = packet_of(network, packet).taken != life
        packet_of(network, packet).taken = life
    if COUNTS_DELIVERIES:
        if UPLINKS and is_air(network, channel):
            tally_of(network).copies_delivered += 1
        elif news:
            tally_of(network).delivered += 1
    if (REPEATS or DOUBLES) and not news and not (UPLINKS and is_air(network, channel)):
        tally_of(network).duplicates_dropped += 1
    if REPEATS:
        if is_acknowledgement(network, kind):
            news = False
            if not is_nothing(message):
                packet_of(network, message).settled = True
        elif repeats_on(network, channel):
            acknowledge(network, channel, message, packet, waits, now)
    return news


@text
def acknowledge(network: Network, channel: Channel, message: Message, packet: Packet, waits: int, now: int) -> None:
    """Let the receiver acknowledge what arrived on *channel*, and its sender wait in vain if it must; see `take`."""
    back = back_of(network, channel)
    way = channel_of(network, channel).latency + channel_of(network, back).latency
    if PROMPT and is_nothing(packet) and way > law_of(network, channel).least_patience:
        packet = arrived_packet(network, channel, message, waits, now)
    arrival = NOT_SENT
    if now < end_of(network):
        round = message_of(network, message).round
        duration = 0
        if QUEUES:
            duration = transmission_of(network, back, ACK_BYTES)
        kind = acknowledgement(network)
        slot = slot_of(network, now)
        arrival = put(network, back, kind, ACK_BYTES, round, packet, NOTHING, now, slot, duration)
        if not (QUEUES or NODES_FAIL or WAITS) or arrival != NOT_SENT:
            count_acknowledgement(network)
    if PROMPT and is_nothing(packet):
        if arrival < 0:
            wait_in_vain(network, channel, arrived_packet(network, channel, message, waits, now))
    elif waits != LATE and not packet_of(network, packet).settled:
        late = arrival < 0
        if not late:
            late = is_late(network, packet, arrival)
        if late:
            wait_in_vain(network, channel, packet)
        elif NODES_FAIL and is_node_down(network, channel_of(network, channel).sender, now, arrival):
            give_up(network, channel, packet)


@text
def arrived_packet(network: Network, channel: Channel, message: Message, place: int, now: int) -> Packet:
    """Return a packet for *message*, of which there was no record: it has arrived on *channel* now."""
    packet = new_packet(network, message_of(network, message).kind, message)
    originate(network, packet, channel, place)
    row = packet_of(network, packet)
    row.since = now - channel_of(network, channel).latency
    row.sent = 1
    row.taken = 0
    return packet


@text
def repeat(network: Network, channel: Channel, packet: Packet) -> None:
    """Send *packet* once more, unless it was acknowledged after all, or that was the last attempt.

    What was broadcast is repeated over the uplink of the agent that did not acknowledge it.
    """
    now = now_of(network)
    row = packet_of(network, packet)
    if not row.settled and now < end_of(network):
        channel = repeating_channel(network, channel)
        if row.sent >= law_of(network, channel).attempts:
            give_up(network, channel, packet)
        else:
            message = message_of(network, row.message)
            kind = repetition(network, message.kind)
            slot = slot_of(network, now)
            duration = 0
            if QUEUES:
                duration = transmission_of(network, channel, message.size)
            arrival = put(network, channel, kind, message.size, message.round, row.message, packet, now, slot, duration)
            if arrival != NOT_SENT:
                tally_of(network).retransmissions += 1
                count(network, kind, message.size, 1)
            elif max(channel_of(network, channel).free_at, now) < end_of(network):
                give_up(network, channel, packet)
