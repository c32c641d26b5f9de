"""The compiled loop of broadcasts along the tree of each source: `relay`, and `local` with `route = "tree"`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.machine.hops import advance, move_to, next_due, put_message, room, take
from netbandit.simulation.machine.primitives import release, write
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    DUE_AT,
    DUE_END,
    END,
    INBOX_AT,
    INBOX_END,
    LISTS_FULL,
    MESSAGE,
    NODE,
    NOW,
    SLOT_NS,
    STATES,
    STEP,
    STEP_AT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    Machine,
)
from netbandit.simulation.machine.sorting import sort
from netbandit.simulation.machine.steps import STEP_MASK, begin_due, end_due, inbox_of_one, keep_until_due
from netbandit.texts import text

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


@text
def _branch(network: Machine, trees: Trees, node: int, source: int) -> tuple[int, int]:
    """Return where in `Trees.tree` the channels begin and end on which *node* passes on what comes from *source*."""
    at = source * (len(network.starts) - 1) + node
    return trees.first[at], trees.first[at + 1]


@text
def _pass_on(network: Machine, trees: Trees, node: int, source: int, item: int, size: int) -> None:
    """Let *node* pass on an *item* of *source*, if the horizon has not come."""
    now = network.state[NOW]
    if now < network.state[END]:
        first, last = _branch(network, trees, node, source)
        message = write(network, 0, size, item, now, source, 0)
        for place in range(first, last):
            put_message(network, int(trees.tree[place]), message)
        release(network, message)


@text
def broadcast(network: Machine, trees: Trees, agents: NDArray[np.int64], item: int, size: int, now: int) -> int:
    """Let *agents* broadcast items, which are numbered from *item* on.

    Return when (ns) something is due next of all that is under way; below zero: there was no room for all, and why; the
    next call goes on.
    """
    move_to(network, now)
    while trees.state[TOLD] < len(agents):
        agent = agents[trees.state[TOLD]]
        first, last = _branch(network, trees, agent, agent)
        why: int = room(network, agent, last - first, 1)
        if why != ARRIVED:
            return -why
        _pass_on(network, trees, agent, agent, item + trees.state[TOLD], size)
        trees.state[TOLD] += 1
    trees.state[TOLD] = 0
    return int(next_due(network))


@text
def _hear(network: Machine, trees: Trees, node: int, number: int) -> None:
    """Let *node* hear so many messages at once, in order of their sources, then of their items."""
    state, messages = network.state, network.messages
    boundary = (state[NOW] + state[SLOT_NS] - 1) // state[SLOT_NS]
    for place in range(number):
        message = trees.named[place]
        trees.named[place] = (messages[message].labels << _ITEM_BITS) | messages[message].round
    sort(trees.named, 0, number, state, STATES)
    for place in range(number):
        row = trees.state[HEARD]
        trees.heard[row, AGENT] = node
        trees.heard[row, SOURCE] = trees.named[place] >> _ITEM_BITS
        trees.heard[row, ITEM] = trees.named[place] & (MOST_ITEMS - 1)
        trees.heard[row, BOUNDARY] = boundary
        trees.state[HEARD] = row + 1


@text
def _room(network: Machine, trees: Trees, node: int, number: int) -> int:
    """Return why *node* cannot hear and pass on so many messages, those in `Trees.named`, or `ARRIVED`: it can."""
    if trees.state[HEARD] + number > len(trees.heard):
        return LISTS_FULL
    messages = most = 0
    for place in range(number):
        first, last = _branch(network, trees, node, network.messages[trees.named[place]].labels)
        messages += last - first
        most += last > first
    return int(room(network, node, messages, most))


@text
def _pass_on_and_release(network: Machine, trees: Trees, node: int, message: int) -> None:
    messages = network.messages
    source, number, size = messages[message].labels, messages[message].round, messages[message].size
    _pass_on(network, trees, node, source, number, size)
    release(network, message)


@text
def play(network: Machine, trees: Trees, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    Args:
        network: The network, and what is under way.
        trees: Where it goes, and who has heard it.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether what is heard takes effect at a slot boundary; the last column of a step says when.
    """
    state, channels, inbox, steps, order = network.state, network.channels, network.inbox, network.steps, network.order
    while True:
        if state[DUE_AT] < state[DUE_END]:
            why: int = take(network)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(network)
            node = channels[inbox[at, CHANNEL]].receiver
            if slotted:
                if state[STEPS] + end - at > len(steps):
                    return STEPS_FULL
                keep_until_due(network, node, at, end)
            else:
                for number in range(at, end):
                    trees.named[number - at] = inbox[number, MESSAGE]
                why = _room(network, trees, node, end - at)
                if why != ARRIVED:
                    return why
                _hear(network, trees, node, end - at)
                for number in range(at, end):
                    _pass_on_and_release(network, trees, node, inbox[number, MESSAGE])
            state[INBOX_AT] = end
        if not state[STEPS_BEGUN]:
            why = advance(network, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            trees.state[DUE_STEPS] = begin_due(network)
        while state[STEP_AT] < trees.state[DUE_STEPS]:
            at = end = state[STEP_AT]
            node = steps[order[at] & STEP_MASK, NODE]
            while end < trees.state[DUE_STEPS] and steps[order[end] & STEP_MASK, NODE] == node:
                end += 1
            for number in range(at, end):
                trees.named[number - at] = steps[order[number] & STEP_MASK, STEP_LABELS]
            why = _room(network, trees, node, end - at)
            if why != ARRIVED:
                return why
            _hear(network, trees, node, end - at)
            for number in range(at, end):
                message = steps[order[number] & STEP_MASK, STEP_LABELS]
                _pass_on_and_release(network, trees, node, message)
            state[STEP_AT] = end
        end_due(network)
