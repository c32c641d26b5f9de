"""The strategy of asynchronous uploads: agents deposit their sums at a server at will, and receive its totals.

`Slots` calls it; it calls the learner, its server and a protocol.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.learners.uploads import Deposit, Own, Total, UploadLearner
from netbandit.protocols.adapters import upload_protocol
from netbandit.protocols.protocol import Item
from netbandit.simulation.byzantine_sums import SumLies
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric
from netbandit.simulation.strategies.communication import CommunicationStrategy, Learners


class _Given(NamedTuple):
    """The answer to an agent: the server's total, and which of the agent's own observations it includes."""

    total: Total
    own: Own


class Uploads(CommunicationStrategy):
    """Agents that deposit their sums at will, and adopt the totals returned.

    An agent adopts a total before its next decision; until then, the total has no effect. See `UploadHandler` for the
    methods that the protocol calls.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: SumLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        assert isinstance(learner, UploadLearner)  # see `communication`
        agents = len(self.everybody)
        self._protocol = upload_protocol(context.protocol, context.network, self)
        self.members = np.full(agents, agents)
        self.isolated = False
        self.asks = True
        self.deposits = True
        numbers = learner.deposit_numbers(getattr(context.bandit, "dimension", 0)) + context.network.forgets
        self._upload_bytes, self._download_bytes = learner.item_bytes(numbers), learner.item_bytes(numbers + 1)
        self._absorbed = 0
        self._deposited = np.zeros(agents, dtype=np.int64)
        self._deposited_at = np.zeros(agents, dtype=np.int64)
        # Of each agent the deposits that are in no total it has adopted, and when they were made (ns).
        self._open: list[list[tuple[Deposit, int]]] = [[] for _ in range(agents)]
        self._waits: list[int] = []

    def open(self, learners: Learners) -> None:
        """Attach the learner, and make its server."""
        super().open(learners)
        (learner,) = learners
        assert isinstance(learner, UploadLearner)
        self._learner = learner
        self._server = learner.sum_server()

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether an agent wants to deposit."""
        return bool(calls.any())

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let agents deposit."""
        for agent in np.flatnonzero(calls).tolist():
            if not self.lies.is_mute(agent):
                self._protocol.deposit(agent)

    def deposit(self, agent: int) -> Item:
        """Ask the learner; see `UploadHandler`."""
        now = self.clock.now
        found = self._learner.deposit(agent)
        self.quiet[0, agent] = True
        self._deposited[agent] += 1
        self._deposited_at[agent] = now
        self._open[agent].append((found, now))
        return Item(self._upload_bytes, self.lies.deposited(agent, found))

    def resume(self, agent: int) -> None:
        """Ask the learner; see `UploadHandler`."""
        self.quiet[0, agent] = False
        self._learner.resume(agent)

    def absorb(self, deposits: Sequence[tuple[int, Item]]) -> None:
        """Ask the server; see `UploadHandler`."""
        deposits = [deposits[place] for place in self.lies.sound_items([item for _, item in deposits])]
        found: list[tuple[int, Deposit]] = [(agent, item.value) for agent, item in deposits]
        self._absorbed += self._server.absorb(found)

    def lagging(self) -> Sequence[int]:
        """Ask the server; see `UploadHandler`."""
        return self._server.lagging()

    def give(self, agents: Sequence[int]) -> Sequence[Item]:
        """Ask the server; see `UploadHandler`."""
        total = self._server.total
        return [Item(self._download_bytes, _Given(total, own)) for own in self._server.give(agents)]

    def take(self, agent: int, item: Item) -> None:
        """Keep it for the agent's next decision; see `UploadHandler`."""
        given: _Given = item.value
        opened = self._open[agent]
        if self._learner.take(agent, *given):
            now = self.clock.now
            while opened:
                deposit, when = opened[0]
                if deposit.life != given.own.life or deposit.observations > given.own.observations:
                    break
                if now < self.clock.end:
                    self._waits.append(-(-(now - when) // self.clock.slot))
                del opened[0]
        if agent in self.lies.liars:  # its deposit may have been rejected
            opened.clear()
        if not opened and self.quiet[0, agent]:
            self.resume(agent)

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`: the answer that it waits for may be lost on it."""
        if self.quiet[0, agent]:
            self.resume(agent)
        if forgets:
            self._open[agent] = []

    @property
    def releases(self) -> int:
        """See `CommunicationStrategy.releases`."""
        return int(self._deposited.max())

    @property
    def waits(self) -> bool:
        """See `CommunicationStrategy.waits`: for the answer to a deposit."""
        return True

    def waiting(self) -> list[int]:
        """See `CommunicationStrategy.waiting`."""
        slot, horizon = self.clock.slot, self.clock.horizon
        return [horizon - (-(-time // slot)) for time in self._deposited_at[self.quiet[0]].tolist()]

    def metrics(self) -> dict[str, Metric]:
        """Return the deposits absorbed, their agents' wait for a total that includes them, and the messages."""
        return {
            "rounds": self._absorbed,
            "round_slots": sum(self._waits) / len(self._waits) if self._waits else None,
            "uploads": self._protocol.uploads,
            "downloads": self._protocol.downloads,
            "unseen": self._learner.unseen,
        }
