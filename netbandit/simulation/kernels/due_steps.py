"""Steps of compiled loops that are due at several boundaries, as the last column of each says."""

from netbandit.simulation.kernels.compiled import inlined
from netbandit.simulation.kernels.message_rows import BEGUN
from netbandit.simulation.kernels.queues import Queues
from netbandit.simulation.kernels.sorting import sort
from netbandit.simulation.kernels.traffic import (
    CHANNEL_BITS,
    MESSAGE,
    NEVER,
    NODE,
    NOW,
    STATES,
    STEP_AT,
    STEP_COUNT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    Traffic,
    step_time,
)


@inlined
def keep_until_due(traffic: Traffic, queues: Queues, node: int, at: int, end: int) -> None:
    """Keep what reaches *node* until the boundary that ends its hop: what began its hop together stays together.

    The second column of each of these steps is its message.
    """
    state, inbox, messages, steps = traffic.state, traffic.inbox, queues.messages, traffic.steps
    for number in range(at, end):
        begun = messages[inbox[number, MESSAGE], BEGUN]
        before = at
        while messages[inbox[before, MESSAGE], BEGUN] != begun:
            before += 1
        if before < number:
            continue
        due = step_time(traffic, begun)
        for other in range(number, end):
            message = inbox[other, MESSAGE]
            if messages[message, BEGUN] == begun:
                place = state[STEPS]
                steps[place, NODE] = node
                steps[place, STEP_LABELS] = message
                steps[place, STEP_COUNT] = due
                state[STEPS] = place + 1
        state[STEP_TIME] = min(state[STEP_TIME], due)


@inlined
def begin_due(traffic: Traffic) -> int:
    """Sort what is due in this step by node, for each in the order in which it came; return how much that is."""
    return int(begin_due_from(traffic, 0))


@inlined
def begin_due_from(traffic: Traffic, first: int) -> int:
    """As `begin_due`, where none of the rows before *first* is due."""
    state, order, steps = traffic.state, traffic.order, traffic.steps
    due, last = 0, steps.shape[1] - 1
    for place in range(first, state[STEPS]):
        if steps[place, last] <= state[NOW]:
            order[due] = (steps[place, NODE] << CHANNEL_BITS) | place
            due += 1
    sort(order, 0, due, state, STATES)
    state[STEPS_BEGUN] = 1
    state[STEP_AT] = 0
    return due


@inlined
def end_due(traffic: Traffic) -> None:
    """Forget what was due; what is due at a later boundary stays."""
    end_due_from(traffic, 0)


@inlined
def end_due_from(traffic: Traffic, first: int) -> None:
    """As `end_due`, but of rows from *first* on; those before it are not looked at."""
    state, steps = traffic.state, traffic.steps
    kept, soonest, last = first, NEVER, steps.shape[1] - 1
    for place in range(first, state[STEPS]):
        if steps[place, last] > state[NOW]:
            for column in range(last + 1):
                steps[kept, column] = steps[place, column]
            soonest = min(soonest, steps[place, last])
            kept += 1
    state[STEPS] = kept
    state[STEP_TIME] = soonest
    state[STEPS_BEGUN] = 0
