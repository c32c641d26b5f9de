"""The compiled loop of `sink`: items go up a tree to the root of each component; uplinks are looked after outside."""

from typing import NamedTuple

from netbandit.simulation.kernels.compiled import compiled, inlined
from netbandit.simulation.kernels.queues import BEGUN, COUNT, SIZE, UNUSED_COUNT, Queues, put, release, take
from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    BOOKINGS_FULL,
    CHANNEL,
    CHANNEL_MASK,
    END,
    ENDED_ROUND,
    INBOX_AT,
    INBOX_END,
    LINK,
    MESSAGE,
    MESSAGES_FULL,
    NODE,
    NOW,
    PASS_END,
    RECEIVER,
    STEP,
    STEP_AT,
    STEP_COUNT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    WINDOW_AT,
    Integers,
    Traffic,
    add_step,
    advance,
    begin_steps,
    can_book,
    end_steps,
    expect,
    step_time,
)

# Places in `Collection.state`: where in the window the present pass ends, the channel over an uplink on which something
# arrives, whether any has been in this pass, how many rows of `complete` are new, and the bytes of a header.
WHOLE_PASS, UPLINK, OUTSIDE_HEARD, COMPLETE, HEADER = range(5)
COLLECTION_STATES = 5

ON_UPLINK = 200
"""Why the loop returns: what arrives on an uplink is to be taken off it, and comes next."""


class Collection(NamedTuple):
    """A round's items on their way; only how many they are, and their bytes.

    Attributes:
        state: Numbers by the places above.
        up: The channel of each node to its parent, -1 for a root, shape (n,).
        component: The component of each node, shape (n,).
        missing: How many items the root of each component has not.
        complete: Components whose roots have just got all items.
    """

    state: Integers
    up: Integers
    component: Integers
    missing: Integers
    complete: Integers


@compiled
def expect_on_uplink(traffic: Traffic, channel: int, arrival: int) -> None:
    """Have a channel over an uplink looked at when (ns) its next message arrives."""
    expect(traffic, channel, arrival)


@inlined
def _is_uplink(traffic: Traffic, place: int) -> bool:
    """Return whether what is at a place of the window is on an uplink."""
    return bool(traffic.channels[traffic.window[place] & CHANNEL_MASK, LINK] < 0)


@inlined
def _take_pass(traffic: Traffic, queues: Queues, collection: Collection) -> int:
    """Take off the channels what arrives in this pass, up to an uplink; return why it stopped, or that all is taken."""
    state, kept = traffic.state, collection.state
    while state[WINDOW_AT] < kept[WHOLE_PASS]:
        at = state[WINDOW_AT]
        if _is_uplink(traffic, at):
            kept[UPLINK] = traffic.window[at] & CHANNEL_MASK
            kept[OUTSIDE_HEARD] = 1
            state[WINDOW_AT] = at + 1
            return ON_UPLINK
        while at < kept[WHOLE_PASS] and not _is_uplink(traffic, at):
            at += 1
        state[PASS_END] = at
        why: int = take(traffic, queues)
        if why != ARRIVED:
            return why
    kept[WHOLE_PASS] = 0
    return ARRIVED


@inlined
def _pass_up(traffic: Traffic, queues: Queues, collection: Collection, node: int, items: int, size: int) -> None:
    """Let *node* send on what it has, if the horizon has not come, or keep it if it is a root."""
    state = traffic.state
    if collection.up[node] >= 0:
        if state[NOW] < state[END]:
            size += collection.state[HEADER]
            put(traffic, queues, collection.up[node], 0, size, 0, state[NOW], 0, items)
        return
    component = collection.component[node]
    collection.missing[component] -= items
    if collection.missing[component] == 0:
        collection.complete[collection.state[COMPLETE]] = component
        collection.state[COMPLETE] += 1


@compiled
def play(
    traffic: Traffic,
    queues: Queues,
    collection: Collection,
    arrivals_until: int,
    steps_until: int,
    slotted: bool,
) -> int:
    """Let items go up, until a root has them all or something outside is due; return why it stopped.

    Args:
        traffic: The links, and rows for uplinks.
        queues: What is under way on them.
        collection: The items.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether what arrives goes on at a slot boundary, or in a step of the same instant. The last columns of
            a step are bytes, without a header, and items.
    """
    state, channels, inbox, steps = traffic.state, traffic.channels, traffic.inbox, traffic.steps
    messages, kept = queues.messages, collection.state
    while True:
        if kept[WHOLE_PASS] > 0:
            why: int = _take_pass(traffic, queues, collection)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at = state[INBOX_AT]
            if state[STEPS] == len(steps):
                return STEPS_FULL
            message = inbox[at, MESSAGE]
            time = step_time(traffic, messages[message, BEGUN]) if slotted else state[NOW]
            size, items = messages[message, SIZE] - kept[HEADER], messages[message, COUNT]
            add_step(traffic, time, channels[inbox[at, CHANNEL], RECEIVER], size, items)
            release(queues, message)
            state[INBOX_AT] = at + 1
        if kept[OUTSIDE_HEARD]:
            kept[OUTSIDE_HEARD] = 0
            return ENDED_ROUND
        if not state[STEPS_BEGUN]:
            why = advance(traffic, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                kept[WHOLE_PASS] = state[PASS_END]
                continue
            if why != STEP:
                return why
            begin_steps(traffic)
        while state[STEP_AT] < state[STEPS]:
            if queues.unused[UNUSED_COUNT] == 0:
                return MESSAGES_FULL
            if not can_book(traffic, 1):
                return BOOKINGS_FULL
            at, size, items = state[STEP_AT], 0, 0
            node = steps[traffic.order[at], NODE]
            while at < state[STEPS] and steps[traffic.order[at], NODE] == node:
                size += steps[traffic.order[at], STEP_LABELS]
                items += steps[traffic.order[at], STEP_COUNT]
                at += 1
            _pass_up(traffic, queues, collection, node, items, size)
            state[STEP_AT] = at
        end_steps(traffic)
        if kept[COMPLETE] > 0:
            return ENDED_ROUND
