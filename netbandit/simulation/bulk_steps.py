"""Bulk exchanges of agents that do not step together: over unequal links, or with loss, jitter or duplication.

Mixed values (to the last bit), metrics and the fingerprint equal those of single messages.
"""

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.network.message import HEADER_BYTES
from netbandit.protocols.consensus import MIX, Consensus
from netbandit.protocols.mixing import mixed_rows, mixing, second_eigenvalue
from netbandit.simulation.bulk_links import BulkLinks
from netbandit.simulation.byzantine_vectors import RowLies
from netbandit.simulation.communication import CommunicationStrategy, Learners
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.newest_rows import complete, take_in
from netbandit.simulation.result import Metric


class BulkSteps(CommunicationStrategy):
    """As `Exchanges`, slot by slot.

    Only some of the rows sent are kept: with ``pace = "step"`` those of each agent's last two steps, since no agent can
    need an older one; with ``pace = "slot"`` those of the slots from which a message can still arrive.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: RowLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        protocol, topology = context.protocol, context.network.topology
        assert isinstance(protocol, Consensus)
        agents = len(self.everybody)
        self._matrix = mixing(agents, topology.edges, protocol.weights, protocol.step)
        self._links = links = BulkLinks(context.network, context.clock, MIX, context.fingerprint)
        self.isolated = False
        self.eigenvalue = second_eigenvalue(self._matrix)
        self.matrix = self._matrix.dense
        self.members = np.full(agents, agents)
        self._waits = protocol.pace == "step"
        self._repeats = self._waits and context.network.faults.peers_lose_for_good
        self._kept = 2 if self._waits else links.slowest + 1
        count = len(links.senders)
        self._told = np.full((links.slowest, agents), -1)
        self._newest = np.full((2, count), -1)
        self._used = np.full(count, -1)
        self._steps = np.zeros(agents, dtype=np.int64)
        self._ready = np.ones(agents, dtype=np.bool_)
        self._times = np.zeros(agents, dtype=np.int64)
        self._rows: NDArray[np.float64] | None = None
        self._row_bytes = 0

    def open(self, learners: Learners) -> None:
        """Attach the learner."""
        super().open(learners)
        (self._learner,) = learners

    def last(self, first: int, last: int) -> int:
        """Stop after each slot."""
        return first + 1

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return True: slots in which an agent sends nothing are counted, too."""
        return True

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let agents that have stepped send their rows; if messages may be lost, all others resend theirs."""
        links, agents = self._links, np.flatnonzero(self._ready)
        if len(agents):
            rows = self.learners[0].share(slot, agents)
            if rows is None:
                assert not self._times.any(), "who has begun to exchange tells something in every step"
                return
            self._keep(agents, self.lies.told(slot, agents, rows))
        telling = self.everybody if self._repeats else agents
        counts = np.zeros(len(self.everybody), dtype=np.int64)
        counts[telling] = np.minimum(self._times[telling], 2) if self._repeats else 1
        sizes = HEADER_BYTES * (counts > 0) + counts * self._row_bytes
        self._told[slot % links.slowest] = self._times - 1
        links.put(slot, links.present(slot, sizes[links.senders]))

    def _keep(self, agents: NDArray[np.int64], rows: NDArray[np.float64]) -> None:
        if self._rows is None:
            self._rows = np.zeros((self._kept, len(self.everybody), rows.shape[1]))
            self._row_bytes = self._learner.item_bytes(rows.shape[1])
        self._rows[self._steps[agents] % self._kept, agents] = rows
        self._ready[agents] = False
        self._times[agents] += 1

    def apply_received(self, slot: int) -> None:
        """Let agents receive the rows that take effect at the beginning of *slot*, and step."""
        if self._rows is None:
            return
        matrix = self._matrix
        self._links.arrive(slot)
        take_in(self._links.due, slot, self._links.senders, self._told, self._newest, self._repeats, self._waits)
        if self._waits:
            found = np.empty(len(self.everybody), dtype=np.bool_)
            complete(matrix.first, self._newest, self._steps, found)
            agents = np.flatnonzero(found)
            if not len(agents):
                return
            links = matrix.links_to(agents)
            steps = np.repeat(self._steps[agents], matrix.degrees[agents])
            places = (steps & 1) * len(self.everybody) + matrix.senders[links]
        else:
            agents, newest = self.everybody, self._newest[0]
            places = (newest % self._kept) * len(self.everybody) + matrix.senders
            places[newest <= self._used] = -1
            self._used = newest.copy()
        own = self._rows[self._steps[agents] % self._kept, agents]
        table = self._rows.reshape(self._kept * len(self.everybody), self._rows.shape[2])
        mixed, largest = mixed_rows(matrix, agents, own, table, places)
        self._steps[agents] += 1
        self._ready[agents] = True
        self._learner.mix(slot, agents, mixed, largest)

    @property
    def releases(self) -> int:
        """How often the agent that sent most often did; 0 if no message was put on a link."""
        return int(self._times.max()) if self._links.used else 0

    def finish(self) -> None:
        """Record arrivals after the horizon, and count all messages."""
        self._links.finish()

    def metrics(self) -> dict[str, Metric]:
        """Return the same metrics as `Exchanges`."""
        steps = int(self._steps.min())
        return {"rounds": steps, "round_slots": self.clock.horizon / steps if steps else None}
