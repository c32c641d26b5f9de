"""Earliest: items travel along earliest-arrival temporal paths, free of charge; a bound on what contacts allow."""

from heapq import heappop, heappush
from typing import ClassVar

from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.models.contacts import contact_from
from netbandit.network.network import Network
from netbandit.parts.component import CommunicationPattern
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.protocol import Item, SeenLinks


class Earliest(BroadcastProtocol):
    """A bound, not a protocol: nothing is ever heard later than these links allow.

    Each agent receives an item at the earliest time at which any message over these links could bring it there.

    It goes along the earliest path over time (Xuan, Ferreira and Jarry, Int. J. Found. Comput. Sci. 2003): a hop takes
    the latency of its link, begins and ends within a contact, and waits for nothing else. On links that are always up
    these are shortest paths. Slotted, agents pass on at boundaries, a hop a slot at the most. Nobody sends anything.
    """

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"broadcast", "round"})
    uses_uplinks: ClassVar[bool] = False
    out_of_band: ClassVar[bool] = True
    forgetful: ClassVar[bool] = True
    seen_links: ClassVar[SeenLinks | None] = "wait"

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._slotted = self.slotted
        self._hearings: InstantQueue[Heard] = InstantQueue(self.clock, self._hear, AGENTS)
        # Of each source until when (ns) nothing can leave it, and when each other agent knows at the earliest what it
        # knows up to then.
        self._leaving: dict[int, tuple[int, dict[int, int]]] = {}

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Let all others hear *item*, each at its earliest arrival time."""
        now = self.clock.now
        if now >= self.clock.end:
            return
        leaves, arrivals = self._leaving.get(agent, (-1, {}))
        if now > leaves:
            leaves, arrivals = self._leaving[agent] = self._arrivals(agent, now)
        for other, time in arrivals.items():
            self._hearings.at(time, other, Heard(agent, round, item))

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Never called: no message is sent."""
        raise RuntimeError("a message was sent although all is known without any")

    def _arrivals(self, source: int, since: int) -> tuple[int, dict[int, int]]:
        """Return when (ns) each other agent can know at the earliest what *source* knows now, by Dijkstra over time.

        And when anything leaves the source first: until then it may as well know it later.
        """
        network, end = self.network, self.clock.end
        known: dict[int, int] = {}
        leaves = end
        todo = [(since, source)]
        while todo:
            time, agent = heappop(todo)
            if agent in known:
                continue
            known[agent] = time
            for channel in network.channels[agent]:
                if channel.receiver not in known:
                    start = contact_from(network, channel, time)
                    if start < end:
                        if agent == source:
                            leaves = min(leaves, start)
                        arrival = start + channel.latency
                        if self._slotted:
                            arrival = self.clock.effective_time(start, arrival)
                        heappush(todo, (arrival, channel.receiver))
        del known[source]
        return leaves, known

    def _hear(self, due: list[tuple[int, list[Heard]]]) -> None:
        for agent, heard in due:
            self.hear(agent, sorted(heard, key=lambda one: one[:2]))
