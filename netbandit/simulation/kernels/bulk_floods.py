"""Floods of all agents in every slot: bit sets record which agent holds whose observation of which slot."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from netbandit.compilation.compile_notice import announce
from netbandit.network import distances
from netbandit.network.message import LABEL_BYTES
from netbandit.protocols.local import Local
from netbandit.protocols.local_flood import ITEMS, RandomStops
from netbandit.simulation.carriers import Numbers
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.kernels.bulk_broadcasts import RowsInBulk
from netbandit.simulation.kernels.bulk_links import BulkLinks, hop_slots, slots_of_hops
from netbandit.simulation.kernels.floods import Flood, hear_all, name, pass_on
from netbandit.simulation.result import Metric


class FloodsInBulk(RowsInBulk):
    """Agents receive the observations of all agents within ttl hops, unless messages are lost or observations absorbed.

    Args:
        context: The replication context.
    """

    def __init__(self, context: ReplicationContext) -> None:
        protocol = context.protocol
        assert isinstance(protocol, Local)
        announce(hear_all, "floods in bulk")
        self._header = context.network.header
        self._links = links = BulkLinks(context.network, context.clock, ITEMS, context.fingerprint)
        super().__init__(protocol.ttl * links.slowest)
        graph = context.topology
        adjacency = distances.adjacency(graph.agents, graph.edges)
        near = [len(distances.within(adjacency, agent, protocol.ttl)) for agent in range(graph.agents)]
        self.members = np.array(near, dtype=np.int64)
        self._absorbs = protocol.absorb
        self._stops = RandomStops(context.streams, graph.agents, protocol.stop) if protocol.stop else None
        self._items = 0
        sums = slots_of_hops(hop_slots(context.network), protocol.ttl)
        self._flood = _flood(links, sums, graph.agents, protocol.ttl, self._depth)
        self._copies = np.zeros(len(links.senders), dtype=np.int64)

    def _arrived(self, slot: int) -> tuple[Numbers, Numbers, Numbers]:
        self._links.arrive(slot)
        found = hear_all(self._flood, slot)
        receivers, sources, sent_at = np.empty((3, found), dtype=np.int64)
        name(self._flood, slot, receivers, sources, sent_at)
        return receivers, sources, sent_at

    def _put(self, slot: int, tells: bool) -> None:
        if self._payloads is None:
            return
        flood, copies = self._flood, self._copies
        if tells and (self._absorbs or self._stops is not None):
            self._keep_absorbed(slot)
        pass_on(flood, slot, tells, copies)
        copies = self._links.present(slot, copies)
        self._items += int(copies.sum())
        sizes = copies * (LABEL_BYTES + self._item_bytes) + self._header * (copies > 0)
        self._links.put(slot, sizes)

    def _keep_absorbed(self, slot: int) -> None:
        """Store whose observations of *slot* each agent will not forward."""
        absorbed = self._flood.absorbed[slot % len(self._flood.absorbed)]
        absorbed[:] = np.uint64(0)
        if self._absorbs:
            own = self.learner.world.own_arms  # type: ignore[attr-defined]  # see `dispatch.messages`
            if own is None:
                absorbed[:] = ~np.uint64(0)
                return
            assert self._payloads is not None
            arms = self._payloads[slot % self._depth, :, 0].astype(np.int64)
            absorbed[:] = _words(own[:, arms], absorbed.shape[1])
        if self._stops is not None:
            absorbed |= _words(self._stops.of(self._times), absorbed.shape[1])

    def figures(self) -> Mapping[str, Metric]:
        """Return the same metrics as the protocol."""
        return {"items": self._items}

    def finish(self) -> None:
        """Record arrivals after the horizon, and count all messages."""
        self._links.finish()


def _words(bits: NDArray[np.bool_], words: int) -> NDArray[np.uint64]:
    """Pack each row of *bits* into the given number of *words*, bit 0 of word 0 first."""
    full = np.zeros((len(bits), 64 * words), dtype=np.bool_)
    full[:, : bits.shape[1]] = bits
    packed = np.packbits(full, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64)


def _flood(links: BulkLinks, sums: list[Numbers], agents: int, ttl: int, rings: int) -> Flood:
    """Return the initial state of a flood.

    Args:
        links: The links.
        sums: The possible delays (slots) of 0, 1, ... ttl hops.
        agents: M.
        ttl: The maximum hops of an observation.
        rings: The number of slots whose observations are kept.
    """
    words, channels = -(-agents // 64), len(links.senders)
    contents = [(int(age), ttl - 1 - hops) for hops, ages in enumerate(sums[:ttl]) for age in ages]
    ages = np.unique(np.concatenate(sums[1:]))
    content_of = np.full((ages[-1] + 1, ttl), -1)
    for index, (age, rest) in enumerate(contents):
        content_of[age, rest] = index
    age_of = np.full(ages[-1] + 1, -1)
    age_of[ages] = np.arange(len(ages))
    empty = np.zeros(0, dtype=np.int64)
    return Flood(
        first_row=np.searchsorted(links.receivers, np.arange(agents + 1)),
        senders=links.senders,
        reverse=links.reverse,
        delays=empty if links.delays is None else links.delays,
        due=links.due,
        content_age=np.array([age for age, _ in contents]),
        content_rest=np.array([rest for _, rest in contents]),
        content_of=content_of,
        ages=ages,
        age_of=age_of,
        sent=np.zeros((links.slowest, channels, len(contents), words), dtype=np.uint64),
        known=np.zeros((rings, agents, ttl, words), dtype=np.uint64),
        absorbed=np.zeros((rings, agents, words), dtype=np.uint64),
        forward=np.zeros((agents, len(contents), words), dtype=np.uint64),
        copies=np.zeros((len(ages), ttl, words), dtype=np.uint64),
        came=np.zeros((channels, len(ages), words), dtype=np.uint64),
        fresh=np.zeros((agents, len(ages), words), dtype=np.uint64),
    )
