"""The compiled loop of `flooding` where something can go wrong, or calls are flooded too: every message has a row.

Elsewhere `flooding` does the same with less.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.calls import hears_call
from netbandit.simulation.kernels.compiled import entry, for_faults, inlined
from netbandit.simulation.kernels.fresh_items import FRESH, KNOWN, LACKED, Fresh, mark_tellers, note_teller
from netbandit.simulation.kernels.message_rows import BEGUN, LABELS, ROUND
from netbandit.simulation.kernels.queues import Queues, advance, put, release, room, take
from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    CHANNEL,
    END,
    ENDED_ROUND,
    HEARD_CALL,
    INBOX_AT,
    INBOX_END,
    MESSAGE,
    NODE,
    NOW,
    PASS_END,
    RECEIVER,
    STEP,
    STEP_AT,
    STEP_COUNT,
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

FLOOD, CALL = range(2)

# Places in `QueuedFlood.round`: the number of the round that goes on, 0 for none; the pairs of an agent and an item
# that it lacks; who passes on what is fresh, how many labels that is, and which of them is next.
NUMBER, MISSING, SPEAKER, FRESH_LABELS, NEXT_LABEL = range(5)


class QueuedFlood(NamedTuple):
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


@inlined
def _pass_on(traffic: Traffic, queues: Queues, flood: QueuedFlood) -> int:
    """Let a node pass on what is fresh, in the order in which it came; return why it stopped, or `ARRIVED`."""
    round, fresh = flood.round, flood.fresh
    node, now = round[SPEAKER], traffic.state[NOW]
    first, last = traffic.starts[node], traffic.starts[node + 1]
    while round[NEXT_LABEL] < round[FRESH_LABELS]:
        label = fresh.labels[round[NEXT_LABEL]]
        why: int = room(traffic, queues, node, last - first, 1)
        if why != ARRIVED:
            return why
        if now < traffic.state[END]:
            mark_tellers(traffic, fresh, label, 1)
            for place in range(first, last):
                channel = traffic.out[place]
                if not fresh.told_by[channel]:
                    put(traffic, queues, channel, FLOOD, flood.sizes[label], round[NUMBER], now, label, 0)
            mark_tellers(traffic, fresh, label, 0)
        fresh.first[label] = -1
        round[NEXT_LABEL] += 1
    return ARRIVED


@entry
def play(
    traffic: Traffic, queues: Queues, flood: QueuedFlood, arrivals_until: int, steps_until: int, slotted: bool
) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    Args:
        traffic: The links.
        queues: What is under way on them.
        flood: The round.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether nodes pass on at slot boundaries.
    """
    state, channels, inbox, steps = traffic.state, traffic.channels, traffic.inbox, traffic.steps
    messages, order = queues.messages, traffic.order
    round, known, agents = flood.round, flood.state, len(flood.sizes)
    while True:
        why: int = _pass_on(traffic, queues, flood)
        if why != ARRIVED:
            return why
        if state[WINDOW_AT] < state[PASS_END]:
            why = take(traffic, queues)
            if why != ARRIVED:
                return why
        if state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(traffic)
            if slotted and state[STEPS] + end - at > len(steps):
                return STEPS_FULL
            node = channels[inbox[at, CHANNEL], RECEIVER]
            if hears_call(traffic, queues, CALL, node, at, end):
                return HEARD_CALL
            fresh = 0
            for number in range(at, end):
                channel, message = inbox[number, CHANNEL], inbox[number, MESSAGE]
                label = messages[message, LABELS]
                have = node * agents + label
                if round[NUMBER] > 0 and messages[message, ROUND] == round[NUMBER] and known[have] != KNOWN:
                    if slotted:
                        add_step(traffic, step_time(traffic, messages[message, BEGUN]), node, label, channel)
                    else:
                        round[MISSING] -= known[have] == LACKED
                        known[have] = FRESH
                        fresh = note_teller(flood.fresh, number - at, label, channel, fresh)
                release(queues, message)
            for number in range(fresh):
                known[node * agents + flood.fresh.labels[number]] = KNOWN
            round[SPEAKER], round[FRESH_LABELS], round[NEXT_LABEL] = node, fresh, 0
            state[INBOX_AT] = end
        elif not state[STEPS_BEGUN]:
            why = advance(traffic, queues, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            begin_steps(traffic)
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
            end_steps(traffic)
        if round[NUMBER] > 0 and round[MISSING] == 0:
            for number in range(round[FRESH_LABELS]):
                flood.fresh.first[flood.fresh.labels[number]] = -1
            round[NUMBER] = round[FRESH_LABELS] = 0
            if state[STEPS_BEGUN]:
                end_steps(traffic)
            return ENDED_ROUND


play_with_faults = for_faults(play)
