"""What can be done with messages in compiled loops: the texts of hops, and of what comes before and after them."""

import numpy as np
from numpy.typing import NDArray

from netbandit.network.hop import LATE, NOT_SENT, REPEATS, put, repeat
from netbandit.network.hop import take as take_off_channel
from netbandit.network.primitives import NOTHING, Channel, Message, Network
from netbandit.network.retry import ACK_BYTES
from netbandit.simulation.machine.calendar import begin_pass, due_channel, due_row, end_entry, first_arrival
from netbandit.simulation.machine.heaps import pop
from netbandit.simulation.machine.primitives import (
    count,
    is_acknowledgement,
    message_of,
    now_of,
    release,
    release_packet,
    transmission_of,
    write,
)
from netbandit.simulation.machine.rows import (
    ARRIVED,
    BANDWIDTH,
    BLOCKS_LEFT,
    BOOKINGS,
    BOOKINGS_FULL,
    CHANNEL,
    DRAWS_USED,
    DUE_AT,
    DUE_END,
    ENTRIES_FULL,
    EVENTS,
    EVENTS_FULL,
    FAULTY,
    INBOX_AT,
    INBOX_END,
    INBOX_FULL,
    KNOWN_UNTIL,
    MESSAGE,
    MESSAGES_FULL,
    MESSAGES_LEFT,
    NEVER,
    NEXT_ARRIVAL,
    NEXT_STEP,
    NOW,
    PACKETS_FULL,
    PACKETS_LEFT,
    SERIAL,
    SLOT,
    SLOT_ENDS,
    SLOT_NS,
    STATES_USED,
    STEP,
    STOPPED,
    TIMERS,
    TIMERS_BEFORE,
    TIMERS_FULL,
    WANTED,
)
from netbandit.texts import text


@text
def put_message(network: Network, channel: Channel, message: Message) -> int:
    """Put a message on a channel now, before the horizon, for which there is `room`.

    Return when it arrives (ns), `LOST`, or `NOT_SENT`.
    """
    row = message_of(network, message)
    kind, size, round = row.kind, row.size, row.round
    now, slot = now_of(network), network.state[SLOT]
    duration = transmission_of(network, channel, size)
    arrival: int = put(network, channel, kind, size, round, message, NOTHING, now, slot, duration)
    if arrival != NOT_SENT:
        count(network, kind, size, 1)
    return arrival


@text
def put_on_others(network: Network, node: int, left_out: NDArray[np.uint8], message: Message) -> None:
    """Put a message on all channels of *node* but those that are marked; see `put_message`."""
    for place in range(network.starts[node], network.starts[node + 1]):
        if not left_out[network.out[place]]:
            put_message(network, network.out[place], message)


@text
def send(
    network: Network, channel: Channel, kind: int, size: int, round: int, begun: int, labels: int, count: int
) -> None:
    """Put a message on a single channel; see `put_message`. What it tells is as its protocol has it."""
    message = write(network, kind, size, round, begun, labels, count)
    put_message(network, channel, message)
    release(network, message)


@text
def move_to(network: Network, time: int) -> None:
    """Move the clock of the loop to *time* (ns)."""
    state = network.state
    state[NOW] = time
    if time >= state[SLOT_ENDS]:
        state[SLOT] = time // state[SLOT_NS]
        state[SLOT_ENDS] = (state[SLOT] + 1) * state[SLOT_NS]


@text
def room_for(network: Network, number: int) -> int:
    """As `room`, for messages of any nodes, which may not `draw` yet."""
    state = network.state
    why = ARRIVED
    if state[MESSAGES_LEFT] < number:
        why = MESSAGES_FULL
    elif state[BLOCKS_LEFT] < 2 * number:  # each may arrive twice
        why = ENTRIES_FULL
    elif state[BANDWIDTH] > 0 and state[BOOKINGS] + number > len(network.booked):
        why = BOOKINGS_FULL
    if FAULTY and why == ARRIVED:
        faults = network.faults
        if faults.state[PACKETS_LEFT] < number:
            why = PACKETS_FULL
        elif faults.state[TIMERS] + 2 * number > len(faults.timers):  # its sender's, and that of what it answers
            why = TIMERS_FULL
        elif state[NOW] >= faults.state[KNOWN_UNTIL]:
            why = STATES_USED
    return why


@text
def room(network: Network, node: int, number: int, most: int) -> int:
    """Return why *node* cannot put so many messages on channels, up to so many on one; or `ARRIVED`: it can."""
    why = room_for(network, number)
    if why == ARRIVED:
        why = draw(network, node, most)
    return why


@text
def draw(network: Network, node: int, most: int) -> int:
    """Return why *node* cannot put so many messages on a channel for want of what they would draw, or `ARRIVED`."""
    why = ARRIVED
    if FAULTY:
        faults = network.faults
        if faults.left[node] < most:  # so many are left at the least: count anew
            least = NEVER
            for place in range(network.starts[node], network.starts[node + 1]):
                row = network.channels[network.out[place]]
                least = min(least, row.drawn - row.messages)
            faults.left[node] = least
        if faults.left[node] < most:
            faults.state[WANTED] = most
            why = DRAWS_USED
        else:
            faults.left[node] -= most
    return why


