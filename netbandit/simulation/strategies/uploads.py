"""The strategy of asynchronous uploads: agents upload their sums to a server at will, and receive its totals.

Or, of a learner with `serve`, rows, and an answer of their own: `Rows` is then what the learner itself is for sums.

`Slots` calls it; it calls the learner, its server and a protocol.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.learners.uploads import Own, SumServer, Total, Upload, UploadLearner
from netbandit.network.clock import Clock
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


class Rows:
    """What agents of a learner with `serve` upload and adopt, and their server; see `UploadLearner` and `SumServer`.

    An upload is a row, and in place of observations it counts the rows that its agent uploaded in its life; a total is
    the answer for an agent, and counts the server's answers.

    Args:
        learner: The learner, started.
        clock: The clock.
        agents: The number M of agents.
    """

    def __init__(self, learner: Learner, clock: Clock, agents: int) -> None:
        self._learner = learner
        self._clock = clock
        self._newest = [Own(0)] * agents  # of each agent: what it uploaded last, and what the server has of it
        self._served = [Own(0)] * agents
        self._answers = 0
        self._heard = [0] * agents
        self._pushed: dict[int, NDArray[np.float64]] = {}
        self._adopting: dict[int, _Given] = {}

    def deposit(self, agent: int) -> Upload:
        """Return the row that *agent* shares."""
        rows = self._learner.share(self._clock.now // self._clock.slot, np.array([agent]))
        assert rows is not None, "who wants to upload shares"
        uploaded, life = self._newest[agent]
        self._newest[agent] = Own(uploaded + 1, life)
        return Upload(rows[0], uploaded + 1, life)

    def absorb(self, uploads: Sequence[tuple[int, Upload]]) -> int:
        """Let the learner's server take in the rows."""
        self._learner.serve(np.array([agent for agent, _ in uploads]), np.stack([each.sums for _, each in uploads]))
        for agent, (_, number, life) in uploads:
            served = self._served[agent]
            self._served[agent] = max(served, Own(number, life), key=lambda own: (own.life, own.observations))
        return len(uploads)

    def lagging(self) -> list[int]:
        """Return the agents that lag, ascending, but those that the server has nothing to say to."""
        rows = {int(agent): self._learner.answer_for(int(agent)) for agent in sorted(self._learner.lagging())}
        self._pushed = {agent: row for agent, row in rows.items() if row is not None}
        return list(self._pushed)

    def give(self, agents: Sequence[int]) -> list[Own]:
        """Return which of its rows the server has of each agent."""
        return [self._served[agent] for agent in agents]

    def total_for(self, agent: int) -> Total:
        """Return the answer for *agent*; without numbers, if there is nothing to say."""
        self._answers += 1
        row = self._pushed.pop(agent) if agent in self._pushed else self._learner.answer_for(agent)
        return Total(np.empty(0) if row is None else row, self._answers)

    def resume(self, agent: int) -> None:
        """Do nothing: the strategy knows who makes no test."""

    def take(self, agent: int, total: Total, own: Own) -> bool:
        """Keep the answer until the next decision of *agent*, unless a later one has come."""
        if total.observations < self._heard[agent]:
            return False
        self._heard[agent] = total.observations
        if total.sums.size:
            self._adopting[agent] = _Given(total, own)
        return True

    def adopt(self, slot: int) -> None:
        """Let agents, which decide in *slot* next, adopt what they have been given."""
        if self._adopting:
            agents, given = np.array(sorted(self._adopting)), self._adopting
            self._adopting = {}
            included = [
                given[agent].own.observations if given[agent].own.life == self._newest[agent].life else 0
                for agent in agents.tolist()
            ]
            self._learner.included(agents, np.array(included))
            self._learner.adopt(slot, agents, np.stack([given[agent].total.sums for agent in agents.tolist()]))

    def forget(self, agent: int) -> None:
        """Begin a new life of *agent*, which has not adopted what it was given last."""
        self._newest[agent] = Own(0, self._newest[agent].life + 1)
        self._adopting.pop(agent, None)


