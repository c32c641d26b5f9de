"""Broadcasts along shortest-path trees without faults: arrival times are sums of latencies along paths.

Messages do not interfere, so the whole dissemination of an item is known when the item is sent: when each node receives
it, and which messages carry it. Received items, metrics and the fingerprint equal those of single messages
(`netbandit.protocols.relay`). `netbandit.simulation.dispatch.messages` decides when this applies; `Broadcasts` calls
it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.network.clock import ARRIVALS, ScheduledEvent
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.parts.component import state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.local import Local
from netbandit.protocols.protocol import Item
from netbandit.protocols.relay import RELAY, links_of_tree, message_bytes
from netbandit.scenario.activity import PoissonActivity
from netbandit.simulation.carriers import BroadcastCarrier, Numbers, Received
from netbandit.simulation.driver import ReplicationContext

# Columns of received items: receiver, source, item number, and the first slot boundary at or after the arrival.
AGENT, SOURCE, ITEM, BOUNDARY = range(4)

_MOST_KEPT = 1 << 20  # rows cached for reuse: 100 MB of plans, 40 MB per calendar
_NEVER = 1 << 62


class Paths(NamedTuple):
    """The path from each source to each of its receivers, one row each, sorted by source; all of shape (rows,).

    Attributes:
        sources: The agent that sends the item.
        receivers: The node that receives it.
        senders: The node before the receiver on the path.
        hops: The number of hops.
        first: The latency (ns) of its first hop.
        last: The latency (ns) of its last hop.
        before: The latency (ns) of all hops but the last.
        slots_before: The slots taken by all hops but the first and the last; each of them begins at a boundary.
        passes: The number of final hops without latency.
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


@dataclass(frozen=True, eq=False, slots=True)
class WindowEvents:
    """The events of one window that follow from a broadcast of some agents, in order.

    Attributes:
        window: The beginning (ns) of the window, relative to the boundary at or before the broadcast.
        times: The time (ns) of each event, relative to the beginning of the window.
        at_once: Whether each event happens at the instant of the broadcast.
        order: The rank of each event among those of the same time.
        columns: The events, shape (columns, rows).
    """

    window: int
    times: Numbers
    at_once: NDArray[np.bool_]
    order: Numbers
    columns: Numbers


class Window(NamedTuple):
    """All events of a window, in order.

    Attributes:
        begins: The beginning (ns) of the window.
        batches: For each part of it, the number of the first item sent, and its bytes.
        columns: The events, shape (columns, rows).
        times: Their times (ns), relative to the beginning of the window.
        part: The index of the part that each belongs to.
    """

    begins: int
    batches: list[tuple[int, int]]
    columns: Numbers
    times: Numbers
    part: Numbers


class Calendar:
    """Future events by window; while agents broadcast in the same rhythm, the order within windows is reused."""

    def __init__(self) -> None:
        self._due: dict[int, tuple[list[WindowEvents], list[tuple[int, int]]]] = {}
        self._times: list[int] = []
        self._orders: dict[tuple[WindowEvents, ...], tuple[Numbers, Numbers, Numbers]] = {}
        self._kept = 0  # rows of these

    @property
    def next(self) -> int | None:
        """The beginning of the next window with an event; None if there is none."""
        return self._times[0] if self._times else None

    @property
    def first_item(self) -> int | None:
        """The lowest number of an item with future events; None if there is none."""
        return min((first for _, batches in self._due.values() for first, _ in batches), default=None)

    def add(self, parts: list[WindowEvents], base: int, first: int, size: int) -> None:
        """Enter the events of items of *size* bytes, numbered from *first* on, relative to the boundary *base* (ns)."""
        due, item = self._due, (first, size)
        for part in parts:
            begins = base + part.window
            found = due.get(begins)
            if found is None:
                found = due[begins] = [], []
                heappush(self._times, begins)
            found[0].append(part)
            found[1].append(item)

    def before(self, time: int) -> Iterator[Window]:
        """Yield and remove all windows that begin before *time*."""
        while self._times and self._times[0] < time:
            begins = heappop(self._times)
            parts, batches = self._due.pop(begins)
            pattern = tuple(parts)
            found = self._orders.get(pattern)
            if found is None:
                found = _in_order(parts)
                self._kept += len(found[1])
                if self._kept > _MOST_KEPT:
                    self._orders.clear()
                    self._kept = len(found[1])
                self._orders[pattern] = found
            yield Window(begins, batches, *found)


