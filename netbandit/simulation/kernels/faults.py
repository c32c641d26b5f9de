"""What goes wrong with messages, compiled: they are lost, late, doubled and sent again.

The rules are those of `netbandit.network.hop` where no node fails, which is the reference. What arrives
is in a heap, in order of time, channel and sending; what senders wait for in vain is in another. What messages draw is
given to the loop in advance, a window of each channel's numbers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.compiled import compiled, inlined
from netbandit.simulation.kernels.heaps import COLUMNS, pop, push
from netbandit.simulation.kernels.message_rows import (
    KIND,
    LABELS,
    REFERENCES,
    SENT,
    SETTLED,
    SIZE,
    SPREAD,
    TAKEN,
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
    CODE,
    DRAWN,
    DRAWS_USED,
    END,
    EVENTS,
    EVENTS_FULL,
    FREE_AT,
    HEAPS_FULL,
    HELD_UNTIL,
    INBOX_AT,
    INBOX_END,
    INBOX_FULL,
    KIND_BYTES,
    KIND_MESSAGES,
    LATENCY,
    LATEST,
    LINK,
    LOST,
    MESSAGE,
    MESSAGES,
    MESSAGES_FULL,
    NEVER,
    NEXT_ARRIVAL,
    NEXT_STEP,
    NOW,
    OUTSIDE_TIMERS,
    PASS_END,
    RECEIVER,
    REVERSE,
    SENDER,
    SLOT,
    STATES_USED,
    STEP,
    STOPPED,
    WINDOW_AT,
    Integers,
    Traffic,
    can_book,
    move_to,
    queue,
)

# Places in `Faults.state`.
(
    DELIVERIES,  # how many rows `Faults.deliveries` has,
    TIMERS,  # and `Faults.timers`
    SERIAL,  # how much was put into either so far
    TIMERS_BEFORE,  # 0: the timers of this instant have been looked at; -1: not yet; else those with a lower serial are
    KNOWN_UNTIL,  # until when (ns) it is known in which state each channel is
    WANTED,  # how many numbers of one channel are needed at once
    LOST_IN_ALL,
    DELIVERED,
    DUPLICATES,
    DUPLICATES_DROPPED,
    RETRANSMISSIONS,
    GIVEN_UP,
) = range(12)
FAULT_STATES = 12

NO_LOSS, CONSTANT, BITS, BURSTS = range(4)

# Columns of `Faults.stays`.
NEXT_SWITCH, LAST_SWITCH, IS_BAD = range(3)

UNIT = 1.0 / (1 << 53)
"""A number from [0, 1) is so many of this."""

ACKNOWLEDGEMENT = -1
"""Stands for the kind in the row of an acknowledgement, whose labels are the row of what it acknowledges."""

KIND_BITS = 4
SERIAL_BITS = 36
_LOST, _NOT_SENT, _NO_TIMER = -1, -2, -1
_OUTSIDE = -1
_LONGEST = float(1 << 62)


class Law(NamedTuple):
    """What can go wrong; see `netbandit.network.faults.ChannelFaults`.

    Attributes:
        loss: Which law of losses.
        chance: The probability that a message is lost, that a bit is, or that a message is while its channel is good.
        bad: The probability that a message is lost while its channel is bad.
        overtaking: Whether messages overtake one another.
        duplicate: The probability that a message arrives once more.
        attempts: How often a message is sent in all; 0: nothing is acknowledged.
        timeout: How long (ns) a sender waits.
        spread: The largest factor that a message draws for that.
        acknowledgement: The bytes of an acknowledgement.
        kinds: How many kinds of messages the protocol has; the repetitions of each follow, then acknowledgements.
        loss_at, jitter_at, duplicate_at, copy_at, spread_at: The column of `Faults.numbers` with what a message draws
            for its loss, its jitter, being doubled, the jitter of its copy and its timeouts; -1: it draws nothing.
    """

    loss: int
    chance: float
    bad: float
    overtaking: bool
    duplicate: float
    attempts: int
    timeout: float
    spread: float
    acknowledgement: int
    kinds: int
    loss_at: int
    jitter_at: int
    duplicate_at: int
    copy_at: int
    spread_at: int


class Faults(NamedTuple):
    """All that goes wrong, and what is under way.

    Attributes:
        state: Numbers by the places above.
        law: What can go wrong.
        deliveries: A heap of what arrives: when; the channel, and its place among all that was sent; the message, and
            the kind in which it was sent, or -1 if it is outside; when its sender stops waiting, or -1.
        timers: A heap of when senders stop waiting in vain: when; in which order that was found; message, -1 if it is
            outside; channel.
        due: What arrives in this pass, rows of `deliveries`.
        numbers: What the messages of each channel draw, message k in row k modulo their number, a column for each
            purpose: in units of 2^-53, jitter in nanoseconds; shape (channels, window, purposes).
        left: At least so many numbers are left on each channel that leaves a node, shape (agents,).
        factors: What the k-th repetition multiplies the timeout by.
        stays: Of each channel where in `switches` are the next and the last of its times that are known, and whether it
            is bad before these, shape (channels, 3).
        switches: When (ns) channels become bad or good.
        first_cuts: Where in `cuts` the rows of each link begin, and the end, shape (links + 1,); empty: none is down.
        cuts: From when until before when (ns) links are down, shape (n, 2).
    """

    state: Integers
    law: Law
    deliveries: Integers
    timers: Integers
    due: Integers
    numbers: Integers
    left: Integers
    factors: NDArray[np.float64]
    stays: Integers
    switches: Integers
    first_cuts: Integers
    cuts: Integers


@compiled
def _look(traffic: Traffic, faults: Faults, node: int, most: int) -> int:
    """Count anew what is left on the channels that leave *node*; return why that is too little, or `ARRIVED`."""
    least = NEVER
    for place in range(traffic.starts[node], traffic.starts[node + 1]):
        channel = traffic.out[place]
        least = min(least, traffic.channels[channel, DRAWN] - traffic.channels[channel, MESSAGES])
    faults.left[node] = least
    if least < most:
        faults.state[WANTED] = most
        return DRAWS_USED
    return ARRIVED


@inlined
def can_draw(traffic: Traffic, faults: Faults, node: int, most: int) -> int:
    """Let *node* send up to so many messages on a channel; return why it cannot, for want of numbers, or `ARRIVED`."""
    if faults.left[node] < most:
        why: int = _look(traffic, faults, node, most)
        if why != ARRIVED:
            return why
    faults.left[node] -= most
    return ARRIVED


@inlined
def can_send(traffic: Traffic, unused: Integers, faults: Faults, number: int) -> int:
    """Return why there is no room for so many messages, or `ARRIVED`."""
    state = faults.state
    if unused[UNUSED_COUNT] < number:
        return MESSAGES_FULL
    if state[DELIVERIES] + 2 * number > len(faults.deliveries) or state[TIMERS] + 2 * number > len(faults.timers):
        return HEAPS_FULL  # of each there may be a copy, and two timers: its sender's, and that of what it answers
    if traffic.state[NOW] >= state[KNOWN_UNTIL]:
        return STATES_USED
    if not can_book(traffic, number):
        return BOOKINGS_FULL
    return ARRIVED


@inlined
def patience(law: Law, factors: NDArray[np.float64], number: int, repetition: int) -> int:
    """Return how long (ns) a sender waits; see `netbandit.network.retry.Retry.patience`."""
    wait = law.timeout * (1.0 + number * UNIT * (law.spread - 1.0)) * factors[repetition]
    return int(np.rint(wait)) if wait < _LONGEST else 1 << 62


@inlined
def loss_of(law: Law, size: int) -> float:
    """Return the probability that a message of *size* bytes is lost, where bits are."""
    return float(1.0 - (1.0 - law.chance) ** float(8 * size))


@inlined
def _chance(faults: Faults, channel: int, size: int, start: int) -> float:
    """Return the probability that what starts at *start* (ns) on *channel* is lost."""
    law = faults.law
    if law.loss == CONSTANT:
        return law.chance
    if law.loss == BITS:
        return float(loss_of(law, size))
    stays = faults.stays
    at = stays[channel, NEXT_SWITCH]
    while at < stays[channel, LAST_SWITCH] and faults.switches[at] <= start:
        at += 1
        stays[channel, IS_BAD] ^= 1
    stays[channel, NEXT_SWITCH] = at
    return law.bad if stays[channel, IS_BAD] else law.chance


@inlined
def _arrive(
    messages: Integers, faults: Faults, arrival: int, channel: int, message: int, kind: int, until: int
) -> None:
    """Let *message* arrive; its sender waits *until* then (ns) for the acknowledgement, or -1."""
    state = faults.state
    state[SERIAL] += 1
    place = (channel << SERIAL_BITS) | state[SERIAL]
    push(faults.deliveries, state[DELIVERIES], arrival, place, (message << KIND_BITS) | kind, until)
    state[DELIVERIES] += 1
    messages[message, REFERENCES] += 1


@inlined
def _wait_for(messages: Integers, faults: Faults, message: int, channel: int, deadline: int) -> None:
    """Let the sender of *message* look at *deadline* (ns) whether it was acknowledged."""
    state = faults.state
    if not messages[message, SETTLED]:
        state[SERIAL] += 1
        push(faults.timers, state[TIMERS], min(deadline, NEVER - 1), state[SERIAL], message, channel)
        state[TIMERS] += 1
        messages[message, REFERENCES] += 1


@inlined
def _is_cut(faults: Faults, link: int, begin: int, end: int) -> bool:
    """Return whether *link* is down at any moment from *begin* to *end* (ns), both included."""
    if len(faults.first_cuts) == 0:
        return False
    first = low = faults.first_cuts[link]
    high = faults.first_cuts[link + 1]
    while low < high:  # the first that begins later
        middle = (low + high) >> 1
        if faults.cuts[middle, 0] <= end:
            low = middle + 1
        else:
            high = middle
    return bool(low > first and faults.cuts[low - 1, 1] > begin)


@compiled
def _transmit(traffic: Traffic, messages: Integers, faults: Faults, channel: int, message: int, kind: int) -> int:
    """Put *message* on *channel* as one of a *kind*, and decide what will become of it.

    Return when it arrives (ns); or that it is lost, or was not sent.
    """
    state, channels, law, numbers = traffic.state, traffic.channels, faults.law, faults.numbers
    start = sent = state[NOW]
    size = messages[message, SIZE]
    link = channels[channel, LINK]
    if state[BANDWIDTH] > 0:
        start = max(channels[channel, FREE_AT], start)
        if not queue(traffic, channel, size, state[NOW]):
            return _NOT_SENT
        sent = channels[channel, FREE_AT]
    elif start >= state[END]:
        return _NOT_SENT
    else:
        if traffic.links[link, LATEST] != state[SLOT]:
            traffic.links[link, LATEST] = state[SLOT]
            traffic.links[link, ACTIVATIONS] += 1
    drawn = channels[channel, MESSAGES] % numbers.shape[1]
    channels[channel, MESSAGES] += 1
    channels[channel, BYTES] += size
    traffic.kinds[kind, KIND_MESSAGES] += 1
    traffic.kinds[kind, KIND_BYTES] += size
    arrival = sent + channels[channel, LATENCY]
    if law.jitter_at >= 0:
        arrival += numbers[channel, drawn, law.jitter_at]
    repeated = messages[message, SENT] > 0
    if not repeated and not law.overtaking:
        arrival = max(arrival, channels[channel, HELD_UNTIL])
    lost = False
    if law.loss != NO_LOSS:
        lost = numbers[channel, drawn, law.loss_at] * UNIT < _chance(faults, channel, size, start)
    lost = lost or _is_cut(faults, link, start, arrival)
    deadline = _NO_TIMER
    if law.attempts > 0 and kind != 2 * law.kinds:
        if not repeated:
            messages[message, SPREAD] = numbers[channel, drawn, law.spread_at]
        deadline = sent + patience(law, faults.factors, messages[message, SPREAD], messages[message, SENT])
        messages[message, SENT] += 1
        if lost or arrival > deadline:
            _wait_for(messages, faults, message, channel, deadline)
            deadline = _NO_TIMER
    if lost:
        channels[channel, LOST] += 1
        faults.state[LOST_IN_ALL] += 1
        return _LOST
    if not repeated:
        channels[channel, HELD_UNTIL] = arrival
    if law.duplicate_at >= 0 and numbers[channel, drawn, law.duplicate_at] * UNIT < law.duplicate:
        faults.state[DUPLICATES] += 1
        copy = sent + channels[channel, LATENCY]
        if law.copy_at >= 0:
            copy += numbers[channel, drawn, law.copy_at]
        if not law.overtaking:
            copy = max(copy, arrival)
        if _is_cut(faults, link, start, copy):
            faults.state[LOST_IN_ALL] += 1
        else:
            _arrive(messages, faults, copy, channel, message, kind, _NO_TIMER)
    _arrive(messages, faults, arrival, channel, message, kind, deadline)
    return int(arrival)


@inlined
def soonest(faults: Faults) -> int:
    """Return when (ns) next something arrives, or somebody stops waiting."""
    time = NEVER
    if faults.state[DELIVERIES] > 0:
        time = faults.deliveries[0, 0]
    if faults.state[TIMERS] > 0:
        time = min(time, faults.timers[0, 0])
    return int(time)


@compiled
def send(
    traffic: Traffic,
    messages: Integers,
    unused: Integers,
    faults: Faults,
    channel: int,
    kind: int,
    size: int,
    round: int,
    begun: int,
    labels: int,
    count: int,
) -> int:
    """Put a message on a channel now, for which there is room and what it draws; return when (ns) anything is due."""
    message = _new(messages, unused, kind, size, round, begun, labels, count)
    _transmit(traffic, messages, faults, channel, message, kind)
    if messages[message, REFERENCES] == 0:
        give_back(messages, unused, message)
    return int(soonest(faults))


@inlined
def _new(
    messages: Integers, unused: Integers, kind: int, size: int, round: int, begun: int, labels: int, count: int
) -> int:
    message = use_row(messages, unused, kind, size, round, begun, labels, count)
    for column in (REFERENCES, SENT, TAKEN, SETTLED, SPREAD):
        messages[message, column] = 0
    return int(message)


@inlined
def expect_outside(faults: Faults, channel: int, time: int) -> bool:
    """Have the loop look outside for what arrives on a *channel* of there at a *time* (ns), or below zero for timers.

    Return whether there was room for that.
    """
    state = faults.state
    if state[DELIVERIES] == len(faults.deliveries) or state[TIMERS] == len(faults.timers):
        return False
    state[SERIAL] += 1
    if channel < 0:
        push(faults.timers, state[TIMERS], min(time, NEVER - 1), state[SERIAL], _OUTSIDE, channel)
        state[TIMERS] += 1
    else:
        place = (channel << SERIAL_BITS) | state[SERIAL]
        push(faults.deliveries, state[DELIVERIES], time, place, _OUTSIDE, _NO_TIMER)
        state[DELIVERIES] += 1
    return True


@inlined
def drop(messages: Integers, unused: Integers, message: int) -> None:
    """Note that one thing less refers to *message*, and let its row be used again if nothing does."""
    while message >= 0:
        messages[message, REFERENCES] -= 1
        if messages[message, REFERENCES] > 0:
            return
        acknowledged = messages[message, LABELS] if messages[message, KIND] == ACKNOWLEDGEMENT else -1
        give_back(messages, unused, message)
        message = acknowledged


@inlined
def _acknowledge(
    traffic: Traffic, messages: Integers, unused: Integers, faults: Faults, channel: int, message: int, deadline: int
) -> None:
    """Acknowledge what has arrived on *channel*, and let its sender wait in vain if it must, until *deadline* (ns)."""
    law = faults.law
    answer = _new(messages, unused, ACKNOWLEDGEMENT, law.acknowledgement, -1, 0, message, 0)
    arrival = _transmit(traffic, messages, faults, traffic.channels[channel, REVERSE], answer, 2 * law.kinds)
    if messages[answer, REFERENCES] > 0:
        messages[message, REFERENCES] += 1
    else:
        give_back(messages, unused, answer)
    if deadline != _NO_TIMER and (arrival < 0 or arrival > deadline):
        _wait_for(messages, faults, message, channel, deadline)


@compiled
def deliver(traffic: Traffic, messages: Integers, unused: Integers, faults: Faults) -> int:
    """Put into the inbox what arrives in this pass, and acknowledge it; return why it stopped, or that all is there."""
    state, due, law = traffic.state, faults.due, faults.law
    while state[WINDOW_AT] < state[PASS_END]:
        at = state[WINDOW_AT]
        channel = due[at, 1] >> SERIAL_BITS
        kind = due[at, 2] & ((1 << KIND_BITS) - 1)
        message = due[at, 2] >> KIND_BITS
        receiver = traffic.channels[channel, RECEIVER]
        place, event = state[INBOX_END], state[EVENTS]
        if event == len(traffic.events):
            return EVENTS_FULL
        if place == len(traffic.inbox):
            return INBOX_FULL
        answered = law.attempts > 0 and kind != 2 * law.kinds
        if answered:
            why: int = can_send(traffic, unused, faults, 1)
            if why == ARRIVED:
                why = can_draw(traffic, faults, receiver, 1)
            if why != ARRIVED:
                return why
        traffic.events[event, 0] = state[NOW]
        traffic.events[event, 1] = receiver
        traffic.events[event, 2] = traffic.kinds[kind, CODE]
        traffic.events[event, 3] = messages[message, SIZE]
        state[EVENTS] = event + 1
        state[WINDOW_AT] = at + 1
        news = messages[message, TAKEN] == 0
        messages[message, TAKEN] = 1
        faults.state[DELIVERED if news else DUPLICATES_DROPPED] += 1
        if kind == 2 * law.kinds:
            messages[messages[message, LABELS], SETTLED] = 1
            news = False
        if answered:
            _acknowledge(traffic, messages, unused, faults, channel, message, due[at, 3])
        if news:
            traffic.inbox[place, CHANNEL] = channel
            traffic.inbox[place, MESSAGE] = message
            state[INBOX_END] = place + 1
        else:
            drop(messages, unused, message)
    return ARRIVED


@inlined
def _repeat(traffic: Traffic, messages: Integers, unused: Integers, faults: Faults, message: int, channel: int) -> None:
    """Send *message* once more, unless it was acknowledged after all, or that was the last attempt."""
    law, state = faults.law, faults.state
    if not messages[message, SETTLED] and traffic.state[NOW] < traffic.state[END]:
        if messages[message, SENT] >= law.attempts:
            messages[message, SETTLED] = 1
            state[GIVEN_UP] += 1
        else:
            kind = messages[message, KIND] + law.kinds
            if _transmit(traffic, messages, faults, channel, message, kind) != _NOT_SENT:
                state[RETRANSMISSIONS] += 1
    drop(messages, unused, message)


@inlined
def _look_at_timers(traffic: Traffic, messages: Integers, unused: Integers, faults: Faults) -> int:
    """Let senders repeat what they wait for in vain, once all of a pass is handled; return why it stopped."""
    state, timers, now = faults.state, faults.timers, traffic.state[NOW]
    if state[TIMERS_BEFORE] == -1:
        state[TIMERS_BEFORE] = state[SERIAL] + 1
    while state[TIMERS] > 0 and timers[0, 0] == now and timers[0, 1] < state[TIMERS_BEFORE]:
        message, channel = timers[0, 2], timers[0, 3]
        if message == _OUTSIDE:
            pop(timers, state[TIMERS])
            state[TIMERS] -= 1
            return OUTSIDE_TIMERS
        why: int = can_send(traffic, unused, faults, 1)
        if why == ARRIVED:
            why = can_draw(traffic, faults, traffic.channels[channel, SENDER], 1)
        if why != ARRIVED:
            return why
        pop(timers, state[TIMERS])
        state[TIMERS] -= 1
        _repeat(traffic, messages, unused, faults, message, channel)
    state[TIMERS_BEFORE] = 0
    return ARRIVED


@compiled
def advance(
    traffic: Traffic,
    messages: Integers,
    unused: Integers,
    faults: Faults,
    arrivals_until: int,
    steps_until: int,
    step: int,
) -> int:
    """Go on to the next pass or step; see `netbandit.simulation.kernels.traffic.advance`.

    What arrives in the pass is then in `Faults.due`, from `WINDOW_AT` to `PASS_END`.
    """
    state, own, deliveries, due = traffic.state, faults.state, faults.deliveries, faults.due
    while True:
        state[WINDOW_AT] = state[PASS_END] = 0
        state[INBOX_AT] = state[INBOX_END] = 0
        if own[TIMERS_BEFORE] != 0:
            why: int = _look_at_timers(traffic, messages, unused, faults)
            if why != ARRIVED:
                return why
        time = state[NEXT_ARRIVAL] = soonest(faults)
        state[NEXT_STEP] = step
        if time > step:
            if step > steps_until:
                return STOPPED
            move_to(state, step)
            return STEP
        if time > arrivals_until or time == NEVER:
            return STOPPED
        if own[DELIVERIES] > len(due):
            return HEAPS_FULL  # all of them may arrive now
        move_to(state, time)
        own[TIMERS_BEFORE] = -1
        while own[DELIVERIES] > 0 and deliveries[0, 0] == time:
            for column in range(COLUMNS):
                due[state[PASS_END], column] = deliveries[0, column]
            state[PASS_END] += 1
            pop(deliveries, own[DELIVERIES])
            own[DELIVERIES] -= 1
        if state[PASS_END] > 0:
            return ARRIVED
