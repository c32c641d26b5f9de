"""Rounds along the tree of each source, in a compiled loop: `relay`.

How it is passed on is said by `netbandit.protocols.relay.pass_on`, and when an agent has heard all of a round by
`netbandit.protocols.rounds_over_broadcast.count_heard`; here is what these are written in. What is told has its source
for its labels; its round is that of the item, or the item's own number where others say what follows from it. A branch
is its place in `Trees.first`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.network.primitives import Message
from netbandit.protocols.relay import pass_on
from netbandit.protocols.rounds_over_broadcast import count_heard
from netbandit.simulation.machine.hops import move_to, next_due, put_message, room
from netbandit.simulation.machine.primitives import message_of, release, write
from netbandit.simulation.machine.rows import (
    ARRIVED,
    END,
    LISTS_FULL,
    MESSAGE,
    NOW,
    Integers,
    Machine,
)
from netbandit.texts import text

# Places in `Trees.state`: how many rows of `heard` are new, and how many of the agents that are telling something have.
HEARD, TOLD = range(2)
TREE_STATES = 2

# Columns of `Trees.heard`.
AGENT, ITEM = range(2)
HEARD_COLUMNS = 2

IN_ROUNDS = True
"""Whether it is counted here what agents hear of a round, and noted when they have heard everybody; else what each
hears is noted."""


class Trees(NamedTuple):
    """The tree of each source, and what has been heard; n agents.

    Attributes:
        state: See above.
        first: Where in `tree` the channels begin on which node v passes on what comes from agent u: place u n + v.
        tree: Channels.
        heard: Who has heard what, in order; see above. In rounds: who has heard all of which round, its number for the
            item.
        missing: In rounds, how many items each agent has not heard, shape (places, n), places being a power of two; a
            round is in the place that is the rest of its number.
    """

    state: Integers
    first: NDArray[np.int32]
    tree: NDArray[np.int32]
    heard: Integers
    missing: Integers


# How it is passed on.


@text
def source_of(network: Machine, message: Message) -> int:
    return message_of(network, message).labels  # type: ignore[no-any-return]


@text
def branch_of(own: Trees, source: int, node: int) -> int:
    return source * own.missing.shape[1] + node  # type: ignore[no-any-return]


@text
def leads_on(own: Trees, branch: int) -> bool:
    return own.first[branch] < own.first[branch + 1]  # type: ignore[no-any-return]


@text
def tell(network: Machine, own: Trees, branch: int, message: Message) -> None:
    if network.state[NOW] < network.state[END]:
        row = message_of(network, message)
        told = write(network, row.kind, row.size, row.round, network.state[NOW], row.labels, 0)
        for place in range(own.first[branch], own.first[branch + 1]):
            put_message(network, int(own.tree[place]), told)
        release(network, told)


# When a round ends.


@text
def need_less(own: Trees, round: int, agent: int, items: int) -> int:
    place = round & (len(own.missing) - 1)
    own.missing[place, agent] -= items
    return own.missing[place, agent]  # type: ignore[no-any-return]


@text
def go_on(own: Trees, round: int, agent: int) -> None:
    row = own.state[HEARD]
    own.heard[row, AGENT] = agent
    own.heard[row, ITEM] = round
    own.state[HEARD] = row + 1


# What the loop does.


@text
def can_hear(network: Machine, own: Trees, node: int, at: int, end: int) -> int:
    """See `netbandit.simulation.machine.inboxes`."""
    messages = most = 0
    for number in range(at, end):
        branch = branch_of(own, source_of(network, network.inbox[number, MESSAGE]), node)
        messages += own.first[branch + 1] - own.first[branch]
        most += leads_on(own, branch)
    why = ARRIVED
    if not IN_ROUNDS and own.state[HEARD] + end - at > len(own.heard):
        why = LISTS_FULL
    else:
        why = room(network, node, messages, most)
    return why


@text
def note_heard(network: Machine, own: Trees, node: int, at: int, end: int) -> None:
    """Note that *node* hears what is at these places of the inbox, in order of arrival."""
    row = own.state[HEARD]
    for number in range(at, end):
        own.heard[row, AGENT] = node
        own.heard[row, ITEM] = message_of(network, network.inbox[number, MESSAGE]).round
        row += 1
    own.state[HEARD] = row


@text
def hear(network: Machine, own: Trees, node: int, at: int, end: int) -> None:
    """Let *node* hear what is at these places of the inbox, and then pass it on in order of arrival."""
    if IN_ROUNDS:
        for number in range(at, end):
            count_heard(own, message_of(network, network.inbox[number, MESSAGE]).round, node, 1)
    else:
        note_heard(network, own, node, at, end)
    for number in range(at, end):
        pass_on(network, own, node, network.inbox[number, MESSAGE])


@text
def reports(own: Trees) -> bool:
    """See `netbandit.simulation.machine.inboxes`."""
    return own.state[HEARD] > 0  # type: ignore[no-any-return]


@text
def tell_all(
    network: Machine, own: Trees, agents: Integers, first: int, more: int, kind: int, size: int, now: int
) -> int:
    """Let *agents* tell all others an item each, in messages of a kind and of *size* bytes.

    The first item has the number *first*, each that follows so much *more*. Return when (ns) something is due next of
    all that is under way; below zero: there was no room for all, and why; the next call goes on.
    """
    move_to(network, now)
    while own.state[TOLD] < len(agents):
        agent = agents[own.state[TOLD]]
        branch = branch_of(own, agent, agent)
        why: int = room(network, agent, 1 + own.first[branch + 1] - own.first[branch], 1)
        if why != ARRIVED:
            return -why
        number = first + own.state[TOLD] * more
        message = write(network, kind, size, number, now, agent, 0)
        pass_on(network, own, agent, message)
        release(network, message)
        if IN_ROUNDS:
            count_heard(own, number, agent, 1)
        own.state[TOLD] += 1
    own.state[TOLD] = 0
    return int(next_due(network))
