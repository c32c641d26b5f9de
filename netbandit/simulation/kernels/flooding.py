"""The compiled loop of `flooding`: every node sends each new item to all its neighbours."""

from netbandit.simulation.kernels.compiled import entry, inlined
from netbandit.simulation.kernels.fresh_items import FRESH, KNOWN, LACKED, mark_tellers, note_teller
from netbandit.simulation.kernels.lone_messages import deliver_lone_messages
from netbandit.simulation.kernels.said import (
    ALONE,
    BUSY,
    CAPACITY,
    COPIES,
    EARLIER,
    LABEL,
    MISSING,
    NOBODY,
    NUMBER,
    SAID,
    SIZE,
    TIME,
    Flood,
    add_left_out,
    next_said,
    say,
    say_back,
    start,
    take_off,
)
from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    BANDWIDTH,
    BOOKINGS_FULL,
    CHANNEL,
    CHANNEL_MASK,
    CODE,
    DUE,
    END,
    ENDED_AND_LEFT,
    EVENTS,
    EVENTS_FULL,
    FIRST,
    FREE_AT,
    INBOX_AT,
    INBOX_END,
    INBOX_FULL,
    LATENCY,
    LISTS_FULL,
    MESSAGE,
    NEVER,
    NEXT_ARRIVAL,
    NEXT_STEP,
    NODE,
    NOW,
    PASS_END,
    RECEIVER,
    REVERSE,
    SENDER,
    STEP,
    STEP_AT,
    STEP_COUNT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    WINDOW_AT,
    Traffic,
    add_step,
    advance,
    begin_steps,
    can_book,
    end_steps,
    expect,
    inbox_of_one,
    next_arrival,
    step_time,
)


@inlined
def _take(traffic: Traffic, flood: Flood) -> int:
    """Take off the channels what arrives in this pass; return why it stopped, or that all is in the inbox."""
    state, channels, said, nodes = traffic.state, traffic.channels, flood.said, flood.nodes
    now = state[NOW]
    code = traffic.kinds[0, CODE]
    capacity = flood.round[CAPACITY]
    while state[WINDOW_AT] < state[PASS_END]:
        channel = traffic.window[state[WINDOW_AT]] & CHANNEL_MASK
        sender = channels[channel, SENDER]
        receiver = channels[channel, RECEIVER]
        latency = channels[channel, LATENCY]
        end = nodes[sender, SAID]
        at = channels[channel, FIRST]
        row = sender * capacity + (at & (capacity - 1))
        limited = state[BANDWIDTH] > 0
        due = channels[channel, DUE]
        while at < end and due == now:
            if limited and not can_book(traffic, 1):
                return BOOKINGS_FULL
            place, event = state[INBOX_END], state[EVENTS]
            if event == len(traffic.events):
                return EVENTS_FULL
            if place == len(traffic.inbox):
                return INBOX_FULL
            traffic.inbox[place, CHANNEL] = channel
            traffic.inbox[place, MESSAGE] = at
            state[INBOX_END] = place + 1
            traffic.events[event, 0] = now
            traffic.events[event, 1] = receiver
            traffic.events[event, 2] = code
            traffic.events[event, 3] = said[row, SIZE]
            state[EVENTS] = event + 1
            at = next_said(flood, sender, channel, at + 1)
            row = sender * capacity + (at & (capacity - 1))
            channels[channel, FIRST] = at
            if at == end:
                due = NEVER
            elif not limited:
                due = said[row, TIME] + latency
            elif start(traffic, channel, said[row, SIZE], said[row, TIME]):
                due = channels[channel, FREE_AT] + latency
            else:
                due = NEVER
            channels[channel, DUE] = due
        state[WINDOW_AT] += 1
        if due < NEVER:
            expect(traffic, channel, due)
        else:
            channels[channel, FIRST] = -1
            nodes[sender, BUSY] -= 1
    return ARRIVED


@inlined
def _leave_out_tellers(traffic: Traffic, flood: Flood, label: int) -> tuple[int, int]:
    """Return what says that those are left out who told of *label*, and how many; if they are several, mark them."""
    channels = traffic.channels
    left_out, number = NOBODY, 0
    fresh = flood.fresh
    teller = fresh.first[label]
    while teller >= 0:
        if fresh.tellers[teller] >= 0:
            channel = channels[fresh.tellers[teller], REVERSE]
            if channel != left_out and not fresh.told_by[channel]:
                if left_out > NOBODY:
                    fresh.told_by[left_out] = 1
                if left_out != NOBODY:
                    fresh.told_by[channel] = 1
                left_out = channel if left_out == NOBODY else add_left_out(flood, left_out, channel)
                number += 1
                take_off(traffic, channel, flood.sizes[label])
        teller = fresh.following[teller]
    return left_out, number


