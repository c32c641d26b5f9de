"""The compiled loop of `sink`: items go up a tree to the root of each component; uplinks are looked after outside.

Who passes what on is said by `netbandit.protocols.tree_collection.pass_up`; here is what that is written in. Of items
only the number is known.
"""

from typing import NamedTuple

from netbandit.network.message import HEADER_BYTES
from netbandit.protocols.tree_collection import pass_up
from netbandit.simulation.machine.calendar import due_channel, due_row, end_entry
from netbandit.simulation.machine.hops import advance, draw, expect_on, room_for, send, take
from netbandit.simulation.machine.primitives import release
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    DUE_AT,
    DUE_END,
    END,
    ENDED_ROUND,
    INBOX_AT,
    INBOX_END,
    MESSAGE,
    NODE,
    NOW,
    STEP,
    STEP_AT,
    STEP_COUNT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    Integers,
    Machine,
)
from netbandit.simulation.machine.steps import NODE_BITS, STEP_MASK, begin_due, end_due, step_time
from netbandit.texts import text

# Places in `Collection.state`: where in `Machine.due` the present pass ends, where what arrives on uplinks begins
# there and ends, and whether anything has in this pass; how many steps are due in this instant, and how many rows
# of `complete` are new.
WHOLE_PASS, UPLINKS_AT, UPLINKS_END, OUTSIDE_HEARD, DUE_STEPS, COMPLETE = range(6)
COLLECTION_STATES = 6

STEP_DUE = 3
"""The column of steps that says when each is due: what is contributed now may be due before what has arrived."""

ON_UPLINK = 200
"""Why the loop returns: what arrives on uplinks is to be taken off them, and comes next; more comes behind it."""


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


@text
def expect_on_uplinks(network: Machine, expected: Integers) -> int:
    """Have channels over uplinks looked at when their next messages arrive; a row is a channel and when (ns).

    Return how many of the rows there was room for.
    """
    for number in range(len(expected)):
        if not expect_on(network, expected[number, 0], expected[number, 1]):
            return number
    return len(expected)


@text
def _is_uplink(network: Machine, place: int) -> bool:
    """Return whether what is at a place of this pass is on an uplink."""
    return bool(network.channels[due_channel(network, place)].link < 0)


@text
def _take_pass(network: Machine, collection: Collection) -> int:
    """Take off the channels what arrives in this pass; return why it stopped, or that all is taken.

    It stops behind uplinks, unless they are the last: then what arrives on them is still to be taken off.
    """
    state, kept = network.state, collection.state
    while state[DUE_AT] < kept[WHOLE_PASS]:
        first = state[DUE_AT]
        on_uplink, end = _is_uplink(network, first), first + 1
        while end < kept[WHOLE_PASS] and _is_uplink(network, end) == on_uplink:
            end += 1
        if on_uplink:
            for place in range(first, end):  # which channels these are, is asked for outside
                end_entry(network, due_row(network, place))
            kept[UPLINKS_AT] = first
            kept[UPLINKS_END] = state[DUE_AT] = end
            kept[OUTSIDE_HEARD] = 1
            if end < kept[WHOLE_PASS]:
                return ON_UPLINK
            continue
        state[DUE_END] = end
        why: int = take(network)
        if why != ARRIVED:
            return why
    kept[WHOLE_PASS] = 0
    return ARRIVED


@text
def _keep(network: Machine, channel: int, message: int, slotted: bool) -> None:
    """Let what has arrived on a channel be dealt with at the boundary that ends its hop, or else in this instant."""
    state, steps, messages = network.state, network.steps, network.messages
    due = step_time(network, messages[message].begun) if slotted else state[NOW]
    place = state[STEPS]
    steps[place, NODE] = network.channels[channel].receiver
    steps[place, STEP_LABELS] = messages[message].size - HEADER_BYTES
    steps[place, STEP_COUNT] = messages[message].count
    steps[place, STEP_DUE] = due
    state[STEPS] = place + 1
    state[STEP_TIME] = min(state[STEP_TIME], due)
    release(network, message)


@text
def is_root(own: Collection, node: int) -> bool:
    return own.up[node] < 0  # type: ignore[no-any-return]


@text
def keep(own: Collection, node: int, round: int, items: int) -> int:
    component = own.component[node]
    own.missing[component] -= items
    return own.missing[component]  # type: ignore[no-any-return]


@text
def hand_over(own: Collection, node: int, round: int) -> None:
    own.complete[own.state[COMPLETE]] = own.component[node]
    own.state[COMPLETE] += 1


@text
def tell_parent(network: Machine, own: Collection, node: int, round: int, items: int, size: int) -> None:
    if network.state[NOW] < network.state[END]:
        send(network, own.up[node], 0, size, round, network.state[NOW], 0, items)


@text
def play(
    network: Machine,
    collection: Collection,
    arrivals_until: int,
    steps_until: int,
    slotted: bool,
) -> int:
    """Let items go up, until a root has them all or something outside is due; return why it stopped.

    Args:
        network: The network, with rows for uplinks, and what is under way.
        collection: The items.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether what arrives goes on at a slot boundary, or in a step of the same instant. A step has four
            columns: the node, bytes without a header, items, and when it is due.
    """
    state, inbox, steps, order, kept = network.state, network.inbox, network.steps, network.order, collection.state
    while True:
        if kept[WHOLE_PASS] > 0:
            why: int = _take_pass(network, collection)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at = state[INBOX_AT]
            if state[STEPS] == len(steps):
                return STEPS_FULL
            _keep(network, inbox[at, CHANNEL], inbox[at, MESSAGE], slotted)
            state[INBOX_AT] = at + 1
        if kept[OUTSIDE_HEARD]:
            kept[OUTSIDE_HEARD] = 0
            return ENDED_ROUND
        if not state[STEPS_BEGUN]:
            why = advance(network, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                kept[WHOLE_PASS] = state[DUE_END]
                continue
            if why != STEP:
                return why
            kept[DUE_STEPS] = begin_due(network)
        while state[STEP_AT] < kept[DUE_STEPS]:
            at, size, items = state[STEP_AT], 0, 0
            node = order[at] >> NODE_BITS
            why = room_for(network, 1)
            if why == ARRIVED:
                why = draw(network, node, 1)
            if why != ARRIVED:
                return why
            while at < kept[DUE_STEPS] and order[at] >> NODE_BITS == node:
                size += steps[order[at] & STEP_MASK, STEP_LABELS]
                items += steps[order[at] & STEP_MASK, STEP_COUNT]
                at += 1
            pass_up(network, collection, node, 0, items, size)
            state[STEP_AT] = at
        end_due(network)
        if kept[COMPLETE] > 0:
            return ENDED_ROUND
