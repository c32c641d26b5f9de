"""Channels on each of which messages of its own are under way, one after the other, or where something can go wrong."""

from typing import NamedTuple

from netbandit.simulation.kernels.compiled import inlined
from netbandit.simulation.kernels.faults import (
    SERIAL_BITS,
    Faults,
    can_draw,
    can_send,
    deliver,
    drop,
    expect_outside,
    send,
    soonest,
)
from netbandit.simulation.kernels.faults import advance as advance_with_faults
from netbandit.simulation.kernels.message_rows import (
    FOLLOWING,
    KIND,
    NEXT_ARRIVAL,
    SIZE,
    UNUSED_COUNT,
    give_back,
    use_row,
)
from netbandit.simulation.kernels.traffic import (
    ACTIVATIONS,
    ARRIVED,
    BANDWIDTH,
    BOOKINGS_FULL,
    BYTES,
    CHANNEL,
    CHANNEL_MASK,
    CODE,
    EVENTS,
    EVENTS_FULL,
    FIRST,
    FREE_AT,
    INBOX_END,
    INBOX_FULL,
    KIND_BYTES,
    KIND_MESSAGES,
    LAST,
    LATENCY,
    LATEST,
    LINK,
    MESSAGE,
    MESSAGES,
    MESSAGES_FULL,
    NEVER,
    NOW,
    PASS_END,
    RECEIVER,
    SLOT,
    WINDOW_AT,
    Integers,
    Traffic,
    can_book,
    expect,
    next_arrival,
    queue,
)
from netbandit.simulation.kernels.traffic import advance as advance_without_faults


class Queues(NamedTuple):
    """The messages under way.

    Attributes:
        messages: A row a message, and unused rows; see `message_rows`.
        unused: Which rows are unused.
        called: The latest round to which a call has reached each agent; empty: nobody calls.
        faults: What goes wrong; None: nothing, which is known when a loop is compiled, so that it costs nothing.
    """

    messages: Integers
    unused: Integers
    called: Integers
    faults: Faults | None


@inlined
def room(traffic: Traffic, queues: Queues, node: int, number: int, most: int) -> int:
    """Return why *node* cannot send so many messages, and up to so many on a channel; or `ARRIVED`: it can."""
    why: int = room_for(traffic, queues, number)
    return _can_draw(traffic, queues.faults, node, most) if why == ARRIVED else why


@inlined
def room_for(traffic: Traffic, queues: Queues, number: int) -> int:
    """As `room`, for messages of any nodes, which may not `draw` yet."""
    return int(_room_for(traffic, queues.unused, queues.faults, number))


@inlined
def draw(traffic: Traffic, queues: Queues, node: int) -> int:
    """Return why *node* cannot send a message for want of what it would draw, or `ARRIVED`."""
    return int(_can_draw(traffic, queues.faults, node, 1))


@inlined
def _room_for(traffic: Traffic, unused: Integers, faults: Faults | None, number: int) -> int:
    if faults is None:
        if unused[UNUSED_COUNT] < number:
            return MESSAGES_FULL
        if not can_book(traffic, number):
            return BOOKINGS_FULL
        return ARRIVED
    return int(can_send(traffic, unused, faults, number))


@inlined
def _can_draw(traffic: Traffic, faults: Faults | None, node: int, most: int) -> int:
    if faults is None:
        return ARRIVED
    return int(can_draw(traffic, faults, node, most))


@inlined
def put(
    traffic: Traffic,
    queues: Queues,
    channel: int,
    kind: int,
    size: int,
    round: int,
    begun: int,
    labels: int,
    count: int,
) -> int:
    """Put a message on a channel now, before the horizon; there is `room` for it.

    Return when (ns) it arrives, or, where something can go wrong, when anything is due; `NEVER`: it would have to queue
    up to the horizon, and is not sent.
    """
    faults = queues.faults
    return int(_put(traffic, queues.messages, queues.unused, faults, channel, kind, size, round, begun, labels, count))


@inlined
def _put(
    traffic: Traffic,
    messages: Integers,
    unused: Integers,
    faults: Faults | None,
    channel: int,
    kind: int,
    size: int,
    round: int,
    begun: int,
    labels: int,
    count: int,
) -> int:
    if faults is not None:
        return int(send(traffic, messages, unused, faults, channel, kind, size, round, begun, labels, count))
    channels = traffic.channels
    limited = traffic.state[BANDWIDTH] > 0
    arrival = traffic.state[NOW] + channels[channel, LATENCY]
    if limited:
        if not queue(traffic, channel, size, traffic.state[NOW]):
            return NEVER
        arrival = channels[channel, FREE_AT] + channels[channel, LATENCY]
    message = use_row(messages, unused, kind, size, round, begun, labels, count)
    messages[message, NEXT_ARRIVAL] = NEVER
    if channels[channel, FIRST] < 0:
        channels[channel, FIRST] = message
        expect(traffic, channel, arrival)
    else:
        before = channels[channel, LAST]
        messages[before, FOLLOWING] = message
        messages[before, NEXT_ARRIVAL] = arrival
    channels[channel, LAST] = message
    channels[channel, MESSAGES] += 1
    channels[channel, BYTES] += size
    link = channels[channel, LINK]
    slot = traffic.state[SLOT]
    if not limited and traffic.links[link, LATEST] != slot:
        traffic.links[link, LATEST] = slot
        traffic.links[link, ACTIVATIONS] += 1
    traffic.kinds[kind, KIND_MESSAGES] += 1
    traffic.kinds[kind, KIND_BYTES] += size
    return int(arrival)


