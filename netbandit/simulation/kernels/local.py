"""The compiled loop of `local`: words of a source that go from neighbour to neighbour, and live for a few hops."""

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

# Places in `Words.state`: how many rows of `heard` are new, whether a call is among them, and how many of the words
# that are being said have been.
HEARD, CALLED, SAID = range(3)

# Columns of `Words.words`: the clique that it is for, who says it, its kind, the bytes of its messages, and the row of
# `furthest`.
CLIQUE, SOURCE, KIND, SIZE, ROW = range(5)
WORD_COLUMNS = 5


class Words(NamedTuple):
    """What is being told; n agents.

    Attributes:
        state: See above.
        words: A row a word, see above; and unused rows.
        furthest: For each row and node how many hops the copy that got furthest may still go; -1: it has none. Who
            releases twice in a meeting says two words of one row: to others they are copies of one.
        cliques: The clique of each agent, shape (n,).
        heard: Agents that have heard a word for their own clique for the first time, and the word.
        copies: Of the copies that a node hears at once the message, the channel, and the next one of the same row.
        alike: Of each row among them the word that may go furthest, how far, and the first and the last copy.
        group: For each row its place in `alike`, or -1.
        told_by: Marks channels to those that have told a word.
    """

    state: NDArray[np.int64]
    words: NDArray[np.int64]
    furthest: NDArray[np.int32]
    cliques: NDArray[np.int64]
    heard: NDArray[np.int64]
    copies: NDArray[np.int64]
    alike: NDArray[np.int64]
    group: NDArray[np.int64]
    told_by: NDArray[np.uint8]


@text
def _say(network: Machine, words: Words, node: int, word: int, left: int) -> None:
    """Let *node* tell all its neighbours a word that may go *left* hops, but those that are marked."""
    now = network.state[NOW]
    if not left or now >= network.state[END]:
        return
    kind, size = words.words[word, KIND], words.words[word, SIZE]
    message = write(network, kind, size, word, now, left - 1, 0)
    for place in range(network.starts[node], network.starts[node + 1]):
        channel = network.out[place]
        if not words.told_by[channel]:
            put_message(network, channel, message)
    release(network, message)


@text
def say(network: Machine, words: Words, said: NDArray[np.int64], ttl: int, now: int) -> int:
    """Let sources tell the words that they have *said*.

    Return when (ns) something is due next of all that is under way; below zero: there was no room for all, and why; the
    next call goes on.
    """
    move_to(network, now)
    while words.state[SAID] < len(said):
        word = said[words.state[SAID]]
        source = words.words[word, SOURCE]
        why: int = room(network, source, network.starts[source + 1] - network.starts[source], 1)
        if why != ARRIVED:
            return -why
        _say(network, words, source, word, ttl)
        words.state[SAID] += 1
    words.state[SAID] = 0
    return int(next_due(network))


@text
def _sort_copies(network: Machine, words: Words, number: int) -> int:
    """List the copies that a node hears at once by their rows, in order of arrival; return how many rows these are."""
    found = 0
    for copy in range(number):
        message = words.copies[copy, 0]
        word, left = network.messages[message].round, network.messages[message].labels
        words.copies[copy, 2] = -1
        row = words.words[word, ROW]
        place = words.group[row]
        if place < 0:
            place = words.group[row] = found
            words.alike[place, 0] = word
            words.alike[place, 1] = left
            words.alike[place, 2] = copy
            found += 1
        else:
            if left > words.alike[place, 1]:
                words.alike[place, 0] = word
                words.alike[place, 1] = left
            words.copies[words.alike[place, 3], 2] = copy
        words.alike[place, 3] = copy
    return found


@text
def _hear(network: Machine, words: Words, node: int, number: int) -> None:
    """Let *node* hear so many copies at once, and pass on what may go further than any before."""
    found = _sort_copies(network, words, number)
    for place in range(found):
        word, left = words.alike[place, 0], words.alike[place, 1]
        row = words.words[word, ROW]
        known = words.furthest[row, node]
        words.group[row] = -1
        if words.words[word, SOURCE] != node and left > known:
            words.furthest[row, node] = left
            copy = words.alike[place, 2]
            while copy >= 0:
                words.told_by[network.channels[words.copies[copy, 1]].reverse] = 1
                copy = words.copies[copy, 2]
            _say(network, words, node, word, left)
            copy = words.alike[place, 2]
            while copy >= 0:
                words.told_by[network.channels[words.copies[copy, 1]].reverse] = 0
                copy = words.copies[copy, 2]
            if known < 0 and words.cliques[node] == words.words[word, CLIQUE]:
                news = words.state[HEARD]
                words.heard[news, 0] = node
                words.heard[news, 1] = word
                words.state[HEARD] = news + 1
                if words.words[word, KIND] == SYNC:
                    words.state[CALLED] = 1
    for copy in range(number):
        release(network, words.copies[copy, 0])


@text
def _room(network: Machine, words: Words, node: int, copies: int) -> int:
    """Return why *node* cannot hear so many copies at once, or `ARRIVED`: there is room for what it makes of them."""
    if words.state[HEARD] + copies > len(words.heard):
        return LISTS_FULL
    return int(room(network, node, copies * (network.starts[node + 1] - network.starts[node]), copies))


@text
def play(network: Machine, words: Words, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    That is also when a call has been heard: what an agent does then is for others to say.

    Args:
        network: The network, and what is under way.
        words: What it says.
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
                why = _room(network, words, node, end - at)
                if why != ARRIVED:
                    return why
                for number in range(at, end):
                    words.copies[number - at, 0] = inbox[number, MESSAGE]
                    words.copies[number - at, 1] = inbox[number, CHANNEL]
                _hear(network, words, node, end - at)
            state[INBOX_AT] = end
        if not state[STEPS_BEGUN]:
            if words.state[CALLED]:
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
            why = _room(network, words, node, end - at)
            if why != ARRIVED:
                return why
            for number in range(at, end):
                words.copies[number - at, 0] = steps[order[number], STEP_LABELS]
                words.copies[number - at, 1] = steps[order[number], STEP_COUNT]
            _hear(network, words, node, end - at)
            state[STEP_AT] = end
        end_steps(network)
