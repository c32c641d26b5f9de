"""The compiled loop of `gossip`: in each slot a node tells one random neighbour all it knows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.calls import hears_call
from netbandit.simulation.kernels.compiled import entry, for_faults, inlined
from netbandit.simulation.kernels.message_rows import BEGUN, ROUND, UNUSED
from netbandit.simulation.kernels.queues import Queues, advance, draw, put, release, room_for, take
from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    CHANNEL,
    CHOICES_USED,
    END,
    ENDED_ROUND,
    FREE_AT,
    HEARD_CALL,
    INBOX_AT,
    INBOX_END,
    MESSAGE,
    NEVER,
    NODE,
    NOW,
    PASS_END,
    RECEIVER,
    SLOT_NS,
    STEP,
    STEP_AT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    WINDOW_AT,
    Traffic,
    add_step,
    begin_steps,
    end_steps,
    inbox_of_one,
    step_time,
)

GOSSIP, CALL = range(2)

# Places in `Rumours.round`: the number of the round that goes on, 0 for none; how many agents have all items; and the
# earliest slot boundary (ns) at which somebody is to speak.
NUMBER, COMPLETE, SPEECH = range(3)

# What a step deals with besides a message: the agent's own item, or that it is to speak.
OWN, SPEAK = -1, -2

_NOT_YET = -1


class Rumours(NamedTuple):
    """One round; n agents.

    Attributes:
        round: See above.
        known: A bit for each item that an agent holds, 64 to a word, shape (n, words).
        held: How many items each agent holds, and the bytes of a message with them, shape (n, 2).
        next_slot: For each agent the slot at whose beginning it speaks next; -1 while it holds nothing, shape (n,).
        used: The channel on which each agent has spoken last, -1 before that, shape (n,).
        sizes: The bytes of each agent's item, its label included, shape (n,).
        copies: What each message tells: a row of bits beside each of `Queues.messages`.
        choices, left: For each agent neighbours that it has drawn, from the last to the first; and how many are left.
        header: Bytes of the header of a message.
        last_slot: The horizon, in slots.
    """

    round: NDArray[np.int64]
    known: NDArray[np.int64]
    held: NDArray[np.int64]
    next_slot: NDArray[np.int64]
    used: NDArray[np.int64]
    sizes: NDArray[np.int64]
    copies: NDArray[np.int64]
    choices: NDArray[np.int64]
    left: NDArray[np.int64]
    header: int
    last_slot: int


@inlined
def _add(rumours: Rumours, node: int, label: int) -> None:
    rumours.held[node, 0] += 1
    rumours.held[node, 1] += rumours.sizes[label]


@inlined
def _take_in(rumours: Rumours, node: int, what: int) -> bool:
    """Let *node* take in a message, or its own item; return whether it has all items now and had not before."""
    agents = len(rumours.known)
    before = rumours.held[node, 0]
    if what == OWN:
        word, bit = node >> 6, np.int64(1) << (node & 63)
        if not rumours.known[node, word] & bit:
            rumours.known[node, word] |= bit
            _add(rumours, node, node)
    elif before < agents:
        for word in range(rumours.known.shape[1]):
            news = rumours.copies[what, word] & ~rumours.known[node, word]
            if news:
                rumours.known[node, word] |= news
                label = word << 6
                while news:
                    if news & 1:
                        _add(rumours, node, label)
                    news = (news >> 1) & 0x7FFFFFFFFFFFFFFF
                    label += 1
    return bool(before < agents and rumours.held[node, 0] == agents)


@inlined
def _speak(traffic: Traffic, queues: Queues, rumours: Rumours, node: int) -> None:
    """Let *node* tell a neighbour what it holds, unless it has spoken in this slot, and again in the next."""
    now, slot = traffic.state[NOW], traffic.state[SLOT_NS]
    first = rumours.next_slot[node] == _NOT_YET
    if first or rumours.next_slot[node] * slot < now:
        rumours.next_slot[node] = (now + slot - 1) // slot
    used = rumours.used[node]
    if rumours.next_slot[node] * slot != now:
        if not first:
            return  # it has spoken in this slot, or will at its end
    elif used >= 0 and traffic.channels[used, FREE_AT] > now:
        rumours.next_slot[node] = (traffic.channels[used, FREE_AT] + slot - 1) // slot
    else:
        rumours.left[node] -= 1
        choice = rumours.choices[node, rumours.left[node]]
        channel = rumours.used[node] = traffic.out[traffic.starts[node] + choice]
        if now < traffic.state[END]:
            message = queues.unused[UNUSED]  # the row that is used next
            for word in range(rumours.known.shape[1]):
                rumours.copies[message, word] = rumours.known[node, word]
            put(
                traffic,
                queues,
                channel,
                GOSSIP,
                rumours.header + rumours.held[node, 1],
                rumours.round[NUMBER],
                now,
                0,
                0,
            )
        rumours.next_slot[node] += 1
    if rumours.next_slot[node] < rumours.last_slot:
        rumours.round[SPEECH] = min(rumours.round[SPEECH], rumours.next_slot[node] * slot)


@entry
def play(
    traffic: Traffic, queues: Queues, rumours: Rumours, arrivals_until: int, steps_until: int, slotted: bool
) -> int:
    """Let messages be delivered and nodes speak, until something outside is due; return why it stopped.

    Args:
        traffic: The links.
        queues: What is under way on them.
        rumours: The round.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether a node takes in what it hears at a slot boundary.
    """
    state, channels, inbox, steps = traffic.state, traffic.channels, traffic.inbox, traffic.steps
    messages, order, round = queues.messages, traffic.order, rumours.round
    agents = len(rumours.known)
    while True:
        if state[WINDOW_AT] < state[PASS_END]:
            why: int = take(traffic, queues)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(traffic)
            if state[STEPS] + end - at > len(steps):
                return STEPS_FULL
            node = channels[inbox[at, CHANNEL], RECEIVER]
            if hears_call(traffic, queues, CALL, node, at, end):
                return HEARD_CALL
            for number in range(at, end):
                message = inbox[number, MESSAGE]
                if round[NUMBER] > 0 and messages[message, ROUND] == round[NUMBER]:
                    time = step_time(traffic, messages[message, BEGUN]) if slotted else state[NOW]
                    add_step(traffic, time, node, message, 0)
                else:
                    release(queues, message)
            state[INBOX_AT] = end
        if not state[STEPS_BEGUN]:
            # Steps are due for what was heard, and for those who are to speak.
            why = advance(traffic, queues, arrivals_until, steps_until, min(state[STEP_TIME], round[SPEECH]))
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            if state[NOW] == round[SPEECH]:
                if state[STEPS] + agents > len(steps):
                    return STEPS_FULL
                boundary = state[NOW] // state[SLOT_NS]
                round[SPEECH] = NEVER
                for node in range(agents):
                    following = rumours.next_slot[node]
                    if following == boundary:
                        add_step(traffic, state[NOW], node, SPEAK, 0)
                    elif boundary < following < rumours.last_slot:  # it waits for a slow link
                        round[SPEECH] = min(round[SPEECH], following * state[SLOT_NS])
            begin_steps(traffic)
            state[STEP_AT] = -1
        if state[STEP_AT] < 0:
            why = room_for(traffic, queues, state[STEPS])
            if why != ARRIVED:
                return why
            for number in range(state[STEPS]):
                if rumours.left[steps[number, NODE]] == 0:
                    return CHOICES_USED
                why = draw(traffic, queues, steps[number, NODE])
                if why != ARRIVED:
                    return why
            ended = False
            for number in range(state[STEPS]):
                place = order[number]
                what = steps[place, STEP_LABELS]
                if what != SPEAK and not ended and _take_in(rumours, steps[place, NODE], what):
                    round[COMPLETE] += 1
                    ended = round[COMPLETE] == agents
                if what >= 0:
                    release(queues, what)
            if ended:
                round[NUMBER] = 0
                round[SPEECH] = NEVER
                end_steps(traffic)
                return ENDED_ROUND
            previous = -1
            for number in range(state[STEPS]):
                node = steps[order[number], NODE]
                if node != previous:
                    _speak(traffic, queues, rumours, node)
                previous = node
        end_steps(traffic)


play_with_faults = for_faults(play)
