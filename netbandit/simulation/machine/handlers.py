"""Handlers in a compiled loop: what the primitives of `netbandit.protocols.primitives` are on arrays.

A round is its place, a neighbour the channel from it. A set of labels is a list of words, of 64 labels each, that have
any: where in `Spread.lists` it begins, and in the lowest bits how many words it has. The first lists are those of each
label alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.network.hop import NODES_FAIL
from netbandit.network.primitives import Channel, Message
from netbandit.protocols.primitives import FORGETS, act, note_news, on_message
from netbandit.simulation.machine.bits import WORD_BITS, lowest, ones
from netbandit.simulation.machine.calls import hears_call
from netbandit.simulation.machine.hops import advance, put_message, put_on_others, room, send, take
from netbandit.simulation.machine.open_rounds import (
    DESERTED,
    ENDED,
    LATE,
    MISSING,
    NUMBER,
    PURPOSE,
    TOLD,
    UNIFORM,
    Rounds,
    close_complete,
    counts,
    hear,
    hearing,
    place_of,
)
from netbandit.simulation.machine.primitives import (
    channel_of,
    life_of,
    message_of,
    release,
    write,
)
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
    LISTS_FULL,
    MESSAGE,
    NODE,
    NOW,
    SLOT_NS,
    STEP,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    Integers,
    Machine,
)
from netbandit.simulation.machine.steps import (
    DONE,
    NODE_BITS,
    STEP_DUE,
    STEP_LIFE,
    STEP_MASK,
    STEP_OTHER,
    begin_due_from,
    inbox_of_one,
    keep_later,
    leave_absent,
)
from netbandit.texts import text

STEP_ROUND = STEP_OTHER
"""The column of `Machine.steps` with the number of the round."""

# Places in `Spread.state`: how many rows of `lists` are used; the first unused row of `tellers`, counted from 1 on, and
# how many are unused; whether hops take effect at slot boundaries, and the number of slots; and from which row of
# `lists` on are those that have been united in this instant. Then the first step that may be due in this instant, how
# many are, how many of these have been taken in, and acted on; how many steps were left over from the last instant, and
# when (ns) the first of these is due; how many instants there have been; and how many neighbours
# a node is to have drawn.
USED, UNUSED_TELLER, TELLERS_LEFT, SLOTTED, HORIZON, UNITED = range(6)
FIRST, DUE, TAKEN, ACTED, KEPT, KEPT_DUE, INSTANTS = range(6, 13)
WANTED_CHOICES = 13
SPREAD_STATES = 14

WORD, BITS = range(2)
"""Columns of `Spread.lists`."""
INSTANT, FIRST_STEP = range(2)
"""Columns of `Spread.met`."""
TELLER, NEXT = range(2)
"""Columns of `Spread.tellers`."""

COUNT_BITS = 24
COUNT_MASK = (1 << COUNT_BITS) - 1

CALL = 1
"""The number of the kind of calls; all below are the protocol's."""
MERGES = True
"""See `netbandit.protocols.handlers.Handlers.merges`."""
UNITES = True
"""Whether what a node does depends on what it has just taken in."""
DRAWS = True
"""Whether nodes draw neighbours."""
NOTES_TELLERS = True
"""Whether nodes note who has told them what."""

ANSWERS = TELLS = TELLS_ONE = STEPS_LATER = LISTS = TELLERS = 1
"""How much `on_message` says of a message, at most; see `netbandit.protocols.handler_texts.Said`."""
HOLDS = True
"""Whether its lists may be longer than those that messages tell."""
ACT_TELLS = ACT_TELLS_ONE = ACT_STEPS = ACT_LISTS = 1
"""How much `act` says, at most."""


