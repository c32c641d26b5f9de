"""The compiled loop of `relay` in rounds: each item goes to all others down its source's tree, and agents count."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.machine.calls import hears_call, without_calls
from netbandit.simulation.machine.hops import advance, move_to, next_due, put_message, room, take
from netbandit.simulation.machine.primitives import release, write
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    DUE_AT,
    DUE_END,
    END,
    ENDED_ROUND,
    HEARD_CALL,
    INBOX_AT,
    INBOX_END,
    MESSAGE,
    NODE,
    NOW,
    STEP,
    STEP_AT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    Machine,
)
from netbandit.simulation.machine.steps import STEP_MASK, begin_due, end_due, inbox_of_one, keep_until_due
from netbandit.texts import text

TELL, CALL = range(2)

# Places in `Told.state`: how many rows of `complete` are new; how many steps are due in this instant; and how many
# messages of those that have reached a node at once have been counted, and passed on.
COMPLETE, DUE_STEPS, COUNTED, PASSED_ON = range(4)


class Told(NamedTuple):
    """The rounds that go on; n agents. Those of a round are in a place that is the rest of its number.

    Attributes:
        state: See above.
        missing: Of how many agents each agent has not the items, shape (places, n), places being a power of two.
        sizes: The bytes of the messages that carry each agent's item, shape (places, n).
        first: Where in `tree` the channels begin on which node v passes on what comes from agent u: place u n + v.
        tree: Channels.
        complete: Agents that have just heard everybody, and the round, shape (places n, 2).
    """

    state: NDArray[np.int64]
    missing: NDArray[np.int64]
    sizes: NDArray[np.int64]
    first: NDArray[np.int32]
    tree: NDArray[np.int32]
    complete: NDArray[np.int64]


@text
def _count(told: Told, node: int, round: int) -> None:
    """Note that one item more has reached *node*."""
    missing = told.missing[round & (len(told.missing) - 1)]
    missing[node] -= 1
    if missing[node] == 0:
        place = told.state[COMPLETE]
        told.complete[place, 0] = node
        told.complete[place, 1] = round
        told.state[COMPLETE] = place + 1


@text
def _pass_on(network: Machine, told: Told, node: int, source: int, round: int) -> int:
    """Let *node* pass on what comes from *source*, if the horizon has not come; return why it cannot, or `ARRIVED`."""
    at = source * told.missing.shape[1] + node
    first, last = told.first[at], told.first[at + 1]
    why: int = room(network, node, last - first, 1)
    if why != ARRIVED:
        return why
    now = network.state[NOW]
    if now < network.state[END]:
        size = told.sizes[round & (len(told.sizes) - 1), source]
        message = write(network, TELL, size, round, now, source, 0)
        for place in range(first, last):
            put_message(network, int(told.tree[place]), message)
        release(network, message)
    return ARRIVED


@text
def tell(network: Machine, told: Told, agent: int, round: int, now: int) -> int:
    """Let *agent* tell its item to all others.

    Return when (ns) something is due next of all that is under way; below zero: nothing was sent for want of room, and
    why.
    """
    move_to(network, now)
    why = _pass_on(network, told, agent, agent, round)
    if why != ARRIVED:
        return -why
    _count(told, agent, round)
    return next_due(network)


@text
def _keep(network: Machine, agents: int, node: int, at: int, end: int) -> None:
    """Keep what reaches *node* until the boundary that ends its hop: of which round it is, and whose, in one number."""
    first, steps, messages = network.state[STEPS], network.steps, network.messages
    keep_until_due(network, node, at, end)
    for place in range(first, network.state[STEPS]):
        message = steps[place, STEP_LABELS]
        steps[place, STEP_LABELS] = messages[message].round * agents + messages[message].labels


@text
def play(network: Machine, told: Told, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    Args:
        network: The network, and what is under way.
        told: The rounds.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether what is heard takes effect at a slot boundary; the last column of a step says when.
    """
    state, channels, inbox, steps = network.state, network.channels, network.inbox, network.steps
    messages, order, agents = network.messages, network.order, told.missing.shape[1]
    while True:
        if state[DUE_AT] < state[DUE_END]:
            why: int = take(network)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(network)
            node = channels[inbox[at, CHANNEL]].receiver
            if hears_call(network, CALL, node, at, end):
                return HEARD_CALL
            at = without_calls(network, CALL, at, end)
            if at == end:
                continue
            if slotted:
                if state[STEPS] + end - at > len(steps):
                    return STEPS_FULL
                _keep(network, agents, node, at, end)
            else:
                while told.state[COUNTED] < end - at:
                    _count(told, node, messages[inbox[at + told.state[COUNTED], MESSAGE]].round)
                    told.state[COUNTED] += 1
                while told.state[PASSED_ON] < end - at:
                    message = inbox[at + told.state[PASSED_ON], MESSAGE]
                    why = _pass_on(network, told, node, messages[message].labels, messages[message].round)
                    if why != ARRIVED:
                        return why
                    told.state[PASSED_ON] += 1
                told.state[COUNTED] = told.state[PASSED_ON] = 0
            for number in range(at, end):
                release(network, inbox[number, MESSAGE])
            state[INBOX_AT] = end
            if told.state[COMPLETE]:
                return ENDED_ROUND
        if not state[STEPS_BEGUN]:
            why = advance(network, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            told.state[DUE_STEPS] = begin_due(network)
            for number in range(told.state[DUE_STEPS]):
                place = order[number] & STEP_MASK
                _count(told, steps[place, NODE], steps[place, STEP_LABELS] // agents)
        while state[STEP_AT] < told.state[DUE_STEPS]:
            place = order[state[STEP_AT]] & STEP_MASK
            node, what = steps[place, NODE], steps[place, STEP_LABELS]
            why = _pass_on(network, told, node, what % agents, what // agents)
            if why != ARRIVED:
                return why
            state[STEP_AT] += 1
        end_due(network)
        if told.state[COMPLETE]:
            return ENDED_ROUND
