"""Broadcasts of all agents in every slot, processed in bulk instead of message by message.

In regular runs, handling single messages would dominate the run time. Received items, metrics and the fingerprint equal
those of single messages. `netbandit.simulation.dispatch.messages` decides when this applies. `Broadcasts` calls a
carrier, which calls no protocol.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.network.message import LABEL_BYTES
from netbandit.protocols.local import Local
from netbandit.protocols.local_flood import ITEMS
from netbandit.protocols.relay import RELAY
from netbandit.simulation.carriers import BroadcastCarrier, Numbers, Received
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.kernels.bulk_links import BulkLinks
from netbandit.simulation.result import Metric


class RowsInBulk(BroadcastCarrier):
    """Keeps the rows of all agents of recent slots in arrays.

    Args:
        slowest: The maximum delay (slots) of an item that arrives at all.
    """

    def __init__(self, slowest: int) -> None:
        self._depth = slowest + 1
        self._payloads: NDArray[np.float64] | None = None
        self._spoken: NDArray[np.bool_] = np.zeros(self._depth, dtype=np.bool_)
        self._times = 0  # slots in which agents have sent
        self._item_bytes = 0

    @abstractmethod
    def _arrived(self, slot: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return receivers, sources and slots of the rows that take effect as *slot* begins, in order of arrival."""

    def _put(self, slot: int, tells: bool) -> None:
        """Let agents forward the items received, and send a row of their own if *tells*."""

    def send(self, slot: int, agents: Numbers, payload: Sequence[NDArray[np.float64]] | NDArray[np.float64]) -> None:
        """Store the rows of all agents."""
        self._times += 1
        rows = np.asarray(payload)
        if self._payloads is None:
            self._payloads = np.zeros((self._depth, *rows.shape))
            self._item_bytes = self.learner.item_bytes(rows.shape[1])
        self._payloads[slot % self._depth] = rows
        self._spoken[slot % self._depth] = True
        self._put(slot, True)

    def forward(self, slot: int) -> None:
        """See `BroadcastCarrier.forward`."""
        self._spoken[slot % self._depth] = False
        self._put(slot, False)

    def received(self, slot: int) -> Received | None:
        """Return the rows that take effect at the beginning of *slot*."""
        if self._payloads is None:
            return None
        receivers, sources, sent_at = self._arrived(slot)
        if not len(receivers):
            return None
        self.waited += len(sent_at) * slot - int(sent_at.sum())
        self.heard += len(sent_at)
        return Received(receivers, sources, self._payloads[sent_at % self._depth, sources], sent_at)


class PooledInBulk(RowsInBulk):
    """All agents receive from all others at the next boundary, without messages."""

    def __init__(self, context: ReplicationContext) -> None:
        super().__init__(1)
        agents = context.topology.agents
        self._receivers, self._sources = np.nonzero(~np.eye(agents, dtype=np.bool_))
        self.members = np.full(agents, agents)

    def _arrived(self, slot: int) -> tuple[Numbers, Numbers, Numbers]:
        if not self._spoken[(slot - 1) % self._depth]:
            return (np.empty(0, dtype=np.int64),) * 3
        return self._receivers, self._sources, np.full(len(self._receivers), slot - 1)


class NeighboursInBulk(RowsInBulk):
    """Agents receive only from their neighbours.

    Args:
        context: The replication context.
    """

    def __init__(self, context: ReplicationContext) -> None:
        protocol = context.protocol
        assert isinstance(protocol, Local)
        self._floods = protocol.route == "flood"
        kind = ITEMS if self._floods else RELAY
        self._header = context.network.header
        self._links = links = BulkLinks(context.network, context.clock, kind, context.fingerprint)
        super().__init__(links.slowest)
        self.members = np.bincount(links.receivers, minlength=context.topology.agents) + 1
        self._rows = np.arange(len(links.receivers))
        self._sizes: Mapping[bool, Numbers] = {}
        self._items = 0

    def _put(self, slot: int, tells: bool) -> None:
        if tells and True not in self._sizes:
            size = self._header + LABEL_BYTES + self._item_bytes
            self._sizes = {True: np.full(len(self._rows), size), False: np.zeros(len(self._rows), dtype=np.int64)}
        if self._sizes:
            sizes = self._links.present(slot, self._sizes[tells])
            self._links.put(slot, sizes)
            self._items += int(np.count_nonzero(sizes))

    def _arrived(self, slot: int) -> tuple[Numbers, Numbers, Numbers]:
        links, rows = self._links, self._rows
        links.arrive(slot)
        if links.delays is None:
            from netbandit.simulation.kernels.floods import arrivals

            rows, sent_at = arrivals(links.due, slot)
        else:
            sent_at = slot - links.delays
            some = links.due[rows, sent_at % links.slowest] == slot
            if some.all():
                return links.receivers, links.senders, sent_at
            rows, sent_at = rows[some], sent_at[some]
        return links.receivers[rows], links.senders[rows], sent_at

    def figures(self) -> Mapping[str, Metric]:
        """Return the same metrics as the protocol."""
        return {"items": self._items} if self._floods else {}

    def finish(self) -> None:
        """Record arrivals after the horizon, and count all messages."""
        self._links.finish()