class Spread(NamedTuple):
    """What nodes know and do; n agents.

    Attributes:
        rounds: The rounds that are open.
        state: Numbers by the places above.
        known: A bit for each item that an agent holds, 64 to a word, shape (places, n, words).
        asked: A bit for each that it holds, or has asked for, of the same shape.
        lists: Words: which, and its bits.
        met: In which instant each agent has taken in something last, and in which step first, shape (places, n, 2).
        next_slot: In which slot each agent acts next; -1: in none, shape (places, n).
        tellers: Channels over which labels have come that are to be passed on, and the next such row, 0 for none.
        told: For each agent and label the first row of `tellers`, shape (places, n n), or (places, 0).
        left_out: Marks channels on which nothing is put, shape (channels,).
        used: The channel on which each agent has told one neighbour last, -1 before that, shape (n,).
        choices, left: For each agent neighbours that it has drawn, from the last to the first; and how many are left.
    """

    rounds: Rounds
    state: Integers
    known: Integers
    asked: Integers
    lists: Integers
    met: Integers
    next_slot: Integers
    tellers: Integers
    told: NDArray[np.int32]
    left_out: NDArray[np.uint8]
    used: Integers
    choices: Integers
    left: Integers


# Messages.


@text
def kind_of(network: Machine, message: Message) -> int:
    return message_of(network, message).kind  # type: ignore[no-any-return]


@text
def labels_of(network: Machine, message: Message) -> int:
    row = message_of(network, message)
    return (row.labels << COUNT_BITS) | row.count  # type: ignore[no-any-return]


@text
def begun_of(network: Machine, message: Message) -> int:
    return message_of(network, message).begun  # type: ignore[no-any-return]


@text
def answer(
    network: Machine,
    own: Spread,
    round: int,
    node: int,
    neighbour: Channel,
    kind: int,
    size: int,
    labels: int,
    begun: int,
) -> None:
    if network.state[NOW] < network.state[END]:
        number = own.rounds.table[round, NUMBER]
        back = channel_of(network, neighbour).reverse
        send(network, back, kind, size, number, begun, labels >> COUNT_BITS, labels & COUNT_MASK)


@text
def begin_hop(network: Machine, own: Spread, round: int, kind: int, size: int, labels: int) -> Message:
    """Return a message whose hop begins now."""
    number = own.rounds.table[round, NUMBER]
    return write(network, kind, size, number, network.state[NOW], labels >> COUNT_BITS, labels & COUNT_MASK)


@text
def tell_all(network: Machine, own: Spread, round: int, node: int, kind: int, size: int, labels: int) -> None:
    if network.state[NOW] < network.state[END]:
        message = begin_hop(network, own, round, kind, size, labels)
        for at in range(network.starts[node], network.starts[node + 1]):
            put_message(network, network.out[at], message)
        release(network, message)


@text
def mark_tellers(network: Machine, own: Spread, first: int, mark: int) -> None:
    """Mark the channels to those whom rows of tellers name, from a *first* one on."""
    row = np.int64(first)
    while row > 0:
        own.left_out[network.channels[own.tellers[row - 1, TELLER]].reverse] = mark
        row = own.tellers[row - 1, NEXT]


@text
def tell_others(network: Machine, own: Spread, round: int, node: int, kind: int, size: int, labels: int) -> None:
    place = -1
    if is_one(own, labels):
        place = node * own.known.shape[1] + only_label(own, labels)
        mark_tellers(network, own, own.told[round, place], 1)
    if network.state[NOW] < network.state[END]:
        message = begin_hop(network, own, round, kind, size, labels)
        put_on_others(network, node, own.left_out, message)
        release(network, message)
    if place >= 0:
        mark_tellers(network, own, own.told[round, place], 0)
        give_back_tellers(own, own.told[round, place])
        own.told[round, place] = 0


@text
def give_back_tellers(own: Spread, first: int) -> None:
    """Let rows of `tellers`, from a *first* one on, be used anew."""
    row = np.int64(first)
    while row > 0:
        following = own.tellers[row - 1, NEXT]
        own.tellers[row - 1, NEXT] = own.state[UNUSED_TELLER]
        own.state[UNUSED_TELLER] = row
        own.state[TELLERS_LEFT] += 1
        row = following


@text
def note_teller(own: Spread, round: int, node: int, labels: int, neighbour: Channel) -> None:
    if is_one(own, labels):
        place = node * own.known.shape[1] + only_label(own, labels)
        row = own.state[UNUSED_TELLER]
        own.state[UNUSED_TELLER] = own.tellers[row - 1, NEXT]
        own.state[TELLERS_LEFT] -= 1
        own.tellers[row - 1, TELLER] = neighbour
        own.tellers[row - 1, NEXT] = own.told[round, place]
        own.told[round, place] = row


