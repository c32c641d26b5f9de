"""The compiled loop of `flooding`: every node sends each new item to all its neighbours."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.calls import hears_call
from netbandit.simulation.kernels.fresh_items import FRESH, KNOWN, LACKED, Fresh, mark_tellers, note_teller
from netbandit.simulation.machine.hops import advance, put_message, room, take
from netbandit.simulation.machine.primitives import release, write
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
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

FLOOD, CALL = range(2)

# Places in `Flood.round`: the number of the round that goes on, 0 for none; the pairs of an agent and an item
# that it lacks; who passes on what is fresh, how many labels that is, and which of them is next.
NUMBER, MISSING, SPEAKER, FRESH_LABELS, NEXT_LABEL = range(5)


class Flood(NamedTuple):
    """One round; n agents.

    Attributes:
        round: See above.
        state: What the item of agent u is to agent v: place v n + u.
        sizes: The bytes of the messages that carry each agent's item, shape (n,).
        fresh: What is new to a node, and who told of it.
    """

    round: NDArray[np.int64]
    state: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    fresh: Fresh


@text
def _pass_on(network: Machine, flood: Flood) -> int:
    """Let a node pass on what is fresh, in the order in which it came; return why it stopped, or `ARRIVED`."""
    round, fresh = flood.round, flood.fresh
    node, now = round[SPEAKER], network.state[NOW]
    first, last = network.starts[node], network.starts[node + 1]
    while round[NEXT_LABEL] < round[FRESH_LABELS]:
        label = fresh.labels[round[NEXT_LABEL]]
        why: int = room(network, node, last - first, 1)
        if why != ARRIVED:
            return why
        if now < network.state[END]:
            message = write(network, FLOOD, flood.sizes[label], round[NUMBER], now, label, 0)
            mark_tellers(network, fresh, label, 1)
            for place in range(first, last):
                channel = network.out[place]
                if not fresh.told_by[channel]:
                    put_message(network, channel, message)
            mark_tellers(network, fresh, label, 0)
            release(network, message)
        fresh.first[label] = -1
        round[NEXT_LABEL] += 1
    return ARRIVED


@text
def play(network: Machine, flood: Flood, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    Args:
        network: The network, and what is under way.
        flood: The round.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether nodes pass on at slot boundaries.
    """
    state, channels, inbox, steps = network.state, network.channels, network.inbox, network.steps
    messages, order = network.messages, network.order
    round, known, agents = flood.round, flood.state, len(flood.sizes)
    while True:
        why: int = _pass_on(network, flood)
        if why != ARRIVED:
            return why
        if state[DUE_AT] < state[DUE_END]:
            why = take(network)
            if why != ARRIVED:
                return why
        if state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(network)
            if slotted and state[STEPS] + end - at > len(steps):
                return STEPS_FULL
            node = channels[inbox[at, CHANNEL]].receiver
            if hears_call(network, CALL, node, at, end):
                return HEARD_CALL
            fresh = 0
            for number in range(at, end):
                channel, message = inbox[number, CHANNEL], inbox[number, MESSAGE]
                label = messages[message].labels
                have = node * agents + label
                of_round = messages[message].kind == FLOOD and messages[message].round == round[NUMBER]
                if round[NUMBER] > 0 and of_round and known[have] != KNOWN:
                    if slotted:
                        add_step(network, step_time(network, messages[message].begun), node, label, channel)
                    else:
                        round[MISSING] -= known[have] == LACKED
                        known[have] = FRESH
                        fresh = note_teller(flood.fresh, number - at, label, channel, fresh)
                release(network, message)
            for number in range(fresh):
                known[node * agents + flood.fresh.labels[number]] = KNOWN
            round[SPEAKER], round[FRESH_LABELS], round[NEXT_LABEL] = node, fresh, 0
            state[INBOX_AT] = end
        elif not state[STEPS_BEGUN]:
            why = advance(network, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            begin_steps(network)
            for number in range(state[STEPS]):
                have = steps[number, NODE] * agents + steps[number, STEP_LABELS]
                round[MISSING] -= known[have] == LACKED
                known[have] = FRESH
        elif state[STEP_AT] < state[STEPS]:
            at = end = state[STEP_AT]
            node = steps[order[at], NODE]
            fresh = 0
            while end < state[STEPS] and steps[order[end], NODE] == node:
                place = order[end]
                label = steps[place, STEP_LABELS]
                known[node * agents + label] = KNOWN
                fresh = note_teller(flood.fresh, end - at, label, steps[place, STEP_COUNT], fresh)
                end += 1
            round[SPEAKER], round[FRESH_LABELS], round[NEXT_LABEL] = node, fresh, 0
            state[STEP_AT] = end
        else:
            end_steps(network)
        if round[NUMBER] > 0 and round[MISSING] == 0:
            for number in range(round[FRESH_LABELS]):
                flood.fresh.first[flood.fresh.labels[number]] = -1
            round[NUMBER] = round[FRESH_LABELS] = 0
            if state[STEPS_BEGUN]:
                end_steps(network)
            return ENDED_ROUND
