"""Words on arrays: what the primitives of `netbandit.protocols.words` stand for in a compiled loop; and that loop."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.protocols.words import hear, say
from netbandit.simulation.machine.hops import advance, move_to, next_due, put_message, room, take
from netbandit.simulation.machine.primitives import release, write
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    DUE_AT,
    DUE_END,
    END,
    ENDED_ROUND,
    INBOX_AT,
    INBOX_END,
    LISTS_FULL,
    MESSAGE,
    NODE,
    NOW,
    STEP,
    STEP_AT,
    STEP_COUNT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    Machine,
)
from netbandit.simulation.machine.steps import add_step, begin_steps, end_steps, inbox_of_one, step_time
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
        copies: Of the copies that a node hears at once the message, the channel, and the next one of the same row.
        together: Of each row among them the word that may go furthest, how far, and the first and the last copy.
        group: For each row its place in `together`, or -1.
        told_by: Marks channels to those that have told a word.
    """

    state: NDArray[np.int64]
    words: NDArray[np.int64]
    furthest: NDArray[np.int32]
    cliques: NDArray[np.int64]
    heard: NDArray[np.int64]
    copies: NDArray[np.int64]
    together: NDArray[np.int64]
    group: NDArray[np.int64]
    told_by: NDArray[np.uint8]


# A word is a set of its own; its copies have a place in `Told.together`.


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
        for place in range(network.starts[node], network.starts[node + 1]):
            if not own.told_by[network.out[place]]:
                put_message(network, network.out[place], message)
        release(network, message)
        mark_tellers(network, own, copies, 0)


@text
def mark_tellers(network: Machine, own: Told, copies: int, mark: int) -> None:
    """Mark the channels to those who have told *copies*."""
    copy = own.together[copies, FIRST]
    while copy >= 0:
        own.told_by[network.channels[own.copies[copy, 1]].reverse] = mark
        copy = own.copies[copy, 2]


# The loop.


@text
def say_all(network: Machine, own: Told, said: NDArray[np.int64], ttl: int, now: int) -> int:
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
def put_together(network: Machine, own: Told, number: int) -> int:
    """List the copies of each word that a node hears at once, in order of arrival; return how many words these are."""
    found = 0
    for copy in range(number):
        message = own.copies[copy, 0]
        word, left = network.messages[message].round, network.messages[message].labels
        own.copies[copy, 2] = -1
        row = own.words[word, FURTHEST]
        place = own.group[row]
        if place < 0:
            place = own.group[row] = found
            own.together[place, WORD] = word
            own.together[place, LEFT] = left
            own.together[place, FIRST] = copy
            found += 1
        else:
            if left > own.together[place, LEFT]:
                own.together[place, WORD] = word
                own.together[place, LEFT] = left
            own.copies[own.together[place, LAST], 2] = copy
        own.together[place, LAST] = copy
    for place in range(found):
        own.group[own.words[own.together[place, WORD], FURTHEST]] = -1
    return found


@text
def hear_all(network: Machine, own: Told, node: int, number: int) -> None:
    """Let *node* hear so many copies at once."""
    for place in range(put_together(network, own, number)):
        hear(network, own, node, place)
    for copy in range(number):
        release(network, own.copies[copy, 0])


@text
def room_to_hear(network: Machine, own: Told, node: int, copies: int) -> int:
    """Return why *node* cannot hear so many copies at once, or `ARRIVED`: there is room for what it makes of them."""
    if own.state[HEARD] + copies > len(own.heard):
        return LISTS_FULL
    return int(room(network, node, copies * (network.starts[node + 1] - network.starts[node]), copies))


@text
def play(network: Machine, own: Told, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    That is also when a call has been heard: what an agent does then is for others to say.

    Args:
        network: The network, and what is under way.
        own: What is being told.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether a hop takes effect at a slot boundary.
    """
    state, channels, inbox, steps = network.state, network.channels, network.inbox, network.steps
    order = network.order
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
                for number in range(at, end):
                    message = inbox[number, MESSAGE]
                    time = step_time(network, network.messages[message].begun)
                    add_step(network, time, node, message, inbox[number, CHANNEL])
            else:
                why = room_to_hear(network, own, node, end - at)
                if why != ARRIVED:
                    return why
                for number in range(at, end):
                    own.copies[number - at, 0] = inbox[number, MESSAGE]
                    own.copies[number - at, 1] = inbox[number, CHANNEL]
                hear_all(network, own, node, end - at)
            state[INBOX_AT] = end
        if not state[STEPS_BEGUN]:
            if own.state[CALLED]:
                return ENDED_ROUND
            why = advance(network, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            begin_steps(network)
        while state[STEP_AT] < state[STEPS]:
            at = state[STEP_AT]
            node = steps[order[at], NODE]
            end = at
            while end < state[STEPS] and steps[order[end], NODE] == node:
                end += 1
            why = room_to_hear(network, own, node, end - at)
            if why != ARRIVED:
                return why
            for number in range(at, end):
                own.copies[number - at, 0] = steps[order[number], STEP_LABELS]
                own.copies[number - at, 1] = steps[order[number], STEP_COUNT]
            hear_all(network, own, node, end - at)
            state[STEP_AT] = end
        end_steps(network)
