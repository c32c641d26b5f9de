"""The network: puts messages on channels and delivers them when they arrive."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from itertools import chain
from typing import ClassVar, Literal

from simpy import Event
from simpy.core import Infinity

from netbandit.network.clock import ARRIVALS, Clock, ScheduledEvent
from netbandit.network.downtimes import Downtimes
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.ledger import BroadcastCopies, Fates, Ledger, Totals
from netbandit.network.link import BY_RANK, NOTHING_YET, Arrival, Channel, Link, LinkClass
from netbandit.network.message import Kind, Message
from netbandit.network.node_changes import NodeChanges
from netbandit.network.outages import Outages
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
    the channel.

    SimPy's queue holds a single event for the whole network: its next arrival. From there the network delivers
    instant after instant for as long as nothing else is due before, so a message costs no SimPy event of its
    own; and only the first message of each channel waits in the network's calendar, so the calendar grows
    with the channels in use, not with the messages under way.

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
        faults: What can go wrong; here nothing can.

    Attributes:
        channels: For each agent its channels to its neighbours, ascending.
        unreliable: Whether anything can go wrong in it.
        outages: When links and nodes are down; None where they never are.
        faults: As given.
        streams: As given.
        trace: As given; who makes the agents act may write their phases to it.
    """

    # What is read and written once a message: Python finds slots faster than the many other attributes.
    __slots__ = (
        "__dict__",
        "_appointed",
        "_copies",
        "_due",
        "_end",
        "_environment",
        "_instants",
        "_kind",
        "_queued",
        "_size",
        "_slot",
    )

    unreliable: ClassVar[bool] = False

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
        faults: Faults = Faults(),  # noqa: B008 - it is never changed
    ) -> None:
        self.clock = clock
        self.agents = len(neighbours)
        self.server = self.agents
        self.neighbours = neighbours
        self._ledger = Ledger()
        self._handler: Receive = _nobody
        self.faults = faults
        self.streams = streams
        self.outages: Outages | None = None
        self._topology = topology
        self._environment = clock.environment
        self._slot = clock.slot
        self._end = clock.end
        self._peer = peer
        self._uplink = uplink
        self._uplink_latency = uplink_latency
        self._fingerprint = fingerprint
        self._before_close: list[Callable[[], None]] = []
        self.trace = trace
        # Whether an answer may arrive at the very instant of what it answers.
        self._instantaneous = False
        self._queued = peer.bandwidth is not None or trace is not None
        # Most messages are of the kind and size of the one before: how many of these are not in the ledger yet.
        self._kind: Kind | None = None
        self._size = self._copies = 0
        self._due: dict[int, list[Channel]] = {}
        self._instants: list[int] = []
        self._expected: Callable[[int, Channel | None], None] = self._expect
        self._appointed: float = Infinity  # the time of the appointment
        self._appointment: Event | None = None
        self._callbacks: list[Callable[[Event], None]] = [self._deliver]
        self._links: list[Link] = []
        self._out: list[dict[int, Channel]] = [{} for _ in range(self.agents)]
        for (first, second), latency in peer_latency.items():
            link = Link(first, second)
            self._links.append(link)
            self._out[first][second] = self._channel(first, second, latency, link)
            self._out[second][first] = self._channel(second, first, latency, link)
        self.channels: list[list[Channel]] = [
            [out[neighbour] for neighbour in near] for out, near in zip(self._out, neighbours, strict=True)
        ]
        self._up: dict[int, Channel] = {}
        self._down: dict[int, Channel] = {}
        self._air: dict[int, Channel] = {}
        self._no_link = Link(self.server, self.server)  # a broadcast needs none, and none is counted for it

    @property
    def ledger(self) -> Ledger:
        """What was sent so far."""
        self._enter(self._kind, self._size)
        return self._ledger

    @property
    def agents_fail(self) -> bool:
        """Whether agents may be down at times."""
        return self.outages is not None and self.outages.any_agents

    def is_down(self, node: int) -> bool:
        """Return whether *node*, an agent or the server, is down now."""
        return self.outages is not None and self.outages.any_nodes and self.outages.node(node).at(self.clock.now)

    @property
    def forgets(self) -> bool:
        """Whether agents may be down at times, and know nothing when they come back."""
        return self.outages is not None and self.outages.any_agents and self.outages.forgets

    def watch_agents(self, changed: Callable[[int, bool], None]) -> list[int]:
        """Have *changed* told of every agent that goes down or comes back; return those that are down now.

        It is called with the agent and whether it is up, before what arrives at that instant.
        """
        if self.outages is None:
            return []
        NodeChanges(self.clock, self.outages, self.agents, changed)
        now, outages = self.clock.now, self.outages
        return [agent for agent in range(self.agents) if outages.node(agent).at(now)]

    def attach(self, handler: Receive) -> None:
        """Have *handler* called with all that reaches a node, the server included, in place of any one before."""
        self._handler = handler

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

    def channel(self, sender: int, receiver: int) -> Channel:
        """Return the channel from *sender* to its neighbour *receiver*."""
        return self._out[sender][receiver]

    def uplink(self, agent: int) -> Channel:
        """Return the channel from *agent* to the server, made when it is first asked for."""
        if agent not in self._up:
            link = Link(agent, self.server)
            latency = self._uplink_latency[agent]
            self._up[agent] = self._channel(agent, self.server, latency, link)
            self._down[agent] = self._channel(self.server, agent, latency, link)
        return self._up[agent]

    def downlink(self, agent: int) -> Channel:
        """Return the channel from the server to *agent*: the other direction of its uplink."""
        self.uplink(agent)
        return self._down[agent]

    def send(self, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        """Put *message* on all of these peer *channels*, but not on the one to *excepted*.

        They are those of its sender; nodes that say the same at once may do so together.

        What would start at or after the horizon is neither sent nor counted.
        """
        if self._queued:
            chosen = channels if excepted < 0 else [channel for channel in channels if channel.receiver != excepted]
            self._send_queued(message, chosen, self._peer, uplink=False)
            return
        now = self._environment._now  # a property of it takes four times as long to read
        if now >= self._end:
            return
        slot = now // self._slot
        size = message.size
        due = self._due
        for channel in channels:  # this loop runs once a message: _expect() and Link.activate() are written out
            if channel.receiver == excepted:
                continue
            arrival = now + channel.latency
            flight = channel.flight
            if not flight:
                if flight is NOTHING_YET:
                    flight = channel.flight = deque()
                if arrival in due:
                    due[arrival].append(channel)
                else:
                    due[arrival] = [channel]
                    heappush(self._instants, arrival)
                    if arrival < self._appointed:
                        self._appoint(arrival)
            flight.append((arrival, channel.sender, message))
            channel.messages += 1
            channel.bytes += size
            link = channel.link
            if link.latest != slot:
                link.latest = slot
                link.activations += 1
        if size != self._size or message.kind is not self._kind:
            self._enter(message.kind, size)
        self._copies += len(channels) if excepted < 0 else len(channels) - 1

    def expect_with(self, expect: Callable[[int, Channel | None], None]) -> None:
        """Have *expect* told of each channel, and when its first message arrives, in place of the calendar here.

        It holds for uplinks, and for peer links whose bandwidth is limited. Who asks for it takes messages off their
        channels by :meth:`take`, in the order of times and ranks, and hands them on. None in place of a channel:
        senders stop waiting for acknowledgements then, and :meth:`stop_waiting` is to be called once all is handed on
        that has arrived at that instant.
        """
        self._expected = expect

    def stop_waiting(self, now: int) -> None:
        """Let senders that wait *now* (ns) in vain for an acknowledgement send again; see :meth:`expect_with`."""
        raise RuntimeError("nothing is acknowledged here")

    def count_before_start(self, message: Message, channel: Channel) -> None:
        """Count *message* on a peer *channel* as one that was delivered before the first slot, in a slot of its own."""
        channel.messages += 1
        channel.bytes += message.size
        channel.link.activate_ahead(-1, -1)
        counts = self.ledger.counts[message.kind]
        counts[0] += 1
        counts[1] += message.size
        self._fingerprint.record(0, channel.receiver, message.code, message.size)
        if self.trace is not None:
            self.trace.record(message, channel.sender, channel.receiver, 0, 0, 0)

    @property
    def delivers_in_passes(self) -> bool:
        """Whether all that arrives at an instant is delivered before anybody acts on it; else receiver by receiver."""
        return self._instantaneous

    @property
    def peer_faults(self) -> ChannelFaults | None:
        """What can go wrong on the channels between agents; None: nodes fail, which decides about messages too."""
        return self.faults.peer

    @property
    def link_downtimes(self) -> Callable[[int, int], Downtimes] | None:
        """What tells when the link between two agents is down, the lower number first; None: no link ever is."""
        return None

    def count_in_bulk(
        self, kind: Kind, channels: Iterable[tuple[int, int, int, int, int, int]], copies: int = 0
    ) -> None:
        """Count messages that were put on channels and delivered elsewhere.

        Args:
            kind: Their kind.
            channels: For each channel its sender, its receiver, messages, bytes, how many were lost, and in how many
                slots its link was used in either direction.
            copies: How many of them arrived twice.
        """
        sent = size = losses = 0
        for sender, receiver, messages, total, lost, activations in channels:
            channel = self._out[sender][receiver]
            channel.messages += messages
            channel.bytes += total
            channel.lost += lost
            if channel.link.first == sender:
                channel.link.activations += activations
            sent += messages
            size += total
            losses += lost
        if sent:
            counts = self.ledger.counts[kind]
            counts[0] += sent
            counts[1] += size
        self._note_fates(sent, losses, copies)

    def _note_fates(self, sent: int, lost: int, copies: int) -> None:
        """Note what became of messages that were counted in bulk; here that follows from the counts of channels."""

    def count_everywhere(self, kind: Kind, size: int, times: int) -> None:
        """Count a message of *size* bytes on every channel in each of so many slots; it is delivered elsewhere."""
        for channels in self.channels:
            for channel in channels:
                channel.messages += times
                channel.bytes += times * size
        for link in self._links:
            link.activations += times
        sent = times * sum(len(channels) for channels in self.channels)
        if sent:
            counts = self.ledger.counts[kind]
            counts[0] += sent
            counts[1] += sent * size

    @property
    def peer_bandwidth(self) -> int | None:
        """Bits a second of a peer link in each direction; None: unlimited."""
        return self._peer.bandwidth

    @property
    def slowest_uplink(self) -> int:
        """The longest latency of an uplink in nanoseconds."""
        return max(self._uplink_latency, default=0)

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
        occupies none of them. Where uplinks repeat, each agent acknowledges it over its own, over which the server
        repeats it: these are messages like all others.
        """
        now = self.clock.now
        if now >= self.clock.end or not agents:
            return
        self.ledger.broadcasts += 1
        transmission = self._uplink.transmission(message.size)
        for agent in agents:
            channel = self._air.get(agent)
            if channel is None:
                latency = self._uplink_latency[agent]
                channel = self._air[agent] = self._channel(self.server, agent, latency, self._no_link, True)
            arrival = now + transmission + channel.latency
            if channel.flight:
                arrival = max(arrival, channel.flight[-1][0])
            else:
                self._expected(arrival, channel)
                if channel.flight is NOTHING_YET:
                    channel.flight = deque()
            channel.flight.append((arrival, channel.sender, message))
            self.ledger.copies.sent += 1
            if self.trace is not None:
                self.trace.record(message, self.server, agent, now, now, arrival, broadcast=True)

    @property
    def links(self) -> Sequence[Link]:
        """The peer links, in the order in which they were given."""
        return self._links

    @property
    def fingerprint(self) -> Fingerprint:
        """What takes in every delivery."""
        return self._fingerprint

    def before_close(self, act: Callable[[], None]) -> None:
        """Have *act* called, once, before all is added up: it counts what it has put on links itself."""
        self._before_close.append(act)

    def close(self) -> Fates:
        """Add up, after the last event, what became of all that was put on links."""
        for act in self._before_close:
            act()
        fates = self.ledger.fates
        messages = self.peer_totals().messages + self.uplink_totals().messages
        copies = self.ledger.copies
        self._count_ends(messages, fates, copies)
        fates.check(messages)
        copies.check()
        return fates

    def _count_ends(self, messages: int, fates: Fates, copies: BroadcastCopies) -> None:
        """Fill in *fates* for *messages* that were put on links, and *copies*: here, none is lost on its way."""
        channels = chain((channel for out in self._out for channel in out.values()), self._up.values())
        fates.in_flight = sum(len(channel.flight) for channel in chain(channels, self._down.values()))
        fates.delivered = messages - fates.in_flight
        copies.in_flight = sum(len(channel.flight) for channel in self._air.values())
        copies.delivered = copies.sent - copies.in_flight

    def lost_for_good(self) -> dict[Literal["peer", "uplink"], int]:
        """Return how many messages of each class of links were lost, or, where they are repeated, given up."""
        peers = sum(channel.lost for out in self._out for channel in out.values())
        uplinks = sum(channel.lost for channel in chain(self._up.values(), self._down.values()))
        ledger, faults = self.ledger, self.faults
        on_uplinks = ledger.given_up_on_uplinks
        return {
            "peer": peers if faults.peer.retry is None else ledger.fates.given_up - on_uplinks,
            "uplink": uplinks + ledger.copies.missed if faults.uplink.retry is None else on_uplinks,
        }

    def lost_on(self, link: Link) -> int:
        """Return how many messages a peer *link* lost in both directions."""
        return self._out[link.first][link.second].lost + self._out[link.second][link.first].lost

    def carried(self, link: Link) -> tuple[int, int]:
        """Return messages and bytes that a peer *link* carried in both directions."""
        there = self._out[link.first][link.second]
        back = self._out[link.second][link.first]
        return there.messages + back.messages, there.bytes + back.bytes

    def peer_totals(self) -> Totals:
        """Return what the peer links carried so far."""
        channels = (channel for out in self._out for channel in out.values())
        return Totals.of(self._peer, channels, self._links)

    def uplink_totals(self) -> Totals:
        """Return what the uplinks carried so far; broadcasts are not among it."""
        channels = [*self._up.values(), *self._down.values()]
        return Totals.of(self._uplink, channels, (channel.link for channel in self._up.values()))

    def _channel(self, sender: int, receiver: int, latency: int, link: Link, broadcast: bool = False) -> Channel:
        rank = self._rank(sender, receiver, broadcast)
        self._instantaneous |= latency == 0
        return Channel(sender, receiver, latency, link, rank)

    def _rank(self, sender: int, receiver: int, broadcast: bool) -> int:
        """Return the place of a channel in the order in which things are handled that arrive at once."""
        return (receiver * (self.agents + 1) + sender) * 2 + broadcast

    def _send_queued(
        self, message: Message, channels: Sequence[Channel], link_class: LinkClass, *, uplink: bool
    ) -> None:
        """Send over channels that may have a queue, or of which a trace is kept."""
        now = self._environment.now
        end, slot = self._end, self._slot
        size = message.size
        transmission = link_class.transmission(size)
        sent = 0
        for channel in channels:
            start = channel.free_at
            if start < now:
                start = now
            if start >= end:
                continue
            channel.free_at = start + transmission
            arrival = channel.free_at + channel.latency
            if not channel.flight:
                self._expected(arrival, channel)
                if channel.flight is NOTHING_YET:
                    channel.flight = deque()
            channel.flight.append((arrival, channel.sender, message))
            channel.messages += 1
            channel.bytes += size
            if uplink:
                channel.link.activate(message.round)
            elif transmission:
                channel.link.activate_ahead(start // slot, now // slot)
            else:
                channel.link.activate(start // slot)
            if self.trace is not None:
                self.trace.record(message, channel.sender, channel.receiver, now, start, arrival)
            sent += 1
        if sent:
            counts = self.ledger.counts[message.kind]
            counts[0] += sent
            counts[1] += sent * size

    def _enter(self, kind: Kind | None, size: int) -> None:
        """Enter into the ledger what was sent; what is sent from now on is of *kind* and *size* (bytes)."""
        if self._copies:
            assert self._kind is not None  # it was sent
            counts = self._ledger.counts[self._kind]
            counts[0] += self._copies
            counts[1] += self._copies * self._size
            self._copies = 0
        self._kind, self._size = kind, size

    def _expect(self, arrival: int, channel: Channel | None) -> None:
        """Have *channel*, whose first message arrives at *arrival*, emptied then."""
        assert channel is not None, "nothing is acknowledged here"
        due = self._due.get(arrival)
        if due is not None:
            due.append(channel)
            return
        self._due[arrival] = [channel]
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

        In an instant, each receiver gets all that arrives for it at once. What is sent in answer over channels
        without latency arrives at the same instant, but in a later pass.
        """
        if event is not self._appointment:
            return  # overtaken by an earlier one
        environment = self._environment
        queue = environment._queue
        instants = self._instants
        pending = self._fingerprint.pending
        all_due = self._due
        receive = self._handler
        self._appointed = -1  # while it delivers it needs no appointment
        while instants:
            now = instants[0]
            if queue and queue[0][0] < now:  # Environment.advance(), written out
                break
            environment._now = heappop(instants)
            due = all_due.pop(now)
            if len(due) > 1:
                due.sort(key=BY_RANK)
            if self._instantaneous:
                self._deliver_in_passes(due, now)
                continue
            receiver = -1
            inbox: list[Arrival] = []
            for channel in due:
                if channel.receiver != receiver:
                    if inbox:
                        receive(receiver, inbox)
                        inbox = []
                    receiver = channel.receiver
                flight = channel.flight
                arrival = flight.popleft()
                inbox.append(arrival)
                message = arrival[2]
                pending += (now, receiver, message.code, message.size)
                if flight:
                    following = flight[0][0]
                    if following == now:
                        self.take(channel, now, inbox)
                    elif following in all_due:  # _expect(), written out
                        all_due[following].append(channel)
                    else:
                        all_due[following] = [channel]
                        heappush(instants, following)
            receive(receiver, inbox)
            if len(pending) > _FLUSH_AT:
                self._fingerprint.flush()
        self._appointed = Infinity
        if instants:
            self._appoint(instants[0])

    def _deliver_in_passes(self, due: list[Channel], now: int) -> None:
        """Deliver what arrives now where an answer may arrive at the same instant: it comes in a later pass.

        So all is taken off the channels before anybody acts.
        """
        inboxes: list[tuple[int, list[Arrival]]] = []
        receiver = -1
        for channel in due:
            if channel.receiver != receiver:
                receiver = channel.receiver
                inboxes.append((receiver, []))
            self.take(channel, now, inboxes[-1][1])
        for receiver, inbox in inboxes:
            self._handler(receiver, inbox)
        if len(self._fingerprint.pending) > _FLUSH_AT:
            self._fingerprint.flush()

    def take(self, channel: Channel, now: int, inbox: list[Arrival]) -> None:
        """Move what arrives *now* (ns) from *channel* to *inbox*, and expect what follows."""
        flight = channel.flight
        pending = self._fingerprint.pending
        while flight:
            arrival = flight[0]
            if arrival[0] != now:
                self._expected(arrival[0], channel)
                break
            flight.popleft()
            inbox.append(arrival)
            message = arrival[2]
            pending += (now, channel.receiver, message.code, message.size)


def _nobody(node: int, arrivals: list[Arrival]) -> None:
    raise RuntimeError(f"node {node} has nobody to receive its messages")
