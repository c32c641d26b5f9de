"""The loop of protocols whose nodes hear what reaches them: at once, or at the slot boundary that ends its hop.

What a node does then is for a protocol to say: `can_hear`, `hear` and `reports` are put in their places where the loop
is written out for it.
"""

from typing import Any

from netbandit.network.hop import NODES_FAIL
from netbandit.simulation.machine.calls import hears_call
from netbandit.simulation.machine.hops import advance, take
from netbandit.simulation.machine.primitives import release
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    DUE_AT,
    DUE_END,
    ENDED_ROUND,
    HEARD_CALL,
    INBOX_AT,
    INBOX_END,
    INBOX_FULL,
    MESSAGE,
    STEP,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    Machine,
)
from netbandit.simulation.machine.steps import (
    NODE_BITS,
    STEP_MASK,
    STEP_OTHER,
    begin_due,
    end_due,
    inbox_of_one,
    keep_until_due,
    leave_absent,
)
from netbandit.texts import primitive, text

CALL = -1
"""The number of the kind of calls; -1: nobody calls."""

Own = Any


@primitive
def can_hear(network: Machine, own: Own, node: int, at: int, end: int) -> int:
    """Return why *node* cannot hear what is at these places of the inbox, and do what follows, or `ARRIVED`: it can."""
    raise NotImplementedError


@primitive
def hear(network: Machine, own: Own, node: int, at: int, end: int) -> None:
    """Let *node* hear what is at these places of the inbox, and do what follows."""
    raise NotImplementedError


@primitive
def reports(own: Own) -> bool:
    """Return whether something has been heard that those outside are to be told of at once."""
    raise NotImplementedError


@text
def begin_step(network: Machine) -> int:
    """Put what is due now into the inbox, which is empty, in order of node; return why it cannot, or `ARRIVED`."""
    state, inbox, steps = network.state, network.inbox, network.steps
    why = ARRIVED
    due = 0
    if NODES_FAIL:
        why = leave_absent(network, 0, True)
    if why == ARRIVED:
        due = begin_due(network)
        if due > len(inbox):
            state[STEPS_BEGUN] = 0
            why = INBOX_FULL
    if why == ARRIVED:
        for number in range(due):
            place = network.order[number] & STEP_MASK
            inbox[number, CHANNEL] = steps[place, STEP_OTHER]
            inbox[number, MESSAGE] = steps[place, STEP_LABELS]
        state[INBOX_END] = due
        end_due(network)
        state[STEPS_BEGUN] = 1
    return why


@text
def due_of_one(network: Machine, at: int) -> int:
    """As `inbox_of_one`, of what `begin_step` has put there: where it is in the inbox, it is in `Machine.order`."""
    end = at + 1
    while end < network.state[INBOX_END] and (network.order[end] ^ network.order[at]) >> NODE_BITS == 0:
        end += 1
    return end


@text
def play(network: Machine, own: Own, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and heard, until something outside is due; return why it stopped.

    Args:
        network: The network, and what is under way.
        own: What nodes know.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether what arrives is heard at a slot boundary, as `keep_until_due` has it.
    """
    state, inbox = network.state, network.inbox
    while True:
        if state[DUE_AT] < state[DUE_END]:
            why: int = take(network)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at = state[INBOX_AT]
            end = due_of_one(network, at) if state[STEPS_BEGUN] else inbox_of_one(network)
            node = network.channels[inbox[at, CHANNEL]].receiver
            if CALL >= 0 and not state[STEPS_BEGUN]:
                if hears_call(network, CALL, node, end):
                    return HEARD_CALL
                at = state[INBOX_AT]
            if slotted and not state[STEPS_BEGUN]:
                if state[STEPS] + end - at > len(network.steps):
                    return STEPS_FULL
                keep_until_due(network, node, at, end)
            else:
                why = can_hear(network, own, node, at, end)
                if why != ARRIVED:
                    return why
                hear(network, own, node, at, end)
                for number in range(at, end):
                    release(network, inbox[number, MESSAGE])
            state[INBOX_AT] = end
            if reports(own) and not state[STEPS_BEGUN]:
                return ENDED_ROUND
        if state[STEPS_BEGUN]:
            state[STEPS_BEGUN] = 0
            if reports(own):
                return ENDED_ROUND
        why = advance(network, arrivals_until, steps_until, state[STEP_TIME])
        if why == STEP:
            why = begin_step(network)
        if why != ARRIVED:
            return why