def _in_order(parts: list[WindowEvents]) -> tuple[Numbers, Numbers, Numbers]:
    """Return the columns, times and parts of a `Window`; among simultaneous events, earlier broadcasts come first."""
    number = np.repeat(np.arange(len(parts)), [len(part.times) for part in parts])
    columns = np.concatenate([part.columns for part in parts], axis=1)
    times = np.concatenate([part.times for part in parts])
    at_once = np.concatenate([part.at_once for part in parts])
    order = np.concatenate([part.order for part in parts])
    places = np.lexsort((order, at_once * (number + 1), times))
    return columns[:, places], times[places], number[places]


class Plan(NamedTuple):
    """All consequences of a simultaneous broadcast by some agents.

    Attributes:
        latest: When the last message arrives (ns from the boundary at or before the broadcast).
        heard: Receivers and sources of items, and the index of the source among the broadcasting agents.
        arrivals: The arrivals of messages.
        uses: The uses of links.
        messages: The number of messages over each channel.
        under_way: How many of these arrive after the end.
    """

    latest: int
    heard: list[WindowEvents]
    arrivals: list[WindowEvents]
    uses: list[WindowEvents]
    messages: Numbers
    under_way: Numbers


class TreeBroadcasts(BroadcastProtocol):
    """Replaces `Relay` and `LocalTree`; received items are kept until they are requested.

    Attributes:
        hops: The maximum hops of an item; None if unlimited.
        exact: Whether agents may receive between slot boundaries; else items take effect at the next boundary.
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
        self._to_hear, self._to_arrive, self._to_use = Calendar(), Calendar(), Calendar()
        self._appointed = -1
        self._activations = np.zeros(len(network.links), dtype=np.int64)
        self._messages = np.zeros(len(self._channels), dtype=np.int64)
        self._bytes = np.zeros(len(self._channels), dtype=np.int64)
        self._under_way = np.zeros((len(self._channels), 2), dtype=np.int64)

    def _find_paths(self) -> Paths:
        topology, agents, slot = self.network.topology, self.network.agents, self.clock.slot
        codes = np.array([one.sender * agents + one.receiver for one in self._channels], dtype=np.int64)
        latencies = np.array([one.latency for one in self._channels], dtype=np.int64)
        found = []
        first, before, slots, passes = np.zeros((4, agents), dtype=np.int64)  # for the path to each node
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
        raise RuntimeError("broadcasts in bulk put no message on the network")

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """See `BroadcastProtocol.broadcast`."""
        self.broadcast_all(round, np.array([agent]), item.size)

    def broadcast_all(self, first: int, agents: Numbers, size: int) -> None:
        """Let *agents* broadcast an item of *size* bytes each, from this instant on.

        Args:
            first: The number of the first item; the others follow. Later items of an agent have higher numbers.
            agents: The broadcasting agents.
            size: The bytes of each item.
        """
        phase = self.clock.now % self.clock.slot
        base = self.clock.now - phase
        plan = self._plan_of(agents, phase)
        if base + plan.latest >= self.clock.end:
            plan = self._make(agents, phase, self.clock.end - base)
        size = message_bytes(self.network.header, size)
        self._to_hear.add(plan.heard, base, first, size)
        self._to_arrive.add(plan.arrivals, base, first, size)
        self._to_use.add(plan.uses, base, first, size)
        self._messages += plan.messages
        self._bytes += plan.messages * size
        self._under_way += np.column_stack((plan.under_way, plan.under_way * size))
        self._record(base)
        self._appoint()

    def oldest(self, otherwise: int) -> int:
        """Return the lowest number of an item not yet returned by `heard`; *otherwise* if there is none."""
        first = self._to_hear.first_item
        return otherwise if first is None else first

    def heard(self) -> Numbers:
        """Return the items received since the last call, in order, shape (n, 4).

        Columns: receiver, source, item number, and the first slot boundary at or after the arrival.
        """
        found = []
        for window in self._to_hear.before(self.clock.now + 1):
            rows = np.empty((4, len(window.part)), dtype=np.int64)
            rows[:2] = window.columns[:2]
            np.add(np.array([first for first, _ in window.batches])[window.part], window.columns[2], out=rows[2])
            rows[3] = self.clock.boundary(window.begins)
            found.append(rows)
        self._appoint()
        if len(found) == 1:
            return found[0].T
        return np.concatenate(found, axis=1).T if found else np.empty((0, 4), dtype=np.int64)

    def finish(self) -> None:
        """Record and count all past and future arrivals."""
        self._record(_NEVER)
        activations = self._activations[self._link_of].tolist()
        counts = zip(self._channels, self._messages.tolist(), self._bytes.tolist(), activations, strict=True)
        channels = ((one.sender, one.receiver, *count) for one, *count in counts)
        self.network.count_in_bulk(RELAY, channels, {"in_flight": self._under_way})

    def _appoint(self) -> None:
        """Schedule an event at the next reception, so that the driver does not play past it."""
        time = self._to_hear.next
        if time is not None and time > self.clock.now and time != self._appointed:
            self._appointed = time
            environment = self.clock.environment
            environment.schedule(ScheduledEvent([]), ARRIVALS, time - environment.now)

    def _record(self, time: int) -> None:
        """Record the events of slots that begin before *time*; no event is added to these any more."""
        for window in self._to_arrive.before(time):
            events = np.empty((len(window.part), 4), dtype=np.int64)
            events[:, 0] = window.times + window.begins
            events[:, 1] = window.columns[0]
            events[:, 2] = RELAY.code
            events[:, 3] = np.array([size for _, size in window.batches])[window.part]
            self.network.fingerprint.record_all(events)
        for window in self._to_use.before(time):
            used = np.zeros(len(self._activations), dtype=np.bool_)
            used[window.columns[0]] = True
            self._activations += used

    def _plan_of(self, agents: Numbers, phase: int) -> Plan:
        """Return the plan of a broadcast by *agents*, *phase* nanoseconds after a boundary and long before the end."""
        key = phase, agents.tobytes()
        plan = self._plans.get(key)
        if plan is None:
            plan = self._make(agents, phase, None)
            self._rows_kept += int(plan.messages.sum())
            if self._rows_kept > _MOST_KEPT:
                self._plans.clear()
                self._rows_kept = int(plan.messages.sum())
            self._plans[key] = plan
        return plan

    def _make(self, agents: Numbers, phase: int, end: int | None) -> Plan:
        """As `_plan_of`, but nothing is sent or received from *end* on (ns from the boundary)."""
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
        sent = np.ones(len(begun), dtype=np.bool_) if end is None else begun < end
        in_time = sent if end is None else sent & (heard <= end - slot)
        heard_order = (heard_passes * count + rows.receivers) * count + rows.sources
        who = np.stack([rows.receivers, rows.sources, np.searchsorted(agents, rows.sources)])
        due = heard if self.exact else -(-heard // slot) * slot
        links = len(self._activations)
        uses = np.unique(begun[sent] // slot * links + self._link_of[rows.channels[sent]])
        uses_begin, used = uses // links * slot, uses % links
        late = sent & (arrivals >= end) if end is not None else np.zeros_like(sent)
        return Plan(
            latest=int(arrivals.max(initial=0)),
            heard=_parts(in_time, due, heard, heard_at_once, heard_order, who),
            arrivals=_parts(
                sent, arrivals // slot * slot, arrivals, at_once, passes * count + rows.receivers, rows.receivers[None]
            ),
            uses=_parts(
                np.ones(len(used), dtype=np.bool_),
                uses_begin,
                uses_begin,
                np.zeros(len(used), np.bool_),
                used,
                used[None],
            ),
            messages=np.bincount(rows.channels[sent], minlength=len(self._channels)),
            under_way=np.bincount(rows.channels[late], minlength=len(self._channels)),
        )


def _parts(
    some: NDArray[np.bool_],
    windows: Numbers,
    times: Numbers,
    at_once: NDArray[np.bool_],
    order: Numbers,
    columns: Numbers,
) -> list[WindowEvents]:
    """Return the parts of *some* rows, given the beginning of each row's window."""
    places = np.flatnonzero(some)
    places = places[np.lexsort((order[places], at_once[places], times[places]))]
    windows, at_once, order, columns = windows[places], at_once[places], order[places], columns[:, places]
    times = times[places] - windows
    bounds = [*np.flatnonzero(np.diff(windows, prepend=-1)).tolist(), len(windows)]
    return [
        WindowEvents(int(windows[one]), times[one:other], at_once[one:other], order[one:other], columns[:, one:other])
        for one, other in pairwise(bounds)
    ]


