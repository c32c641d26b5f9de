"""The compiled loop of `relay` in rounds: each item goes to all others down its source's tree, and agents count."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.calls import hears_call, without_calls
from netbandit.simulation.kernels.compiled import compiled, for_faults, inlined
from netbandit.simulation.kernels.due_steps import begin_due, end_due, keep_until_due
from netbandit.simulation.kernels.message_rows import LABELS, ROUND
from netbandit.simulation.kernels.queues import Queues, advance, put, release, room, take
from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    CHANNEL,
    CHANNEL_MASK,
    END,
    ENDED_ROUND,
    HEARD_CALL,
    INBOX_AT,
    INBOX_END,
    MESSAGE,
    NEVER,
    NODE,
    NOW,
    PASS_END,
    RECEIVER,
    STEP,
    STEP_AT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    WINDOW_AT,
    Traffic,
    inbox_of_one,
    move_to,
)

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


@inlined
def _count(told: Told, node: int, round: int) -> None:
    """Note that one item more has reached *node*."""
    missing = told.missing[round & (len(told.missing) - 1)]
    missing[node] -= 1
    if missing[node] == 0:
        place = told.state[COMPLETE]
        told.complete[place, 0] = node
        told.complete[place, 1] = round
        told.state[COMPLETE] = place + 1


@inlined
def _pass_on(traffic: Traffic, queues: Queues, told: Told, node: int, source: int, round: int) -> int:
    """Let *node* pass on what comes from *source*, if the horizon has not come.

    Return when (ns) something is first due of that; below zero: nothing was sent for want of room, and why.
    """
    at = source * told.missing.shape[1] + node
    first, last = told.first[at], told.first[at + 1]
    why: int = room(traffic, queues, node, last - first, 1)
    if why != ARRIVED:
        return -why
    soonest = NEVER
    now = traffic.state[NOW]
    if now < traffic.state[END]:
        size = told.sizes[round & (len(told.sizes) - 1), source]
        for place in range(first, last):
            channel = int(told.tree[place])
            soonest = min(soonest, put(traffic, queues, channel, TELL, size, round, now, source, 0))
    return soonest


@compiled
def tell(traffic: Traffic, queues: Queues, told: Told, agent: int, round: int, now: int) -> int:
    """Let *agent* tell its item to all others; return as `_pass_on`."""
    move_to(traffic.state, now)
    soonest: int = _pass_on(traffic, queues, told, agent, agent, round)
    if soonest >= 0:
        _count(told, agent, round)
    return soonest


@inlined
def _keep(traffic: Traffic, queues: Queues, agents: int, node: int, at: int, end: int) -> None:
    """Keep what reaches *node* until the boundary that ends its hop: of which round it is, and whose, in one number."""
    first, steps, messages = traffic.state[STEPS], traffic.steps, queues.messages
    keep_until_due(traffic, queues, node, at, end)
    for place in range(first, traffic.state[STEPS]):
        message = steps[place, STEP_LABELS]
        steps[place, STEP_LABELS] = messages[message, ROUND] * agents + messages[message, LABELS]


@compiled
def play(traffic: Traffic, queues: Queues, told: Told, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    Args:
        traffic: The links.
        queues: What is under way on them.
        told: The rounds.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether what is heard takes effect at a slot boundary; the last column of a step says when.
    """
    state, channels, inbox, steps = traffic.state, traffic.channels, traffic.inbox, traffic.steps
    messages, order, agents = queues.messages, traffic.order, told.missing.shape[1]
    while True:
        if state[WINDOW_AT] < state[PASS_END]:
            why: int = take(traffic, queues)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(traffic)
            node = channels[inbox[at, CHANNEL], RECEIVER]
            if hears_call(traffic, queues, CALL, node, at, end):
                return HEARD_CALL
            at = without_calls(traffic, queues, at, end)
            if at == end:
                continue
            if slotted:
                if state[STEPS] + end - at > len(steps):
                    return STEPS_FULL
                _keep(traffic, queues, agents, node, at, end)
            else:
                while told.state[COUNTED] < end - at:
                    _count(told, node, messages[inbox[at + told.state[COUNTED], MESSAGE], ROUND])
                    told.state[COUNTED] += 1
                while told.state[PASSED_ON] < end - at:
                    message = inbox[at + told.state[PASSED_ON], MESSAGE]
                    due = _pass_on(traffic, queues, told, node, messages[message, LABELS], messages[message, ROUND])
                    if due < 0:
                        return -due
                    told.state[PASSED_ON] += 1
                told.state[COUNTED] = told.state[PASSED_ON] = 0
            for number in range(at, end):
                release(queues, inbox[number, MESSAGE])
            state[INBOX_AT] = end
            if told.state[COMPLETE]:
                return ENDED_ROUND
        if not state[STEPS_BEGUN]:
            why = advance(traffic, queues, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            told.state[DUE_STEPS] = begin_due(traffic)
            for number in range(told.state[DUE_STEPS]):
                place = order[number] & CHANNEL_MASK
                _count(told, steps[place, NODE], steps[place, STEP_LABELS] // agents)
        while state[STEP_AT] < told.state[DUE_STEPS]:
            place = order[state[STEP_AT]] & CHANNEL_MASK
            node, what = steps[place, NODE], steps[place, STEP_LABELS]
            due = _pass_on(traffic, queues, told, node, what % agents, what // agents)
            if due < 0:
                return -due
            state[STEP_AT] += 1
        end_due(traffic)
        if told.state[COMPLETE]:
            return ENDED_ROUND


play_with_faults = for_faults(play)
