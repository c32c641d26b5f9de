"""The network: nodes, links, messages in flight, and counters."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import inf
from types import MethodType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from simpy import Event
from simpy.core import Infinity

from netbandit.network import composing, delivery, wire
from netbandit.network.batteries import Batteries, EnergyPlan
from netbandit.network.calendar import NEVER
from netbandit.network.clock import ARRIVALS, Clock, ScheduledEvent
from netbandit.network.computing import ComputePlan, Computing, Work
from netbandit.network.contacts import UpTimes, contacts_until, up_times
from netbandit.network.downtimes import Downtimes
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.ledger import BroadcastCopies, Ledger, Outcomes, Tally, Totals
from netbandit.network.link import Arrival, Channel, Fate, FaultyChannel, Link, LinkClass
from netbandit.network.message import Kind, Message
from netbandit.network.metering import count, note
from netbandit.network.models.contacts import contact_end, next_start
from netbandit.network.models.radio import Radio
from netbandit.network.node_changes import NodeChanges
from netbandit.network.observer import Observer
from netbandit.network.outages import Outages
from netbandit.network.present_neighbours import PresentNeighbours
from netbandit.network.topology import Topology
from netbandit.network.trace_writer import Trace
from netbandit.network.transmit_queue import QueuedMessage, TransmitQueue
from netbandit.util.streams import Streams

Receive = Callable[[int, list[Arrival]], None]
"""Called with a node and all that reaches it in one instant, in order of the sender's number."""


