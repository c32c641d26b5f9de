"""The compiled loop of `gis`: every node advertises, requests and passes on what is new."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.calls import hears_call
from netbandit.simulation.kernels.open_rounds import (
    APART,
    ENDED,
    MISSING,
    NUMBER,
    PURPOSE,
    TOGETHER,
    Rounds,
    end_if_complete,
    hearing,
    note,
    place_of,
)
from netbandit.simulation.machine.hops import advance, put_message, room, send, take
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
from netbandit.simulation.machine.steps import STEP_MASK, begin_due, end_due, inbox_of_one, step_time
from netbandit.texts import text

ADV, REQ, DATA, CALL = range(4)

# Columns of `Traffic.steps` behind the others: the number of the round, and when (ns) the step is due.
STEP_ROUND, STEP_DUE = range(3, 5)
STEP_COLUMNS = 5

# Places in `Handshakes.state`: how many of `Handshakes.labels` are used, and how many steps are due in this instant.
USED, DUE_STEPS = range(2)

# What `Handshakes.asked` says.
ASKED, HAS = 1, 2


class Handshakes(NamedTuple):
    """The rounds that are open; n agents.

    Attributes:
        rounds: The same.
        state: See above.
        asked: Whether agent v has requested the item of agent u, or has it, shape (places, n n): in column v n + u.
            Which of both is known only where agents conclude apart.
        labels: Lists of labels, which messages name by their first place and their length; the first n are 0 to n - 1.
        header: Bytes of the header of a message, and of a label.
    """

    rounds: Rounds
    state: NDArray[np.int64]
    asked: NDArray[np.uint8]
    labels: NDArray[np.int32]
    header: tuple[int, int]


@text
def _request(
    network: Machine,
    handshakes: Handshakes,
    place: int,
    channel: int,
    begun: int,
    first: int,
    count: int,
) -> None:
    """Let a node request what it misses of the labels that *channel* has brought, and has asked nobody for."""
    rounds, lists, asked, state = handshakes.rounds, handshakes.labels, handshakes.asked, handshakes.state
    row = network.channels[channel].receiver * rounds.sizes.shape[1]
    wanted = 0
    for at in range(first, first + count):
        if not asked[place, row + lists[at]]:
            wanted += 1
    if not wanted:
        return
    begin = first
    if wanted == 1 and count > 1:
        for at in range(first, first + count):
            if not asked[place, row + lists[at]]:
                begin = lists[at]
    elif wanted < count:
        begin = end = state[USED]
        for at in range(first, first + count):
            if not asked[place, row + lists[at]]:
                lists[end] = lists[at]
                end += 1
        state[USED] = end
    for at in range(begin, begin + wanted):
        asked[place, row + lists[at]] = ASKED
    if network.state[NOW] < network.state[END]:
        size = handshakes.header[0] + handshakes.header[1] * wanted
        number = rounds.table[place, NUMBER]
        send(network, network.channels[channel].reverse, REQ, size, number, begun, begin, wanted)


@text
def _answer(
    network: Machine,
    handshakes: Handshakes,
    place: int,
    channel: int,
    begun: int,
    first: int,
    count: int,
) -> None:
    """Send the items back that *channel* has brought a request for."""
    if network.state[NOW] < network.state[END]:
        size = handshakes.header[0]
        for at in range(first, first + count):
            size += handshakes.rounds.sizes[place, handshakes.labels[at]]
        number = handshakes.rounds.table[place, NUMBER]
        send(network, network.channels[channel].reverse, DATA, size, number, begun, first, count)


@text
def _learn(network: Machine, handshakes: Handshakes, place: int, node: int, first: int, count: int) -> None:
    """Put the items of a list on that of *node*, which may end the round."""
    rounds = handshakes.rounds
    if rounds.state[PURPOSE] == TOGETHER:
        rounds.table[place, MISSING] -= count
    else:
        row = node * rounds.sizes.shape[1]
        for at in range(first, first + count):
            label = handshakes.labels[at]
            note(rounds, network.state, place, node, label, network.state[NOW])
            if rounds.state[PURPOSE] == APART:
                handshakes.asked[place, row + label] = HAS
    end_if_complete(rounds, place)


@text
def _advertise(network: Machine, handshakes: Handshakes, number: int, node: int, first: int, count: int) -> None:
    """Let *node* tell all its neighbours what is new on its list, unless the round has ended."""
    now = network.state[NOW]
    if now < network.state[END] and place_of(handshakes.rounds, number) >= 0:
        size = handshakes.header[0] + handshakes.header[1] * count
        message = write(network, ADV, size, number, now, first, count)
        for at in range(network.starts[node], network.starts[node + 1]):
            put_message(network, network.out[at], message)
        release(network, message)


@text
def _append(handshakes: Handshakes, first: int, count: int) -> None:
    """Copy a list of labels behind all others."""
    end = handshakes.state[USED]
    for at in range(count):
        handshakes.labels[end + at] = handshakes.labels[first + at]
    handshakes.state[USED] = end + count


@text
def _take_in(network: Machine, handshakes: Handshakes, node: int, at: int, end: int) -> None:
    """Let *node* learn, and advertise, what messages from *at* to before *end* of the inbox bring, round by round."""
    inbox, messages = network.inbox, network.messages
    for number in range(at, end):
        message = inbox[number, MESSAGE]
        round = messages[message].round
        place = place_of(handshakes.rounds, round)
        if messages[message].kind != DATA or messages[message].count == 0 or place < 0:
            continue
        first, count, lists = messages[message].labels, messages[message].count, 1
        for later in range(number + 1, end):
            other = inbox[later, MESSAGE]
            if messages[other].kind == DATA and messages[other].round == round:
                if lists == 1:  # several lists become one, in the place behind all others
                    begin = handshakes.state[USED]
                    _append(handshakes, first, count)
                    first = begin
                _append(handshakes, messages[other].labels, messages[other].count)
                count += messages[other].count
                messages[other].count = 0
                lists += 1
        _learn(network, handshakes, place, node, first, count)
        _advertise(network, handshakes, round, node, first, count)


@text
def _pass_on(network: Machine, handshakes: Handshakes, node: int, at: int, end: int) -> None:
    """Let *node* advertise what it has learnt in the steps from *at* to before *end* in their order, round by round."""
    steps, order = network.steps, network.order
    for number in range(at, end):
        step = order[number] & STEP_MASK
        first, count, lists = steps[step, STEP_LABELS], steps[step, STEP_COUNT], 1
        if count == 0:
            continue
        for later in range(number + 1, end):
            other = order[later] & STEP_MASK
            if steps[other, STEP_ROUND] == steps[step, STEP_ROUND]:
                if lists == 1:
                    begin = handshakes.state[USED]
                    _append(handshakes, first, count)
                    first = begin
                _append(handshakes, steps[other, STEP_LABELS], steps[other, STEP_COUNT])
                count += steps[other, STEP_COUNT]
                steps[other, STEP_COUNT] = 0
                lists += 1
        _advertise(network, handshakes, steps[step, STEP_ROUND], node, first, count)


@text
def _keep(network: Machine, node: int, message: int) -> None:
    """Let *node* deal with what a message brings at the boundary that ends its hop."""
    state, steps, messages = network.state, network.steps, network.messages
    step = state[STEPS]
    due = step_time(network, messages[message].begun)
    steps[step, NODE] = node
    steps[step, STEP_LABELS] = messages[message].labels
    steps[step, STEP_COUNT] = messages[message].count
    steps[step, STEP_ROUND] = messages[message].round
    steps[step, STEP_DUE] = due
    state[STEPS] = step + 1
    state[STEP_TIME] = min(state[STEP_TIME], due)


@text
def play(network: Machine, handshakes: Handshakes, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let messages be delivered and answered, until something outside is due; return why it stopped.

    Args:
        network: The network, and what is under way.
        handshakes: The rounds.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether nodes pass on only at slot boundaries what they have learnt.
    """
    state, channels, inbox, steps = network.state, network.channels, network.inbox, network.steps
    messages, order = network.messages, network.order
    rounds, own = handshakes.rounds, handshakes.state
    while True:
        if state[DUE_AT] < state[DUE_END]:
            why: int = take(network)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at, end = state[INBOX_AT], inbox_of_one(network)
            node = channels[inbox[at, CHANNEL]].receiver
            if hears_call(network, CALL, node, at, end):
                return HEARD_CALL
            lists, together, most, words, previous = 0, 0, 0, 0, 0
            for number in range(at, end):
                message = inbox[number, MESSAGE]
                lists += messages[message].count
                together = together + 1 if number > at and inbox[number, CHANNEL] == inbox[number - 1, CHANNEL] else 1
                most = max(most, together)
                if messages[message].kind == DATA and messages[message].round != previous and not slotted:
                    previous = messages[message].round
                    words += 1
            if own[USED] + lists > len(handshakes.labels):
                return LISTS_FULL
            why = hearing(rounds, lists)
            if why != ARRIVED:
                return why
            # An answer to each that has come over one channel, and an advertisement for each round.
            words_in_all = words * (network.starts[node + 1] - network.starts[node])
            why = room(network, node, end - at + words_in_all, most + words)
            if why != ARRIVED:
                return why
            if slotted and state[STEPS] + end - at > len(steps):
                return STEPS_FULL
            for number in range(at, end):
                channel, message = inbox[number, CHANNEL], inbox[number, MESSAGE]
                kind, begun = messages[message].kind, messages[message].begun
                first, count = messages[message].labels, messages[message].count
                place = place_of(rounds, messages[message].round)
                if place >= 0:
                    if kind == ADV:
                        _request(network, handshakes, place, channel, begun, first, count)
                    elif kind == REQ:
                        _answer(network, handshakes, place, channel, begun, first, count)
                    elif slotted and kind == DATA:
                        _keep(network, node, message)
            if words:
                _take_in(network, handshakes, node, at, end)
            for number in range(at, end):
                release(network, inbox[number, MESSAGE])
            state[INBOX_AT] = end
            if rounds.state[ENDED]:
                return ENDED_ROUND
        if not state[STEPS_BEGUN]:
            why = advance(network, arrivals_until, steps_until, state[STEP_TIME])
            if why == ARRIVED:
                continue
            if why != STEP:
                return why
            lists = 0
            for step in range(state[STEPS]):
                lists += steps[step, STEP_COUNT]
            why = hearing(rounds, lists)
            if why != ARRIVED:
                return why
            own[DUE_STEPS] = begin_due(network)
            for number in range(own[DUE_STEPS]):
                step = order[number] & STEP_MASK
                place = place_of(rounds, steps[step, STEP_ROUND])
                if place >= 0:
                    node, first, count = steps[step, NODE], steps[step, STEP_LABELS], steps[step, STEP_COUNT]
                    _learn(network, handshakes, place, node, first, count)
        while state[STEP_AT] < own[DUE_STEPS]:
            at = end = state[STEP_AT]
            node = steps[order[at] & STEP_MASK, NODE]
            lists, words, previous = 0, 0, 0
            while end < own[DUE_STEPS] and steps[order[end] & STEP_MASK, NODE] == node:
                step = order[end] & STEP_MASK
                lists += steps[step, STEP_COUNT]
                if steps[step, STEP_ROUND] != previous:
                    previous = steps[step, STEP_ROUND]
                    words += 1
                end += 1
            why = room(network, node, words * (network.starts[node + 1] - network.starts[node]), words)
            if why != ARRIVED:
                return why
            if own[USED] + lists > len(handshakes.labels):
                return LISTS_FULL
            _pass_on(network, handshakes, node, at, end)
            state[STEP_AT] = end
        end_due(network)
        if rounds.state[ENDED]:
            return ENDED_ROUND
