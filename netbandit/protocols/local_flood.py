"""Local floods: what an agent tells goes on to all neighbours, for so many hops."""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from netbandit.network import distances
from netbandit.network.clock import AGENTS, SENDS, InstantQueue
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.protocol import Item
from netbandit.streams import Streams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ITEMS = Kind("ITEMS")

_STOPS_KEPT = 64


class _Furthest:
    """What is known of the items of a round.

    Each copy of one of them holds on to it, and nothing else does: when none is under way any more, be it that the last
    one was lost, it is gone.

    Args:
        pairs: M^2.

    Attributes:
        left: For each node and source (node M + source), one more than the hops that the copy that may go furthest may
            still go; 0: the node has not heard the item.
    """

    def __init__(self, pairs: int) -> None:
        self.left = array("H", bytes(2 * pairs))


class _Copy(NamedTuple):
    """An item on its way.

    Attributes:
        heard: What it is.
        left: How many hops it may still go.
        furthest: What is known of the items of its round.
    """

    heard: Heard
    left: int
    furthest: _Furthest


_Parcel = tuple[_Copy, frozenset[int]]
"""What a node passes on, and the neighbours from which it has just come."""


class RandomStops:
    """Which items nodes do not pass on by chance: a number of stream ``stop`` for each pair, index: the round.

    So it is the same however often, and in whichever order, a node hears an item.

    Args:
        streams: The streams of the replication.
        agents: M.
        probability: That of a stop.
    """

    def __init__(self, streams: Streams, agents: int, probability: float) -> None:
        self._streams, self._agents, self._probability = streams, agents, probability
        self._drawn: dict[int, NDArray[np.bool_]] = {}

    def of(self, round: int) -> "NDArray[np.bool_]":
        """Return which node stops the item of which source, shape (M, M)."""
        found = self._drawn.get(round)
        if found is None:
            import numpy as np

            while len(self._drawn) >= _STOPS_KEPT:  # who is late has it drawn again, and it is the same
                del self._drawn[min(self._drawn)]
            uniforms = self._streams.generator("stop", round).random((self._agents, self._agents))
            found = self._drawn[round] = np.asarray(uniforms < self._probability)
        return found


class LocalFlood(BroadcastProtocol):
    """MP-UCB's way to pass on what is told (Dubey & Pentland 2020; Madhushani et al. 2021).

    A node passes an item on when it first hears it, to all neighbours but those it came from at that instant; and again
    only if the copy may go further than any before: over unequal latencies a long fast path may come first. What a node
    puts on a link at one instant is one message: what it has heard at a boundary goes on with what it tells itself in
    that slot. Hops are counted, not slots. Slotted, a hop takes effect at a boundary after the one it began at;
    asynchronous, at once.
    """

    hops: int = state(default=1)
    """How many hops an item goes at most."""
    stop: float = state(default=0.0)
    """With which probability a node does not pass an item on that it has heard."""
    items: int = state(default=0)
    """Items put on links."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._slotted = self.slotted
        self._rounds: WeakValueDictionary[int, _Furthest] = WeakValueDictionary()
        self._stops = RandomStops(network.streams, network.agents, self.stop)
        self._arrivals: InstantQueue[tuple[int, list[_Copy]]] = InstantQueue(self.clock, self._take_in, AGENTS)
        self._departures: InstantQueue[_Parcel] = InstantQueue(self.clock, self._send, SENDS)

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
        """Let *agent* tell its neighbours, in this instant."""
        if self.hops:
            furthest = self._rounds.get(round)
            if furthest is None:
                furthest = self._rounds[round] = _Furthest(self.network.agents**2)
            copy = _Copy(Heard(agent, round, item), self.hops, furthest)
            self._departures.at(self.clock.now, agent, (copy, frozenset()))

    def leave(self, agent: int, *, forgets: bool) -> None:
        """See `BroadcastProtocol.leave`."""
        if forgets:
            agents = self.network.agents
            for furthest in self._rounds.values():
                furthest.left[agent * agents : (agent + 1) * agents] = array("H", bytes(2 * agents))

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Take in what arrives, now or at the slot boundary."""
        now = self.clock.now
        if not self._slotted:
            self._take_in([(node, [(sender, message.value[0]) for _, sender, message in arrivals])])
            return
        for _, sender, message in arrivals:
            copies, begun = message.value
            self._arrivals.at(self.clock.effective_time(begun, now), node, (sender, copies))

    def _take_in(self, due: list[tuple[int, list[tuple[int, list[_Copy]]]]]) -> None:
        """Let nodes hear all that takes effect at once: of copies of one item, the one that may go furthest counts."""
        for node, bundles in due:
            best: dict[tuple[int, int], _Copy] = {}
            senders: dict[tuple[int, int], list[int]] = {}
            for sender, copies in bundles:
                for copy in copies:
                    heard = copy.heard
                    key = heard.round, heard.source
                    if key not in best or copy.left > best[key].left:
                        best[key] = copy
                    senders.setdefault(key, []).append(sender)
            fresh: list[Heard] = []
            for key, copy in best.items():
                left = copy.furthest.left
                place = node * self.network.agents + copy.heard.source
                known = left[place] - 1
                if copy.heard.source == node or copy.left <= known:
                    continue
                left[place] = copy.left + 1
                if known < 0:
                    fresh.append(copy.heard)
                if copy.left and not self._is_kept(node, copy.heard):
                    self._departures.at(self.clock.now, node, (copy, frozenset(senders[key])))
            if fresh:
                self.hear(node, sorted(fresh))

    def _is_kept(self, node: int, heard: Heard) -> bool:
        """Return whether *node* does not pass on what it has heard: it absorbs it, or stops it at random."""
        if self.absorbs is not None and self.absorbs(node, heard.item):
            return True
        return self.stop > 0 and bool(self._stops.of(heard.round)[node, heard.source])

    def _send(self, due: list[tuple[int, list[_Parcel]]]) -> None:
        """Put what nodes have to pass on on their links: to each neighbour all that did not come from it."""
        now, network = self.clock.now, self.network
        ended = now >= self.clock.end
        for node, parcels in due:
            if not ended:
                further = [(copy._replace(left=copy.left - 1), told_by) for copy, told_by in parcels]
                self._put(node, further, network.channels[node], now)

    def _put(self, node: int, parcels: Sequence[_Parcel], channels: Sequence[Channel], now: int) -> None:
        alike: dict[tuple[int, ...], list[Channel]] = {}
        for channel in channels:
            chosen = tuple(number for number, (_, told_by) in enumerate(parcels) if channel.receiver not in told_by)
            if chosen:
                alike.setdefault(chosen, []).append(channel)
        for chosen, some in alike.items():
            copies = [parcels[number][0] for number in chosen]
            size = HEADER_BYTES + sum(LABEL_BYTES + copy.heard.item.size for copy in copies)
            self.items += len(copies) * len(some)
            self.network.send(Message(ITEMS, size, (copies, now), copies[-1].heard.round), some)
