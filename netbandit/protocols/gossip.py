"""Gossip: in each slot a node tells one random neighbour all it knows."""

from collections.abc import Mapping
from typing import ClassVar

from netbandit.network.message import HEADER_BYTES, Kind
from netbandit.parts.component import CommunicationPattern
from netbandit.protocols.gossip_ask import GossipAsk
from netbandit.protocols.handlers import Handlers
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.primitives import (
    APART,
    FORGETS,
    Labels,
    Message,
    Neighbour,
    Network,
    Own,
    Round,
    begun_of,
    busy_until,
    bytes_of,
    effective_time,
    held,
    holds_nothing,
    horizon_of,
    is_deserted,
    is_slotted,
    labels_of,
    later,
    next_slot,
    nothing,
    now_of,
    set_next_slot,
    slot_length,
    tell_one,
)
from netbandit.protocols.protocol import NetworkProtocol, SeenLinks
from netbandit.texts import text

GOSSIP = Kind("GOSSIP")


@text
def on_message(network: Network, own: Own, round: Round, node: int, neighbour: Neighbour, message: Message) -> None:
    """Take in what a neighbour tells: now, or at the slot boundary that ends the hop."""
    due = now_of(network)
    if is_slotted(own):
        due = effective_time(due, begun_of(network, message), slot_length(network))
    later(network, own, round, node, due, labels_of(network, message))


@text
def act(network: Network, own: Own, round: Round, node: int, labels: Labels) -> None:
    """Tell a neighbour all that one holds, unless one has spoken in this slot, and again in the next."""
    silent = APART and is_deserted(own, round)
    if APART and FORGETS:
        silent = silent or holds_nothing(own, round, node)
    if silent:
        set_next_slot(own, round, node, -1)
    else:
        now = now_of(network)
        slot = slot_length(network)
        speaks = next_slot(own, round, node)
        begins = speaks < 0
        if begins or speaks * slot < now:
            speaks = -(-now // slot)
        goes_on = True
        if speaks * slot != now:
            goes_on = begins  # else it has spoken in this slot, or will at its end
        elif busy_until(network, own, node) > now:
            speaks = -(-busy_until(network, own, node) // slot)
        else:
            told = held(own, round, node)
            tell_one(network, own, round, node, GOSSIP, HEADER_BYTES + bytes_of(own, round, told), told)
            speaks += 1
        set_next_slot(own, round, node, speaks)
        if goes_on and speaks < horizon_of(own):
            later(network, own, round, node, speaks * slot, nothing(own))


class Gossip(NeighbourRounds):
    """Rounds among neighbours: everything known goes to one random neighbour in each slot.

    Each slot, a node that holds items sends all of them to one neighbour, drawn uniformly.

    A node whose last copy has not left it yet, because its link is slow, waits until it has: copies would only pile up.

    A node begins with its own contribution, or with the first items it hears, and goes on from slot boundary to
    slot boundary; the round ends by the free clock that also ends ``gis``, when every agent has every item. Slotted,
    a node takes in what it hears at a boundary; asynchronous, at once, but it still speaks once a slot. An agent goes
    on without the others at its `deadline`, and falls silent when nobody waits in the round any more.

    Where agents see which of their links are up, a node speaks to the neighbour drawn if that is there, else to one
    drawn uniformly of those who are; if nobody is, it looks again in the next slot.
    """

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"round", "call", "broadcast", "ask"})
    stand_ins: ClassVar[Mapping[CommunicationPattern, type[NetworkProtocol]]] = {"ask": GossipAsk}
    handlers: ClassVar[Handlers] = Handlers(on_message, act)
    stream: ClassVar[str] = "gossip"
    seen_links: ClassVar[SeenLinks | None] = "choose"
