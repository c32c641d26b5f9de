"""The network: puts messages on links and delivers them when they arrive."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from simpy import Event
from simpy.core import Infinity

from netbandit.network.clock import ARRIVALS, Clock, ScheduledEvent
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.ledger import Ledger, Totals
from netbandit.network.link import Arrival, Cable, Link, LinkClass
from netbandit.network.message import Kind, Message
from netbandit.network.topology import Topology
from netbandit.network.trace_writer import Trace
from netbandit.streams import Streams

Receive = Callable[[int, list[Arrival]], None]
"""Called with a node and all that reaches it in one instant, in order of the sender's number."""

_FLUSH_AT = 1 << 16


class Network:
    """Agents joined by peer links, and a server that any agent can reach over an uplink.

    The server is node number ``agents``; it is no node of the graph. A message takes the time it queues behind
    others in the same direction, plus size / bandwidth, plus the link's latency; propagation does not occupy
    the link.

    SimPy's queue holds a single event for the whole network: its next arrival. From there the network delivers
    instant after instant for as long as nothing else is due before, so a message costs no SimPy event of its
    own; and only the first message of each link waits in the network's calendar, so the calendar grows with
    the links in use, not with the messages under way.

    Args:
        clock: The clock.
        neighbours: For each agent its neighbours, ascending.
        peer: What the peer links have in common.
        peer_latency: (lower end, higher end) -> nanoseconds, for every peer link.
        uplink: What the uplinks have in common.
        uplink_latency: For each agent, nanoseconds to and from the server.
        fingerprint: Takes in every delivery.
        trace: Where to write every message, or None.
        topology: The whole graph, even where *neighbours* are left out because no peer link is used; made of
            them if it is not given.
        streams: The random streams of what nodes of the network draw.

    Attributes:
        streams: As given.
        trace: As given; who makes the agents act may write their phases to it.
    """

    def __init__(
        self,
        clock: Clock,
        neighbours: Sequence[Sequence[int]],
        peer: LinkClass,
        peer_latency: dict[tuple[int, int], int],
        uplink: LinkClass,
        uplink_latency: Sequence[int],
        fingerprint: Fingerprint,
        trace: Trace | None = None,
        *,
        topology: Topology | None = None,
        streams: Streams = Streams(0, 0),  # noqa: B008 - it is never changed
    ) -> None:
        self.clock = clock
        self.agents = len(neighbours)
        self.server = self.agents
        self.neighbours = neighbours
        self.ledger = Ledger()
        self.receive: Receive = _nobody
        self.streams = streams
        self._topology = topology
        self._environment = clock.environment
        self._slot = clock.slot
        self._end = clock.end
        self._peer = peer
        self._uplink = uplink
        self._uplink_latency = uplink_latency
        self._fingerprint = fingerprint
        self.trace = trace
        # Whether an answer may arrive at the very instant of what it answers.
        self._instantaneous = False
        self._queued = peer.bandwidth is not None or trace is not None
        self._kind: Kind | None = None  # the kind last sent, and its counts: most messages are of the same as the last
        self._counts = [0, 0]
        self._due: dict[int, list[int]] = {}
        self._by_rank: dict[int, Link] = {}
        self._instants: list[int] = []
        self._appointed: float = Infinity  # the time of the appointment
        self._appointment: Event | None = None
        self._callbacks: list[Callable[[Event], None]] = [self._deliver]
        self._cables: list[Cable] = []
        self._out: list[dict[int, Link]] = [{} for _ in range(self.agents)]
        for (first, second), latency in peer_latency.items():
            cable = Cable(first, second)
            self._cables.append(cable)
            self._out[first][second] = self._link(first, second, latency, cable)
            self._out[second][first] = self._link(second, first, latency, cable)
        self.links: list[list[Link]] = [
            [out[neighbour] for neighbour in near] for out, near in zip(self._out, neighbours, strict=True)
        ]
        self._up: dict[int, Link] = {}
        self._down: dict[int, Link] = {}
        self._air: dict[int, Link] = {}

    @property
    def topology(self) -> Topology:
        """The graph, with its distances."""
        if self._topology is None:
            import networkx

            graph: networkx.Graph[int] = networkx.Graph()
            graph.add_nodes_from(range(self.agents))
            graph.add_edges_from((node, other) for node, near in enumerate(self.neighbours) for other in near)
            self._topology = Topology(graph)
        return self._topology

    def link(self, sender: int, receiver: int) -> Link:
        """Return the peer link from *sender* to its neighbour *receiver*."""
        return self._out[sender][receiver]

    def uplink(self, agent: int) -> Link:
        """Return the link from *agent* to the server, made when it is first asked for."""
        if agent not in self._up:
            cable = Cable(agent, self.server)
            latency = self._uplink_latency[agent]
            self._up[agent] = self._link(agent, self.server, latency, cable)
            self._down[agent] = self._link(self.server, agent, latency, cable)
        return self._up[agent]

    def downlink(self, agent: int) -> Link:
        """Return the link from the server to *agent*: the other direction of its uplink."""
        self.uplink(agent)
        return self._down[agent]

    def send(self, message: Message, links: Sequence[Link], excepted: int = -1) -> None:
        """Put *message* on all of these peer *links*, but not on the one to *excepted*.

        They are those of its sender; nodes that say the same at once may do so together.

        What would start at or after the horizon is neither sent nor counted.
        """
        if self._queued:
            chosen = links if excepted < 0 else [link for link in links if link.receiver != excepted]
            self._send_queued(message, chosen, self._peer, uplink=False)
            return
        now = self._environment.now
        if now >= self._end:
            return
        slot = now // self._slot
        size = message.size
        due = self._due
        for link in links:  # this loop runs once a message: _expect() and Cable.activate() are written out
            if link.receiver == excepted:
                continue
            arrival = now + link.latency
            flight = link.flight
            if not flight:
                if arrival in due:
                    due[arrival].append(link.rank)
                else:
                    due[arrival] = [link.rank]
                    heappush(self._instants, arrival)
                    if arrival < self._appointed:
                        self._appoint(arrival)
            flight.append((arrival, link.sender, message))
            link.messages += 1
            link.bytes += size
            cable = link.cable
            if cable.latest != slot:
                cable.latest = slot
                cable.activations += 1
        sent = len(links) - (excepted >= 0)
        if not sent:
            return
        if message.kind is not self._kind:
            self._kind = message.kind
            self._counts = self.ledger.counts[message.kind]
        counts = self._counts
        counts[0] += sent
        counts[1] += sent * size

    def count_before_start(self, message: Message, link: Link) -> None:
        """Count *message* on a peer *link* as one that was delivered before the first slot, in a slot of its own."""
        link.messages += 1
        link.bytes += message.size
        link.cable.activate_ahead(-1, -1)
        counts = self.ledger.counts[message.kind]
        counts[0] += 1
        counts[1] += message.size
        self._fingerprint.record(0, link.receiver, message.code, message.size)
        if self.trace is not None:
            self.trace.record(message, link.sender, link.receiver, 0, 0, 0)

    def transmission(self, size: int) -> int:
        """Return the nanoseconds that a message of *size* bytes occupies a peer link."""
        return self._peer.transmission(size)

    def send_up(self, message: Message, agent: int) -> None:
        """Send *message* from *agent* to the server."""
        self._send_queued(message, (self.uplink(agent),), self._uplink, uplink=True)

    def send_down(self, message: Message, agents: Sequence[int]) -> None:
        """Send *message* from the server to *agents*, each over its own uplink."""
        self._send_queued(message, [self.downlink(agent) for agent in agents], self._uplink, uplink=True)

    def broadcast(self, message: Message, agents: Sequence[int]) -> None:
        """Let *agents* hear *message* of the server without a link of their own; one free broadcast.

        It reaches each agent after the latency of the agent's uplink and the time its bytes take there, and
        occupies none of them.
        """
        now = self.clock.now
        if now >= self.clock.end or not agents:
            return
        self.ledger.broadcasts += 1
        transmission = self._uplink.transmission(message.size)
        for agent in agents:
            link = self._air.get(agent)
            if link is None:
                cable = Cable(agent, self.server)
                link = self._air[agent] = self._link(self.server, agent, self._uplink_latency[agent], cable, True)
            arrival = now + transmission + link.latency
            if link.flight:
                arrival = max(arrival, link.flight[-1][0])
            else:
                self._expect(arrival, link)
            link.flight.append((arrival, link.sender, message))
            if self.trace is not None:
                self.trace.record(message, self.server, agent, now, now, arrival, broadcast=True)

    @property
    def cables(self) -> Sequence[Cable]:
        """The peer links, in the order in which they were given."""
        return self._cables

    def carried(self, cable: Cable) -> tuple[int, int]:
        """Return messages and bytes that a peer *cable* carried in both directions."""
        there = self._out[cable.first][cable.second]
        back = self._out[cable.second][cable.first]
        return there.messages + back.messages, there.bytes + back.bytes

    def peer_totals(self) -> Totals:
        """Return what the peer links carried so far."""
        links = (link for out in self._out for link in out.values())
        return Totals.of(self._peer, links, self._cables)

    def uplink_totals(self) -> Totals:
        """Return what the uplinks carried so far; broadcasts are not among it."""
        links = [*self._up.values(), *self._down.values()]
        return Totals.of(self._uplink, links, (link.cable for link in self._up.values()))

    def _link(self, sender: int, receiver: int, latency: int, cable: Cable, broadcast: bool = False) -> Link:
        rank = (receiver * (self.agents + 1) + sender) * 2 + broadcast
        self._instantaneous |= latency == 0
        link = self._by_rank[rank] = Link(sender, receiver, latency, cable, rank)
        return link

    def _send_queued(self, message: Message, links: Sequence[Link], link_class: LinkClass, *, uplink: bool) -> None:
        """Send over links that may have a queue, or of which a trace is kept."""
        now = self._environment.now
        end, slot = self._end, self._slot
        size = message.size
        transmission = link_class.transmission(size)
        sent = 0
        for link in links:
            start = link.free_at
            if start < now:
                start = now
            if start >= end:
                continue
            link.free_at = start + transmission
            arrival = link.free_at + link.latency
            if not link.flight:
                self._expect(arrival, link)
            link.flight.append((arrival, link.sender, message))
            link.messages += 1
            link.bytes += size
            if uplink:
                link.cable.activate(message.round)
            elif transmission:
                link.cable.activate_ahead(start // slot, now // slot)
            else:
                link.cable.activate(start // slot)
            if self.trace is not None:
                self.trace.record(message, link.sender, link.receiver, now, start, arrival)
            sent += 1
        if sent:
            counts = self.ledger.counts[message.kind]
            counts[0] += sent
            counts[1] += sent * size

    def _expect(self, arrival: int, link: Link) -> None:
        """Have *link*, whose first message arrives at *arrival*, emptied then."""
        due = self._due.get(arrival)
        if due is not None:
            due.append(link.rank)
            return
        self._due[arrival] = [link.rank]
        heappush(self._instants, arrival)
        if arrival < self._appointed:
            self._appoint(arrival)

    def _appoint(self, arrival: int) -> None:
        """Let SimPy wake the network at *arrival*; this overtakes an appointment for later."""
        self._appointed = arrival
        self._appointment = ScheduledEvent(self._callbacks)
        environment = self._environment
        environment.schedule(self._appointment, ARRIVALS, arrival - environment.now)

    def _deliver(self, event: Event) -> None:
        """Deliver instant after instant, until something else in the simulation is due first.

        In an instant, each receiver gets all that arrives for it at once. What is sent in answer over links
        without latency arrives at the same instant, but in a later pass.
        """
        if event is not self._appointment:
            return  # overtaken by an earlier one
        environment = self._environment
        instants = self._instants
        pending = self._fingerprint.pending
        all_due = self._due
        receive = self.receive
        by_rank = self._by_rank
        self._appointed = -1  # while it delivers it needs no appointment
        while instants and environment.advance(instants[0]):
            now = heappop(instants)
            due = all_due.pop(now)
            if len(due) > 1:
                due.sort()
            if self._instantaneous:
                self._deliver_in_passes(due, now)
                continue
            receiver = -1
            inbox: list[Arrival] = []
            for rank in due:
                link = by_rank[rank]
                if link.receiver != receiver:
                    if inbox:
                        receive(receiver, inbox)
                        inbox = []
                    receiver = link.receiver
                flight = link.flight
                arrival = flight.popleft()
                inbox.append(arrival)
                message = arrival[2]
                pending += (now, receiver, message.code, message.size)
                if flight:
                    following = flight[0][0]
                    if following == now:
                        self._take(link, now, inbox)
                    elif following in all_due:  # _expect(), written out
                        all_due[following].append(rank)
                    else:
                        all_due[following] = [rank]
                        heappush(instants, following)
            receive(receiver, inbox)
            if len(pending) > _FLUSH_AT:
                self._fingerprint.flush()
        self._appointed = Infinity
        if instants:
            self._appoint(instants[0])

    def _deliver_in_passes(self, due: list[int], now: int) -> None:
        """Deliver what arrives now where an answer may arrive at the same instant: it comes in a later pass.

        So all is taken off the links before anybody acts.
        """
        inboxes: list[tuple[int, list[Arrival]]] = []
        receiver = -1
        for rank in due:
            link = self._by_rank[rank]
            if link.receiver != receiver:
                receiver = link.receiver
                inboxes.append((receiver, []))
            self._take(link, now, inboxes[-1][1])
        for receiver, inbox in inboxes:
            self.receive(receiver, inbox)
        if len(self._fingerprint.pending) > _FLUSH_AT:
            self._fingerprint.flush()

    def _take(self, link: Link, now: int, inbox: list[Arrival]) -> None:
        """Move what arrives now from *link* to *inbox*, and expect what follows."""
        flight = link.flight
        pending = self._fingerprint.pending
        while flight:
            arrival = flight[0]
            if arrival[0] != now:
                self._expect(arrival[0], link)
                break
            flight.popleft()
            inbox.append(arrival)
            message = arrival[2]
            pending += (now, link.receiver, message.code, message.size)


def _nobody(node: int, arrivals: list[Arrival]) -> None:
    raise RuntimeError(f"node {node} has nobody to receive its messages")
