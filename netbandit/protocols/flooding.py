"""Flooding: every node sends each new item to all its neighbours."""

from typing import ClassVar

from netbandit.network.message import Kind
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.node import AgentMask, LabelMessage, Node
from netbandit.protocols.store_carry_forward import CarryKey

FLOOD = Kind("FLOOD")


class Flooding(CarryKey, NeighbourRounds):
    """Rounds among neighbours: every node forwards each new item to all its other neighbours.

    One message per item and channel.

    A node sends each new item to all neighbours except every one from which it arrived before the node passes
    it on; it ignores items that it has. The round ends by the free clock that also ends ``gis``, when every agent
    has every item, or for an agent at its `deadline`.
    """

    counts_ties: ClassVar[bool] = True
    merges: ClassVar[bool] = False

    def on_message(self, node: Node, neighbour: int, message: LabelMessage) -> None:
        """Take the item in if it is new: now, or at the slot boundary that ends the hop."""
        node.accept(neighbour, message)

    def act(self, node: Node, labels: AgentMask) -> None:
        """Forward the item to all neighbours that have not sent it."""
        node.send_others(FLOOD, labels, items=True)
