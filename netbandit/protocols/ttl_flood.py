"""TTL flooding: nodes forward packets up to a hop limit; which copies count, and which nodes forward them."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import MutableMapping, Sequence
from typing import Generic, Protocol, TypeVar


class FloodPacket(Protocol):
    """A copy of a packet."""

    @property
    def source(self) -> int:
        """The agent that originated it."""

    @property
    def left(self) -> int:
        """The remaining hops (TTL)."""

    @property
    def furthest(self) -> "MutableMapping[int, int] | array[int]":
        """For each node, one more than the most remaining hops of the copies received; 0: none was received.

        All copies of a packet share this object, which identifies the packet.
        """


Flooded = TypeVar("Flooded", bound=FloodPacket)


class DisseminationState(dict[int, int]):
    """`FloodPacket.furthest` of a packet that reaches few nodes."""

    def __missing__(self, node: int) -> int:
        return 0


class TtlFlood(ABC, Generic[Flooded]):
    """Nodes that receive and forward packets."""

    @abstractmethod
    def on_new_packet(self, node: int, packet: Flooded) -> None:
        """Process *packet*, which *node* receives for the first time."""

    @abstractmethod
    def forward(self, node: int, packet: Flooded, left: int, senders: Sequence[int]) -> None:
        """Forward copies of *packet* with *left* remaining hops to the neighbours of *node*, except for *senders*."""

    def keeps(self, node: int, packet: Flooded) -> bool:
        """Return whether *node* keeps *packet* without forwarding it; by default it forwards."""
        return False

    def originate(self, node: int, packet: Flooded) -> None:
        """Send *packet*, which *node* originates, to all its neighbours."""
        if packet.left > 0:
            self.forward(node, packet, packet.left - 1, ())

    def receive_copies(self, node: int, copies: Sequence[tuple[int, Flooded]]) -> None:
        """Let *node* receive simultaneous copies of packets, each with the neighbour that sent it, in order of arrival.

        Of the copies of a packet only the one with the most remaining hops counts.
        """
        if len(copies) == 1:
            ((sender, packet),) = copies
            self._hear(node, packet, (sender,))
            return
        furthest: dict[int, tuple[Flooded, list[int]]] = {}
        for sender, packet in copies:
            known = furthest.get(id(packet.furthest))
            if known is None:
                furthest[id(packet.furthest)] = packet, [sender]
            else:
                known[1].append(sender)
                if packet.left > known[0].left:
                    furthest[id(packet.furthest)] = packet, known[1]
        for packet, senders in furthest.values():
            self._hear(node, packet, senders)

    def _hear(self, node: int, packet: Flooded, senders: Sequence[int]) -> None:
        """Forward *packet* if this copy has more remaining hops than any before, and process it when it is new.

        Over unequal latencies a copy over a long, fast path may arrive first. A node ignores its own packets.
        """
        before = packet.furthest[node]
        if before > packet.left or packet.source == node:
            return
        packet.furthest[node] = packet.left + 1
        if packet.left > 0 and not self.keeps(node, packet):
            self.forward(node, packet, packet.left - 1, senders)
        if not before:
            self.on_new_packet(node, packet)