class TreesInBulk(BroadcastCarrier):
    """Keeps the items in arrays, without an object for each received item.

    Args:
        context: The replication context.
    """

    def __init__(self, context: ReplicationContext) -> None:
        protocol = context.protocol
        self._horizon = context.clock.horizon
        self._trees = TreeBroadcasts(timing=protocol.timing)
        self._trees.hops = protocol.ttl if isinstance(protocol, Local) else None
        self._trees.exact = isinstance(context.run.activity, PoissonActivity)
        self._trees.start(context.network, _unasked)
        self.members = np.array(self._trees.reach, dtype=np.int64)
        # For each item from the oldest in flight on: its payload, and the slot in which it was sent.
        self._payloads: NDArray[np.float64] = np.empty((0, 0))
        self._sent_at: Numbers = np.empty(0, dtype=np.int64)
        self._oldest = self._items = 0

    def send(self, slot: int, agents: Numbers, payload: Sequence[NDArray[np.float64]] | NDArray[np.float64]) -> None:
        """See `BroadcastCarrier.send`."""
        if not len(agents):
            return
        rows = np.asarray(payload)
        first = self._items
        self._items += len(agents)
        if self._items - self._oldest > len(self._payloads):
            self._make_room(first, rows.shape[1])
        places = np.arange(first, self._items) % len(self._payloads)
        self._payloads[places] = rows
        self._sent_at[places] = slot
        self._trees.broadcast_all(first, agents, self.learner.item_bytes(rows.shape[1]))

    def _make_room(self, first: int, numbers: int) -> None:
        """Make room for *numbers* items from number *first* on; drop items that have reached all their receivers."""
        before = len(self._payloads)
        self._oldest = self._trees.oldest(first)
        room = 2 * (self._items - self._oldest)
        if room > before:
            kept = np.arange(self._oldest, first)
            payloads, sent_at = self._payloads, self._sent_at
            self._payloads, self._sent_at = np.zeros((room, numbers)), np.zeros(room, dtype=np.int64)
            if before:
                self._payloads[kept % room] = payloads[kept % before]
                self._sent_at[kept % room] = sent_at[kept % before]

    def received(self, slot: int) -> Received | None:
        """See `BroadcastCarrier.received`; items that arrive at the horizon or later are not counted."""
        heard = self._trees.heard()
        heard = heard[heard[:, BOUNDARY] < self._horizon]
        if not len(heard):
            return None
        places = heard[:, ITEM] % len(self._payloads)
        sent_at = self._sent_at[places]
        self.waited += int((heard[:, BOUNDARY] - sent_at).sum())
        self.heard += len(heard)
        return Received(heard[:, AGENT], heard[:, SOURCE], self._payloads[places], sent_at)

    def finish(self) -> None:
        """Count the items received after the last decision, and all messages."""
        self.received(self._horizon)
        self._trees.finish()


def _unasked(agent: int, heard: list[Heard]) -> None:
    raise RuntimeError("items of broadcasts in bulk are requested by `heard`")
