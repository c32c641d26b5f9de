"""The compiled loop of `flooding`: every node sends each new item to all its neighbours."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    BEGUN,
    CHANNEL,
    END,
    ENDED_ROUND,
    INBOX_AT,
    LABELS,
    MESSAGE,
    MESSAGES_FULL,
    NODE,
    NOW,
    RECEIVER,
    ROUND,
    SENDER,
    STEP,
    STEP_AT,
    STEP_COUNT,
    STEP_LABELS,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    UNUSED_COUNT,
    Traffic,
    add_step,
    advance,
    begin_steps,
    end_steps,
    inbox_of_one,
    is_ready,
    put,
    release,
    step_time,
)

_MISSING, _FRESH, _KNOWN = 0, 1, 2

# Places in `Flood.round`.
NUMBER, MISSING = range(2)


class Flood(NamedTuple):
    """One round; n agents.

    Attributes:
        round: The number of the round that goes on, 0 for none, and the pairs of an agent and an item it lacks.
        state: Whether agent v lacks, has just got or has passed on the item of agent u: place v n + u.
        sizes: The bytes of the messages that carry each agent's item, shape (n,).
        first, last, following, tellers: Who told of a fresh label: lists, by label and by place.
        fresh: The labels that are new to a node, in order of arrival, shape (n,).
        told_by: Marks the neighbours that told of an item, shape (n,).
    """

    round: NDArray[np.int64]
    state: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    following: NDArray[np.int64]
    tellers: NDArray[np.int64]
    fresh: NDArray[np.int64]
    told_by: NDArray[np.int64]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pass_on(traffic: Traffic, flood: Flood, node: int, copies: int) -> None:
    """Let *node* pass on what is fresh of *copies* that it was told, but to none of those who told it."""
    if traffic.state[NOW] >= traffic.state[END]:
        for number in range(copies):
            flood.first[flood.fresh[number]] = -1
        return
    for number in range(copies):
        label = flood.fresh[number]
        teller = flood.first[label]
        flood.first[label] = -1
        while teller >= 0:
            if flood.tellers[teller] >= 0:
                flood.told_by[flood.tellers[teller]] = 1
            teller = flood.following[teller]
        for place in range(traffic.starts[node], traffic.starts[node + 1]):
            channel = traffic.out[place]
            receiver = traffic.channels[channel, RECEIVER]
            if flood.told_by[receiver]:
                flood.told_by[receiver] = 0
            else:
                put(traffic, channel, 0, flood.sizes[label], flood.round[NUMBER], traffic.state[NOW], label, 1)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _note_teller(flood: Flood, place: int, label: int, sender: int, fresh: int) -> int:
    """Note at *place* that *sender* told of a fresh label; return how many labels are fresh."""
    flood.tellers[place] = sender
    flood.following[place] = -1
    if flood.first[label] < 0:
        flood.first[label] = place
        flood.fresh[fresh] = label
        fresh += 1
    else:
        flood.following[flood.last[label]] = place
    flood.last[label] = place
    return fresh


@njit(cache=True)  # type: ignore[untyped-decorator]
def play(traffic: Traffic, flood: Flood, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and passed on, until something outside is due; return why it stopped.

    Args:
        traffic: What is under way.
        flood: The round.
        arrivals_until, steps_until: See `advance`.
        slotted: Whether nodes pass on at slot boundaries.
    """
    state, messages, channels, inbox = traffic.state, traffic.messages, traffic.channels, traffic.inbox
    agents = len(flood.sizes)
    round = flood.round
    while True:
        while is_ready(traffic):
            at, end = state[INBOX_AT], inbox_of_one(traffic)
            node = channels[inbox[at, CHANNEL], RECEIVER]
            degree = traffic.starts[node + 1] - traffic.starts[node]
            if state[UNUSED_COUNT] < (end - at) * degree:
                return MESSAGES_FULL
            if slotted and state[STEPS] + end - at > len(traffic.steps):
                return STEPS_FULL
            fresh = 0
            for number in range(at, end):
                message = inbox[number, MESSAGE]
                if round[NUMBER] > 0 and messages[message, ROUND] == round[NUMBER]:
                    label = messages[message, LABELS]
                    sender = channels[inbox[number, CHANNEL], SENDER]
                    have = node * agents + label
                    if slotted:
                        if flood.state[have] == _MISSING:
                            add_step(traffic, step_time(traffic, messages[message, BEGUN]), node, label, sender)
                    elif flood.state[have] != _KNOWN:
                        if flood.state[have] == _MISSING:
                            flood.state[have] = _FRESH
                            round[MISSING] -= 1
                        fresh = _note_teller(flood, number - at, label, sender, fresh)
                release(traffic, message)
            state[INBOX_AT] = end
            if fresh:
                for number in range(fresh):
                    flood.state[node * agents + flood.fresh[number]] = _KNOWN
                if round[MISSING] == 0:
                    for number in range(fresh):
                        flood.first[flood.fresh[number]] = -1
                    round[NUMBER] = 0
                    return ENDED_ROUND
                _pass_on(traffic, flood, node, fresh)
        if not state[STEPS_BEGUN]:
            why = advance(traffic, arrivals_until, steps_until)
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            begin_steps(traffic)
            state[STEPS_BEGUN] = 1
            for number in range(state[STEPS]):
                have = traffic.steps[number, NODE] * agents + traffic.steps[number, STEP_LABELS]
                if flood.state[have] == _MISSING:
                    flood.state[have] = _FRESH
                    round[MISSING] -= 1
            if round[NUMBER] > 0 and round[MISSING] == 0:
                round[NUMBER] = 0
                end_steps(traffic)
                return ENDED_ROUND
        while round[NUMBER] > 0 and state[STEP_AT] < state[STEPS]:
            at = state[STEP_AT]
            node = traffic.steps[traffic.order[at], NODE]
            end = at + 1
            while end < state[STEPS] and traffic.steps[traffic.order[end], NODE] == node:
                end += 1
            degree = traffic.starts[node + 1] - traffic.starts[node]
            if state[UNUSED_COUNT] < (end - at) * degree:
                return MESSAGES_FULL
            fresh = 0
            for number in range(at, end):
                place = traffic.order[number]
                label = traffic.steps[place, STEP_LABELS]
                fresh = _note_teller(flood, number - at, label, traffic.steps[place, STEP_COUNT], fresh)
            for number in range(fresh):
                flood.state[node * agents + flood.fresh[number]] = _KNOWN
            _pass_on(traffic, flood, node, fresh)
            state[STEP_AT] = end
        end_steps(traffic)
