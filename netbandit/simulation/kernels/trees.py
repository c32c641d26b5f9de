"""The compiled loop of broadcasts along the tree of each source: `relay`, and `local` with `route = "tree"`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.compiled import compiled, for_faults, inlined
from netbandit.simulation.kernels.due_steps import begin_due, end_due, keep_until_due
from netbandit.simulation.kernels.message_rows import LABELS, ROUND, SIZE
from netbandit.simulation.kernels.queues import Queues, advance, next_due, put, release, room, take
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
    inbox_of_one,
    move_to,
)

# Places in `Trees.state`: how many rows of `heard` are new, how many steps are due in this instant, and how many of the
# agents that are telling something have.
HEARD, DUE_STEPS, TOLD = range(3)

# Columns of `Trees.heard`. `BOUNDARY` is the first slot boundary at or after the instant.
AGENT, SOURCE, ITEM, BOUNDARY = range(4)

_ITEM_BITS = 40
MOST_ITEMS = 1 << _ITEM_BITS


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
def _branch(traffic: Traffic, trees: Trees, node: int, source: int) -> tuple[int, int]:
    """Return where in `Trees.tree` the channels begin and end on which *node* passes on what comes from *source*."""
    at = source * (len(traffic.starts) - 1) + node
    return trees.first[at], trees.first[at + 1]


@inlined
def _pass_on(traffic: Traffic, queues: Queues, trees: Trees, node: int, source: int, item: int, size: int) -> None:
    """Let *node* pass on an *item* of *source*, if the horizon has not come."""
    now = traffic.state[NOW]
    if now < traffic.state[END]:
        first, last = _branch(traffic, trees, node, source)
        for place in range(first, last):
            put(traffic, queues, int(trees.tree[place]), 0, size, item, now, source, 0)


@compiled
def broadcast(
    traffic: Traffic, queues: Queues, trees: Trees, agents: NDArray[np.int64], item: int, size: int, now: int
) -> int:
    """Let *agents* broadcast items, which are numbered from *item* on.

    Return when (ns) something is due next of all that is under way; below zero: there was no room for all, and why; the
    next call goes on.
    """
    move_to(traffic.state, now)
    while trees.state[TOLD] < len(agents):
        agent = agents[trees.state[TOLD]]
        first, last = _branch(traffic, trees, agent, agent)
        why: int = room(traffic, queues, agent, last - first, 1)
        if why != ARRIVED:
            return -why
        _pass_on(traffic, queues, trees, agent, agent, item + trees.state[TOLD], size)
        trees.state[TOLD] += 1
    trees.state[TOLD] = 0
    return int(next_due(traffic, queues))


@inlined
def _hear(traffic: Traffic, queues: Queues, trees: Trees, node: int, number: int) -> None:
    """Let *node* hear so many messages at once, in order of their sources, then of their items."""
    state, messages = traffic.state, queues.messages
    boundary = (state[NOW] + state[SLOT_NS] - 1) // state[SLOT_NS]
    for place in range(number):
        message = trees.named[place]
        trees.named[place] = (messages[message, LABELS] << _ITEM_BITS) | messages[message, ROUND]
    sort(trees.named, 0, number, state, STATES)
    for place in range(number):
        row = trees.state[HEARD]
        trees.heard[row, AGENT] = node
        trees.heard[row, SOURCE] = trees.named[place] >> _ITEM_BITS
        trees.heard[row, ITEM] = trees.named[place] & (MOST_ITEMS - 1)
        trees.heard[row, BOUNDARY] = boundary
        trees.state[HEARD] = row + 1


@inlined
def _room(traffic: Traffic, queues: Queues, trees: Trees, node: int, number: int) -> int:
    """Return why *node* cannot hear and pass on so many messages, those in `Trees.named`, or `ARRIVED`: it can."""
    if trees.state[HEARD] + number > len(trees.heard):
        return LISTS_FULL
    messages = most = 0
    for place in range(number):
        first, last = _branch(traffic, trees, node, queues.messages[trees.named[place], LABELS])
        messages += last - first
        most += last > first
    return int(room(traffic, queues, node, messages, most))


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
                for number in range(at, end):
                    trees.named[number - at] = inbox[number, MESSAGE]
                why = _room(traffic, queues, trees, node, end - at)
                if why != ARRIVED:
                    return why
                _hear(traffic, queues, trees, node, end - at)
                for number in range(at, end):
                    _pass_on_and_release(traffic, queues, trees, node, inbox[number, MESSAGE])
            state[INBOX_AT] = end
        if not state[STEPS_BEGUN]:
            why = advance(traffic, queues, arrivals_until, steps_until, state[STEP_TIME])
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
            for number in range(at, end):
                trees.named[number - at] = steps[order[number] & CHANNEL_MASK, STEP_LABELS]
            why = _room(traffic, queues, trees, node, end - at)
            if why != ARRIVED:
                return why
            _hear(traffic, queues, trees, node, end - at)
            for number in range(at, end):
                message = steps[order[number] & CHANNEL_MASK, STEP_LABELS]
                _pass_on_and_release(traffic, queues, trees, node, message)
            state[STEP_AT] = end
        end_due(traffic)


play_with_faults = for_faults(play)
