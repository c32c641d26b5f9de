"""A protocol of handlers as a user may write one: whoever hears something new tells it to all neighbours."""

import netbandit as nb
from netbandit.protocols.primitives import (
    ask,
    at_once,
    begun_of,
    bytes_of,
    effective_time,
    is_empty,
    is_slotted,
    labels_of,
    later,
    now_of,
    number_of,
    slot_length,
    tell_all,
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
