"""Broadcasts of all agents in every slot, processed in bulk instead of message by message.

In regular runs, handling single messages would dominate the run time. Received items, metrics and the fingerprint equal
those of single messages. `netbandit.simulation.dispatch.bulk` decides when this applies.
"""

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES
from netbandit.protocols.local import Local
from netbandit.protocols.local_flood import ITEMS
from netbandit.protocols.relay import RELAY
from netbandit.simulation.ages import age_figures, ages_of
from netbandit.simulation.bulk_links import BulkLinks
from netbandit.simulation.byzantine_vectors import RowLies
from netbandit.simulation.communication import CommunicationStrategy, Learners
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric

Numbers = NDArray[np.int64]


class BulkBroadcasts(CommunicationStrategy):
    """As `Broadcasts`, for learners that share in every slot.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
        slowest: The maximum delay (slots) of an item that arrives at all.
    """

    lies: RowLies

    def __init__(self, context: ReplicationContext, learner: Learner, slowest: int) -> None:
        super().__init__(context, learner)
        self._depth = slowest + 1
        self._told: NDArray[np.float64] | None = None
        self._spoken: NDArray[np.bool_] = np.zeros(self._depth, dtype=np.bool_)
        self._times = 0  # slots in which agents have sent
        self._item_bytes = 0
        self._waited = 0
        self._heard = 0
        self._ages = ages_of(context)

    @abstractmethod
    def _arrived(self, slot: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return receivers, sources and slots of the rows that take effect as *slot* begins, in order of arrival."""

    def _send(self, slot: int, tells: bool) -> None:
        """Let agents forward the items received, and send a row of their own if *tells*."""

    def open(self, learners: Learners) -> None:
        """Attach the learner."""
        super().open(learners)
        (self._learner,) = learners

    def last(self, first: int, last: int) -> int:
        """Stop after each slot, unless no agent can receive."""
        return last if self.isolated else first + 1

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether any agent can receive."""
        return not self.isolated

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Store the rows that all agents send."""
        told = self.learners[0].share(slot, self.everybody)
        self._spoken[slot % self._depth] = told is not None
        if told is not None:
            self._times += 1
            if self._told is None:
                self._told = np.zeros((self._depth, *told.shape))
                self._item_bytes = self._learner.item_bytes(told.shape[1])
            self._told[slot % self._depth] = self.lies.told(slot, self.everybody, told)
        self._send(slot, told is not None)

    def apply_received(self, slot: int) -> None:
        """Pass the rows that take effect at the beginning of *slot* to the learner."""
        if self._told is None:
            return
        receivers, sources, said = self._arrived(slot)
        if not len(receivers):
            return
        self._waited += len(said) * slot - int(said.sum())
        self._heard += len(said)
        if self._ages is not None:
            self._ages.hear(slot, receivers, sources, said)
        told = self._told[said % self._depth, sources]
        sound = self.lies.sound(sources, told, said)
        if sound is not None:
            receivers, sources, told, said = receivers[sound], sources[sound], told[sound], said[sound]
        self._learner.hear(slot, receivers, sources, told, said)

    @property
    def releases(self) -> int:
        """How often agents sent to others."""
        return self._times

    def metrics(self) -> dict[str, Metric]:
        """Return the same metrics as `Broadcasts`."""
        delay = self._waited / self._heard if self._heard else None
        return {"rounds": self.releases, "round_slots": 0.0, "delay_slots": delay, **age_figures(self._ages)}


class BulkPooled(BulkBroadcasts):
    """All agents receive from all others at the next boundary, without messages."""

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner, 1)
        agents = len(self.everybody)
        self._receivers, self._sources = np.nonzero(~np.eye(agents, dtype=np.bool_))
        self.members = np.full(agents, agents)
        self.isolated = agents == 1

    def _arrived(self, slot: int) -> tuple[Numbers, Numbers, Numbers]:
        if not self._spoken[(slot - 1) % self._depth]:
            return (np.empty(0, dtype=np.int64),) * 3
        return self._receivers, self._sources, np.full(len(self._receivers), slot - 1)


class OverLinks(BulkBroadcasts):
    """Bulk broadcasts over links.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
        links: The links.
        slowest: The maximum delay (slots) of an item that arrives at all.
    """

    def __init__(self, context: ReplicationContext, learner: Learner, links: BulkLinks, slowest: int) -> None:
        super().__init__(context, learner, slowest)
        self._links = links

    @property
    def releases(self) -> int:
        """How often agents sent to others; 0 if no message was put on a link."""
        return self._times if self._links.used else 0

    def finish(self) -> None:
        """Record arrivals after the horizon, and count all messages."""
        self._links.finish()


class BulkNeighbours(OverLinks):
    """Agents receive only from their neighbours.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        protocol = context.protocol
        assert isinstance(protocol, Local)
        self._floods = protocol.route == "flood"
        kind = ITEMS if self._floods else RELAY
        links = BulkLinks(context.network, context.clock, kind, context.fingerprint)
        super().__init__(context, learner, links, links.slowest)
        self.members = np.bincount(links.receivers, minlength=len(self.everybody)) + 1
        self.isolated = not len(links.receivers)
        self._rows = np.arange(len(links.receivers))
        self._sizes: Mapping[bool, Numbers] = {}
        self.items = 0

    def _send(self, slot: int, tells: bool) -> None:
        if tells and True not in self._sizes:
            size = HEADER_BYTES + LABEL_BYTES + self._item_bytes
            self._sizes = {True: np.full(len(self._rows), size), False: np.zeros(len(self._rows), dtype=np.int64)}
        if self._sizes:
            sizes = self._links.present(slot, self._sizes[tells])
            self._links.put(slot, sizes)
            self.items += int(np.count_nonzero(sizes))

    def _arrived(self, slot: int) -> tuple[Numbers, Numbers, Numbers]:
        links, rows = self._links, self._rows
        links.arrive(slot)
        if links.delays is None:
            from netbandit.simulation.kernels.floods import arrivals

            rows, said = arrivals(links.due, slot)
        else:
            said = slot - links.delays
            some = links.due[rows, said % links.slowest] == slot
            if some.all():
                return links.receivers, links.senders, said
            rows, said = rows[some], said[some]
        return links.receivers[rows], links.senders[rows], said

    def metrics(self) -> dict[str, Metric]:
        """Return the same metrics as `Broadcasts`."""
        return {**super().metrics(), **({"items": self.items} if self._floods else {})}
