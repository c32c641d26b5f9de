"""Exchanges of all agents over links of equal delay, processed in bulk instead of message by message.

If every row takes the same number of slots, all agents step together, and single messages would dominate the run time.
Mixed values (to the last bit), metrics and the fingerprint equal those of single messages.
`netbandit.simulation.dispatch.bulk` decides when this applies.
"""

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.network.message import HEADER_BYTES
from netbandit.protocols.consensus import MIX, Consensus
from netbandit.protocols.mixing import mixed_rows, mixing, second_eigenvalue
from netbandit.simulation.bulk_links import hop_slots
from netbandit.simulation.byzantine_vectors import RowLies
from netbandit.simulation.communication import CommunicationStrategy, Learners
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric


class BulkExchanges(CommunicationStrategy):
    """As `Exchanges`: all agents send in slots b, b + d, b + 2 d, ..., and step at these boundaries from b + d on.

    b is the first slot in which the learner has a row to send, d the delay of a row in slots.

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
        self._every = int(hop_slots(context.network)[-1])
        self.isolated = False
        self.eigenvalue = second_eigenvalue(self._matrix)
        self.members = np.full(agents, agents)
        channels = sorted((one.receiver, one.sender, one.latency) for out in context.network.channels for one in out)
        table = np.array(channels, dtype=np.int64).reshape(-1, 3)
        order = np.lexsort((table[:, 1], table[:, 0], table[:, 2]))  # by time, then receiver, then sender
        self._receivers, self._latencies = table[order, 0], table[order, 2]
        self._rows: NDArray[np.float64] | None = None
        self._times = self._steps = self._size = 0
        self._due = 0  # the next slot in which all agents send, after their step at its boundary
        self.matrix = self._matrix.dense

    def open(self, learners: Learners) -> None:
        """Attach the learner."""
        super().open(learners)
        (self._learner,) = learners

    def last(self, first: int, last: int) -> int:
        """Stop after a slot in which all agents send, and before the next such slot, when they step."""
        return min(last, max(self._due, first + 1))

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether all agents send in *slot*."""
        return slot == self._due

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Store the rows that all agents send, and record their deliveries."""
        rows = self.learners[0].share(slot, self.everybody)
        if rows is None:
            assert not self._times, "who has begun to exchange tells something in every step"
            self._due = slot + 1
            return
        self._due = slot + self._every
        self._rows = self.lies.told(slot, self.everybody, rows).copy()
        self._times += 1
        self._size = HEADER_BYTES + self._learner.item_bytes(rows.shape[1])
        events = np.empty((len(self._receivers), 4), dtype=np.int64)
        events[:, 0] = slot * self.clock.slot + self._latencies
        events[:, 1] = self._receivers
        events[:, 2] = MIX.code
        events[:, 3] = self._size
        self.context.fingerprint.record_all(events)

    def apply_received(self, slot: int) -> None:
        """Let all agents step, if a step is due."""
        rows = self._rows
        if rows is None or slot != self._due:
            return
        self._rows = None
        self._steps += 1
        matrix = self._matrix
        mixed, largest = mixed_rows(matrix, self.everybody, rows, rows, matrix.senders)
        self._learner.mix(slot, self.everybody, mixed, largest)

    @property
    def releases(self) -> int:
        """How often each agent sent; 0 without links."""
        return self._times if len(self._receivers) else 0

    def finish(self) -> None:
        """Count all messages."""
        self.context.network.count_everywhere(MIX, self._size, self._times)

    def metrics(self) -> dict[str, Metric]:
        """Return the same metrics as `Exchanges`."""
        return {"rounds": self._steps, "round_slots": self.clock.horizon / self._steps if self._steps else None}
