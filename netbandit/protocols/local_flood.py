"""Local floods: every node forwards an item to all its neighbours, up to a hop limit."""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from netbandit.network import distances
from netbandit.network.clock import AGENTS, SENDS, InstantQueue
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.parts.component import state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.protocol import Item
from netbandit.protocols.store_carry_forward import CarryBuffer
from netbandit.protocols.ttl_flood import TtlFlood
from netbandit.util.streams import Streams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ITEMS = Kind("ITEMS")

_STOPS_KEPT = 64


class _Copy(NamedTuple):
    """An item in flight; see `netbandit.protocols.ttl_flood.FloodPacket`.

    Attributes:
        source: The agent whose item it is.
        round: The round in which it was sent.
        item: The item.
        furthest: See there.
        left: The remaining hops.
        sent_at: When (ns) its source sent it.
    """

    source: int
    round: int
    item: Item
    furthest: "array[int]"
    left: int
    sent_at: int


_Parcel = tuple[_Copy, Sequence[int]]
"""An item to forward, and the neighbours that have just sent it."""


class RandomStops:
    """The items that nodes do not forward, at random: a number of stream ``stop`` for each pair, index: the round.

    The outcome is therefore the same however often, and in whichever order, a node receives an item.

    Args:
        streams: The streams of the replication.
        agents: M.
        probability: The probability of a stop.
    """

    def __init__(self, streams: Streams, agents: int, probability: float) -> None:
        self._streams, self._agents, self._probability = streams, agents, probability
        self._drawn: dict[int, NDArray[np.bool_]] = {}

    def of(self, round: int) -> "NDArray[np.bool_]":
        """Return which node stops the item of which source, shape (M, M)."""
        found = self._drawn.get(round)
        if found is None:
            import numpy as np

            while len(self._drawn) >= _STOPS_KEPT:  # for late items it is drawn again, with the same result
                del self._drawn[min(self._drawn)]
            uniforms = self._streams.generator("stop", round).random((self._agents, self._agents))
            found = self._drawn[round] = np.asarray(uniforms < self._probability)
        return found