@text
def tell_one(network: Machine, own: Spread, round: int, node: int, kind: int, size: int, labels: int) -> None:
    own.left[node] -= 1
    channel = network.out[network.starts[node] + own.choices[node, own.left[node]]]
    own.used[node] = channel
    if network.state[NOW] < network.state[END]:
        message = begin_hop(network, own, round, kind, size, labels)
        put_message(network, channel, message)
        release(network, message)


@text
def busy_until(network: Machine, own: Spread, node: int) -> int:
    return network.channels[own.used[node]].free_at if own.used[node] >= 0 else 0


# Time.


@text
def now_of(network: Machine) -> int:
    return network.state[NOW]  # type: ignore[no-any-return]


@text
def slot_length(network: Machine) -> int:
    return network.state[SLOT_NS]  # type: ignore[no-any-return]


@text
def horizon_of(own: Spread) -> int:
    return own.state[HORIZON]  # type: ignore[no-any-return]


@text
def is_slotted(own: Spread) -> bool:
    return own.state[SLOTTED] == 1  # type: ignore[no-any-return]


@text
def add_row(network: Machine, own: Spread, round: int, node: int, due: int, labels: int) -> None:
    """Add a step, for which there is room."""
    row = network.state[STEPS]
    network.steps[row, NODE] = node
    network.steps[row, STEP_LABELS] = labels
    life = 0
    if FORGETS:
        life = life_of(network, node, network.state[NOW])
    network.steps[row, STEP_LIFE] = life
    network.steps[row, STEP_ROUND] = own.rounds.table[round, NUMBER]
    network.steps[row, STEP_DUE] = due
    network.state[STEPS] = row + 1


@text
def later(network: Machine, own: Spread, round: int, node: int, due: int, labels: int) -> None:
    add_row(network, own, round, node, due, labels)
    network.state[STEP_TIME] = min(network.state[STEP_TIME], due)


@text
def at_once(network: Machine, own: Spread, round: int, node: int, labels: int) -> None:
    network.order[own.state[DUE]] = (node << NODE_BITS) | network.state[STEPS]
    own.state[DUE] += 1
    add_row(network, own, round, node, DONE, labels)


# Sets of labels.


@text
def add_word(own: Spread, at: int, word: int, bits: int) -> int:
    """Put a word at the end of the lists, *at* this row, if any of its bits is set; return where the end is then."""
    if bits:
        own.lists[at, WORD] = word
        own.lists[at, BITS] = bits
        at += 1
    return at


@text
def only_label(own: Spread, labels: int) -> int:
    """Return the label of a list of one."""
    row = labels >> COUNT_BITS
    return (own.lists[row, WORD] << WORD_BITS) + lowest(own.lists[row, BITS])  # type: ignore[no-any-return]


@text
def is_one(own: Spread, labels: int) -> bool:
    """Return whether a list is of one label."""
    one = labels & COUNT_MASK == 1
    if one:
        one = ones(own.lists[labels >> COUNT_BITS, BITS]) == 1
    return one


@text
def number_of(own: Spread, labels: int) -> int:
    number = 0
    for at in range(labels >> COUNT_BITS, (labels >> COUNT_BITS) + (labels & COUNT_MASK)):
        number += ones(own.lists[at, BITS])
    return number


@text
def is_empty(labels: int) -> bool:
    return labels & COUNT_MASK == 0


@text
def nothing(own: Spread) -> int:
    return 0


@text
def bytes_of(own: Spread, round: int, labels: int) -> int:
    size = 0
    uniform = own.rounds.table[round, UNIFORM]
    for at in range(labels >> COUNT_BITS, (labels >> COUNT_BITS) + (labels & COUNT_MASK)):
        bits = own.lists[at, BITS]
        if uniform > 0:
            size += ones(bits) * uniform
        else:
            while bits:
                size += own.rounds.sizes[round, (own.lists[at, WORD] << WORD_BITS) + lowest(bits)]
                bits ^= np.int64(1) << lowest(bits)
    return size


