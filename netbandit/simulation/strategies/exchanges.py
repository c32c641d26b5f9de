"""The exchange strategy: in every step agents send a row to their neighbours, and mix the rows received.

`Slots` calls `Exchanges`, which calls the learner and a carrier: a protocol, message by message, or a kernel.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.protocols.adapters import exchange_protocol
from netbandit.simulation.byzantine_vectors import RowLies
from netbandit.simulation.carriers import ExchangeCarrier, Mixed, Numbers
from netbandit.simulation.dispatch.kernel_choice import chosen
from netbandit.simulation.dispatch.messages import ExchangeChoice, step_together
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric
from netbandit.simulation.return_validation import figures_of
from netbandit.simulation.strategies.communication import CommunicationStrategy, Learners
from netbandit.util.rows import rows_of


def bulk_carrier(context: ReplicationContext) -> ExchangeCarrier | None:
    """Return the kernel for all exchanges; None if they must go message by message."""
    if not chosen(ExchangeChoice(context)):
        return None
    if step_together(context):
        from netbandit.simulation.kernels.bulk_exchanges import LockstepInBulk

        return LockstepInBulk(context)
    from netbandit.simulation.kernels.bulk_mixing import UnequalMixingInBulk

    return UnequalMixingInBulk(context)


class Exchanges(CommunicationStrategy):
    """Agents that send a row to their neighbours in every step, and mix the rows received.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: RowLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        self.carrier: ExchangeCarrier = bulk_carrier(context) or ExchangesByMessage(context)
        self.isolated = self.carrier.isolated
        self.eigenvalue = self.carrier.eigenvalue
        self.matrix = self.carrier.matrix
        if not self.isolated:
            self.members = np.full(len(self.everybody), len(self.everybody))
        self._times = np.zeros(len(self.everybody), dtype=np.int64)

    def open(self, learners: Learners) -> None:
        """Attach the learner."""
        super().open(learners)
        (self._learner,) = learners
        self.carrier.open(self._learner)

    def last(self, first: int, last: int) -> int:
        """Stop after one slot if an agent has a row to send."""
        return self.carrier.last(first, last, self.present)

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether an agent has stepped."""
        return self.carrier.should_send(slot, self.present)

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let the agents that have stepped send their rows."""
        agents = self.carrier.ready(self.present)
        if not len(agents):
            self.carrier.send(slot, agents, np.empty((0, 0)))
            return
        rows = self._learner.share(slot, agents)
        if rows is None:
            assert not self._times.any(), "an agent that has begun to exchange sends in every step"
            self.carrier.postpone(slot)
            return
        rows = self.lies.sent(slot, agents, rows)
        speaking = self.lies.speaking(agents)
        if len(speaking) < len(agents):
            agents, rows = speaking, rows[np.isin(agents, speaking)]
        self._times[rows_of(agents, len(self._times))] += 1
        self.carrier.send(slot, agents, rows)

    def apply_received(self, slot: int) -> None:
        """Pass the mixed rows to the learner."""
        for agents, rows, largest in self.carrier.mixed(slot):
            self._learner.mix(slot, agents, rows, largest)

    @property
    def releases(self) -> int:
        """The number of releases; 0 if no agent could receive them."""
        return int(self._times.max()) if self.context.network.ledger.kinds else 0

    def metrics(self) -> dict[str, Metric]:
        """Return the number of steps completed by all agents, and the slots per step."""
        steps = int(self.carrier.steps.min())
        round_slots = self.clock.horizon / steps if steps else None
        return {"rounds": steps, "round_slots": round_slots, **self.carrier.figures()}

    def finish(self) -> None:
        """Count the messages of kernels."""
        self.carrier.finish()


class ExchangesByMessage(ExchangeCarrier):
    """Carries each row by a protocol, event by event.

    Args:
        context: The replication context.
    """

    def __init__(self, context: ReplicationContext) -> None:
        self._protocol = exchange_protocol(context.protocol, context.network, self._mix)
        self.isolated = self._protocol.isolated
        self.eigenvalue = self._protocol.eigenvalue
        self.matrix = self._protocol.matrix
        self._mixed: list[Mixed] = []

    def ready(self, present: Numbers) -> Numbers:
        """See `ExchangeCarrier.ready`."""
        return present[self._protocol.ready[present]]

    @property
    def steps(self) -> Numbers:
        """See `ExchangeCarrier.steps`."""
        return self._protocol.steps

    def send(self, slot: int, agents: Numbers, rows: NDArray[np.float64]) -> None:
        """See `ExchangeCarrier.send`."""
        self._protocol.tell(agents, rows, self.learner.item_bytes(rows.shape[1]))

    def _mix(self, agents: Numbers, mixed: NDArray[np.float64], largest: NDArray[np.float64]) -> None:
        self._mixed.append(Mixed(agents, mixed, largest))

    def mixed(self, slot: int) -> Sequence[Mixed]:
        """See `ExchangeCarrier.mixed`."""
        mixed, self._mixed = self._mixed, []
        return mixed

    def figures(self) -> Mapping[str, Metric]:
        """Return the protocol's own metrics."""
        return figures_of(self._protocol, self._protocol.figures())
