"""A protocol of handlers as a user may write one: whoever hears something new tells it to all neighbours."""

import netbandit as nb
from netbandit.protocols.primitives import (
    answer,
    ask,
    at_once,
    begun_of,
    bytes_of,
    effective_time,
    held,
    is_empty,
    is_slotted,
    labels_of,
    later,
    note_teller,
    nothing,
    now_of,
    number_of,
    slot_length,
    tell_all,
    tell_one,
    tell_others,
    unasked,
)

NEWS = nb.Kind("NEWS")


@nb.text
def when(network, own, message):
    return effective_time(now_of(network), begun_of(network, message), slot_length(network))


@nb.text
def on_message(network, own, round, node, neighbour, message):
    news = unasked(own, round, node, labels_of(network, message))
    if not is_empty(news):
        ask(own, round, node, news)
        if is_slotted(own):
            later(network, own, round, node, when(network, own, message), news)
        else:
            at_once(network, own, round, node, news)


@nb.text
def act(network, own, round, node, labels):
    size = 20 + number_of(own, labels) + bytes_of(own, round, labels)
    tell_all(network, own, round, node, NEWS, size, labels)


class PassOn(nb.NeighbourRounds):
    """Handlers alone: a loop can execute it."""

    handlers = nb.Handlers(on_message, act)


@nb.text
def act_and_print(network, own, round, node, labels):
    act(network, own, round, node, labels)
    print("told")


class Prints(nb.NeighbourRounds):
    """What no loop can execute."""

    handlers = nb.Handlers(on_message, act_and_print)


class Watched(PassOn):
    """More than handlers."""

    def receive(self, node, arrivals):
        super().receive(node, arrivals)


WORD, ANSWER = nb.Kind("WORD"), nb.Kind("ANSWER")


@nb.text
def talk(network, own, round, node, neighbour, message):
    everything = held(own, round, node)
    size = 20 + bytes_of(own, round, everything)
    begun = begun_of(network, message)
    tell_all(network, own, round, node, WORD, size, everything)
    answer(network, own, round, node, neighbour, ANSWER, size, everything, begun)
    answer(network, own, round, node, neighbour, ANSWER, size, held(own, round, node), begun)


@nb.text
def talk_on_message(network, own, round, node, neighbour, message):
    news = unasked(own, round, node, labels_of(network, message))
    if not is_empty(news):
        talk(network, own, round, node, neighbour, message)
        if is_slotted(own):
            later(network, own, round, node, when(network, own, message), news)
            later(network, own, round, node, when(network, own, message), nothing(own))
        else:
            at_once(network, own, round, node, news)
            at_once(network, own, round, node, nothing(own))
        ask(own, round, node, news)


@nb.text
def act_twice(network, own, round, node, labels):
    act(network, own, round, node, labels)
    act(network, own, round, node, held(own, round, node))


class Chatters(nb.NeighbourRounds):
    """Says as much as it can: several answers to a message, and lists that did not come with it."""

    handlers = nb.Handlers(talk_on_message, act_twice)


@nb.text
def draw_on_message(network, own, round, node, neighbour, message):
    news = unasked(own, round, node, labels_of(network, message))
    note_teller(own, round, node, news, neighbour)
    if not is_empty(news):
        ask(own, round, node, news)
        size = 20 + bytes_of(own, round, news)
        tell_one(network, own, round, node, WORD, size, news)
        tell_one(network, own, round, node, NEWS, size, news)
        note_teller(own, round, node, news, neighbour)
        if is_slotted(own):
            later(network, own, round, node, when(network, own, message), news)
        else:
            at_once(network, own, round, node, news)


@nb.text
def tell_others_and_one(network, own, round, node, labels):
    everything = held(own, round, node)
    tell_one(network, own, round, node, ANSWER, 20, labels)
    tell_one(network, own, round, node, ANSWER, 20 + bytes_of(own, round, everything), everything)
    tell_others(network, own, round, node, NEWS, 20 + bytes_of(own, round, labels), labels)


class Drawers(nb.NeighbourRounds):
    """Draws several neighbours, with a message too, and notes who has told it what it has not passed on."""

    handlers = nb.Handlers(draw_on_message, tell_others_and_one, merges=False)
    stream = "drawers"


REPEATS = 3
"""A number of its own, of which a loop has another by the same name."""


@nb.text
def act_on_others(network, own, round, node, labels):
    tell_others(network, own, round, node, NEWS, 20 + REPEATS * number_of(own, labels), labels)


class Others(nb.NeighbourRounds):
    """Tells others, though it notes nobody who has told it."""

    handlers = nb.Handlers(on_message, act_on_others, merges=False)


@nb.text
def tell_in_turn(network, own, round, node, labels):
    for _ in range(3):
        act(network, own, round, node, labels)


class Loops(nb.NeighbourRounds):
    """Nobody can say how much it says, so that there is room for it."""

    handlers = nb.Handlers(on_message, tell_in_turn)
