"""Push gossip: in each slot a node sends all its items to one random neighbour."""

from collections.abc import Mapping
from typing import ClassVar

from netbandit.network.message import Kind
from netbandit.parts.component import CommunicationPattern
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.node import AgentMask, LabelMessage, Node
from netbandit.protocols.protocol import NetworkProtocol, SeenLinks
from netbandit.protocols.pull_gossip import PullGossip

GOSSIP = Kind("GOSSIP")


class Gossip(NeighbourRounds):
    """Rounds among neighbours: each slot, a node sends all items it holds to one random neighbour.

    The neighbour is drawn uniformly; a node without items sends nothing.

    A node whose last copy is still being transmitted over a slow link waits: copies would only pile up.

    A node begins with its own contribution, or with the first items it hears, and goes on from slot boundary to
    slot boundary; the round ends by the free clock that also ends ``gis``, when every agent has every item. Slotted,
    a node takes in what it hears at a boundary; asynchronous, at once, but it still speaks once a slot. An agent goes
    on without the others at its `deadline`, and falls silent when nobody waits in the round any more.

    Where agents see which of their links are up, a node sends to the drawn neighbour if it is in contact, otherwise
    to a random neighbour in contact; otherwise it retries in the next slot.
    """

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"round", "call", "broadcast", "ask"})
    stand_ins: ClassVar[Mapping[CommunicationPattern, type[NetworkProtocol]]] = {"ask": PullGossip}
    stream: ClassVar[str] = "gossip"
    seen_links: ClassVar[SeenLinks | None] = "choose"

    def on_message(self, node: Node, neighbour: int, message: LabelMessage) -> None:
        """Take in the items of a neighbour: now, or at the slot boundary that ends the hop."""
        node.take_in_at(node.effective_time(message), message.labels)

    def act(self, node: Node, labels: AgentMask) -> None:
        """Send all items held to a random neighbour, once a slot, and again in the next slot."""
        if self.aggregation.per_agent and (node.is_deserted or not node.held):
            node.next_slot = -1
            return
        now, slot = node.now, self.clock.slot
        speaks = node.next_slot
        begins = speaks < 0
        if begins or speaks * slot < now:
            speaks = -(-now // slot)
        goes_on = True
        if speaks * slot != now:
            goes_on = begins  # else it has spoken in this slot, or will at its end
        elif node.busy_until > now:
            speaks = -(-node.busy_until // slot)
        else:
            node.send_one(GOSSIP, node.held, items=True)
            speaks += 1
        node.next_slot = speaks
        if goes_on and speaks < self.clock.horizon:
            node.take_in_at(speaks * slot, 0)