class Send(Protocol):
    """How a message is put on channels between agents."""

    def __call__(self, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        """See `netbandit.network.wire.send`."""


class Network:
    """Agents joined by peer links, and a server that any agent can reach over an uplink.

    The server is node number ``agents``; it is no node of the graph. A message is handled by
    `netbandit.network.wire`, up to its arrival, and in `netbandit.network.delivery`, from then on.

    Args:
        clock: The clock.
        neighbours: The neighbours of each agent, ascending.
        peer: The class of the peer links.
        peer_latency: (lower end, higher end) -> nanoseconds, for every peer link.
        uplink: The class of the uplinks.
        uplink_latency: For each agent, nanoseconds to and from the server.
        fingerprint: Takes in every delivery.
        trace: Where to write every message, or None.
        topology: The whole graph, even where *neighbours* are left out because no peer link is used; made of
            them if it is not given.
        streams: The random streams of the nodes.
        faults: What can go wrong.
        energy: The energy plan of the agents; None: they need none.
        compute: What nodes compute, and how fast; None: nothing takes them any time.

    Attributes:
        acting: The agents that act in this process: all, unless `speak_through` was called.
        channels: For each agent its channels to its neighbours, ascending.
        outages: When links and nodes are down; None where they never are.
        present: Which neighbours are there, where agents see that.
        faults: As given.
        streams: As given.
        trace: As given; drivers of agents may write their phases to it.
        send: Puts a message on channels between agents; see `netbandit.network.wire.send`.
        radio: The transmitters of the agents, if they share the air.
        deferred_outcomes: Whether the outcome of a message depends on other messages, so that it is resolved as it
            happens.
        node_outages: When nodes are down; None where none ever is.
        links_fail: Whether a link between agents may go down while a message is on its way.
        waits: Whether messages wait for a link that agents see down.
        instantaneous: Whether a reply may arrive at the very instant of its request.
        in_order: Whether messages arrive on each channel in the order of sending, each transmission at most once.
        prompt: Whether it is known how long a message was under way: nothing queues, is late or copied, and no node is
            ever down.
        decides_on_arrival: Whether it must be decided on arrival whether a message is news.
        is_reliable: Whether nothing queues, fails, waits or is traced; then `send` is the shorter `send_reliably`.
        late_from: From when on (ns) what takes its latency alone may still be under way at the end.
        energy, compute: As given.
        batteries: Those of the agents, where they may run empty.
        computing: The jobs of all nodes, where these take time.
        observers: What is told of each message; see `watch`.
    """

    deferred_outcomes: bool = False
    batteries: Batteries | None = None
    computing: Computing | None

    # Attributes used for every message: Python finds slots faster than the many other attributes.
    __slots__ = (
        "__dict__",
        "appointed",
        "carry",
        "computing",
        "decides_on_arrival",
        "due",
        "end",
        "environment",
        "handler",
        "in_order",
        "instantaneous",
        "instants",
        "late_from",
        "ledger",
        "links_fail",
        "node_outages",
        "observers",
        "outages",
        "pending",
        "prompt",
        "queues",
        "send",
        "serial",
        "server",
        "slot",
        "starts",
        "tally",
        "timers",
        "trace",
        "waits",
        "waits_for_slots",
    )

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
        energy: EnergyPlan | None = None,
        compute: ComputePlan | None = None,
    ) -> None:
        self.clock = clock
        self.environment = clock.environment
        self.slot, self.end = clock.slot, clock.end
        self.late_from = clock.end - max((*peer_latency.values(), *uplink_latency), default=0)
        self.agents = self.server = len(neighbours)
        self.acting: Sequence[int] = range(self.agents)
        self.neighbours = neighbours
        self.peer_class, self.uplink_class = peer, uplink
        self.fingerprint = fingerprint
        self.pending = fingerprint.pending
        self.trace = trace
        self.streams = streams
        self.faults = faults
        self.handler: Receive = _nobody
        self._topology = topology
        self._uplink_latency = uplink_latency
        self.ledger = Ledger()
        self.tally = Tally()
        self.carry = NEVER if faults.plan.carry is None else faults.plan.carry
        self.waits_for_slots = faults.plan.waits_for_slots
        self.outages: Outages | None = None
        self.energy, self.compute = energy, compute
        limited = energy is not None and energy.capacity is not None
        if faults or limited:
            numbers = {link: number for number, link in enumerate(peer_latency)}
            self.outages = Outages(faults.plan, self.agents, numbers, streams)
            if energy is not None and limited:
                self._live_on(energy, self.outages)
            if self.outages.any_agents:
                clock.postpone = self._postponed
                if self.outages.forgets:
                    clock.incarnation = self.outages.incarnation
        self.radio: Radio | None = None
        if faults.radio is not None:
            self.deferred_outcomes = True
            self.radio = Radio(faults.radio, self)
        self._note_what_can_happen()
        self.present_neighbours = PresentNeighbours(clock, streams, chooses=self.sensed and not self.waits)
        peers, uplinks = composing.models(self)
        kind = wire.DeferredWire if self.deferred_outcomes else wire.Wire
        self.peer_wire = kind(self, "peer", 2 * len(peer_latency), peer, peers)
        self.uplink_wire = kind(self, "uplink", 3 * self.agents, uplink, uplinks)
        self.links: list[Link] = []
        self._out: list[dict[int, Channel]] = [{} for _ in range(self.agents)]
        for (first, second), latency in peer_latency.items():
            link = Link(first, second)
            self._out[first][second] = self._peer_channel(first, second, latency, link)
            self._out[second][first] = self._peer_channel(second, first, latency, link)
            self.links.append(link)
        self.channels: list[list[Channel]] = [
            [out[neighbour] for neighbour in near] for out, near in zip(self._out, neighbours, strict=True)
        ]
        self._up: dict[int, Channel] = {}
        self._down: dict[int, Channel] = {}
        self._air: dict[int, Channel] = {}
        self.due: dict[int, list[Any]] = {}
        self.instants: list[int] = []
        self.timers: dict[int, list[Any]] = {}
        self.queues: defaultdict[Channel, TransmitQueue] = defaultdict(TransmitQueue)
        self.starts: dict[int, list[tuple[wire.DeferredWire, Channel, QueuedMessage]]] = {}
        self.serial = 0
        self.appointed: float = Infinity  # the time of the appointment
        self.appointment: Event | None = None
        self.observers: Sequence[Observer] = () if trace is None else (trace,)
        self.computing = None if compute is None else Computing(self, compute)
        self._note_order()
        self._send = MethodType(wire.send_reliably if self.is_reliable else wire.send, self)
        self.send: Send = self._send if self.radio is None else self.radio.send

    def _note_what_can_happen(self) -> None:
        """Cache the flags that each message would look up."""
        outages, faults = self.outages, self.faults
        classes = (faults.peer, self.peer_class), (faults.uplink, self.uplink_class)
        jitters = any(one.jitter is not None for one, _ in classes)
        self.node_outages = outages if outages is not None and outages.any_nodes else None
        self.waits = outages is not None and outages.waits
        self.links_fail = outages is not None and outages.any_links
        if outages is not None and self.waits and not (jitters or outages.fail_unseen):
            self.links_fail = False  # a message that starts gets through
        self._takes_time = any(links.takes_time for _, links in classes)
        self.drops = any(links.most_waiting is not None for _, links in classes)
        self.instantaneous = False

    def _note_order(self) -> None:
        """Note in which order messages arrive, once the latencies of links are known."""
        wires = self.peer_wire, self.uplink_wire
        repeats = any(one.retry is not None for one in wires)
        in_order = all(model.in_order for one in wires for model in one.models)
        self.in_order = in_order and not (repeats and self.instantaneous)
        self.decides_on_arrival = repeats or not self.in_order or self.computing is not None
        self.prompt = self.in_order and not (self._takes_time or self.node_outages is not None or self.waits)
        self.is_reliable = not (self.unreliable or self._takes_time or self.deferred_outcomes or self.observers)

    def _live_on(self, energy: EnergyPlan, outages: Outages) -> None:
        """Give each agent a battery, which determines its downtimes."""
        known = [outages.node(agent) for agent in range(self.agents)]
        self.batteries = Batteries(energy, self.clock, known, self.streams)
        outages.depend_on(self.batteries.downtimes)
        self.deferred_outcomes = True
        self.clock.when_up = self.batteries.when_up

    @property
    def agents_fail(self) -> bool:
        """Whether agents may be down at times."""
        return self.outages is not None and self.outages.any_agents

    def is_down(self, node: int) -> bool:
        """Return whether *node*, an agent or the server, is down now."""
        return self.outages is not None and self.outages.any_nodes and self.outages.node(node).at(self.clock.now)

    def is_down_during(self, node: int, begin: int, end: int) -> bool:
        """Return whether *node*, an agent or the server, is down at any moment from *begin* to *end* (ns)."""
        return self.node_outages is not None and self.node_outages.node(node).during(begin, end)

    def incarnation(self, node: int, time: int) -> int:
        """Return how often *node* has lost its memory by a *time* (ns)."""
        return 0 if self.outages is None else self.outages.incarnation(node, time)

    @property
    def forgets(self) -> bool:
        """Whether agents may be down at times, and know nothing when they come back."""
        return self.outages is not None and self.outages.any_agents and self.outages.forgets

    def watch_agents(self, changed: Callable[[int, bool], None]) -> list[int]:
        """Call *changed* for every agent that goes down or comes back up; return those that are down now.

        It is called with the agent and whether it is up, before the arrivals of that instant.
        """
        if self.outages is None:
            return []
        if self.batteries is not None:
            self.batteries.watch(changed)
        else:
            NodeChanges(self.clock, self.outages, range(self.agents), changed)
        now, outages = self.clock.now, self.outages
        return [agent for agent in range(self.agents) if outages.node(agent).at(now)]

    def attach(self, handler: Receive) -> None:
        """Call *handler* with all arrivals at a node, the server included; it replaces any earlier handler."""
        self.handler = handler

    def watch(self, observers: Sequence[Observer]) -> None:
        """Tell *observers*, too, of each message; before the first is sent."""
        self.observers = (*self.observers, *observers)
        if observers and self.is_reliable:
            self.is_reliable = False
            self._send = MethodType(wire.send, self)
            if self.radio is None:
                self.send = self._send

    def speak_through(self, send: Send, acting: Sequence[int]) -> Send:
        """Route the messages of the agents *acting* in this process through *send*; `handler` gets their arrivals.

        Return what put messages on channels before: it still counts them and decides when they are due, but nothing is
        delivered any more.
        """
        self.acting = acting
        self.send = send
        self.appointed = -1
        return self._send

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

    def out(self, sender: int) -> Mapping[int, Channel]:
        """Return the channels from *sender* to its neighbours, by these."""
        return self._out[sender]

    def channel(self, sender: int, receiver: int) -> Channel:
        """Return the channel from *sender* to its neighbour *receiver*."""
        return self._out[sender][receiver]

    def uplink(self, agent: int) -> Channel:
        """Return the channel from *agent* to the server, made when it is first asked for."""
        if agent not in self._up:
            link = Link(agent, self.server)
            up = self._up[agent] = self._uplink_channel(agent, self.server, agent, link, 0)
            down = self._down[agent] = self._uplink_channel(self.server, agent, agent, link, 1)
            _join(up, down)
        return self._up[agent]

    def downlink(self, agent: int) -> Channel:
        """Return the channel from the server to *agent*: the other direction of its uplink."""
        self.uplink(agent)
        return self._down[agent]

    def air(self, agent: int) -> Channel:
        """Return the channel over which *agent* receives broadcasts of the server: no link is counted for it.

        Losses follow the model of the agent's uplink, with separate draws.
        """
        air = self._air.get(agent)
        if air is None:
            link = Link(agent, self.server)
            air = self._air[agent] = self._uplink_channel(self.server, agent, agent, link, 2)
            if isinstance(air, FaultyChannel) and self.faults.uplink.retry is not None:
                air.back = self.uplink(agent)
        return air

    def free_from(self, channel: Channel) -> int:
        """Return when (ns) all that was put on *channel* has left it, as far as that is known."""
        if self.radio is not None:
            return self.radio.free_at(channel.sender)
        free_at = channel.free_at
        if self.deferred_outcomes:
            for queued in self.queues[channel]:
                if not self.is_down_during(channel.sender, queued.put_at, self.clock.now):
                    free_at = max(free_at, queued.put_at) + queued.duration
        return free_at

    def send_up(self, message: Message, agent: int) -> None:
        """Send *message* from *agent* to the server."""
        self._send(message, (self.uplink(agent),))

    def send_down(self, message: Message, agents: Sequence[int]) -> None:
        """Send *message* from the server to *agents*, each over its own uplink."""
        self._send(message, [self.downlink(agent) for agent in agents])

    def broadcast(self, message: Message, agents: Sequence[int]) -> None:
        """Broadcast *message* of the server to *agents*; see `netbandit.network.wire.Wire.broadcast`."""
        if self.clock.now < self.end and agents and not self.is_down(self.server):
            self.ledger.broadcasts += 1
            self.uplink_wire.broadcast(message, agents)

    @cached_property
    def _callbacks(self) -> list[Callable[[Event], None]]:
        decides = self.decides_on_arrival or self.deferred_outcomes
        return [MethodType(delivery.deliver_deciding if decides else delivery.deliver_due, self)]

    def appoint(self, arrival: int) -> None:
        """Schedule SimPy to wake the network at *arrival*; this replaces a later appointment."""
        self.appointed = arrival
        self.appointment = ScheduledEvent(self._callbacks)
        self.environment.schedule(self.appointment, ARRIVALS, arrival - self.environment.now)

    def count_before_start(self, message: Message, channel: Channel) -> None:
        """Count *message* on a peer *channel* as one that was delivered before the first slot, in a slot of its own."""
        channel.messages += 1
        channel.bytes += message.size
        if isinstance(channel, FaultyChannel):
            channel.undrawn += 1
        channel.link.activate_ahead(-1, -1)
        count(self, message.kind, message.size, 1)
        self.tally.delivered += 1
        self.fingerprint.record(0, channel.receiver, message.code, message.size)
        for observer in self.observers:
            observer.hop(channel, message, 0, 0, 0, lost=False, copy=False)

    @property
    def unreliable(self) -> bool:
        """Whether faults are possible."""
        return bool(self.faults) or self.batteries is not None or self.drops or self.computing is not None

    @property
    def may_lose(self) -> bool:
        """Whether any message may be lost: by `faults`, because an agent has run empty, or because too many wait."""
        full = self.drops or (self.computing is not None and self.computing.limited)
        return self.faults.may_lose or self.batteries is not None or full

    def when_computed(
        self,
        node: int,
        work: Work,
        then: Callable[[Any], object],
        take: Callable[[], Any] = lambda: None,
        dropped: Callable[[], object] | None = None,
    ) -> None:
        """Call *then* once *node* has done a job of its own; see `Computing.submit`.

        A node that is down begins none: *then* is called at once, and what it sends is withheld, as without computing.
        """
        if self.computing is None or self.is_down(node):
            then(take())
        else:
            self.computing.submit(node, work, then, take, dropped)

    def after_own_jobs(self, agent: int, act: Callable[[], None]) -> None:
        """Call *act* once *agent* has done all jobs of its own that it has."""
        if self.computing is None:
            act()
        else:
            self.computing.after_own(agent, act)

    @cached_property
    def link_numbers(self) -> Mapping[tuple[int, int], int]:
        """The number of each link between agents, by its two ends, the lower first."""
        return {(link.first, link.second): number for number, link in enumerate(self.links)}

    def contact_from(self, channel: Channel, time: int) -> int:
        """Return when (ns) a message may start that is ready at a *time*, takes its latency alone, and gets through.

        See `netbandit.network.models.contacts`. Failures that agents do not see count as well.
        """
        if not isinstance(channel, FaultyChannel):
            return time
        start = next_start(self, channel, time)
        while start < self.end and (over := contact_end(channel, start)) <= start + channel.latency:
            start = next_start(self, channel, over)
        return start

    def next_coming(self, channel: Channel, after: int) -> tuple[int, int]:
        """Return when (ns) the neighbour on *channel* goes, and comes back, that is there at some time.

        Slotted, it comes back at the first boundary at which it is there. At time -1 no neighbour is there.
        """
        assert isinstance(channel, FaultyChannel)  # all are where links come and go
        goes = 0 if after < 0 else int(min(channel.contacts.down(after), NEVER))
        return goes, next_start(self, channel, goes) if goes < self.end else NEVER

    @property
    def sensed(self) -> bool:
        """Whether agents see which of their links are up."""
        return self.outages is not None and self.outages.sensed

    @property
    def peer_faults(self) -> ChannelFaults:
        """The faults of the channels between agents."""
        return self.faults.peer

    @property
    def nodes_fail(self) -> bool:
        """Whether agents, or the server, may be down at times, which decides about messages too."""
        return self.outages is not None and self.outages.any_nodes

    @cached_property
    def up_times(self) -> UpTimes:
        """All contacts before the horizon, of the links of the whole graph, where these come and go."""
        contacts, outages = self.faults.plan.contacts, self.outages
        assert contacts is not None
        assert outages is not None
        if not self.links:  # the protocol uses none
            return contacts_until(contacts, self.topology.links, self.end)
        return up_times([outages.contacts(link.first, link.second) for link in self.links], self.end)

    @property
    def link_downtimes(self) -> Callable[[int, int], Downtimes] | None:
        """The downtimes of the link between two agents, the lower number first; None: no link is ever down."""
        return self.outages.link if self.outages is not None and self.outages.any_links else None

    def count_in_bulk(
        self,
        kind: Kind,
        channels: Iterable[tuple[int, int, int, int, int]],
        fates: Mapping[Fate, NDArray[np.int64]],
    ) -> None:
        """Count messages that were put on channels and delivered elsewhere.

        Args:
            kind: Their kind.
            channels: For each channel its sender, its receiver, messages, bytes, and in how many slots its link was
                used in either direction.
            fates: How many of its messages, and bytes, have a fate, in the same order, shape (channels, 2).
        """
        sent = size = 0
        counted = []
        for sender, receiver, messages, total, activations in channels:
            channel = self._out[sender][receiver]
            counted.append(channel)
            channel.messages += messages
            channel.bytes += total
            if channel.link.first == sender:
                channel.link.activations += activations
            sent += messages
            size += total
        if sent:
            counts = self.ledger.counts[kind]
            counts[0] += sent
            counts[1] += size
        self.tally.delivered += sent
        for fate, numbers in fates.items():
            for place in np.flatnonzero(numbers[:, 0]).tolist():
                number, total = numbers[place].tolist()
                note(counted[place], fate, total, number)
            self.tally.delivered += int(numbers[:, 0].sum()) * (1 if fate == "duplicates" else -1)

    def count_everywhere(self, kind: Kind, size: int, times: int) -> None:
        """Count a message of *size* bytes on every channel in each of so many slots; it is delivered elsewhere."""
        for channels in self.channels:
            for channel in channels:
                channel.messages += times
                channel.bytes += times * size
        for link in self.links:
            link.activations += times
        sent = times * sum(len(channels) for channels in self.channels)
        if sent:
            count(self, kind, size, sent)

    def transmission(self, size: int) -> int:
        """Return the nanoseconds that a message of *size* bytes occupies a peer link."""
        return self.peer_class.transmission(size)

    def close(self) -> Outcomes:
        """Compute, after the last event, the outcomes of all messages handed to links.

        Where messages arrive in order, those that are delivered are what is left of all. Otherwise they are counted one
        by one, and make sure that each message has ended in exactly one way.

        Raises:
            AssertionError: Some have not: a mistake of the simulator.
        """
        tally = self.tally
        outcomes = Outcomes.of((self.peer_totals(), self.uplink_totals()), tally.retransmissions, tally.given_up)
        copies = BroadcastCopies(tally.copies_sent, 0, tally.copies_missed, tally.copies_in_flight)
        copies.delivered = copies.sent - copies.missed - copies.in_flight
        if not self.in_order:
            assert tally.delivered == outcomes.delivered, f"{tally.delivered} messages are delivered, {outcomes}"
            assert tally.copies_delivered == copies.delivered, f"{tally.copies_delivered} are delivered, {copies}"
        self.ledger.outcomes, self.ledger.copies = outcomes, copies
        return outcomes

    def spent_on_messages(self, plan: EnergyPlan) -> int:
        """Return the energy of messages (aJ), at sender and receiver, whether they arrived or were lost.

        The receiver of what is under way at the end has spent nothing on it. Over a radio channel, each transmission
        costs its sender, and all agents in reach.
        """
        spent = 0
        radio = self.radio
        if radio is not None:
            spent += plan.to_send(False, radio.transmissions, radio.size, radio.airtime)
            spent += plan.to_receive(False, radio.heard, radio.heard_size, radio.heard_airtime)
        wires = self.peer_channels() if radio is None else ()
        for channel in chain(wires, self.uplink_channels()):
            uplink = self.server in (channel.sender, channel.receiver)
            busy, coming = (0, 0) if channel.queue is None else (channel.queue.busy, channel.queue.under_way)
            if channel.sender != self.server:
                spent += plan.to_send(uplink, channel.messages, channel.bytes, busy)
            if channel.receiver != self.server:
                messages, size = channel.fates.get("in_flight", (0, 0))
                spent += plan.to_receive(uplink, channel.messages - messages, channel.bytes - size, busy - coming)
        return spent

    def lost_for_good(self) -> dict[Literal["peer", "uplink"], int]:
        """Return how many messages of each class of links were lost or dropped, or given up where they are repeated."""
        faults, tally = self.faults, self.tally
        peers, uplinks = (
            sum(totals.fates[fate][0] for fate in ("lost", "dropped"))
            for totals in (self.peer_totals(), self.uplink_totals())
        )
        uplinks += tally.copies_missed
        on_uplinks = tally.given_up_on_uplinks
        return {
            "peer": peers if faults.peer.retry is None else tally.given_up - on_uplinks,
            "uplink": uplinks if faults.uplink.retry is None else on_uplinks,
        }

    def link_pairs(self) -> Iterator[tuple[Channel, Channel]]:
        """Yield the two channels of each peer link, from its first end and from its second."""
        return ((self._out[link.first][link.second], self._out[link.second][link.first]) for link in self.links)

    def uplink_pairs(self) -> Iterator[tuple[Channel, Channel]]:
        """Yield the two channels of each uplink in use, by agent, from its agent and the server."""
        pairs = ((self._up[agent], self._down[agent]) for agent in sorted(self._up))
        return ((up, down) for up, down in pairs if up.messages or down.messages or up.fates or down.fates)

    def peer_totals(self) -> Totals:
        """Return the totals of the peer links so far."""
        return Totals.of(self.peer_class, self.peer_channels(), self.links)

    def uplink_totals(self) -> Totals:
        """Return the totals of the uplinks so far, without broadcasts."""
        return Totals.of(self.uplink_class, self.uplink_channels(), (channel.link for channel in self._up.values()))

    def peer_channels(self) -> Iterator[Channel]:
        """Return the channels between agents."""
        return (channel for out in self._out for channel in out.values())

    def uplink_channels(self) -> Iterator[Channel]:
        """Return the channels of the uplinks in use, without broadcasts."""
        return chain(self._up.values(), self._down.values())

    def _peer_channel(self, sender: int, receiver: int, latency: int, link: Link) -> Channel:
        self.instantaneous |= latency == 0
        rank = self._rank(sender, receiver)
        if not self.faults:
            return Channel(self.peer_wire, sender, receiver, latency, link, rank)
        column = 2 * len(self.links) + (sender != link.first)
        channel = FaultyChannel(self.peer_wire, sender, receiver, latency, link, rank, column)
        if self.outages is not None and self.outages.any_links:
            ends = min(sender, receiver), max(sender, receiver)
            channel.down = self.outages.link(*ends)
            if self.outages.changing:
                channel.contacts = self.outages.contacts(*ends)
        there = self._out[receiver].get(sender)
        if there is not None:
            _join(there, channel)
        return channel

    def _uplink_channel(self, sender: int, receiver: int, agent: int, link: Link, column: int) -> Channel:
        latency = self._uplink_latency[agent]
        self.instantaneous |= latency == 0
        rank = self._rank(sender, receiver, broadcast=column == 2)
        if not self.faults:
            return Channel(self.uplink_wire, sender, receiver, latency, link, rank)
        return FaultyChannel(self.uplink_wire, sender, receiver, latency, link, rank, 3 * agent + column)

    def _rank(self, sender: int, receiver: int, broadcast: bool = False) -> int:
        """Return the rank of a channel among simultaneous arrivals."""
        return (receiver * (self.agents + 1) + sender) * 2 + broadcast

    def _postponed(self, node: int, time: int) -> float:
        """Return when *node* acts that is due at *time* (ns): if it is down then, at a boundary once it is up."""
        assert self.outages is not None
        down = self.outages.node(node)
        if not down.at(time):
            return time
        if self.batteries is not None:
            return inf
        up: float = time
        while up < self.end:
            up = down.up(int(up))
            if up >= self.end:
                break
            boundary = self.clock.boundary(int(up)) * self.slot
            if not down.at(boundary):
                return boundary
            up = boundary
        return inf


def _join(one: Channel, other: Channel) -> None:
    """Make two channels each other's reverse direction."""
    if isinstance(one, FaultyChannel) and isinstance(other, FaultyChannel):
        one.back, other.back = other, one


def _nobody(node: int, arrivals: list[Arrival]) -> None:
    raise RuntimeError(f"node {node} has nobody to receive its messages")