@text
def next_due(network: Network) -> int:
    """Return when (ns) something arrives next, or somebody stops waiting; `NEVER`: never."""
    return first_of(network, first_arrival(network))


@text
def first_of(network: Network, arrival: int) -> int:
    """Return when (ns) somebody stops waiting, if that is before an *arrival*, else when that is."""
    due = arrival
    if REPEATS and network.faults.state[TIMERS] > 0:
        due = min(due, network.faults.timers[0, 0])
    return due


@text
def take(network: Network) -> int:
    """Take what arrives in this pass off its channels; return why it stopped, or that all is in the inbox."""
    state = network.state
    why = ARRIVED
    while why == ARRIVED and state[DUE_AT] < state[DUE_END]:
        row = due_row(network, state[DUE_AT])
        channel = due_channel(network, state[DUE_AT])
        if state[EVENTS] == len(network.events):
            why = EVENTS_FULL
        elif state[INBOX_END] == len(network.inbox):
            why = INBOX_FULL
        elif REPEATS and answers(network, row):
            why = room(network, network.channels[channel].receiver, 1, 1)
        if why == ARRIVED:
            message = np.int64(network.due[state[DUE_AT], MESSAGE])
            state[DUE_AT] += 1
            take_entry(network, row, channel, message)
    return why


@text
def answers(network: Network, row: int) -> bool:
    """Return whether what arrives is acknowledged."""
    kind = network.faults.carried[row].kind
    return network.faults.law[0].attempts > 0 and not is_acknowledgement(network, kind)


@text
def take_entry(network: Network, row: int, channel: Channel, message: Message) -> None:
    """Take an entry off its channel, and put into the inbox what its receiver is told."""
    state = network.state
    packet = -1
    waits = LATE
    acknowledges = False
    if FAULTY:
        carried = network.faults.carried[row]
        packet = carried.packet
        kind = carried.kind
        waits = carried.waits
        acknowledges = is_acknowledgement(network, kind)
    else:
        kind = network.messages[message].kind
    size = ACK_BYTES
    if not acknowledges:
        size = network.messages[message].size
    end_entry(network, row)
    news = take_off_channel(network, channel, kind, size, message, packet, waits, state[NOW])
    if news:
        network.inbox[state[INBOX_END], CHANNEL] = channel
        network.inbox[state[INBOX_END], MESSAGE] = message
        state[INBOX_END] += 1
    elif not acknowledges:
        release(network, message)
    if FAULTY:
        release_packet(network, packet)
        if acknowledges:
            release_packet(network, message)


@text
def look_at_timers(network: Network) -> int:
    """Let senders repeat what they wait for in vain, once all of a pass is handled; return why it stopped."""
    state, timers, now = network.faults.state, network.faults.timers, network.state[NOW]
    if state[TIMERS_BEFORE] == -1:
        state[TIMERS_BEFORE] = network.state[SERIAL] + 1
    why = ARRIVED
    while why == ARRIVED and state[TIMERS] > 0 and timers[0, 0] == now and timers[0, 1] < state[TIMERS_BEFORE]:
        packet, channel = timers[0, 2], timers[0, 3]
        why = room(network, network.channels[channel].sender, 1, 1)
        if why == ARRIVED:
            pop(timers, state[TIMERS])
            state[TIMERS] -= 1
            repeat(network, channel, packet)
            release_packet(network, packet)
    if why == ARRIVED:
        state[TIMERS_BEFORE] = 0
    return why


@text
def advance(network: Network, arrivals_until: int, steps_until: int, step: int) -> int:
    """Go on to the next pass or step, once all of the one before is handled.

    Args:
        network: The network.
        arrivals_until: Messages are delivered up to this time (ns),
        steps_until: and steps made up to this one: what comes later comes after something outside.
        step: When the next step is due (ns).

    Returns:
        `ARRIVED`: something is to be taken, see `take`, if only timers; `STEP`: it is time for the next step; else why
        to stop.
    """
    state = network.state
    state[DUE_AT] = state[DUE_END] = 0
    state[INBOX_AT] = state[INBOX_END] = 0
    why = ARRIVED
    if REPEATS and network.faults.state[TIMERS_BEFORE] != 0:
        why = look_at_timers(network)
    if why == ARRIVED:
        arrival = first_arrival(network)
        due = first_of(network, arrival)
        state[NEXT_ARRIVAL] = due
        state[NEXT_STEP] = step
        if due > step:
            why = STOPPED
            if step <= steps_until:
                why = STEP
                move_to(network, step)
        elif due > arrivals_until or due == NEVER:
            why = STOPPED
        else:
            move_to(network, due)
            if REPEATS:
                network.faults.state[TIMERS_BEFORE] = -1
            if arrival == due:
                begin_pass(network)
    return why