@text
def list_to(own: Spread, end: int) -> int:
    """Return the list that ends at a row, and begins where unused rows did."""
    first = own.state[USED]
    own.state[USED] = end
    return (first << COUNT_BITS) | (end - first)  # type: ignore[no-any-return]


@text
def masked(own: Spread, labels: int, words: Integers, wanted: int) -> int:
    """Return those of *labels* whose bits in *words* are set, if *wanted* is 0; if it is -1, those that are not."""
    end = own.state[USED]
    every = True
    for at in range(labels >> COUNT_BITS, (labels >> COUNT_BITS) + (labels & COUNT_MASK)):
        word = own.lists[at, WORD]
        bits = own.lists[at, BITS] & (words[word] ^ wanted)
        every = every and bits == own.lists[at, BITS]
        end = add_word(own, end, word, bits)
    found = labels
    if not every:
        found = list_to(own, end)
    return found


# What a node holds in a round.


@text
def held(own: Spread, round: int, node: int) -> int:
    end = own.state[USED]
    for word in range(own.known.shape[2]):
        end = add_word(own, end, word, own.known[round, node, word])
    return list_to(own, end)


@text
def holds_nothing(own: Spread, round: int, node: int) -> bool:
    empty = True
    for word in range(own.known.shape[2]):
        empty = empty and own.known[round, node, word] == 0
    return empty


@text
def held_of(own: Spread, round: int, node: int, labels: int) -> int:
    return masked(own, labels, own.known[round, node], 0)


@text
def unasked(own: Spread, round: int, node: int, labels: int) -> int:
    return masked(own, labels, own.asked[round, node], -1)


@text
def ask(own: Spread, round: int, node: int, labels: int) -> None:
    for at in range(labels >> COUNT_BITS, (labels >> COUNT_BITS) + (labels & COUNT_MASK)):
        own.asked[round, node, own.lists[at, WORD]] |= own.lists[at, BITS]


@text
def learn(network: Machine, own: Spread, round: int, node: int, labels: int) -> None:
    items = 0
    needed = 0
    for at in range(labels >> COUNT_BITS, (labels >> COUNT_BITS) + (labels & COUNT_MASK)):
        word = own.lists[at, WORD]
        news = own.lists[at, BITS] & ~own.known[round, node, word]
        if news:
            own.known[round, node, word] |= news
            items += ones(news)
            needed += ones(news & own.rounds.counting[round, word])
            if own.rounds.state[PURPOSE] == TOLD:
                hear(own.rounds, network.state, round, node, word, news, own.state[INSTANTS])
    if items > 0:
        if not counts(own.rounds, round, node):
            needed = 0
        note_news(own, round, node, items, needed)


@text
def has_gone_on(own: Spread, round: int, node: int) -> bool:
    return own.rounds.went_on[round, node] == 1  # type: ignore[no-any-return]


@text
def count_late(own: Spread, items: int) -> None:
    own.rounds.state[LATE] += items


@text
def need_less(own: Spread, round: int, items: int) -> int:
    own.rounds.table[round, MISSING] -= items
    return own.rounds.table[round, MISSING]  # type: ignore[no-any-return]


@text
def complete(own: Spread, round: int) -> None:
    own.rounds.ended[own.rounds.state[ENDED]] = own.rounds.table[round, NUMBER]
    own.rounds.state[ENDED] += 1


@text
def next_slot(own: Spread, round: int, node: int) -> int:
    return own.next_slot[round, node]  # type: ignore[no-any-return]


@text
def set_next_slot(own: Spread, round: int, node: int, slot: int) -> None:
    own.next_slot[round, node] = slot


@text
def is_deserted(own: Spread, round: int) -> bool:
    return own.rounds.table[round, DESERTED] == 1  # type: ignore[no-any-return]


# The loop.