@inlined
def _pass_on(traffic: Traffic, flood: Flood, node: int, fresh: int) -> None:
    """Let *node* pass on what is fresh, in the order in which it came, if the horizon has not come."""
    for number in range(fresh):
        label = flood.fresh.labels[number]
        if traffic.state[NOW] < traffic.state[END]:
            left_out, omitted = _leave_out_tellers(traffic, flood, label)
            say(traffic, flood, node, label, left_out, omitted)
            if omitted > 1:
                mark_tellers(traffic, flood.fresh, label, 0)
        flood.fresh.first[label] = -1


@inlined
def _end_round(traffic: Traffic, flood: Flood) -> int:
    """End the round, of whose messages those that are left are only counted; return that it has ended."""
    state = traffic.state
    flood.round[NUMBER] = 0
    state[INBOX_AT] = state[INBOX_END]
    state[PASS_END] = 0  # places in the window may change
    state[NEXT_ARRIVAL] = next_arrival(traffic)
    state[NEXT_STEP] = state[STEP_TIME]
    return ENDED_AND_LEFT


@entry
def play(traffic: Traffic, flood: Flood, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    Args:
        traffic: What is under way.
        flood: The round.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether nodes pass on at slot boundaries.
    """
    state, channels, inbox, steps = traffic.state, traffic.channels, traffic.inbox, traffic.steps
    agents = len(flood.sizes)
    capacity = flood.round[CAPACITY]
    round, known = flood.round, flood.state
    while True:
        if state[WINDOW_AT] < state[PASS_END]:
            why: int = _take(traffic, flood)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at = state[INBOX_AT]
            if round[NUMBER] == 0:
                state[INBOX_AT] = state[INBOX_END]
                break
            end = inbox_of_one(traffic)
            if slotted and state[STEPS] + end - at > len(steps):
                return STEPS_FULL
            if round[COPIES] + end - at > len(flood.copies):
                return LISTS_FULL
            if not can_book(traffic, (end - at) * agents):
                return BOOKINGS_FULL
            node = channels[inbox[at, CHANNEL], RECEIVER]
            if not slotted and end - at == 1:  # one message alone: most of what happens in asynchronous time
                state[INBOX_AT] = end
                channel, place = inbox[at, CHANNEL], inbox[at, MESSAGE]
                sender = channels[channel, SENDER]
                label = flood.said[sender * capacity + (place & (capacity - 1)), LABEL]
                if place < flood.nodes[sender, EARLIER] or known[node * agents + label] != LACKED:
                    continue
                known[node * agents + label] = KNOWN
                round[MISSING] -= 1
                if round[MISSING] == 0:
                    return _end_round(traffic, flood)
                if state[NOW] < state[END]:
                    say_back(traffic, flood, node, label, channel)
                continue
            fresh = 0
            for number in range(at, end):
                channel, place = inbox[number, CHANNEL], inbox[number, MESSAGE]
                sender = channels[channel, SENDER]
                if place < flood.nodes[sender, EARLIER]:
                    continue
                row = sender * capacity + (place & (capacity - 1))
                label = flood.said[row, LABEL]
                have = node * agents + label
                if slotted:
                    if known[have] == LACKED:
                        add_step(traffic, step_time(traffic, flood.said[row, TIME]), node, label, channel)
                elif known[have] != KNOWN:
                    if known[have] == LACKED:
                        known[have] = FRESH
                        round[MISSING] -= 1
                    fresh = note_teller(flood.fresh, number - at, label, channel, fresh)
            state[INBOX_AT] = end
            for number in range(fresh):
                known[node * agents + flood.fresh.labels[number]] = KNOWN
            if fresh and round[MISSING] == 0:
                for number in range(fresh):
                    flood.fresh.first[flood.fresh.labels[number]] = -1
                return _end_round(traffic, flood)
            _pass_on(traffic, flood, node, fresh)
        if not state[STEPS_BEGUN]:
            if round[ALONE]:
                deliver_lone_messages(traffic, flood, min(arrivals_until, state[STEP_TIME], state[END] - 1))
            why = advance(traffic, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            begin_steps(traffic)
            for number in range(state[STEPS]):
                have = steps[number, NODE] * agents + steps[number, STEP_LABELS]
                if known[have] == LACKED:
                    known[have] = FRESH
                    round[MISSING] -= 1
            if round[NUMBER] > 0 and round[MISSING] == 0:
                end_steps(traffic)
                return _end_round(traffic, flood)
        while state[STEP_AT] < state[STEPS]:
            at = state[STEP_AT]
            node = steps[traffic.order[at], NODE]
            end = at
            while end < state[STEPS] and steps[traffic.order[end], NODE] == node:
                end += 1
            if round[COPIES] + end - at > len(flood.copies):
                return LISTS_FULL
            if not can_book(traffic, (end - at) * agents):
                return BOOKINGS_FULL
            fresh = 0
            for number in range(at, end):
                place = traffic.order[number]
                label = steps[place, STEP_LABELS]
                known[node * agents + label] = KNOWN
                fresh = note_teller(flood.fresh, number - at, label, steps[place, STEP_COUNT], fresh)
            _pass_on(traffic, flood, node, fresh)
            state[STEP_AT] = end
        end_steps(traffic)
