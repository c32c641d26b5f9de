"""Bulk exchanges of agents that do not step together: over unequal links, or with loss, jitter or duplication.

Mixed values (to the last bit), metrics and the fingerprint equal those of single messages. `Exchanges` calls it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.protocols.consensus import MIX
from netbandit.protocols.mixing import mixed_rows
from netbandit.simulation.carriers import Mixed, Numbers
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.kernels.bulk_exchanges import MixingInBulk
from netbandit.simulation.kernels.bulk_links import BulkLinks
from netbandit.util.jit import njit


class UnequalMixingInBulk(MixingInBulk):
    """Agents step when they hold the rows of their neighbours, or in every slot.

    Only some of the rows sent are kept: with ``pace = "step"`` those of each agent's last two steps, since no agent can
    need an older one; with ``pace = "slot"`` those of the slots from which a message can still arrive.

    Args:
        context: The replication context.
    """

    def __init__(self, context: ReplicationContext) -> None:
        super().__init__(context)
        agents = len(self.everybody)
        self._header = context.network.header
        self._links = links = BulkLinks(context.network, context.clock, MIX, context.fingerprint)
        self._waits = self.protocol.pace == "step"
        self._repeats = self._waits and context.network.faults.peers_lose_for_good
        self._kept = 2 if self._waits else links.slowest + 1
        count = len(links.senders)
        self._sent_steps = np.full((links.slowest, agents), -1)
        self._newest = np.full((2, count), -1)
        self._used = np.full(count, -1)
        self._steps = np.zeros(agents, dtype=np.int64)
        self._ready = np.ones(agents, dtype=np.bool_)
        self._times = np.zeros(agents, dtype=np.int64)
        self._rows: NDArray[np.float64] | None = None
        self._row_bytes = 0

    def ready(self, present: Numbers) -> Numbers:
        """See `ExchangeCarrier.ready`."""
        return np.flatnonzero(self._ready)

    @property
    def steps(self) -> Numbers:
        """See `ExchangeCarrier.steps`."""
        return self._steps

    def last(self, first: int, last: int, present: Numbers) -> int:
        """Stop after each slot."""
        return first + 1

    def should_send(self, slot: int, present: Numbers) -> bool:
        """Return True: slots in which an agent sends nothing are counted, too."""
        return True

    def send(self, slot: int, agents: Numbers, rows: NDArray[np.float64]) -> None:
        """Let agents that have stepped send their rows; if messages may be lost, all others resend theirs."""
        links = self._links
        if len(agents):
            self._keep(agents, rows)
        telling = self.everybody if self._repeats else agents
        counts = np.zeros(len(self.everybody), dtype=np.int64)
        counts[telling] = np.minimum(self._times[telling], 2) if self._repeats else 1
        sizes = self._header * (counts > 0) + counts * self._row_bytes
        self._sent_steps[slot % links.slowest] = self._times - 1
        links.put(slot, links.present(slot, sizes[links.senders]))

    def _keep(self, agents: Numbers, rows: NDArray[np.float64]) -> None:
        if self._rows is None:
            self._rows = np.zeros((self._kept, len(self.everybody), rows.shape[1]))
            self._row_bytes = self.learner.item_bytes(rows.shape[1])
        self._rows[self._steps[agents] % self._kept, agents] = rows
        self._ready[agents] = False
        self._times[agents] += 1

    def mixed(self, slot: int) -> Sequence[Mixed]:
        """Let agents receive the rows that take effect at the beginning of *slot*, and step."""
        if self._rows is None:
            return ()
        matrix = self._matrix
        self._links.arrive(slot)
        take_in(self._links.due, slot, self._links.senders, self._sent_steps, self._newest, self._repeats, self._waits)
        if self._waits:
            found = np.empty(len(self.everybody), dtype=np.bool_)
            complete(matrix.first, self._newest, self._steps, found)
            agents = np.flatnonzero(found)
            if not len(agents):
                return ()
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
        return (Mixed(agents, mixed, largest),)

    def finish(self) -> None:
        """Record arrivals after the horizon, and count all messages."""
        self._links.finish()


@njit(cache=True)
def take_in(
    due: Numbers, slot: int, senders: Numbers, sent_steps: Numbers, newest: Numbers, pairs: bool, by_parity: bool
) -> None:
    """Note the steps of the rows that take effect at the boundary of *slot*.

    Args:
        due: The boundary at which the message of each link and of each of the latest slots takes effect, the slot
            modulo the number of columns, shape (links, columns).
        slot: The slot.
        senders: The sender of each link, shape (links,).
        sent_steps: The step of the newest row in the messages of each of these slots and senders, shape (columns, M).
        newest: The newest step that has come over each link, of even and of odd ones, shape (2, links); -1: none;
            updated. If not *by_parity* only the first row counts.
        pairs: Whether a message carries the row of the step before as well.
        by_parity: Whether even and odd steps are kept apart.
    """
    columns = due.shape[1]
    for link in range(due.shape[0]):
        for age in range(1, columns + 1):
            column = (slot - age) % columns
            if slot < age or due[link, column] != slot:
                continue
            step = sent_steps[column, senders[link]]
            for one in range(step - 1 if pairs and step else step, step + 1):
                index = one & 1 if by_parity else 0
                newest[index, link] = max(newest[index, link], one)


@njit(cache=True)
def complete(first: Numbers, newest: Numbers, steps: Numbers, found: NDArray[np.bool_]) -> None:
    """Fill in which agents hold the rows of their step from all neighbours, shape (M,).

    Args:
        first: Where the links of each receiver begin, and the end, shape (M + 1,).
        newest: As for `take_in`, by parity.
        steps: The step of each agent, shape (M,).
        found: Filled in.
    """
    for agent in range(len(steps)):
        index = steps[agent] & 1
        found[agent] = True
        for link in range(first[agent], first[agent + 1]):
            if newest[index, link] != steps[agent]:
                found[agent] = False
                break