@inlined
def next_due(traffic: Traffic, queues: Queues) -> int:
    """Return when (ns) something arrives next or, where something can go wrong, anything is due; `NEVER`: never."""
    return int(_next_due(traffic, queues.faults))


@inlined
def _next_due(traffic: Traffic, faults: Faults | None) -> int:
    if faults is None:
        return int(next_arrival(traffic))
    return int(soonest(faults))


@inlined
def release(queues: Queues, message: int) -> None:
    """Give back a message that has been handled."""
    _release(queues.messages, queues.unused, queues.faults, message)


@inlined
def _release(messages: Integers, unused: Integers, faults: Faults | None, message: int) -> None:
    if faults is None:
        give_back(messages, unused, message)
    else:
        drop(messages, unused, message)


@inlined
def take(traffic: Traffic, queues: Queues) -> int:
    """Take off the channels what arrives in this pass; return why it stopped, or that all is in the inbox."""
    return int(_take(traffic, queues.messages, queues.unused, queues.faults))


@inlined
def _take(traffic: Traffic, messages: Integers, unused: Integers, faults: Faults | None) -> int:
    if faults is not None:
        return int(deliver(traffic, messages, unused, faults))
    state, channels = traffic.state, traffic.channels
    now = state[NOW]
    while state[WINDOW_AT] < state[PASS_END]:
        channel = traffic.window[state[WINDOW_AT]] & CHANNEL_MASK
        message = channels[channel, FIRST]
        receiver = channels[channel, RECEIVER]
        due = now
        while due == now:
            place, event = state[INBOX_END], state[EVENTS]
            if event == len(traffic.events):
                return EVENTS_FULL
            if place == len(traffic.inbox):
                return INBOX_FULL
            traffic.inbox[place, CHANNEL] = channel
            traffic.inbox[place, MESSAGE] = message
            state[INBOX_END] = place + 1
            traffic.events[event, 0] = now
            traffic.events[event, 1] = receiver
            traffic.events[event, 2] = traffic.kinds[messages[message, KIND], CODE]
            traffic.events[event, 3] = messages[message, SIZE]
            state[EVENTS] = event + 1
            due = messages[message, NEXT_ARRIVAL]
            message = messages[message, FOLLOWING]
            channels[channel, FIRST] = message
        state[WINDOW_AT] += 1
        if message >= 0:
            expect(traffic, channel, due)
    return ARRIVED


@inlined
def advance(traffic: Traffic, queues: Queues, arrivals_until: int, steps_until: int, step: int) -> int:
    """Go on to the next pass or step; see `netbandit.simulation.kernels.traffic.advance`."""
    return int(_advance(traffic, queues.messages, queues.unused, queues.faults, arrivals_until, steps_until, step))


@inlined
def _advance(
    traffic: Traffic,
    messages: Integers,
    unused: Integers,
    faults: Faults | None,
    arrivals_until: int,
    steps_until: int,
    step: int,
) -> int:
    if faults is None:
        return int(advance_without_faults(traffic, arrivals_until, steps_until, step))
    return int(advance_with_faults(traffic, messages, unused, faults, arrivals_until, steps_until, step))


@inlined
def arrives_on(traffic: Traffic, queues: Queues, place: int) -> int:
    """Return the channel of what is at a *place* of the present pass."""
    return int(_arrives_on(traffic, queues.faults, place))


@inlined
def _arrives_on(traffic: Traffic, faults: Faults | None, place: int) -> int:
    if faults is None:
        return int(traffic.window[place] & CHANNEL_MASK)
    return int(faults.due[place, 1] >> SERIAL_BITS)


@inlined
def expect_on(traffic: Traffic, queues: Queues, channel: int, arrival: int) -> bool:
    """Have a channel looked at when something arrives on it that is not here; return whether there was room for that.

    Where something can go wrong, below zero stands for senders that stop waiting then.
    """
    return bool(_expect_on(traffic, queues.faults, channel, arrival))


@inlined
def _expect_on(traffic: Traffic, faults: Faults | None, channel: int, arrival: int) -> bool:
    if faults is None:
        expect(traffic, channel, arrival)
        return True
    return bool(expect_outside(faults, channel, arrival))
