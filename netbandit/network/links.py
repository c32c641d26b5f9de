"""The links of a network and their channels, which never change: those of the server are made when first used."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from netbandit.network.link import Carrier, Channel, FaultyChannel, Link
from netbandit.network.outages import Outages


class Links:
    """The links between agents, which it yields in the order of the graph, and the uplinks.

    Args:
        neighbours: The neighbours of each agent, ascending.
        peer_latency: (lower end, higher end) -> nanoseconds, for every peer link.
        uplink_latency: For each agent, nanoseconds to and from the server.
        peers, uplinks: What carries the messages of each class.
        outages: When links are down; None: no link ever is.
        faulty: Whether anything goes wrong on links.

    Attributes:
        channels: For each agent its channels to its neighbours, ascending.
        instantaneous: Whether a reply may arrive at the very instant of its request, on the links used so far.
    """

    def __init__(
        self,
        neighbours: Sequence[Sequence[int]],
        peer_latency: Mapping[tuple[int, int], int],
        uplink_latency: Sequence[int],
        peers: Carrier,
        uplinks: Carrier,
        outages: Outages | None,
        faulty: bool,
    ) -> None:
        self._server, self._faulty = len(neighbours), faulty
        self._peers, self._uplinks, self._uplink_latency = peers, uplinks, uplink_latency
        self._outages = outages if outages is not None and outages.any_links else None
        self.instantaneous = False
        self._links: list[Link] = []
        self._out: list[dict[int, Channel]] = [{} for _ in neighbours]
        for (first, second), latency in peer_latency.items():
            link = Link(first, second)
            there, back = self._peer_channel(link, 0, latency), self._peer_channel(link, 1, latency)
            _join(there, back)
            self._out[first][second], self._out[second][first] = there, back
            self._links.append(link)
        self.channels: list[list[Channel]] = [
            [out[neighbour] for neighbour in near] for out, near in zip(self._out, neighbours, strict=True)
        ]
        self._up: dict[int, Channel] = {}
        self._down: dict[int, Channel] = {}
        self._air: dict[int, Channel] = {}

    def __iter__(self) -> Iterator[Link]:
        return iter(self._links)

    def __len__(self) -> int:
        return len(self._links)

    @cached_property
    def numbers(self) -> Mapping[tuple[int, int], int]:
        """The number of each link between agents, by its two ends, the lower first."""
        return {(link.first, link.second): number for number, link in enumerate(self._links)}

    def out(self, sender: int) -> Mapping[int, Channel]:
        """Return the channels from *sender* to its neighbours, by these."""
        return self._out[sender]

    def channel(self, sender: int, receiver: int) -> Channel:
        """Return the channel from *sender* to its neighbour *receiver*."""
        return self._out[sender][receiver]

    def uplink(self, agent: int) -> Channel:
        """Return the channel from *agent* to the server, made when it is first asked for."""
        if agent not in self._up:
            link = Link(agent, self._server)
            self._up[agent] = self._uplink_channel(link, agent, self._server, 0)
            self._down[agent] = self._uplink_channel(link, self._server, agent, 1)
            _join(self._up[agent], self._down[agent])
        return self._up[agent]

    def downlink(self, agent: int) -> Channel:
        """Return the channel from the server to *agent*: the other direction of its uplink."""
        self.uplink(agent)
        return self._down[agent]

    def air(self, agent: int) -> Channel:
        """Return the channel over which *agent* receives broadcasts of the server: no link is counted for it.

        Losses follow the model of the agent's uplink, with separate draws.
        """
        if agent not in self._air:
            self._air[agent] = self._uplink_channel(Link(agent, self._server), self._server, agent, 2)
        return self._air[agent]

    def pairs(self) -> Iterator[tuple[Channel, Channel]]:
        """Yield the two channels of each peer link, from its first end and from its second."""
        return ((self._out[link.first][link.second], self._out[link.second][link.first]) for link in self._links)

    def uplink_pairs(self) -> Iterator[tuple[Channel, Channel]]:
        """Yield the two channels of each uplink in use, by agent, from its agent and the server."""
        pairs = ((self._up[agent], self._down[agent]) for agent in sorted(self._up))
        return ((up, down) for up, down in pairs if up.messages or down.messages or up.fates or down.fates)

    def peer_channels(self) -> Iterator[Channel]:
        """Yield the channels between agents."""
        return (channel for out in self._out for channel in out.values())

    def uplink_channels(self) -> Iterator[Channel]:
        """Yield the channels of the uplinks in use, without broadcasts."""
        return chain(self._up.values(), self._down.values())

    def uplinks(self) -> Iterator[Link]:
        """Yield the uplinks in use."""
        return (channel.link for channel in self._up.values())

    def _peer_channel(self, link: Link, back: int, latency: int) -> Channel:
        ends = link.first, link.second
        sender, receiver = ends if not back else ends[::-1]
        self.instantaneous |= latency == 0
        rank = self._rank(sender, receiver)
        if not self._faulty:
            return Channel(self._peers, sender, receiver, latency, link, rank)
        channel = FaultyChannel(self._peers, sender, receiver, latency, link, rank, 2 * len(self._links) + back)
        if self._outages is not None:
            ends = min(ends), max(ends)
            channel.down = self._outages.link(*ends)
            if self._outages.changing:
                channel.contacts = self._outages.contacts(*ends)
        return channel

    def _uplink_channel(self, link: Link, sender: int, receiver: int, column: int) -> Channel:
        latency = self._uplink_latency[link.first]
        self.instantaneous |= latency == 0
        rank = self._rank(sender, receiver) + (column == 2)
        if not self._faulty:
            return Channel(self._uplinks, sender, receiver, latency, link, rank)
        return FaultyChannel(self._uplinks, sender, receiver, latency, link, rank, 3 * link.first + column)

    def _rank(self, sender: int, receiver: int) -> int:
        """Return the rank of a channel among simultaneous arrivals; that of a broadcast is one more."""
        return (receiver * (self._server + 1) + sender) * 2


def _join(one: Channel, other: Channel) -> None:
    """Make two channels each other's reverse direction."""
    if isinstance(one, FaultyChannel) and isinstance(other, FaultyChannel):
        one.back, other.back = other, one
