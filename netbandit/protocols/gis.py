"""Global Information Synchronization: every node advertises, requests and forwards new items."""

from typing import ClassVar

from netbandit.network.message import Kind
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.node import AgentMask, LabelMessage, Node

ADV = Kind("ADV")
REQ = Kind("REQ")
DATA = Kind("DATA")


class Gis(NeighbourRounds):
    """Rounds among neighbours: nodes advertise new items, and send them on request.

    All agents synchronise: the protocol of DDP-MAB (Li & Song, Algorithms 2 and 3).

    A node that has learnt new items advertises their labels to all neighbours (ADV); a neighbour that misses some, and
    has not asked another for them, requests them from the first advertiser, the lowest-numbered of simultaneous ones
    (REQ); the items follow (DATA).

    Slotted, with three latencies within a slot and no bandwidth limit, a round takes ``diameter`` slots and
    node v holds the item of u after dist(u, v) slots. An agent goes on without the others at its `deadline`.
    """

    counts_ties: ClassVar[bool] = True

    def on_message(self, node: Node, neighbour: int, message: LabelMessage) -> None:
        """Request advertised items that are not requested elsewhere; answer requests; take in items.

        The handshake never waits for a slot boundary; only the items take effect at one.
        """
        if message.kind is ADV:
            wanted = node.claim(message.labels)
            if wanted:
                node.send(neighbour, REQ, wanted, begun=message.begun)
        elif message.kind is REQ:
            held = message.labels & node.held  # after a loss of memory it may hold less than it advertised
            if held:
                node.send(neighbour, DATA, held, items=True, begun=message.begun)
        else:
            node.take_in(message, message.labels)

    def act(self, node: Node, labels: AgentMask) -> None:
        """Advertise the new items."""
        node.send_all(ADV, labels)
