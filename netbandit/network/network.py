"""The network: nodes, links, messages in flight, and counters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import inf
from types import MethodType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from netbandit.network import composing, delivery, wire
from netbandit.network.batteries import Batteries, EnergyPlan
from netbandit.network.clock import Clock
from netbandit.network.computing import ComputePlan, Computing, Work
from netbandit.network.contacts import UpTimes, contacts_until, up_times
from netbandit.network.downtimes import Downtimes
from netbandit.network.engine import Engine, Receive
from netbandit.network.faults import Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.ledger import BroadcastCopies, Outcomes, Totals
from netbandit.network.link import Channel, Fate, FaultyChannel, LinkClass
from netbandit.network.links import Links
from netbandit.network.message import Kind, Message
from netbandit.network.models.radio import Radio
from netbandit.network.observer import Observer
from netbandit.network.outages import Outages
from netbandit.network.present_neighbours import PresentNeighbours
from netbandit.network.topology import BareGraph, Topology
from netbandit.network.trace_writer import Trace
from netbandit.util.streams import Streams


class Send(Protocol):
    """How a message is put on channels between agents."""

    def __call__(self, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        """See `netbandit.network.wire.send`."""


class Network(Engine):
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
        present_neighbours: Which neighbours are there, where agents see that.
        faults, energy, compute: As given.
        peer_wire, uplink_wire: The links of each class, with their models.
        send: Puts a message on channels between agents; see `netbandit.network.wire.send`.
        radio: The transmitters of the agents, if they share the air.
        unreliable: Whether faults are possible.
    """

    computing: Computing | None

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
        super().__init__(clock, len(neighbours), fingerprint, trace, streams, faults.plan)
        # From then on, what takes its latency alone may still be under way at the end.
        self.late_from = clock.end - max((*peer_latency.values(), *uplink_latency), default=0)
        self.acting: Sequence[int] = range(self.agents)
        self.neighbours = neighbours
        self.peer_class, self.uplink_class = peer, uplink
        self._topology = topology
        self.faults, self.energy, self.compute = faults, energy, compute
        limited = energy is not None and energy.capacity is not None
        if faults or limited:
            numbers = {link: number for number, link in enumerate(peer_latency)}
            self.outages = Outages(faults.plan, self.agents, numbers, streams)
            if energy is not None and limited:
                self.batteries = _batteries(energy, self, self.outages)
                self.deferred_outcomes = True
            if self.outages.any_agents:
                clock.postpone = self._postponed
                if self.outages.forgets:
                    clock.incarnation = self.outages.incarnation
            self.node_outages = self.outages if self.outages.any_nodes else None
        self.radio: Radio | None = None
        if faults.radio is not None:
            self.deferred_outcomes = True
            self.radio = Radio(faults.radio, self)
        kind, down = wire.DeferredWire if self.deferred_outcomes else wire.Wire, (self.outages, self.batteries)
        peers = list(composing.models(peer, faults.peer, *down, self.radio, peers=True))
        self.peer_wire = kind(self, "peer", 2 * len(peer_latency), peer, peers)
        uplinks = list(composing.models(uplink, faults.uplink, *down, None, peers=False))
        self.uplink_wire = kind(self, "uplink", 3 * self.agents, uplink, uplinks)
        self.links = Links(
            neighbours, peer_latency, uplink_latency, self.peer_wire, self.uplink_wire, self.outages, bool(faults)
        )
        self.channels = self.links.channels
        self.computing = None if compute is None else Computing(self, compute)
        self.flags = composing.flags(
            (self.peer_wire, self.uplink_wire),
            computes=compute is not None,
            nodes_fail=self.node_outages is not None,
            instantaneous=self.links.instantaneous,
        )
        decides = self.flags.decides or self.deferred_outcomes
        self.callbacks = [MethodType(delivery.deliver_deciding if decides else delivery.deliver_due, self)]
        self.present_neighbours = PresentNeighbours(clock, streams, chooses=self.sensed and not self.flags.waits)
        self.unreliable = bool(faults) or limited or self.flags.drops or compute is not None
        self._choose_send()

    def _choose_send(self) -> None:
        """Choose how messages are put on channels: the short way if nothing queues, fails, waits or is watched."""
        reliable = not (self.unreliable or self.flags.takes_time or self.deferred_outcomes or self.observers)
        self._send: Send = MethodType(wire.send_reliably if reliable else wire.send, self)
        self.send: Send = self._send if self.radio is None else self.radio.send

    @property
    def agents_fail(self) -> bool:
        """Whether agents may be down at times."""
        return self.outages is not None and self.outages.any_agents

    @property
    def forgets(self) -> bool:
        """Whether agents may be down at times, and know nothing when they come back."""
        return self.outages is not None and self.outages.any_agents and self.outages.forgets

    def attach(self, handler: Receive) -> None:
        """Call *handler* with all arrivals at a node, the server included; it replaces any earlier handler."""
        self.handler = handler

    def watch(self, observers: Sequence[Observer]) -> None:
        """Add *observers* of each message; call it before the first is sent."""
        if observers:
            self.observers = (*self.observers, *observers)
            self._choose_send()

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
            links = [(node, other) for node, near in enumerate(self.neighbours) for other in near]
            self._topology = Topology(BareGraph(self.agents, np.array(links, dtype=np.int64).reshape(-1, 2)))
        return self._topology

    def channel(self, sender: int, receiver: int) -> Channel:
        """Return the channel from *sender* to its neighbour *receiver*."""
        return self.links.channel(sender, receiver)

    def uplink(self, agent: int) -> Channel:
        """Return the channel from *agent* to the server."""
        return self.links.uplink(agent)

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
        self._send(message, [self.links.downlink(agent) for agent in agents])

    def broadcast(self, message: Message, agents: Sequence[int]) -> None:
        """Broadcast *message* of the server to *agents*; see `netbandit.network.wire.Wire.broadcast`."""
        if self.clock.now < self.end and agents and not self.is_down(self.server):
            self.ledger.broadcasts += 1
            self.uplink_wire.broadcast(message, [self.links.air(agent) for agent in agents])

    def count_before_start(self, message: Message, channel: Channel) -> None:
        """Count *message* on a peer *channel* as one that was delivered before the first slot, in a slot of its own."""
        channel.messages += 1
        channel.bytes += message.size
        if isinstance(channel, FaultyChannel):
            channel.undrawn += 1
        channel.link.activate_ahead(-1, -1)
        self.ledger.count(message.kind, message.size, 1)
        self.tally.delivered += 1
        self.fingerprint.record(0, channel.receiver, message.code, message.size)
        for observer in self.observers:
            observer.sent(channel, message, 0)
            observer.hop(channel, message, 0, 0, 0, lost=False, copy=False)

    @property
    def may_lose(self) -> bool:
        """Whether any message may be lost: by `faults`, because an agent has run empty, or because too many wait."""
        full = self.flags.drops or (self.computing is not None and self.computing.limited)
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

    @property
    def sensed(self) -> bool:
        """Whether agents see which of their links are up."""
        return self.outages is not None and self.outages.sensed

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
            channel = self.links.channel(sender, receiver)
            counted.append(channel)
            channel.messages += messages
            channel.bytes += total
            if channel.link.first == sender:
                channel.link.activations += activations
            sent += messages
            size += total
        if sent:
            self.ledger.counts[kind][0] += sent
            self.ledger.counts[kind][1] += size
        self.tally.delivered += sent
        for fate, numbers in fates.items():
            for index in np.flatnonzero(numbers[:, 0]).tolist():
                number, total = numbers[index].tolist()
                counted[index].note(fate, total, number)
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
            self.ledger.count(kind, size, sent)

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
        if not self.flags.in_order:
            assert tally.delivered == outcomes.delivered, f"{tally.delivered} messages are delivered, {outcomes}"
            assert tally.copies_delivered == copies.delivered, f"{tally.copies_delivered} are delivered, {copies}"
        self.ledger.outcomes, self.ledger.copies = outcomes, copies
        return outcomes

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

    def peer_totals(self) -> Totals:
        """Return the totals of the peer links so far."""
        return Totals.of(self.peer_class, self.links.peer_channels(), self.links)

    def uplink_totals(self) -> Totals:
        """Return the totals of the uplinks so far, without broadcasts."""
        return Totals.of(self.uplink_class, self.links.uplink_channels(), self.links.uplinks())

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


def _batteries(energy: EnergyPlan, network: Engine, outages: Outages) -> Batteries:
    """Return the battery of each agent, which determines its downtimes."""
    known = [outages.node(agent) for agent in range(network.agents)]
    batteries = Batteries(energy, network.clock, known, network.streams)
    outages.depend_on(batteries.downtimes)
    network.clock.when_up = batteries.when_up
    return batteries