class LocalFlood(TtlFlood[_Copy], BroadcastProtocol):
    """Items are flooded as in MP-UCB (Dubey & Pentland 2020; Madhushani et al. 2021).

    Copies are forwarded as described in `netbandit.protocols.ttl_flood`. Everything that a node puts on a link at one
    instant is one message: items received at a boundary are forwarded together with the node's own item of that slot.
    The hop limit counts hops, not slots. Slotted, a hop takes effect at a boundary after the one it began at;
    asynchronous, at once. Where agents see which of their links are up, nodes send to the neighbours in contact, and
    with `carry` also to those that come into contact later.
    """

    hops: int = state(default=1)
    """The hop limit."""
    stop: float = state(default=0.0)
    """The probability that a node does not forward a received item."""
    carry: int | None = state(default=None)
    """The greatest age (ns) of items sent to neighbours that come into contact later; None: they receive none."""
    items: int = state(default=0)
    """Items put on links."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._slotted = self.slotted
        # Of each item, by its round and source, as long as copies of it are under way.
        self._furthest: WeakValueDictionary[tuple[int, int], array[int]] = WeakValueDictionary()
        self._news: list[Heard] = []
        self._stops = RandomStops(network.streams, network.agents, self.stop)
        self._arrivals: InstantQueue[tuple[int, list[_Copy]]] = InstantQueue(self.clock, self._take_in, AGENTS)
        self._departures: InstantQueue[_Parcel | Channel] = InstantQueue(self.clock, self._send, SENDS)
        self._carried: CarryBuffer[_Parcel] | None = None
        if self.carry is not None and network.sensed:  # links that could change but never do are as constant ones
            self._carried = CarryBuffer[_Parcel](network, self.carry, self._comes)

    @property
    def reach(self) -> list[int]:
        """Those at most so many hops away; see `BroadcastProtocol.reach`."""
        graph = self.network.topology
        adjacency = distances.adjacency(graph.agents, graph.edges)
        return [len(distances.within(adjacency, agent, self.hops)) for agent in range(graph.agents)]

    def figures(self) -> dict[str, float | int | None]:
        """Return how many items were put on links."""
        return {"items": self.items}

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Send the item of *agent* to its neighbours, at this instant."""
        furthest = self._furthest.get((round, agent))
        if furthest is None:
            furthest = self._furthest[round, agent] = array("H", bytes(2 * self.network.agents))
        self.originate(agent, _Copy(agent, round, item, furthest, self.hops, self.clock.now))

    def leave(self, agent: int, *, forgets: bool) -> None:
        """See `BroadcastProtocol.leave`."""
        if forgets:
            for furthest in self._furthest.values():
                furthest[agent] = 0
            if self._carried is not None:
                self._carried.forget(agent)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Process arrivals, now or at the slot boundary."""
        now = self.clock.now
        if not self._slotted:
            self._take_in([(node, [(sender, message.value[0]) for _, sender, message in arrivals])])
            return
        for _, sender, message in arrivals:
            copies, begun = message.value
            self._arrivals.at(self.clock.effective_time(begun, now), node, (sender, copies))

    def _take_in(self, due: list[tuple[int, list[tuple[int, list[_Copy]]]]]) -> None:
        """Let nodes receive all copies that take effect now."""
        for node, bundles in due:
            received = [(sender, copy) for sender, copies in bundles for copy in copies]
            self.receive_copies(node, received)
            if self._news:
                news, self._news = self._news, []
                self.hear(node, sorted(news))

    def keeps(self, node: int, packet: _Copy) -> bool:
        """Return whether *node* absorbs *packet*, or stops it at random."""
        if self.absorbs is not None and self.absorbs(node, packet.item):
            return True
        return self.stop > 0 and bool(self._stops.of(packet.round)[node, packet.source])

    def on_new_packet(self, node: int, packet: _Copy) -> None:
        """Collect *packet* until all copies of this instant have been processed."""
        self._news.append(Heard(packet.source, packet.round, packet.item))

    def forward(self, node: int, packet: _Copy, left: int, senders: Sequence[int]) -> None:
        """Queue *packet* for the message that *node* sends at this instant."""
        self._departures.at(self.clock.now, node, (packet._replace(left=left), senders))

    def _comes(self, channel: Channel) -> None:
        """Queue the carried items for a neighbour that has come into contact."""
        self._departures.at(self.clock.now, channel.sender, channel)

    def _send(self, due: list[tuple[int, list[_Parcel | Channel]]]) -> None:
        """Send the queued items: to each neighbour all that did not come from it."""
        now = self.clock.now
        if now >= self.clock.end:
            return
        for node, some in due:
            there = self.network.present_neighbours.of(self.network.channels[node])
            parcels = [one for one in some if not isinstance(one, Channel)]
            if self._carried is not None:
                for copy, senders in parcels:
                    self._carried.keep(node, (copy.round, copy.source), copy.sent_at, (copy, senders))
                come = [one for one in some if isinstance(one, Channel) and one in there]
                for channel in come:
                    self._put([*self._carried.for_newcomer(channel), *parcels], [channel], now)
                there = [channel for channel in there if channel not in come]
            self._put(parcels, there, now)

    def _put(self, parcels: Sequence[_Parcel], channels: Sequence[Channel], now: int) -> None:
        alike: dict[tuple[int, ...], list[Channel]] = {}
        for channel in channels:
            chosen = tuple(number for number, (_, senders) in enumerate(parcels) if channel.receiver not in senders)
            if chosen:
                alike.setdefault(chosen, []).append(channel)
        for chosen, some in alike.items():
            copies = [parcels[number][0] for number in chosen]
            size = self.network.header + sum(LABEL_BYTES + copy.item.size for copy in copies)
            self.items += len(copies) * len(some)
            self.network.send(Message(ITEMS, size, (copies, now), copies[-1].round), some)
