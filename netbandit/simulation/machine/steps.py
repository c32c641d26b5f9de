"""What nodes do at slot boundaries, or later in an instant: steps, in order of node, for each as they came."""

from netbandit.network.clock import effective_time
from netbandit.network.primitives import Network
from netbandit.simulation.machine.rows import (
    CHANNEL,
    INBOX_AT,
    INBOX_END,
    MESSAGE,
    NEVER,
    NODE,
    NOW,
    SLOT_NS,
    STATES,
    STEP_AT,
    STEP_COUNT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
)
from netbandit.simulation.machine.sorting import sort
from netbandit.texts import text

NODE_BITS = 32
STEP_MASK = (1 << NODE_BITS) - 1
"""The part of an entry of `Machine.order` that is the step; the rest is the node."""


@text
def inbox_of_one(network: Network) -> int:
    """Return where in the inbox what has reached the first receiver ends."""
    inbox, channels = network.inbox, network.channels
    at = network.state[INBOX_AT]
    receiver = channels[inbox[at, CHANNEL]].receiver
    end = at + 1
    while end < network.state[INBOX_END] and channels[inbox[end, CHANNEL]].receiver == receiver:
        end += 1
    return end  # type: ignore[no-any-return]


@text
def step_time(network: Network, begun: int) -> int:
    """Return when (ns) a slotted hop takes effect that has brought something now."""
    return effective_time(network.state[NOW], begun, network.state[SLOT_NS])


# Steps that are all due at the same time.


@text
def add_step(network: Network, time: int, node: int, labels: int, count: int) -> None:
    """Let *node* deal with something at *time*, the time of the next step; there is room for it."""
    state = network.state
    place = state[STEPS]
    network.steps[place, NODE] = node
    network.steps[place, STEP_LABELS] = labels
    network.steps[place, STEP_COUNT] = count
    state[STEPS] = place + 1
    state[STEP_TIME] = time


@text
def begin_steps(network: Network) -> None:
    """Sort what is due in this step by node, for each in the order in which it came."""
    state, order = network.state, network.order
    number = state[STEPS]
    state[STEPS_BEGUN] = 1
    for place in range(number):
        order[place] = (network.steps[place, NODE] << NODE_BITS) | place
    sort(order, 0, number, state, STATES)
    for place in range(number):
        order[place] &= STEP_MASK


@text
def end_steps(network: Network) -> None:
    """Forget what was due: the step has been made."""
    state = network.state
    state[STEPS] = 0
    state[STEPS_BEGUN] = 0
    state[STEP_AT] = 0
    state[STEP_TIME] = NEVER


# Steps that are due at several boundaries, as the last column of each says.


@text
def keep_until_due(network: Network, node: int, at: int, end: int) -> None:
    """Keep what reaches *node* until the boundary that ends its hop: what began its hop together stays together.

    Each is a step of four columns: the node, the message, its channel, and when it is due.
    """
    state, inbox, messages, steps = network.state, network.inbox, network.messages, network.steps
    for number in range(at, end):
        begun = messages[inbox[number, MESSAGE]].begun
        before = at
        while messages[inbox[before, MESSAGE]].begun != begun:
            before += 1
        if before < number:
            continue
        due = step_time(network, begun)
        for other in range(number, end):
            message = inbox[other, MESSAGE]
            if messages[message].begun == begun:
                place = state[STEPS]
                steps[place, NODE] = node
                steps[place, STEP_LABELS] = message
                steps[place, STEP_COUNT] = inbox[other, CHANNEL]
                steps[place, steps.shape[1] - 1] = due
                state[STEPS] = place + 1
        state[STEP_TIME] = min(state[STEP_TIME], due)


@text
def begin_due(network: Network) -> int:
    """Sort what is due in this step by node, for each in the order in which it came; return how much that is."""
    return int(begin_due_from(network, 0))


@text
def begin_due_from(network: Network, first: int) -> int:
    """As `begin_due`, where none of the rows before *first* is due."""
    state, order, steps = network.state, network.order, network.steps
    due, last = 0, steps.shape[1] - 1
    for place in range(first, state[STEPS]):
        if steps[place, last] <= state[NOW]:
            order[due] = (steps[place, NODE] << NODE_BITS) | place
            due += 1
    sort(order, 0, due, state, STATES)
    state[STEPS_BEGUN] = 1
    state[STEP_AT] = 0
    return due


@text
def end_due(network: Network) -> None:
    """Forget what was due; what is due at a later boundary stays."""
    end_due_from(network, 0)


@text
def end_due_from(network: Network, first: int) -> None:
    """As `end_due`, but of rows from *first* on; those before it are not looked at."""
    state, steps = network.state, network.steps
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
