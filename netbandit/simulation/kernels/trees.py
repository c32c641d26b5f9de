"""The compiled loop of broadcasts along the tree of each source: `relay`, and `local` with `route = "tree"`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.compiled import compiled, inlined
from netbandit.simulation.kernels.due_steps import begin_due, end_due, keep_until_due
from netbandit.simulation.kernels.message_rows import LABELS, ROUND, SIZE
from netbandit.simulation.kernels.queues import Queues, put, release, room_for, take
from netbandit.simulation.kernels.sorting import sort
from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    CHANNEL,
    CHANNEL_MASK,
    END,
    INBOX_AT,
    INBOX_END,
    LISTS_FULL,
    MESSAGE,
    NODE,
    NOW,
    PASS_END,
    RECEIVER,
    SLOT_NS,
    STATES,
    STEP,
    STEP_AT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    WINDOW_AT,
    Traffic,
    advance,
    inbox_of_one,
    move_to,
    next_arrival,
)

# Places in `Trees.state`: how many rows of `heard` are new, and how many steps are due in this instant.
HEARD, DUE_STEPS = range(2)

# Columns of `Trees.heard`. `BOUNDARY` is the first slot boundary at or after the instant.
AGENT, SOURCE, BROADCAST, BOUNDARY = range(4)

_ROUND_BITS = 40


class Trees(NamedTuple):
    """The tree of each source, and what has been heard; n agents.

    Attributes:
        state: See above.
        first: Where in `tree` the channels begin on which node v passes on what comes from agent u: place u n + v.
        tree: Channels.
        heard: Who has heard what, in order; see above.
        named: Room to sort by source and number what reaches a node at once.
    """

    state: NDArray[np.int64]
    first: NDArray[np.int32]
    tree: NDArray[np.int32]
    heard: NDArray[np.int64]
    named: NDArray[np.int64]


@inlined
def _pass_on(traffic: Traffic, queues: Queues, trees: Trees, node: int, source: int, number: int, size: int) -> None:
    """Let *node* pass on broadcast *number* of *source*, if the horizon has not come."""
    now = traffic.state[NOW]
    if now < traffic.state[END]:
        at = source * (len(traffic.starts) - 1) + node
        for place in range(trees.first[at], trees.first[at + 1]):
            put(traffic, queues, trees.tree[place], 0, size, number, now, source, 0)


@compiled
def broadcast(
    traffic: Traffic, queues: Queues, trees: Trees, agents: NDArray[np.int64], number: int, size: int, now: int
) -> int:
    """Let *agents* broadcast, for whose messages there is room; return when (ns) the first arrives of all under way."""
    move_to(traffic.state, now)
    for agent in agents:
        _pass_on(traffic, queues, trees, agent, agent, number, size)
    return int(next_arrival(traffic))


@inlined
def _hear(traffic: Traffic, queues: Queues, trees: Trees, node: int, number: int) -> None:
    """Let *node* hear so many messages at once, in order of their sources, then of their broadcasts."""
    state, messages = traffic.state, queues.messages
    boundary = (state[NOW] + state[SLOT_NS] - 1) // state[SLOT_NS]
    for place in range(number):
        message = trees.named[place]
        trees.named[place] = (messages[message, LABELS] << _ROUND_BITS) | messages[message, ROUND]
    sort(trees.named, 0, number, state, STATES)
    for place in range(number):
        row = trees.state[HEARD]
        trees.heard[row, AGENT] = node
        trees.heard[row, SOURCE] = trees.named[place] >> _ROUND_BITS
        trees.heard[row, BROADCAST] = trees.named[place] & ((1 << _ROUND_BITS) - 1)
        trees.heard[row, BOUNDARY] = boundary
        trees.state[HEARD] = row + 1


@inlined
def _room(traffic: Traffic, queues: Queues, trees: Trees, node: int, number: int) -> int:
    """Return why *node* cannot hear and pass on so many messages, or `ARRIVED`: it can."""
    messages = number * (traffic.starts[node + 1] - traffic.starts[node])
    if trees.state[HEARD] + number > len(trees.heard):
        return LISTS_FULL
    return int(room_for(traffic, queues, messages))


@inlined
def _pass_on_and_release(traffic: Traffic, queues: Queues, trees: Trees, node: int, message: int) -> None:
    messages = queues.messages
    source, number, size = messages[message, LABELS], messages[message, ROUND], messages[message, SIZE]
    _pass_on(traffic, queues, trees, node, source, number, size)
    release(queues, message)


@compiled
def play(traffic: Traffic, queues: Queues, trees: Trees, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    Args:
        traffic: The links.
        queues: What is under way on them.
        trees: Where it goes, and who has heard it.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether what is heard takes effect at a slot boundary; the last column of a step says when.
    """
    state, channels, inbox, steps, order = traffic.state, traffic.channels, traffic.inbox, traffic.steps, traffic.order
    while True:
        if state[WINDOW_AT] < state[PASS_END]:
            why: int = take(traffic, queues)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(traffic)
            node = channels[inbox[at, CHANNEL], RECEIVER]
            if slotted:
                if state[STEPS] + end - at > len(steps):
                    return STEPS_FULL
                keep_until_due(traffic, queues, node, at, end)
            else:
                why = _room(traffic, queues, trees, node, end - at)
                if why != ARRIVED:
                    return why
                for number in range(at, end):
                    trees.named[number - at] = inbox[number, MESSAGE]
                _hear(traffic, queues, trees, node, end - at)
                for number in range(at, end):
                    _pass_on_and_release(traffic, queues, trees, node, inbox[number, MESSAGE])
            state[INBOX_AT] = end
        if not state[STEPS_BEGUN]:
            why = advance(traffic, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            trees.state[DUE_STEPS] = begin_due(traffic)
        while state[STEP_AT] < trees.state[DUE_STEPS]:
            at = end = state[STEP_AT]
            node = steps[order[at] & CHANNEL_MASK, NODE]
            while end < trees.state[DUE_STEPS] and steps[order[end] & CHANNEL_MASK, NODE] == node:
                end += 1
            why = _room(traffic, queues, trees, node, end - at)
            if why != ARRIVED:
                return why
            for number in range(at, end):
                trees.named[number - at] = steps[order[number] & CHANNEL_MASK, STEP_LABELS]
            _hear(traffic, queues, trees, node, end - at)
            for number in range(at, end):
                message = steps[order[number] & CHANNEL_MASK, STEP_LABELS]
                _pass_on_and_release(traffic, queues, trees, node, message)
            state[STEP_AT] = end
        end_due(traffic)
