"""Broadcasts along the shortest-path tree of each source where nothing can go wrong: arrival times are sums along paths.

No message influences another there, so all that follows from what an agent tells is known when it is told: which node
hears it when, and which messages carry it. What agents hear, what is counted and the fingerprint are those of single
messages (`netbandit.protocols.relay`); when, `netbandit.simulation.choosing.bulk` says.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.network.clock import ARRIVALS, ScheduledEvent
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.protocol import Item
from netbandit.protocols.relay import RELAY, links_of_tree, message_bytes
from netbandit.scenario.activity import PoissonActivity
from netbandit.simulation.compiled_broadcasts import CompiledBroadcasts
from netbandit.simulation.driver import ReplicationContext

Numbers = NDArray[np.int64]

_MOST_KEPT = 1 << 20  # rows of plans: 100 MB
_LEAST_PENDING = 1 << 16


class Paths(NamedTuple):
    """The path from each source to each node that hears it, a row each, sorted by source; all of shape (rows,).

    Attributes:
        sources: The agent that tells.
        receivers: The node that hears it.
        senders: The node before it on the path.
        hops: The hops of the path.
        first: The latency (ns) of its first hop.
        last: The latency (ns) of its last hop.
        before: The latency (ns) of all hops but the last.
        slots_before: How many slots all hops but the first and the last take, each of which begins at a boundary.
        passes: How many hops at its end have no latency.
        channels: The number of the channel of the last hop, in order of sender and receiver.
    """

    sources: Numbers
    receivers: Numbers
    senders: Numbers
    hops: Numbers
    first: Numbers
    last: Numbers
    before: Numbers
    slots_before: Numbers
    passes: Numbers
    channels: Numbers


class Plan(NamedTuple):
    """All that follows if some agents tell something at an instant; times (ns) from the boundary at or before it on.

    Attributes:
        latest: When the last message is put on its channel.
        parts: When what is heard is due, and between which places of the following arrays it stands: in order.
        listeners: Who hears,
        sources: whose item,
        tellers: and the place of that agent among those that tell.
        heard: When that is,
        heard_at_once: whether at the instant at which it is told,
        heard_order: and how what is heard at the same time is ordered.
        arrivals: When each message arrives,
        receivers: where,
        at_once: whether at the instant at which the item is told,
        order: and how those that arrive at the same time are ordered.
        messages: How many messages go over each channel.
        uses: In which slot which link is used, each pair once, shape (2, pairs).
    """

    latest: int
    parts: list[tuple[int, int, int]]
    listeners: Numbers
    sources: Numbers
    tellers: Numbers
    heard: Numbers
    heard_at_once: NDArray[np.bool_]
    heard_order: Numbers
    arrivals: Numbers
    receivers: Numbers
    at_once: NDArray[np.bool_]
    order: Numbers
    messages: Numbers
    uses: Numbers


class TreeBroadcasts(BroadcastProtocol):
    """Stands for `Relay`, and for `LocalTree`; what agents hear is kept until it is asked for.

    Attributes:
        hops: How many hops an item goes at most; None: as many as there are.
        exact: Whether agents may hear something between slot boundaries; else they hear it at the next.
    """

    hops: int | None = state(default=None)
    exact: bool = state(default=False)

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._channels = [channel for out in network.channels for channel in sorted(out, key=lambda one: one.receiver)]
        numbers = {link: number for number, link in enumerate(network.links)}
        self._link_of = np.array([numbers[channel.link] for channel in self._channels], dtype=np.int64)
        self._paths = self._find_paths()
        self._begins = np.searchsorted(self._paths.sources, np.arange(network.agents + 1))
        self._plans: dict[tuple[int, bytes], Plan] = {}
        self._rows_kept = 0
        self._due: dict[int, list[tuple[Plan, int, int, int, int]]] = {}  # plan, its part, time, first item
        self._instants: list[int] = []
        self._appointed = -1
        self._pending: list[tuple[Plan, int, int, int]] = []  # plan, time, first item, bytes: not in the fingerprint
        self._waiting, self._look_at = 0, _LEAST_PENDING
        self._rest = np.empty((0, 6), dtype=np.int64)
        self._uses: Numbers = np.empty((2, 0), dtype=np.int64)
        self._activations = np.zeros(len(network.links), dtype=np.int64)
        self._messages = np.zeros(len(self._channels), dtype=np.int64)
        self._bytes = np.zeros(len(self._channels), dtype=np.int64)

    def _find_paths(self) -> Paths:
        topology, agents, slot = self.network.topology, self.network.agents, self.clock.slot
        codes = np.array([one.sender * agents + one.receiver for one in self._channels], dtype=np.int64)
        latencies = np.array([one.latency for one in self._channels], dtype=np.int64)
        found = []
        first, before, slots, passes = np.zeros((4, agents), dtype=np.int64)
        for source in range(agents):
            senders, receivers = links_of_tree(topology, source, self.hops)
            distances = topology.hops(source)
            channels = np.searchsorted(codes, senders * agents + receivers)
            last = latencies[channels]
            hops = distances[receivers]
            first[source] = before[source] = slots[source] = passes[source] = 0
            rows = np.empty((4, len(receivers)), dtype=np.int64)
            for level in range(1, int(hops.max(initial=0)) + 1):
                here = hops == level
                node, parent, latency = receivers[here], senders[here], last[here]
                first[node] = latency if level == 1 else first[parent]
                rows[:, here] = first[node], before[parent], slots[parent], np.where(latency, 0, passes[parent] + 1)
                before[node] = before[parent] + latency
                slots[node] = 0 if level == 1 else slots[parent] + np.maximum(1, -(-latency // slot))
                passes[node] = rows[3, here]
            found.append(np.stack([np.full_like(last, source), receivers, senders, hops, last, channels, *rows]))
        sources, receivers, senders, hops, last, channels, *rest = np.concatenate(found, axis=1)
        return Paths(sources, receivers, senders, hops, rest[0], last, rest[1], rest[2], rest[3], channels)

    @property
    def reach(self) -> list[int]:
        """See `BroadcastProtocol.reach`."""
        found: list[int] = (1 + np.diff(self._begins)).tolist()
        return found

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """See `NetworkProtocol.receive`."""
        raise RuntimeError("what goes in bulk is not on the network")

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """See `BroadcastProtocol.broadcast`."""
        self.broadcast_all(round, np.array([agent]), item.size)

    def broadcast_all(self, first: int, agents: Numbers, size: int) -> None:
        """Let *agents* tell all others an item of *size* bytes each, from this instant on.

        Args:
            first: The number of the first item; the others follow. What an agent tells later has a higher one.
            agents: Who tells.
            size: Of each item.
        """
        phase = self.clock.now % self.clock.slot
        base = self.clock.now - phase
        plan = self._plan_of(agents, phase)
        if base + plan.latest >= self.clock.end:
            plan = self._make(agents, phase, self.clock.end - base)
        if not len(plan.arrivals):
            return
        for time, begin, end in plan.parts:
            if base + time not in self._due:
                heappush(self._instants, base + time)
                self._due[base + time] = []
            self._due[base + time].append((plan, begin, end, base, first))
        size = message_bytes(size)
        self._pending.append((plan, base, first, size))
        self._waiting += len(plan.arrivals)
        self._messages += plan.messages
        self._bytes += plan.messages * size
        if self._waiting > self._look_at:
            self._record(self.clock.now)
            self._look_at = max(_LEAST_PENDING, 2 * len(self._rest), 2 * self._uses.shape[1])
            self._waiting = 0
        self._appoint()

    def oldest(self, otherwise: int) -> int:
        """Return the lowest number of an item that is not yet asked for; if there is none, *otherwise*."""
        return min((first for parts in self._due.values() for *_, first in parts), default=otherwise)

    def heard(self) -> Numbers:
        """Return what has been heard since this was asked last, in order, shape (n, 4).

        A row: who, whose, which item, and the first slot boundary at or after the instant.
        """
        found = []
        while self._instants and self._instants[0] <= self.clock.now:
            time = heappop(self._instants)
            found.append(self._heard_at(time, self._due.pop(time)))
        self._appoint()
        return np.concatenate(found) if found else np.empty((0, 4), dtype=np.int64)

    def finish(self) -> None:
        """Take in all that has arrived and that will arrive, and count it."""
        self._record(None)
        activations = self._activations[self._link_of]
        ends = ((channel.sender, channel.receiver) for channel in self._channels)
        counts = zip(self._messages.tolist(), self._bytes.tolist(), activations.tolist(), strict=True)
        self.network.count_in_bulk(RELAY, ((*of, *count) for of, count in zip(ends, counts, strict=True)))

    def _heard_at(self, time: int, parts: list[tuple[Plan, int, int, int, int]]) -> Numbers:
        blocks = []
        for plan, begin, end, _, first in parts:
            rows = np.empty((end - begin, 4), dtype=np.int64)
            rows[:, 0] = plan.listeners[begin:end]
            rows[:, 1] = plan.sources[begin:end]
            rows[:, 2] = first + plan.tellers[begin:end]
            rows[:, 3] = self.clock.boundary(time)
            blocks.append(rows)
        if len(parts) == 1:
            return blocks[0]
        keys = (
            np.concatenate([plan.heard_order[begin:end] for plan, begin, end, _, _ in parts]),
            np.concatenate([plan.heard_at_once[begin:end] * (first + 1) for plan, begin, end, _, first in parts]),
            np.concatenate([base + plan.heard[begin:end] for plan, begin, end, base, _ in parts]),
        )
        ordered: Numbers = np.concatenate(blocks)[np.lexsort(keys)]
        return ordered

    def _appoint(self) -> None:
        """Have an event happen when something is heard next, which the driver does not play past."""
        if self._instants and self._instants[0] > self.clock.now and self._instants[0] != self._appointed:
            self._appointed = self._instants[0]
            environment = self.clock.environment
            environment.schedule(ScheduledEvent([]), ARRIVALS, self._appointed - environment.now)

    def _record(self, now: int | None) -> None:
        """Take in all arrivals before *now*, and count uses of links in slots before its own; None: all."""
        rows = [self._rest]
        uses = [self._uses]
        for plan, base, first, size in self._pending:
            table = np.empty((len(plan.arrivals), 6), dtype=np.int64)
            table[:, 0] = base + plan.arrivals
            table[:, 1] = plan.receivers
            table[:, 2] = RELAY.code
            table[:, 3] = size
            table[:, 4] = plan.at_once * (first + 1)
            table[:, 5] = plan.order
            rows.append(table)
            uses.append(plan.uses + [[base // self.clock.slot], [0]])
        self._pending.clear()
        events, self._uses = np.concatenate(rows), np.concatenate(uses, axis=1)
        final = events[:, 0] < now if now is not None else np.ones(len(events), dtype=np.bool_)
        self._rest, events = events[~final], events[final]
        self.network.fingerprint.record_all(events[np.lexsort((events[:, 5], events[:, 4], events[:, 0]))][:, :4])
        past = self._uses[0] < now // self.clock.slot if now is not None else np.ones(self._uses.shape[1], np.bool_)
        over, self._uses = self._uses[:, past], self._uses[:, ~past]
        links = len(self._activations)
        self._activations += np.bincount(np.unique(over[0] * links + over[1]) % links, minlength=links)

    def _plan_of(self, agents: Numbers, phase: int) -> Plan:
        """Return what follows if *agents* tell something at so many nanoseconds after a boundary, long before the end."""
        key = phase, agents.tobytes()
        plan = self._plans.get(key)
        if plan is None:
            plan = self._make(agents, phase, None)
            self._rows_kept += len(plan.arrivals)
            if self._rows_kept > _MOST_KEPT:
                self._plans.clear()
                self._rows_kept = len(plan.arrivals)
            self._plans[key] = plan
        return plan

    def _make(self, agents: Numbers, phase: int, end: int | None) -> Plan:
        """As `_plan_of`; at *end* (ns from the boundary on) and after it nothing is sent any more, nor heard."""
        slot, count = self.clock.slot, self.network.agents
        if len(agents) == count:
            rows = self._paths
        else:
            chosen = np.concatenate([np.arange(self._begins[one], self._begins[one + 1]) for one in agents.tolist()])
            rows = Paths(*(column[chosen] for column in self._paths))
        one_hop = rows.hops == 1
        if self.slotted:
            first = np.maximum(1, -(-(phase + rows.first) // slot))
            begun = np.where(one_hop, phase, (first + rows.slots_before) * slot)
            arrivals = begun + rows.last
            heard = np.maximum(begun // slot + 1, -(-arrivals // slot)) * slot
            passes = np.where(one_hop, 0, rows.last == 0).astype(np.int64)
            heard_passes = np.zeros_like(passes)
            heard_at_once = np.zeros(len(heard), dtype=np.bool_)
        else:
            begun = phase + rows.before
            heard = arrivals = begun + rows.last
            passes = heard_passes = rows.passes
            heard_at_once = arrivals == phase
        at_once = arrivals == phase
        tellers = np.searchsorted(agents, rows.sources)
        if end is not None:
            sent = np.flatnonzero(begun < end)
            in_time = np.flatnonzero((begun < end) & (heard <= end - slot))
        else:
            sent = in_time = np.arange(len(begun))
        heard_order = (heard_passes * count + rows.receivers) * count + rows.sources
        in_time = in_time[np.lexsort((heard_order[in_time], heard_at_once[in_time], heard[in_time]))]
        due = heard[in_time] if self.exact else -(-heard[in_time] // slot) * slot
        bounds = [*np.flatnonzero(np.diff(due, prepend=-1)).tolist(), len(due)]
        links = len(self._activations)
        uses = np.unique(begun[sent] // slot * links + self._link_of[rows.channels[sent]])
        return Plan(
            latest=int(begun.max(initial=0)),
            parts=[(int(due[one]), one, other) for one, other in zip(bounds, bounds[1:], strict=False)],
            listeners=rows.receivers[in_time],
            sources=rows.sources[in_time],
            tellers=tellers[in_time],
            heard=heard[in_time],
            heard_at_once=heard_at_once[in_time],
            heard_order=heard_order[in_time],
            arrivals=arrivals[sent],
            receivers=rows.receivers[sent],
            at_once=at_once[sent],
            order=(passes * count + rows.receivers)[sent],
            messages=np.bincount(rows.channels[sent], minlength=len(self._channels)),
            uses=np.stack([uses // links, uses % links]),
        )


def _unasked(agent: int, heard: list[Heard]) -> None:
    raise RuntimeError("what is heard of broadcasts in bulk is asked for")


class BulkTrees(CompiledBroadcasts):
    """As `Broadcasts`, along trees.

    Args:
        stage: All that the driver works with.
        learner: The learner, not yet started.
        hops: How many hops an item goes at most; None: as many as there are.
    """

    def __init__(self, stage: ReplicationContext, learner: Learner, hops: int | None) -> None:
        self._trees = TreeBroadcasts(timing=stage.point.protocol.timing)
        self._trees.hops = hops
        self._trees.exact = isinstance(stage.point.scenario.run.activity, PoissonActivity)
        self._trees.start(stage.network, _unasked)
        super().__init__(stage, learner, self._trees)

    def finish(self) -> None:
        """See `Communication.finish`."""
        super().finish()
        self._trees.finish()