@text
def united(own: Spread, some: int, others: int) -> int:
    """Return the union of two lists, for which there is room."""
    found = some
    if some & COUNT_MASK == 0:
        found = others
    elif others & COUNT_MASK > 0:
        first = some >> COUNT_BITS
        end = first + (some & COUNT_MASK)
        if first < own.state[UNITED] or end != own.state[USED]:  # else nothing else names it, and it can go on
            begin = own.state[USED]
            for at in range(first, end):
                own.lists[begin + at - first, WORD] = own.lists[at, WORD]
                own.lists[begin + at - first, BITS] = own.lists[at, BITS]
            end += begin - first
            first = begin
        for other in range(others >> COUNT_BITS, (others >> COUNT_BITS) + (others & COUNT_MASK)):
            at = first
            while at < end and own.lists[at, WORD] != own.lists[other, WORD]:
                at += 1
            if at < end:
                own.lists[at, BITS] |= own.lists[other, BITS]
            else:
                end = add_word(own, end, own.lists[other, WORD], own.lists[other, BITS])
        own.state[USED] = end
        found = (first << COUNT_BITS) | (end - first)
    return found


@text
def wants_choices(own: Spread, node: int, number: int) -> bool:
    """Return whether *node* has drawn fewer neighbours than it may tell something now, and note how many that are."""
    wants = own.left[node] < number
    if wants:
        own.state[WANTED_CHOICES] = number
    return wants  # type: ignore[no-any-return]


@text
def can_handle(network: Machine, own: Spread, node: int, at: int, end: int) -> int:
    """Return why *node* cannot handle what is at these places of the inbox, or `ARRIVED`: it can."""
    state, inbox = network.state, network.inbox
    messages = end - at
    words = 0
    together = 0
    most = 0
    for number in range(at, end):
        words += own.known.shape[2] if HOLDS else network.messages[inbox[number, MESSAGE]].count
        together = together + 1 if number > at and inbox[number, CHANNEL] == inbox[number - 1, CHANNEL] else 1
        most = max(most, together)
    if DRAWS and wants_choices(own, node, TELLS_ONE * messages):
        why = CHOICES_USED
    elif state[STEPS] + STEPS_LATER * messages > len(network.steps):
        why = STEPS_FULL
    elif own.state[USED] + LISTS * words > len(own.lists) or (
        NOTES_TELLERS and own.state[TELLERS_LEFT] < TELLERS * messages
    ):
        why = LISTS_FULL
    else:
        tells = TELLS * (network.starts[node + 1] - network.starts[node])
        most = ANSWERS * most + (TELLS + TELLS_ONE) * messages
        why = room(network, node, (ANSWERS + TELLS_ONE + tells) * messages, most)
    return why


@text
def begin_instant(own: Spread) -> None:
    """Begin to take in what is due in this instant."""
    own.state[TAKEN] = 0
    own.state[ACTED] = 0
    own.state[INSTANTS] += 1
    own.state[UNITED] = own.state[USED]


@text
def handle(network: Machine, own: Spread) -> int:
    """Let the first node that is in the inbox handle what has reached it; return why it stopped, or `ARRIVED`."""
    state, inbox, kept = network.state, network.inbox, own.state
    at = state[INBOX_AT]
    end = inbox_of_one(network)
    node = network.channels[inbox[at, CHANNEL]].receiver
    if hears_call(network, CALL, node, end):
        why = HEARD_CALL
    else:
        at = state[INBOX_AT]
        why = can_handle(network, own, node, at, end)
        if why == ARRIVED:
            kept[FIRST] = state[STEPS]
            for number in range(at, end):
                message = inbox[number, MESSAGE]
                place = place_of(own.rounds, network.messages[message].round)
                if place >= 0:
                    on_message(network, own, place, node, inbox[number, CHANNEL], message)
                release(network, message)
            state[INBOX_AT] = end
            if kept[DUE] > 0:
                begin_instant(own)
    return why


@text
def begin_steps(network: Machine, own: Spread) -> int:
    """Find what is due now; return why it cannot, or `ARRIVED`."""
    state, kept = network.state, own.state
    # Where something is due in most instants, what was left over mostly is not.
    kept[FIRST] = 0 if kept[KEPT_DUE] <= state[NOW] else kept[KEPT]
    why = ARRIVED
    if NODES_FAIL:
        why = leave_absent(network, kept[FIRST], False)
    if why == ARRIVED:
        kept[DUE] = begin_due_from(network, kept[FIRST])
        begin_instant(own)
    return why


