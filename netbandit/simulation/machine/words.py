"""Words on arrays: what the primitives of `netbandit.protocols.words` stand for in a compiled loop."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.protocols.words import hear_copies, say
from netbandit.simulation.machine.hops import move_to, next_due, put_on_others, room
from netbandit.simulation.machine.primitives import message_of, release, write
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    END,
    LISTS_FULL,
    MESSAGE,
    NOW,
    STEP_TIME,
    STEPS,
    Integers,
    Machine,
)
from netbandit.simulation.machine.steps import step_time, write_step
from netbandit.texts import text

SYNC, RELEASE = range(2)
"""The kinds of words: a call, and what a member of a clique releases."""

# Places in `Told.state`: how many rows of `heard` are new, whether a call is among them, and how many of the words
# that are being said have been.
HEARD, CALLED, SAID = range(3)

# Columns of `Told.words`: the clique that it is for, who says it, its kind, the bytes of its messages, and the row of
# `furthest`.
CLIQUE, SOURCE, KIND, SIZE, FURTHEST = range(5)
WORD_COLUMNS = 5

WORD, LEFT, FIRST, LAST = range(4)
"""Columns of `Told.together`."""


class Told(NamedTuple):
    """What is being told; n agents.

    Attributes:
        state: See above.
        words: A row a word, see above; and unused rows.
        furthest: For each row and node how many hops the copy that got furthest may still go; -1: it has none. Words of
            one row are copies of one to all but their source.
        cliques: The clique of each agent, shape (n,).
        heard: Agents that have heard a word for their own clique for the first time, and the word.
        next: For each copy that a node hears at once, by its place in the inbox, the next one of the same row, or -1.
        together: Of each row among them the word that may go furthest, how far, and the first and the last copy.
        group: For each row its place in `together`, or -1.
        told_by: Marks channels to those that have told a word.
    """

    state: Integers
    words: Integers
    furthest: NDArray[np.int32]
    cliques: Integers
    heard: Integers
    next: Integers
    together: Integers
    group: Integers
    told_by: NDArray[np.uint8]


# A word is a set of its own; its copies have a place in `Told.together`.


@text
def no_words(own: Told) -> int:
    return 0


@text
def hops_left(own: Told, copies: int) -> range:
    furthest = own.together[copies, LEFT]
    return range(furthest, furthest - 1, -1)


@text
def copies_with(own: Told, copies: int, left: int) -> int:
    return 1


@text
def heard_with(own: Told, node: int, copies: int, words: int, left: int) -> int:
    word = own.together[copies, WORD]
    return 1 if own.furthest[own.words[word, FURTHEST], node] >= left or own.words[word, SOURCE] == node else 0


@text
def note_heard(own: Told, node: int, copies: int, words: int, left: int) -> None:
    own.furthest[own.words[own.together[copies, WORD], FURTHEST], node] = left


@text
def kept(own: Told, node: int, copies: int, words: int) -> int:
    return 0


@text
def is_for(own: Told, node: int, copies: int) -> bool:
    return own.cliques[node] == own.words[own.together[copies, WORD], CLIQUE]  # type: ignore[no-any-return]


@text
def take_in(own: Told, node: int, copies: int, words: int) -> None:
    """Stand for acting on a word: that is for others to say."""
    word = own.together[copies, WORD]
    own.heard[own.state[HEARD], 0] = node
    own.heard[own.state[HEARD], 1] = word
    own.state[HEARD] += 1
    if own.words[word, KIND] == SYNC:
        own.state[CALLED] = 1


@text
def tell_others(network: Machine, own: Told, node: int, copies: int, words: int, left: int) -> None:
    now = network.state[NOW]
    if now < network.state[END]:
        word = own.together[copies, WORD]
        mark_tellers(network, own, copies, 1)
        message = write(network, own.words[word, KIND], own.words[word, SIZE], word, now, left, 0)
        put_on_others(network, node, own.told_by, message)
        release(network, message)
        mark_tellers(network, own, copies, 0)


@text
def mark_tellers(network: Machine, own: Told, copies: int, mark: int) -> None:
    """Mark the channels to those who have told *copies*."""
    number = own.together[copies, FIRST]
    while number >= 0:
        own.told_by[network.channels[network.inbox[number, CHANNEL]].reverse] = mark
        number = own.next[number]


# What the loop does; see `netbandit.simulation.machine.inboxes`.


@text
def say_all(network: Machine, own: Told, said: Integers, ttl: int, now: int) -> int:
    """Let sources tell the words that they have *said*.

    Return when (ns) something is due next of all that is under way; below zero: there was no room for all, and why; the
    next call goes on.
    """
    move_to(network, now)
    while own.state[SAID] < len(said):
        word = said[own.state[SAID]]
        source = own.words[word, SOURCE]
        why: int = room(network, source, network.starts[source + 1] - network.starts[source], 1)
        if why != ARRIVED:
            return -why
        own.together[0, WORD] = word
        own.together[0, FIRST] = -1
        say(network, own, source, 0, 1, ttl)
        own.state[SAID] += 1
    own.state[SAID] = 0
    return int(next_due(network))


@text
def keep_until_due(network: Machine, node: int, at: int, end: int) -> None:
    """Keep what reaches *node*, in order of arrival, until the boundary that ends its hop; there is room for it."""
    state, inbox = network.state, network.inbox
    row = state[STEPS]
    begun = -1
    due = -1
    for number in range(at, end):
        message = inbox[number, MESSAGE]
        if network.messages[message].begun != begun:
            begun = network.messages[message].begun
            due = step_time(network, begun)
            state[STEP_TIME] = min(state[STEP_TIME], due)
        write_step(network, row, node, message, inbox[number, CHANNEL], due)
        row += 1
    state[STEPS] = row


@text
def put_together(network: Machine, own: Told, at: int, end: int) -> int:
    """List the copies of each word that is at these places of the inbox; return how many words these are."""
    found = 0
    for number in range(at, end):
        message = message_of(network, network.inbox[number, MESSAGE])
        word, left = message.round, message.labels
        own.next[number] = -1
        row = own.words[word, FURTHEST]
        place = own.group[row]
        if place < 0:
            place = own.group[row] = found
            own.together[place, WORD] = word
            own.together[place, LEFT] = left
            own.together[place, FIRST] = number
            found += 1
        else:
            if left > own.together[place, LEFT]:
                own.together[place, WORD] = word
                own.together[place, LEFT] = left
            own.next[own.together[place, LAST]] = number
        own.together[place, LAST] = number
    for place in range(found):
        own.group[own.words[own.together[place, WORD], FURTHEST]] = -1
    return found


@text
def can_hear(network: Machine, own: Told, node: int, at: int, end: int) -> int:
    copies = end - at
    why = LISTS_FULL
    if own.state[HEARD] + copies <= len(own.heard):
        why = room(network, node, copies * (network.starts[node + 1] - network.starts[node]), copies)
    return why


@text
def hear(network: Machine, own: Told, node: int, at: int, end: int) -> None:
    """Let *node* hear what is at these places of the inbox."""
    for place in range(put_together(network, own, at, end)):
        hear_copies(network, own, node, place)


@text
def reports(own: Told) -> bool:
    """Return whether a call has been heard: what an agent does then is for others to say."""
    return own.state[CALLED] == 1  # type: ignore[no-any-return]
