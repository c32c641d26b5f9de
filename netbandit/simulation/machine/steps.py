"""What nodes do at slot boundaries, or later in an instant: steps, in order of node, for each as they came."""

from netbandit.network.clock import effective_time
from netbandit.network.hop import FORGETS
from netbandit.network.primitives import Network
from netbandit.simulation.machine.primitives import is_node_down, life_of, loses_memory, release, up_again
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    END,
    INBOX_AT,
    INBOX_END,
    MESSAGE,
    NEVER,
    NODE,
    NOW,
    SLOT_NS,
    STATES,
    STEP_AT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
)
from netbandit.simulation.machine.sorting import sort
from netbandit.texts import text

NODE_BITS = 32
STEP_MASK = (1 << NODE_BITS) - 1
"""The part of an entry of `Machine.order` that is the step; the rest is the node."""


# Columns of the steps of nodes that may be down, behind the node and what it deals with: in which life of the node the
# step was made, what else belongs to it, and when (ns) it is due.
STEP_LIFE, STEP_OTHER, STEP_DUE = range(2, 5)
STEP_COLUMNS = 5

DONE = -1
"""When a step is due that is not made any more."""


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
def write_step(network: Network, place: int, node: int, message: int, channel: int, due: int) -> None:
    """Let *node* deal with a message from a channel at a time (ns), in this row of steps, for which there is room."""
    steps = network.steps
    steps[place, NODE] = node
    steps[place, STEP_LABELS] = message
    if FORGETS:
        steps[place, STEP_LIFE] = life_of(network, node, network.state[NOW])
    steps[place, STEP_OTHER] = channel
    steps[place, STEP_DUE] = due


@text
def keep_until_due(network: Network, node: int, at: int, end: int) -> None:
    """Keep what reaches *node* until the boundary that ends its hop: what began its hop together stays together."""
    state, inbox, messages = network.state, network.inbox, network.messages
    row = state[STEPS]
    for number in range(at, end):
        begun = messages[inbox[number, MESSAGE]].begun
        before = at
        while messages[inbox[before, MESSAGE]].begun != begun:
            before += 1
        if before == number:  # the others of its group follow it
            due = step_time(network, begun)
            for other in range(number, end):
                if messages[inbox[other, MESSAGE]].begun == begun:
                    write_step(network, row, node, inbox[other, MESSAGE], inbox[other, CHANNEL], due)
                    row += 1
            state[STEP_TIME] = min(state[STEP_TIME], due)
    state[STEPS] = row


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
def keep_later(network: Network, first: int, time: int) -> int:
    """Forget the steps from a *first* one on that are due up to a *time* (ns); return when the next of the others is.

    A step that has been made is due at `DONE`, before all times.
    """
    state, steps = network.state, network.steps
    kept, soonest, last = first, NEVER, steps.shape[1] - 1
    for place in range(first, state[STEPS]):
        if steps[place, last] > time:
            for column in range(last + 1):
                steps[kept, column] = steps[place, column]
            soonest = min(soonest, steps[place, last])
            kept += 1
    state[STEPS] = kept
    return soonest


@text
def end_due(network: Network) -> None:
    """Forget what was due; what is due at a later boundary stays."""
    network.state[STEP_TIME] = keep_later(network, 0, network.state[NOW])
    network.state[STEPS_BEGUN] = 0


# Steps of nodes that may be down.


@text
def acts_at(network: Network, node: int, time: int) -> int:
    """Return when (ns) *node* acts that would act at a *time*: if it is down then, at a boundary once it is back."""
    slot = network.state[SLOT_NS]
    at = time
    up = up_again(network, node, at)
    while up > at and up < network.state[END]:
        at = -(-up // slot) * slot
        up = up_again(network, node, at)
    return at if up == at else NEVER


@text
def leave_absent(network: Network, first: int, of_messages: bool) -> int:
    """Put off what is due at nodes that are down, or forget it with all else; return why it cannot, or `ARRIVED`.

    See `netbandit.network.clock.InstantQueue`.

    Args:
        network: The network.
        first: None of the rows of steps before this one is due.
        of_messages: Whether what nodes deal with are messages, which are given back if they are forgotten.
    """
    state, steps = network.state, network.steps
    last = state[STEPS]
    why = ARRIVED
    if 2 * last - first > len(steps):
        why = STEPS_FULL
    else:
        for step in range(first, last):
            node = steps[step, NODE]
            if steps[step, STEP_DUE] <= state[NOW]:
                absent = is_node_down(network, node, state[NOW], state[NOW])
                due = NEVER
                if absent and not loses_memory(network):
                    due = acts_at(network, node, state[NOW])
                if due < NEVER:
                    for column in range(STEP_DUE):
                        steps[state[STEPS], column] = steps[step, column]
                    steps[state[STEPS], STEP_DUE] = due
                    state[STEPS] += 1
                elif absent or life_of(network, node, state[NOW]) != steps[step, STEP_LIFE]:
                    if of_messages:
                        release(network, steps[step, STEP_LABELS])
                    absent = True
                if absent:
                    steps[step, STEP_DUE] = DONE
        keep_later(network, first, DONE)
    return why
