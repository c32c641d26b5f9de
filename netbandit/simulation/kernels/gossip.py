"""The compiled loop of `gossip`: in each slot a node tells one random neighbour all it knows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.calls import hears_call
from netbandit.simulation.kernels.open_rounds import (
    APART,
    ENDED,
    LEFT,
    NUMBER,
    PURPOSE,
    Rounds,
    end_if_complete,
    hearing,
    note,
    place_of,
)
from netbandit.simulation.machine.hops import advance, put_message, room, take
from netbandit.simulation.machine.primitives import release, write
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    CHOICES_USED,
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
    SLOT_NS,
    STEP,
    STEP_AT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    Machine,
)
from netbandit.simulation.machine.steps import STEP_MASK, begin_due_from, end_due_from, inbox_of_one, step_time
from netbandit.texts import text

GOSSIP, CALL = range(2)

# Columns of `Traffic.steps` behind the others: the number of the round, and when (ns) the step is due.
STEP_ROUND, STEP_DUE = range(2, 4)
STEP_COLUMNS = 4

# Places in `Rumours.state`: how many steps were left over from the last instant, and when (ns) the first one is due;
# the first step that may be due in this instant, how many are, and how many of these have been taken in; and how many
# instants there have been.
KEPT, KEPT_DUE, FIRST, DUE_STEPS, TAKEN, INSTANTS = range(6)
RUMOUR_STATES = 6

# What a step deals with besides a message: the agent's own item, or that it is to speak.
OWN, SPEAK = -1, -2

_NOT_YET = -1
_ALREADY = -1


class Rumours(NamedTuple):
    """The rounds that are open; n agents.

    Attributes:
        rounds: The same.
        state: See above.
        known: A bit for each item that an agent holds, 64 to a word, shape (places, n, words).
        held: How many items each agent holds, and the bytes of a message with them, shape (places, n, 2).
        next_slot: For each agent the slot at whose beginning it speaks next; -1 while it holds nothing, or nobody is
            left to talk for, shape (places, n).
        dealt: In which instant each agent had something to deal with last, shape (places, n).
        used: The channel on which each agent has spoken last, -1 before that, shape (n,).
        copies: What each message tells: a row of bits beside each of `Machine.messages`.
        choices, left: For each agent neighbours that it has drawn, from the last to the first; and how many are left.
        header: Bytes of the header of a message.
        last_slot: The horizon, in slots.
    """

    rounds: Rounds
    state: NDArray[np.int64]
    known: NDArray[np.int64]
    held: NDArray[np.int64]
    next_slot: NDArray[np.int64]
    dealt: NDArray[np.int64]
    used: NDArray[np.int64]
    copies: NDArray[np.int64]
    choices: NDArray[np.int64]
    left: NDArray[np.int64]
    header: int
    last_slot: int


@text
def _add(network: Machine, rumours: Rumours, place: int, node: int, label: int) -> None:
    rumours.held[place, node, 0] += 1
    rumours.held[place, node, 1] += rumours.rounds.sizes[place, label]
    note(rumours.rounds, network.state, place, node, label, rumours.state[INSTANTS])


@text
def _take_in(network: Machine, rumours: Rumours, place: int, node: int, what: int) -> None:
    """Let *node* take in a message, or its own item, which may end the round."""
    known = rumours.known
    if what == OWN:
        word, bit = node >> 6, np.int64(1) << (node & 63)
        if not known[place, node, word] & bit:
            known[place, node, word] |= bit
            _add(network, rumours, place, node, node)
    elif rumours.held[place, node, 0] < known.shape[1]:
        for word in range(known.shape[2]):
            news = rumours.copies[what, word] & ~known[place, node, word]
            if news:
                known[place, node, word] |= news
                label = word << 6
                while news:
                    if news & 1:
                        _add(network, rumours, place, node, label)
                    news = (news >> 1) & 0x7FFFFFFFFFFFFFFF
                    label += 1
    end_if_complete(rumours.rounds, place)


@text
def _add_step(network: Machine, due: int, node: int, what: int, number: int) -> None:
    """Let *node* deal with something at a time (ns); there is room for it."""
    state, steps = network.state, network.steps
    row = state[STEPS]
    steps[row, NODE] = node
    steps[row, STEP_LABELS] = what
    steps[row, STEP_ROUND] = number
    steps[row, STEP_DUE] = due
    state[STEPS] = row + 1
    state[STEP_TIME] = min(state[STEP_TIME], due)


@text
def _speak(network: Machine, rumours: Rumours, place: int, node: int) -> None:
    """Let *node* tell a neighbour what it holds, unless it has spoken in this slot, and again in the next."""
    now, slot = network.state[NOW], network.state[SLOT_NS]
    rounds, next_slot = rumours.rounds, rumours.next_slot
    if rounds.state[PURPOSE] == APART and rounds.table[place, LEFT]:
        next_slot[place, node] = _NOT_YET
        return
    first = next_slot[place, node] == _NOT_YET
    if first or next_slot[place, node] * slot < now:
        next_slot[place, node] = (now + slot - 1) // slot
    used = rumours.used[node]
    number = rounds.table[place, NUMBER]
    if next_slot[place, node] * slot != now:
        if not first:
            return  # it has spoken in this slot, or will at its end
    elif used >= 0 and network.channels[used].free_at > now:
        next_slot[place, node] = (network.channels[used].free_at + slot - 1) // slot
    else:
        rumours.left[node] -= 1
        choice = rumours.choices[node, rumours.left[node]]
        channel = rumours.used[node] = network.out[network.starts[node] + choice]
        if now < network.state[END]:
            size = rumours.header + rumours.held[place, node, 1]
            message = write(network, GOSSIP, size, number, now, 0, 0)
            for word in range(rumours.known.shape[2]):
                rumours.copies[message, word] = rumours.known[place, node, word]
            put_message(network, channel, message)
            release(network, message)
        next_slot[place, node] += 1
    if next_slot[place, node] < rumours.last_slot:
        _add_step(network, next_slot[place, node] * slot, node, SPEAK, number)


@text
def play(network: Machine, rumours: Rumours, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and nodes speak, until something outside is due; return why it stopped.

    Args:
        network: The network, and what is under way.
        rumours: The rounds.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether a node takes in what it hears at a slot boundary.
    """
    state, channels, inbox, steps = network.state, network.channels, network.inbox, network.steps
    messages, order, rounds, own = network.messages, network.order, rumours.rounds, rumours.state
    while True:
        if state[DUE_AT] < state[DUE_END]:
            why: int = take(network)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(network)
            if state[STEPS] + end - at > len(steps):
                return STEPS_FULL
            node = channels[inbox[at, CHANNEL]].receiver
            if hears_call(network, CALL, node, at, end):
                return HEARD_CALL
            for number in range(at, end):
                message = inbox[number, MESSAGE]
                if messages[message].kind == GOSSIP and place_of(rounds, messages[message].round) >= 0:
                    due = step_time(network, messages[message].begun) if slotted else state[NOW]
                    _add_step(network, due, node, message, messages[message].round)
                else:
                    release(network, message)
            state[INBOX_AT] = end
        if not state[STEPS_BEGUN]:
            why = advance(network, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            # Asynchronous, something is due in most instants, but nobody speaks.
            own[FIRST] = 0 if own[KEPT_DUE] <= state[NOW] else own[KEPT]
            if 2 * state[STEPS] - own[FIRST] > len(steps):
                return STEPS_FULL
            own[DUE_STEPS] = begin_due_from(network, own[FIRST])
            own[TAKEN] = 0
            own[INSTANTS] += 1
        while own[TAKEN] < own[DUE_STEPS]:
            step = order[own[TAKEN]] & STEP_MASK
            node, what = steps[step, NODE], steps[step, STEP_LABELS]
            place = place_of(rounds, steps[step, STEP_ROUND])
            if place >= 0:
                why = hearing(rounds, rumours.known.shape[1])
                if why != ARRIVED:
                    return why
                if rumours.dealt[place, node] == own[INSTANTS]:
                    steps[step, STEP_ROUND] = _ALREADY
                rumours.dealt[place, node] = own[INSTANTS]
                if what != SPEAK:
                    _take_in(network, rumours, place, node, what)
            if what >= 0:
                release(network, what)
            own[TAKEN] += 1
        while state[STEP_AT] < own[DUE_STEPS]:
            step = order[state[STEP_AT]] & STEP_MASK
            node, place = steps[step, NODE], place_of(rounds, steps[step, STEP_ROUND])
            if place >= 0:
                if rumours.left[node] == 0:
                    return CHOICES_USED
                why = room(network, node, 1, 1)
                if why != ARRIVED:
                    return why
                _speak(network, rumours, place, node)
            state[STEP_AT] += 1
        end_due_from(network, own[FIRST])
        own[KEPT_DUE] = state[STEP_TIME] if own[FIRST] == 0 else min(own[KEPT_DUE], state[STEP_TIME])
        own[KEPT] = state[STEPS]
        state[STEP_TIME] = own[KEPT_DUE]
        if rounds.state[ENDED]:
            return ENDED_ROUND
