"""Exchanges of all agents over links of equal delay, processed in bulk instead of message by message.

If every row takes the same number of slots, all agents step together, and single messages would dominate the run time.
Mixed values (to the last bit), metrics and the fingerprint equal those of single messages.
`netbandit.simulation.dispatch.messages` decides when this applies; `Exchanges` calls it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.protocols.consensus import MIX, Consensus
from netbandit.protocols.mixing import mixed_rows, mixing, second_eigenvalue
from netbandit.simulation.carriers import ExchangeCarrier, Mixed, Numbers
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.kernels.bulk_links import hop_slots


class MixingInBulk(ExchangeCarrier):
    """Mixes the rows of all agents with the matrix of `Consensus`.

    Args:
        context: The replication context.
    """

    def __init__(self, context: ReplicationContext) -> None:
        self.context = context
        protocol, topology = context.protocol, context.network.topology
        assert isinstance(protocol, Consensus)
        self.protocol = protocol
        self.everybody = np.arange(topology.agents)
        self._matrix = mixing(topology.agents, topology.edges, protocol.weights, protocol.step)
        self.eigenvalue = second_eigenvalue(self._matrix)
        self.matrix = self._matrix.dense


class LockstepInBulk(MixingInBulk):
    """All agents send in slots b, b + d, b + 2 d, ..., and step at these boundaries from b + d on.

    b is the first slot in which the learner has a row to send, d the delay of a row in slots.

    Args:
        context: The replication context.
    """

    def __init__(self, context: ReplicationContext) -> None:
        super().__init__(context)
        self._every = int(hop_slots(context.network)[-1])
        channels = sorted((one.receiver, one.sender, one.latency) for out in context.network.channels for one in out)
        table = np.array(channels, dtype=np.int64).reshape(-1, 3)
        order = np.lexsort((table[:, 1], table[:, 0], table[:, 2]))  # by time, then receiver, then sender
        self._latencies = table[order, 2]
        self._events = np.zeros((len(table), 4), dtype=np.int64)
        self._events[:, 1], self._events[:, 2] = table[order, 0], MIX.code
        self._rows: NDArray[np.float64] | None = None
        self._ends = table[order, 1], table[order, 0]
        self._times = self._steps = self._size = 0
        self._due = 0  # the next slot in which all agents send, after their step at its boundary

    def ready(self, present: Numbers) -> Numbers:
        """See `ExchangeCarrier.ready`: all agents, in a slot that is due."""
        return self.everybody

    @property
    def steps(self) -> Numbers:
        """See `ExchangeCarrier.steps`."""
        return np.full(len(self.everybody), self._steps)

    def last(self, first: int, last: int, present: Numbers) -> int:
        """Stop after a slot in which all agents send, and before the next such slot, when they step."""
        return min(last, max(self._due, first + 1))

    def should_send(self, slot: int, present: Numbers) -> bool:
        """Return whether all agents send in *slot*."""
        return slot == self._due

    def send(self, slot: int, agents: Numbers, rows: NDArray[np.float64]) -> None:
        """Store the rows that all agents send, and record their deliveries."""
        self._due = slot + self._every
        self._rows = rows
        self._times += 1
        self._size = self.context.network.header + self.learner.item_bytes(rows.shape[1])
        self._events[:, 0] = slot * self.context.clock.slot + self._latencies
        self._events[:, 3] = self._size
        self.context.fingerprint.record_all(self._events)

    def postpone(self, slot: int) -> None:
        """See `ExchangeCarrier.postpone`."""
        self._due = slot + 1

    def mixed(self, slot: int) -> Sequence[Mixed]:
        """Let all agents step, if a step is due."""
        rows = self._rows
        if rows is None or slot != self._due:
            return ()
        self._rows = None
        self._steps += 1
        return (Mixed(self.everybody, *mixed_rows(self._matrix, self.everybody, rows, rows, self._matrix.senders)),)

    def finish(self) -> None:
        """Count all messages; of those that agents sent last, some may still be under way."""
        network = self.context.network
        network.count_everywhere(MIX, self._size, self._times)
        for index in np.flatnonzero(self._events[:, 0] >= network.end).tolist():
            sender, receiver = (int(nodes[index]) for nodes in self._ends)
            network.channel(sender, receiver).note_under_way(self._size, 0)
