"""The links of a network as arrays, and the calendar of what arrives on them; all compiled.

The rules are those of `netbandit.network.network`, which is the reference: a channel brings its messages in the order
of sending, an instant is handled in passes, and a pass in order of the channels' ranks. The calendar has an entry for
each channel with something under way, not for each message, in buckets of time. What it is that is under way is known
to `queues`, where each channel has messages of its own, and to `flooding`, where they are what nodes have said.

Source:
    R. Brown, Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem,
    Communications of the ACM 31(10), 1988.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.compiled import inlined
from netbandit.simulation.kernels.sorting import insert, sort

Integers = NDArray[np.int64]

NEVER = 1 << 62
"""Later than any time."""

# Columns of `Traffic.channels`, a row a channel, in order of (receiver, sender).
# `FIRST` and `LAST` are of what is under way, `REVERSE` is the channel the other way. Where bandwidth is limited,
# `FREE_AT` is when (ns) all that was sent will have been put on it, and `BOOKED` the latest slot it is booked for.
# Where something can go wrong, `LOST` is how many messages were lost, `HELD_UNTIL` the arrival (ns) behind which others
# are held back, and `DRAWN` for how many messages there are numbers.
LATENCY, RECEIVER, SENDER, DUE, NEXT, FIRST, LAST, LINK, MESSAGES, BYTES, REVERSE, FREE_AT, BOOKED = range(13)
LOST, HELD_UNTIL, DRAWN = range(13, 16)
CHANNEL_COLUMNS = 16  # a row begins with what is needed for each message, and fills whole lines of a cache

# Columns of `Traffic.links`, `Traffic.kinds`, `Traffic.inbox` and `Traffic.steps`.
LATEST, ACTIVATIONS = range(2)
CODE, KIND_MESSAGES, KIND_BYTES = range(3)
CHANNEL, MESSAGE = range(2)
NODE, STEP_LABELS, STEP_COUNT = range(3)

# Places in `Traffic.state`.
(
    NOW,
    SLOT,
    SLOT_ENDS,  # the time (ns) at which the slot of now ends
    SLOT_NS,
    END,
    BANDWIDTH,  # bits a second, 0: unlimited
    BOOKINGS,
    WINDOW,  # the bucket of time that the window holds, with all before it
    WIDTH_BITS,  # a bucket is 2^WIDTH_BITS ns long
    WAITING,  # channels in buckets
    WINDOW_AT,
    WINDOW_SORTED,
    WINDOW_END,
    PASS_END,
    INBOX_AT,
    INBOX_END,
    EVENTS,
    STEP_TIME,  # when the steps below are due
    STEPS,
    STEP_AT,  # of the steps of this instant, the one that is next
    STEPS_BEGUN,  # whether this instant's have begun
    NEXT_ARRIVAL,  # when it stopped: when it would have gone on
    NEXT_STEP,
    HEARD_OVER,  # the channel that has brought the call for which it stopped, and when (ns) that was sent
    HEARD_BEGUN,
) = range(25)
STATES = 25

# Why a loop returns.
(
    STOPPED,
    ENDED_ROUND,
    EVENTS_FULL,
    MESSAGES_FULL,
    INBOX_FULL,
    STEPS_FULL,
    LISTS_FULL,
    CHOICES_USED,
    BOOKINGS_FULL,
    HEAPS_FULL,
    DRAWS_USED,
    STATES_USED,
    OUTSIDE_TIMERS,  # it is time for `Network.stop_waiting`
    ENDED_AND_LEFT,  # a round has ended, and nothing is left of this instant: the state says when it would go on
    HEARD_CALL,
) = range(15)
ROUND_ENDS = (ENDED_ROUND, ENDED_AND_LEFT)
ARRIVED, STEP = 100, 101

FEW = 16
"""So many entries of the window are sorted by insertion."""

CHANNEL_BITS = 32
CHANNEL_MASK = (1 << CHANNEL_BITS) - 1
"""The part of an entry of the window that is the channel."""


class Traffic(NamedTuple):
    """The links of a network, and what is under way on them.

    Attributes:
        state: Numbers by the places above.
        channels: A row a channel.
        links: A row a link: the slot in which it was used last, and its activations.
        starts, out: The channels that leave node v, by receiver: ``out[starts[v]:starts[v + 1]]``.
        buckets: For each bucket of time the first channel whose next message arrives in it, or -1.
        window: What arrives in the present bucket, and before: time within it and channel in one number, so that
            sorting these sorts by (time, rank).
        inbox: What has arrived in this pass: the channel, and a message.
        events: What has arrived since the fingerprint was told: time, node, code, size.
        kinds: A row a kind of message: its code, messages and bytes so far.
        steps: What nodes deal with at the next step: node, and what is learnt.
        order: Room to sort steps in.
        booked: Links and the slots in which messages are put on them, where bandwidth is limited: a queue books slots
            of the future, so the two directions of a link reach a slot in any order.
    """

    state: Integers
    channels: Integers
    links: Integers
    starts: Integers
    out: Integers
    buckets: Integers
    window: Integers
    inbox: Integers
    events: Integers
    kinds: Integers
    steps: Integers
    order: Integers
    booked: Integers


@inlined
def expect(traffic: Traffic, channel: int, arrival: int) -> None:
    """Have a channel looked at when its next message arrives."""
    state = traffic.state
    bucket = arrival >> state[WIDTH_BITS]
    if bucket < state[WINDOW]:
        _put_back(traffic)
        state[WINDOW] = bucket
    state[WINDOW_END] = put_into(traffic, channel, arrival, state[WINDOW], state[WINDOW_END])


@inlined
def put_into(traffic: Traffic, channel: int, arrival: int, window: int, end: int) -> int:
    """As `expect`, where nothing comes before the bucket that the *window* holds; return where that ends then."""
    state, channels = traffic.state, traffic.channels
    bits = state[WIDTH_BITS]
    bucket = arrival >> bits
    channels[channel, DUE] = arrival
    if bucket == window:
        traffic.window[end] = ((arrival - (bucket << bits)) << CHANNEL_BITS) | channel
        return end + 1
    place = bucket & (len(traffic.buckets) - 1)
    channels[channel, NEXT] = traffic.buckets[place]
    traffic.buckets[place] = channel
    state[WAITING] += 1
    return end


@inlined
def _put_back(traffic: Traffic) -> None:
    """Put what is in the window back into its bucket: something comes before it."""
    state, channels = traffic.state, traffic.channels
    place = state[WINDOW] & (len(traffic.buckets) - 1)
    for at in range(state[WINDOW_AT], state[WINDOW_END]):
        channel = traffic.window[at] & CHANNEL_MASK
        channels[channel, NEXT] = traffic.buckets[place]
        traffic.buckets[place] = channel
        state[WAITING] += 1
    state[WINDOW_AT] = state[WINDOW_SORTED] = state[WINDOW_END] = 0


@inlined
def load(traffic: Traffic, bucket: int) -> int:
    """Move the channels that are due in *bucket*, not laps later, to the window, which is empty; return how many."""
    state, channels = traffic.state, traffic.channels
    bits = state[WIDTH_BITS]
    place = bucket & (len(traffic.buckets) - 1)
    channel = traffic.buckets[place]
    kept, end = -1, 0
    while channel >= 0:
        following = channels[channel, NEXT]
        due = channels[channel, DUE]
        if due >> bits == bucket:
            traffic.window[end] = ((due - (bucket << bits)) << CHANNEL_BITS) | channel
            end += 1
        else:
            channels[channel, NEXT] = kept
            kept = channel
        channel = following
    traffic.buckets[place] = kept
    state[WAITING] -= end
    return end


@inlined
def _earliest(traffic: Traffic) -> int:
    """Return the bucket of time in which the first channel is due, however far away."""
    earliest = NEVER
    for place in range(len(traffic.buckets)):
        channel = traffic.buckets[place]
        while channel >= 0:
            earliest = min(earliest, traffic.channels[channel, DUE])
            channel = traffic.channels[channel, NEXT]
    return int(earliest >> traffic.state[WIDTH_BITS])


@inlined
def _sort_window(traffic: Traffic) -> None:
    """Sort the rest of the window: a few new entries into the others, or all."""
    state, window = traffic.state, traffic.window
    at, sorted_to, end = state[WINDOW_AT], state[WINDOW_SORTED], state[WINDOW_END]
    if sorted_to < at:
        sorted_to = at
    if end - sorted_to > FEW:
        sort(window, at, end, state, STATES)
    else:
        insert(window, at, sorted_to, end)
    state[WINDOW_SORTED] = end


@inlined
def next_arrival(traffic: Traffic) -> int:
    """Return when (ns) the next message arrives, and have it first in the window; `NEVER`: nothing is under way."""
    state = traffic.state
    if state[WINDOW_AT] == state[WINDOW_END]:
        state[WINDOW_AT] = state[WINDOW_SORTED] = state[WINDOW_END] = 0
        if state[WAITING] == 0:
            return NEVER
        bucket = state[WINDOW]
        looked = 0
        while state[WINDOW_END] == 0:
            bucket += 1
            looked += 1
            if looked > len(traffic.buckets):
                bucket = _earliest(traffic)
            if traffic.buckets[bucket & (len(traffic.buckets) - 1)] >= 0:
                state[WINDOW_END] = load(traffic, bucket)
        state[WINDOW] = bucket
    elif state[WINDOW_END] + len(traffic.channels) > len(traffic.window):  # let go of what has been handled
        at, end = state[WINDOW_AT], state[WINDOW_END]
        for place in range(at, end):
            traffic.window[place - at] = traffic.window[place]
        state[WINDOW_SORTED] = max(0, state[WINDOW_SORTED] - at)
        state[WINDOW_AT] = 0
        state[WINDOW_END] = end - at
    if state[WINDOW_SORTED] < state[WINDOW_END]:
        _sort_window(traffic)
    return int((state[WINDOW] << state[WIDTH_BITS]) + (traffic.window[state[WINDOW_AT]] >> CHANNEL_BITS))


@inlined
def move_to(state: Integers, time: int) -> None:
    """Move the clock of the loop to *time* (ns)."""
    state[NOW] = time
    if time >= state[SLOT_ENDS]:
        state[SLOT] = time // state[SLOT_NS]
        state[SLOT_ENDS] = (state[SLOT] + 1) * state[SLOT_NS]


@inlined
def advance(traffic: Traffic, arrivals_until: int, steps_until: int, step: int) -> int:
    """Go on to the next pass or step, once all of the one before is handled.

    Args:
        traffic: What is under way.
        arrivals_until: Messages are delivered up to this time (ns),
        steps_until: and steps made up to this one: what comes later comes after something outside.
        step: When the next step is due (ns).

    Returns:
        `ARRIVED`: the window begins with a pass, up to `PASS_END`; `STEP`: it is time for the next step; else why to
        stop.
    """
    state, window = traffic.state, traffic.window
    state[PASS_END] = 0
    state[INBOX_AT] = state[INBOX_END] = 0
    arrival = state[NEXT_ARRIVAL] = next_arrival(traffic)
    state[NEXT_STEP] = step
    if arrival <= step:
        if arrival > arrivals_until or arrival == NEVER:
            return STOPPED
        move_to(state, arrival)
        at = state[WINDOW_AT]
        last = ((window[at] >> CHANNEL_BITS) + 1) << CHANNEL_BITS
        end = at + 1
        while end < state[WINDOW_END] and window[end] < last:
            end += 1
        state[PASS_END] = end
        return ARRIVED
    if step > steps_until:
        return STOPPED
    move_to(state, step)
    return STEP


@inlined
def inbox_of_one(traffic: Traffic) -> int:
    """Return where in the inbox what has reached the first receiver ends."""
    inbox, channels = traffic.inbox, traffic.channels
    at = traffic.state[INBOX_AT]
    receiver = channels[inbox[at, CHANNEL], RECEIVER]
    end = at + 1
    while end < traffic.state[INBOX_END] and channels[inbox[end, CHANNEL], RECEIVER] == receiver:
        end += 1
    return int(end)


@inlined
def step_time(traffic: Traffic, begun: int) -> int:
    """Return when (ns) a slotted hop takes effect that has brought something now; see `Clock.effective_time`."""
    state = traffic.state
    slot = state[SLOT_NS]
    return int(max(begun // slot + 1, (state[NOW] + slot - 1) // slot) * slot)


@inlined
def add_step(traffic: Traffic, time: int, node: int, labels: int, count: int) -> None:
    """Let *node* deal with something at *time*, the time of the next step; there is room for it."""
    state = traffic.state
    place = state[STEPS]
    traffic.steps[place, NODE] = node
    traffic.steps[place, STEP_LABELS] = labels
    traffic.steps[place, STEP_COUNT] = count
    state[STEPS] = place + 1
    state[STEP_TIME] = time


@inlined
def begin_steps(traffic: Traffic) -> None:
    """Sort what is due in this step by node, for each in the order in which it came."""
    state, order = traffic.state, traffic.order
    number = state[STEPS]
    state[STEPS_BEGUN] = 1
    for place in range(number):
        order[place] = (traffic.steps[place, NODE] << CHANNEL_BITS) | place
    sort(order, 0, number, state, STATES)
    for place in range(number):
        order[place] &= CHANNEL_MASK


@inlined
def end_steps(traffic: Traffic) -> None:
    """Forget what was due: the step has been made."""
    state = traffic.state
    state[STEPS] = 0
    state[STEPS_BEGUN] = 0
    state[STEP_AT] = 0
    state[STEP_TIME] = NEVER


@inlined
def can_book(traffic: Traffic, messages: int) -> bool:
    """Return whether there is room to book slots for so many messages."""
    return bool(traffic.state[BANDWIDTH] == 0 or traffic.state[BOOKINGS] + messages <= len(traffic.booked))


@inlined
def queue(traffic: Traffic, channel: int, size: int, said: int) -> bool:
    """Let a message of *size* bytes, sent at the time *said* (ns), queue for a channel of limited bandwidth.

    `FREE_AT` is then when all of it is on the channel. Return whether it is sent at all: not after the horizon.
    """
    state, channels = traffic.state, traffic.channels
    start = max(channels[channel, FREE_AT], said)
    if start >= state[END]:
        return False
    bandwidth = state[BANDWIDTH]
    channels[channel, FREE_AT] = start + (size * 8_000_000_000 + bandwidth - 1) // bandwidth
    slot = start // state[SLOT_NS]
    if channels[channel, BOOKED] != slot:
        channels[channel, BOOKED] = slot
        place = state[BOOKINGS]
        traffic.booked[place, 0] = channels[channel, LINK]
        traffic.booked[place, 1] = slot
        state[BOOKINGS] = place + 1
    return True