@text
def end_steps(network: Machine, own: Spread) -> None:
    """Forget what was due; what is due later stays."""
    state, kept = network.state, own.state
    soonest = keep_later(network, kept[FIRST], DONE)
    kept[DUE] = 0
    if state[STEPS_BEGUN]:
        state[STEPS_BEGUN] = 0
        kept[KEPT_DUE] = soonest if kept[FIRST] == 0 else min(kept[KEPT_DUE], soonest)
        kept[KEPT] = state[STEPS]
        state[STEP_TIME] = kept[KEPT_DUE]


@text
def take_in(network: Machine, own: Spread) -> int:
    """Let nodes take in what is due, and rounds end; return why it stopped, or `ARRIVED`."""
    steps, kept = network.steps, own.state
    why = ARRIVED
    while why == ARRIVED and kept[TAKEN] < kept[DUE]:
        step = network.order[kept[TAKEN]] & STEP_MASK
        node = steps[step, NODE]
        labels = steps[step, STEP_LABELS]
        place = place_of(own.rounds, steps[step, STEP_ROUND])
        if place >= 0:
            why = hearing(own.rounds, own.known.shape[1])
            if UNITES and why == ARRIVED and kept[USED] + 2 * own.known.shape[2] > len(own.lists):
                why = LISTS_FULL
        if why == ARRIVED:
            if place >= 0:
                learn(network, own, place, node, labels)
                if MERGES:
                    if own.met[place, node, INSTANT] == kept[INSTANTS]:
                        steps[step, STEP_ROUND] = DONE
                        if UNITES:
                            first = own.met[place, node, FIRST_STEP]
                            steps[first, STEP_LABELS] = united(own, steps[first, STEP_LABELS], labels)
                    else:
                        own.met[place, node, INSTANT] = kept[INSTANTS]
                        own.met[place, node, FIRST_STEP] = step
            kept[TAKEN] += 1
    if why == ARRIVED:
        close_complete(own.rounds)
    return why


@text
def can_act(network: Machine, own: Spread, node: int) -> int:
    """Return why *node* cannot act, or `ARRIVED`: it can."""
    if DRAWS and wants_choices(own, node, ACT_TELLS_ONE):
        why = CHOICES_USED
    elif network.state[STEPS] + ACT_STEPS > len(network.steps):
        why = STEPS_FULL
    elif own.state[USED] + ACT_LISTS * own.known.shape[2] > len(own.lists):
        why = LISTS_FULL
    else:
        tells = ACT_TELLS * (network.starts[node + 1] - network.starts[node])
        why = room(network, node, ACT_TELLS_ONE + tells, ACT_TELLS_ONE + ACT_TELLS)
    return why


@text
def act_all(network: Machine, own: Spread) -> int:
    """Let nodes act on what they have taken in; return why it stopped, or `ARRIVED`."""
    steps, kept = network.steps, own.state
    why = ARRIVED
    while why == ARRIVED and kept[ACTED] < kept[DUE]:
        step = network.order[kept[ACTED]] & STEP_MASK
        place = place_of(own.rounds, steps[step, STEP_ROUND])
        if place >= 0:
            node = steps[step, NODE]
            why = can_act(network, own, node)
            if why == ARRIVED:
                act(network, own, place, node, steps[step, STEP_LABELS])
        if why == ARRIVED:
            steps[step, STEP_DUE] = DONE
            kept[ACTED] += 1
    return why


@text
def play(network: Machine, own: Spread, arrivals_until: int, steps_until: int) -> int:
    """Let messages be delivered and handled, until something outside is due; return why it stopped.

    Args:
        network: The network, and what is under way.
        own: What nodes know and do.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
    """
    state = network.state
    while True:
        if own.state[DUE] > 0 or state[STEPS_BEGUN]:
            why: int = take_in(network, own)
            if why == ARRIVED:
                why = act_all(network, own)
            if why != ARRIVED:
                return why
            end_steps(network, own)
            if own.rounds.state[ENDED]:
                return ENDED_ROUND
        if state[DUE_AT] < state[DUE_END]:
            why = take(network)
            if why != ARRIVED:
                return why
        if state[INBOX_AT] < state[INBOX_END]:
            why = handle(network, own)
        else:
            why = advance(network, arrivals_until, steps_until, state[STEP_TIME])
            if why == STEP:
                why = begin_steps(network, own)
        if why != ARRIVED:
            return why
