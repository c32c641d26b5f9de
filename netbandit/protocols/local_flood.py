"""Flooding within a few hops: what is told goes on hop by hop, and what shares a link and an instant a message."""

from typing import NamedTuple

from netbandit.network import distances
from netbandit.network.clock import AGENTS, SENDS, InstantQueue
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.local_keys import LocalKeys
from netbandit.protocols.protocol import Item

TELL = Kind("TELL")

_FEW = 1_024
"""Agents up to which one byte is kept for each of them and each source of a round."""


class Copy(NamedTuple):
    """A copy of an item under way.

    Attributes:
        heard: What whoever it reaches hears.
        left: How many hops it may go on from there.
    """

    heard: Heard
    left: int


class _Sparse(dict[int, int]):
    """As an array of zeros of any length."""

    def __missing__(self, key: int) -> int:
        return 0


class LocalFlood(LocalKeys, BroadcastProtocol):
    """Passes on what it first hears to all neighbours but those it came from at that instant, within *ttl* hops.

    An agent passes an item on again only if the copy may go further than any before: with unequal latencies one that
    took few slow hops may come after one that took many fast ones. It hears each item once. What it tells and what it
    passes on in one instant share a message on each channel, so an agent that tells in every slot sends one a channel
    and slot, whatever the ttl. (Messages of MP-UCB; Dubey & Pentland 2020, whose listing sends echoes as well.)
    """

    items: int = state(default=0)
    """Copies of items that were put on channels."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._slotted = self.slotted
        self.items = 0
        # Of each round: one more than how far the copy that got furthest may go on, at [node * agents + source].
        self._furthest: dict[int, bytearray | _Sparse] = {}
        self._under_way: dict[int, int] = {}
        self._hops: InstantQueue[tuple[int, tuple[Copy, ...]]] = InstantQueue(self.clock, self._hear_all, AGENTS)
        self._outbox: InstantQueue[tuple[Copy, tuple[int, ...]]] = InstantQueue(self.clock, self._send_all, SENDS)

    @property
    def reach(self) -> list[int]:
        """Those at most ttl hops away, itself included; see `BroadcastProtocol.reach`."""
        adjacency = distances.adjacency(self.network.agents, self.network.topology.edges)
        away = (distances.hops(adjacency, agent) for agent in range(self.network.agents))
        return [int(((hops >= 0) & (hops <= self.ttl)).sum()) for hops in away]

    def figures(self) -> dict[str, float | int | None]:
        """Return the copies of items that were put on channels."""
        return {"items": self.items}

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Put *item* among what *agent* sends in this instant."""
        if not self.ttl:
            return
        if round not in self._furthest:
            agents = self.network.agents
            self._furthest[round] = bytearray(agents * agents) if agents <= _FEW and self.ttl < 255 else _Sparse()
            self._under_way[round] = 0
        self._under_way[round] += 1
        self._outbox.at(self.clock.now, agent, (Copy(Heard(agent, round, item), self.ttl - 1), ()))

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Hear what arrives, now or at the slot boundary."""
        if not self._slotted:
            self._hear_all([(node, [(sender, message.value[0]) for _, sender, message in arrivals])])
            return
        for arrived, sender, message in arrivals:
            copies, begun = message.value
            self._hops.at(self.clock.effective_time(begun, arrived), node, (sender, copies))

    def _hear_all(self, due: list[tuple[int, list[tuple[int, tuple[Copy, ...]]]]]) -> None:
        for node, bundles in due:
            best: dict[tuple[int, int], Copy] = {}
            senders: dict[tuple[int, int], tuple[int, ...]] = {}
            for sender, copies in bundles:
                for copy in copies:
                    heard = copy.heard
                    self._under_way[heard.round] -= 1
                    if heard.source == node:
                        continue
                    key = heard.source, heard.round
                    senders[key] = (*senders.get(key, ()), sender)
                    if key not in best or copy.left > best[key].left:
                        best[key] = copy
            self._take_in(node, best, senders)
            for round in {copy.heard.round for _, copies in bundles for copy in copies}:
                self._forget(round)

    def _take_in(
        self, node: int, best: dict[tuple[int, int], Copy], senders: dict[tuple[int, int], tuple[int, ...]]
    ) -> None:
        """Let *node* hear what is new to it, and pass on what may go further than before."""
        agents, now = self.network.agents, self.clock.now
        fresh = []
        for key, copy in best.items():
            furthest, place = self._furthest[copy.heard.round], node * agents + copy.heard.source
            before = furthest[place]
            if copy.left < before:
                continue
            furthest[place] = copy.left + 1
            if not before:
                fresh.append(copy.heard)
            if copy.left:
                self._under_way[copy.heard.round] += 1
                self._outbox.at(now, node, (Copy(copy.heard, copy.left - 1), senders[key]))
        if fresh:
            fresh.sort(key=_by_source)
            self.hear(node, fresh)

    def _send_all(self, due: list[tuple[int, list[tuple[Copy, tuple[int, ...]]]]]) -> None:
        """Put what each node has to say on its channels, a message each; those that get the same share one."""
        for node, parcels in due:
            everything = tuple(copy for copy, _ in parcels)
            told_by = {sender for _, senders in parcels for sender in senders}
            self._put(node, everything, [one for one in self.network.channels[node] if one.receiver not in told_by])
            for channel in self.network.channels[node]:
                if channel.receiver in told_by:
                    rest = tuple(copy for copy, senders in parcels if channel.receiver not in senders)
                    self._put(node, rest, [channel])
            for copy in everything:
                self._under_way[copy.heard.round] -= 1
            for round in {copy.heard.round for copy in everything}:
                self._forget(round)  # of who has nobody to tell, or after the end

    def _put(self, node: int, copies: tuple[Copy, ...], channels: list[Channel]) -> None:
        if not copies or not channels or self.clock.now >= self.clock.end:
            return
        size = HEADER_BYTES + sum(LABEL_BYTES + copy.heard.item.size for copy in copies)
        for copy in copies:
            self._under_way[copy.heard.round] += len(channels)
        self.items += len(copies) * len(channels)
        self.network.send(Message(TELL, size, (copies, self.clock.now), copies[-1].heard.round), channels)

    def _forget(self, round: int) -> None:
        """Forget who has heard what of *round* when no copy of it is under way."""
        if self._under_way.get(round) == 0:
            del self._under_way[round], self._furthest[round]


def _by_source(heard: Heard) -> tuple[int, int]:
    return heard.source, heard.round