class Uploads(CommunicationStrategy):
    """Agents that upload their sums at will, and adopt the totals returned.

    An agent adopts a total before its next decision; until then, the total has no effect. See `UploadHandler` for the
    methods that the protocol calls.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: SumLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        agents = len(self.everybody)
        self._protocol = upload_protocol(context.protocol, context.network, self)
        self.members = np.full(agents, agents)
        self.isolated = False
        self.asks = True
        self.uploads = True
        self._bytes = learner.item_bytes
        self._numbers: int | None = None  # of an upload, where it is no row
        if isinstance(learner, UploadLearner) and not learner.has("serve"):
            self._numbers = learner.deposit_numbers(getattr(context.bandit, "dimension", 0)) + context.network.forgets
        self._absorbed = 0
        self._uploaded = np.zeros(agents, dtype=np.int64)
        self._uploaded_at = np.zeros(agents, dtype=np.int64)
        # Of each agent the uploads that are in no total it has adopted, and when they were made (ns).
        self._open: list[list[tuple[Upload, int]]] = [[] for _ in range(agents)]
        self._waits: list[int] = []

    def open(self, learners: Learners) -> None:
        """Attach the learner, and make its server."""
        super().open(learners)
        (learner,) = learners
        self._rows: Rows | None = None
        self._learner: UploadLearner | Rows
        self._server: SumServer | Rows
        if isinstance(learner, UploadLearner) and not learner.has("serve"):
            self._learner, self._server = learner, learner.sum_server()
        else:
            self._rows = self._learner = self._server = Rows(learner, self.clock, len(self.everybody))

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether an agent wants to upload."""
        return bool(calls.any())

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let agents upload."""
        for agent in np.flatnonzero(calls).tolist():
            if not self.lies.is_mute(agent):
                self._protocol.deposit(agent)

    def apply_received(self, slot: int) -> None:
        """See `CommunicationStrategy.apply_received`; a learner of sums has been given them already."""
        if self._rows is not None:
            self._rows.adopt(slot)

    def deposit(self, agent: int) -> Item:
        """Ask the learner; see `UploadHandler`."""
        now = self.clock.now
        found = self._learner.deposit(agent)
        self.quiet[0, agent] = True
        self._uploaded[agent] += 1
        self._uploaded_at[agent] = now
        self._open[agent].append((found, now))
        numbers = found.sums.size if self._numbers is None else self._numbers
        return Item(self._bytes(numbers), self.lies.uploaded(agent, found))

    def resume(self, agent: int) -> None:
        """Ask the learner; see `UploadHandler`."""
        self.quiet[0, agent] = False
        self._learner.resume(agent)

    def absorb(self, uploads: Sequence[tuple[int, Item]]) -> None:
        """Ask the server; see `UploadHandler`."""
        uploads = [uploads[index] for index in self.lies.valid_items([item for _, item in uploads])]
        found: list[tuple[int, Upload]] = [(agent, item.value) for agent, item in uploads]
        self._absorbed += self._server.absorb(found)

    def lagging(self) -> Sequence[int]:
        """Ask the server; see `UploadHandler`."""
        return self._server.lagging()

    def give(self, agents: Sequence[int]) -> Sequence[Item]:
        """Ask the server; see `UploadHandler`."""
        given = [
            _Given(self._server.total_for(agent), own)
            for agent, own in zip(agents, self._server.give(agents), strict=True)
        ]
        return [
            Item(self._bytes(each.total.sums.size if self._numbers is None else self._numbers + 1), each)
            for each in given
        ]

    def take(self, agent: int, item: Item) -> None:
        """Keep it for the agent's next decision; see `UploadHandler`."""
        given: _Given = item.value
        opened = self._open[agent]
        if self._learner.take(agent, *given):
            now = self.clock.now
            while opened:
                upload, when = opened[0]
                if upload.life != given.own.life or upload.observations > given.own.observations:
                    break
                if now < self.clock.end:
                    self._waits.append(-(-(now - when) // self.clock.slot))
                del opened[0]
        if agent in self.lies.liars:  # its upload may have been rejected
            opened.clear()
        if not opened and self.quiet[0, agent]:
            self.resume(agent)

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`: the answer that it waits for may be lost on it."""
        if self.quiet[0, agent]:
            self.resume(agent)
        if forgets:
            self._open[agent] = []
            if self._rows is not None:
                self._rows.forget(agent)

    @property
    def releases(self) -> int:
        """See `CommunicationStrategy.releases`."""
        return int(self._uploaded.max())

    @property
    def waits(self) -> bool:
        """See `CommunicationStrategy.waits`: for the answer to an upload."""
        return True

    def waiting(self) -> list[int]:
        """See `CommunicationStrategy.waiting`."""
        slot, horizon = self.clock.slot, self.clock.horizon
        return [horizon - (-(-time // slot)) for time in self._uploaded_at[self.quiet[0]].tolist()]

    def metrics(self) -> dict[str, Metric]:
        """Return the uploads absorbed, their agents' wait for a total that includes them, and the messages."""
        return {
            "rounds": self._absorbed,
            "round_slots": sum(self._waits) / len(self._waits) if self._waits else None,
            "uploads": self._protocol.uploads,
            "downloads": self._protocol.downloads,
            **({} if isinstance(self._learner, Rows) else {"unseen": self._learner.unseen}),
        }
