"""Pooled: everybody knows what anybody has told, free and out of band; a reference for what a network may reach."""

from typing import ClassVar

from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.protocol import Item, Pattern


class Pooled(BroadcastProtocol):
    """What is told in a slot is heard by all others before the decision of the next.

    No message is sent, whatever the graph and the timing: there is nothing to count, and nothing to be late.
    """

    patterns: ClassVar[frozenset[Pattern]] = frozenset({"broadcast", "round"})
    uses_peer_links: ClassVar[bool] = False
    out_of_band: ClassVar[bool] = True

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._told: InstantQueue[Heard] = InstantQueue(self.clock, self._hear, AGENTS)

    @property
    def reach(self) -> list[int]:
        """All agents, in whatever component; see `BroadcastProtocol.reach`."""
        return [self.network.agents] * self.network.agents

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Keep *item* until the next slot begins."""
        slot = self.clock.slot
        if self.clock.now < self.clock.end:
            self._told.at((self.clock.now // slot + 1) * slot, agent, Heard(agent, round, item))

    def _hear(self, due: list[tuple[int, list[Heard]]]) -> None:
        everything = sorted(heard for _, items in due for heard in items)
        for agent in range(self.network.agents):
            others = [heard for heard in everything if heard.source != agent]
            if others:
                self.hear(agent, others)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Never called: nobody sends."""
        raise RuntimeError("a message was sent although all is known without any")
