"""The compiled loop of `gis`: every node advertises, requests and passes on what is new."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.calls import hears_call
from netbandit.simulation.kernels.compiled import for_faults, inlined
from netbandit.simulation.kernels.message_rows import BEGUN, COUNT, KIND, LABELS, ROUND
from netbandit.simulation.kernels.queues import Queues, advance, put, release, room, take
from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    CHANNEL,
    END,
    ENDED_ROUND,
    HEARD_CALL,
    INBOX_AT,
    INBOX_END,
    LISTS_FULL,
    MESSAGE,
    NODE,
    NOW,
    PASS_END,
    RECEIVER,
    REVERSE,
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

ADV, REQ, DATA, CALL = range(4)

# Places in `Handshakes.round`: the number of the round that goes on, 0 for none; how many lists are complete; and how
# many of `Handshakes.labels` are used.
NUMBER, COMPLETE, USED = range(3)


class Handshakes(NamedTuple):
    """One round; n agents.

    Attributes:
        round: See above.
        asked: Whether agent v has the item of agent u, or has requested it: place v n + u.
        known: How many items each agent has, shape (n,).
        sizes: The bytes of each agent's item, its label included, shape (n,).
        labels: Lists of labels, which messages name by their first place and their length; the first n are 0 to n - 1.
        header: Bytes of the header of a message, and of a label.
    """

    round: NDArray[np.int64]
    asked: NDArray[np.uint8]
    known: NDArray[np.int64]
    sizes: NDArray[np.int64]
    labels: NDArray[np.int32]
    header: tuple[int, int]


@inlined
def _request(
    traffic: Traffic, queues: Queues, handshakes: Handshakes, channel: int, begun: int, labels: int, count: int
) -> None:
    """Let a node request what it misses of the *labels* that *channel* has brought, and has asked nobody for."""
    agents = len(handshakes.known)
    node = traffic.channels[channel, RECEIVER]
    lists, asked, round = handshakes.labels, handshakes.asked, handshakes.round
    wanted = 0
    for place in range(labels, labels + count):
        if not asked[node * agents + lists[place]]:
            wanted += 1
    if not wanted:
        return
    first = labels
    if wanted == 1 and count > 1:
        for place in range(labels, labels + count):
            if not asked[node * agents + lists[place]]:
                first = lists[place]
    elif wanted < count:
        first = round[USED]
        end = first
        for place in range(labels, labels + count):
            if not asked[node * agents + lists[place]]:
                lists[end] = lists[place]
                end += 1
        round[USED] = end
    for place in range(first, first + wanted):
        asked[node * agents + lists[place]] = 1
    if traffic.state[NOW] < traffic.state[END]:
        size = handshakes.header[0] + handshakes.header[1] * wanted
        put(traffic, queues, traffic.channels[channel, REVERSE], REQ, size, round[NUMBER], begun, first, wanted)


@inlined
def _answer(
    traffic: Traffic, queues: Queues, handshakes: Handshakes, channel: int, begun: int, labels: int, count: int
) -> None:
    """Send the items back that *channel* has brought a request for."""
    if traffic.state[NOW] < traffic.state[END]:
        size = handshakes.header[0]
        for place in range(labels, labels + count):
            size += handshakes.sizes[handshakes.labels[place]]
        round = handshakes.round[NUMBER]
        put(traffic, queues, traffic.channels[channel, REVERSE], DATA, size, round, begun, labels, count)


@inlined
def _learn(handshakes: Handshakes, node: int, count: int) -> bool:
    """Put so many items on the list of *node*; return whether that ends the round."""
    agents = len(handshakes.known)
    handshakes.known[node] += count
    if handshakes.known[node] == agents:
        handshakes.round[COMPLETE] += 1
        if handshakes.round[COMPLETE] == agents:
            handshakes.round[NUMBER] = 0
            return True
    return False


@inlined
def _advertise(traffic: Traffic, queues: Queues, handshakes: Handshakes, node: int, labels: int, count: int) -> None:
    """Let *node* tell all its neighbours what is new on its list."""
    now = traffic.state[NOW]
    if now < traffic.state[END]:
        size = handshakes.header[0] + handshakes.header[1] * count
        for place in range(traffic.starts[node], traffic.starts[node + 1]):
            put(traffic, queues, traffic.out[place], ADV, size, handshakes.round[NUMBER], now, labels, count)


@inlined
def _append(handshakes: Handshakes, labels: int, count: int) -> None:
    """Copy a list of labels behind all others."""
    end = handshakes.round[USED]
    for place in range(count):
        handshakes.labels[end + place] = handshakes.labels[labels + place]
    handshakes.round[USED] = end + count


@inlined
def play(
    traffic: Traffic, queues: Queues, handshakes: Handshakes, arrivals_until: int, steps_until: int, slotted: bool
) -> int:
    """Let messages be delivered and answered, until something outside is due; return why it stopped.

    Args:
        traffic: The links.
        queues: What is under way on them.
        handshakes: The round.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether nodes pass on only at slot boundaries what they have learnt.
    """
    state, channels, inbox, steps = traffic.state, traffic.channels, traffic.inbox, traffic.steps
    messages, order = queues.messages, traffic.order
    round = handshakes.round
    while True:
        if state[WINDOW_AT] < state[PASS_END]:
            why: int = take(traffic, queues)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(traffic)
            node = channels[inbox[at, CHANNEL], RECEIVER]
            if hears_call(traffic, queues, CALL, node, at, end):
                return HEARD_CALL
            lists, together, most = 0, 0, 0
            for number in range(at, end):
                lists += messages[inbox[number, MESSAGE], COUNT]
                together = together + 1 if number > at and inbox[number, CHANNEL] == inbox[number - 1, CHANNEL] else 1
                most = max(most, together)
            if round[USED] + lists > len(handshakes.labels):
                return LISTS_FULL
            # An answer to each that has come over one channel, and an advertisement.
            why = room(traffic, queues, node, end - at + traffic.starts[node + 1] - traffic.starts[node], most + 1)
            if why != ARRIVED:
                return why
            if slotted and state[STEPS] + end - at > len(steps):
                return STEPS_FULL
            learnt, first, count = 0, 0, 0
            if not slotted and round[NUMBER] > 0:
                for number in range(at, end):
                    message = inbox[number, MESSAGE]
                    if messages[message, KIND] == DATA and messages[message, ROUND] == round[NUMBER]:
                        learnt += 1
                        if learnt == 2:  # several lists become one, in the place behind all others
                            place = round[USED]
                            _append(handshakes, first, count)
                            first = place
                        if learnt == 1:
                            first = messages[message, LABELS]
                        else:
                            _append(handshakes, messages[message, LABELS], messages[message, COUNT])
                        count += messages[message, COUNT]
            for number in range(at, end):
                channel, message = inbox[number, CHANNEL], inbox[number, MESSAGE]
                kind, begun = messages[message, KIND], messages[message, BEGUN]
                labels, named = messages[message, LABELS], messages[message, COUNT]
                if round[NUMBER] > 0 and messages[message, ROUND] == round[NUMBER]:
                    if kind == ADV:
                        _request(traffic, queues, handshakes, channel, begun, labels, named)
                    elif kind == REQ:
                        _answer(traffic, queues, handshakes, channel, begun, labels, named)
                    elif slotted:
                        add_step(traffic, step_time(traffic, begun), node, labels, named)
                release(queues, message)
            state[INBOX_AT] = end
            if learnt:
                if _learn(handshakes, node, count):
                    return ENDED_ROUND
                _advertise(traffic, queues, handshakes, node, first, count)
        if not state[STEPS_BEGUN]:
            why = advance(traffic, queues, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            begin_steps(traffic)
            ended = False
            for number in range(state[STEPS]):
                place = order[number]
                ended = _learn(handshakes, steps[place, NODE], steps[place, STEP_COUNT]) or ended
            if ended:
                end_steps(traffic)
                return ENDED_ROUND
        while state[STEP_AT] < state[STEPS]:
            at = state[STEP_AT]
            node = steps[order[at], NODE]
            end, count = at, 0
            while end < state[STEPS] and steps[order[end], NODE] == node:
                count += steps[order[end], STEP_COUNT]
                end += 1
            why = room(traffic, queues, node, traffic.starts[node + 1] - traffic.starts[node], 1)
            if why != ARRIVED:
                return why
            if round[USED] + count > len(handshakes.labels):
                return LISTS_FULL
            first = steps[order[at], STEP_LABELS]
            if end - at > 1:
                first = round[USED]
                for number in range(at, end):
                    _append(handshakes, steps[order[number], STEP_LABELS], steps[order[number], STEP_COUNT])
            _advertise(traffic, queues, handshakes, node, first, count)
            state[STEP_AT] = end
        end_steps(traffic)


play_with_faults = for_faults(play)
