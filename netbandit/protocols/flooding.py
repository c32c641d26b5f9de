"""Flooding: every node sends each new item to all its neighbours."""

from typing import ClassVar

from netbandit.network.message import HEADER_BYTES, Kind
from netbandit.protocols.carry import CarryKey
from netbandit.protocols.handlers import Handlers
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.primitives import (
    Labels,
    Message,
    Neighbour,
    Network,
    Own,
    Round,
    ask,
    at_once,
    begun_of,
    bytes_of,
    effective_time,
    held_of,
    is_empty,
    is_slotted,
    labels_of,
    later,
    note_teller,
    now_of,
    slot_length,
    tell_others,
    unasked,
)
from netbandit.texts import text

FLOOD = Kind("FLOOD")


@text
def on_message(network: Network, own: Own, round: Round, node: int, neighbour: Neighbour, message: Message) -> None:
    """Take the item in if it is new: now, or at the slot boundary that ends the hop."""
    label = labels_of(network, message)
    if not is_empty(unasked(own, round, node, label)):
        ask(own, round, node, label)
        note_teller(own, round, node, label, neighbour)
        if is_slotted(own):
            due = effective_time(now_of(network), begun_of(network, message), slot_length(network))
            later(network, own, round, node, due, label)
        else:
            at_once(network, own, round, node, label)
    elif is_empty(held_of(own, round, node, label)):  # it is still to be passed on
        note_teller(own, round, node, label, neighbour)


@text
def act(network: Network, own: Own, round: Round, node: int, label: Labels) -> None:
    """Pass the item on to all who have not told it."""
    tell_others(network, own, round, node, FLOOD, HEADER_BYTES + bytes_of(own, round, label), label)


class Flooding(CarryKey, NeighbourRounds):
    """Rounds among neighbours: every node passes each new item on to all others.

    One message per item and channel.

    A node sends each new item to all neighbours except every one from which it arrived before the node passes
    it on; it ignores items that it has. The round ends by the free clock that also ends ``gis``, when every agent
    has every item, or for an agent at its `deadline`.
    """

    handlers: ClassVar[Handlers] = Handlers(on_message, act, merges=False, ends_at_once=True)
