"""Global Information Synchronization: every node advertises, requests and passes on what is new."""

from typing import ClassVar

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.protocols.handlers import Handlers
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.primitives import (
    FORGETS,
    Labels,
    Message,
    Neighbour,
    Network,
    Own,
    Round,
    answer,
    ask,
    at_once,
    begun_of,
    bytes_of,
    effective_time,
    held_of,
    is_empty,
    is_slotted,
    kind_of,
    labels_of,
    later,
    now_of,
    number_of,
    slot_length,
    tell_all,
    unasked,
)
from netbandit.texts import text

ADV = Kind("ADV")
REQ = Kind("REQ")
DATA = Kind("DATA")


@text
def on_message(network: Network, own: Own, round: Round, node: int, neighbour: Neighbour, message: Message) -> None:
    """Request what is advertised, unless another was asked for it; answer requests; take in what comes.

    The handshake never waits for a slot boundary: only what it brings does.
    """
    kind = kind_of(network, message)
    labels = labels_of(network, message)
    begun = begun_of(network, message)
    if kind == ADV:
        wanted = unasked(own, round, node, labels)
        if not is_empty(wanted):
            ask(own, round, node, wanted)
            size = HEADER_BYTES + LABEL_BYTES * number_of(own, wanted)
            answer(network, own, round, node, neighbour, REQ, size, wanted, begun)
    elif kind == REQ:
        if FORGETS:
            labels = held_of(own, round, node, labels)
        if not FORGETS or not is_empty(labels):
            size = HEADER_BYTES + bytes_of(own, round, labels)
            answer(network, own, round, node, neighbour, DATA, size, labels, begun)
    elif is_slotted(own):
        due = effective_time(now_of(network), begun, slot_length(network))
        later(network, own, round, node, due, labels)
    else:
        at_once(network, own, round, node, labels)


@text
def act(network: Network, own: Own, round: Round, node: int, labels: Labels) -> None:
    """Advertise what is new."""
    tell_all(network, own, round, node, ADV, HEADER_BYTES + LABEL_BYTES * number_of(own, labels), labels)


SYNCHRONIZATION = Handlers(on_message, act, ends_at_once=True)
"""Flooding by handshake (Li & Song, Algorithm 2).

A node that has learnt new items advertises their labels to all neighbours (ADV); a neighbour that misses some, and has
not asked another for them, requests them from the first advertiser, the lowest-numbered of simultaneous ones (REQ); the
items follow (DATA).
"""


class Gis(NeighbourRounds):
    """Rounds among neighbours: who has something new offers it, and sends what it is asked for.

    All agents synchronise: the protocol of DDP-MAB (Li & Song, Algorithms 2 and 3).

    Slotted, with three latencies within a slot and no bandwidth limit, a round takes ``diameter`` slots and
    node v holds the item of u after dist(u, v) slots. An agent goes on without the others at its `deadline`.
    """

    handlers: ClassVar[Handlers] = SYNCHRONIZATION
