"""Communication without messages: shared items reach all agents at once, or before the decision of the next slot.

`Slots` calls these strategies; they call the learner, and no protocol.
"""

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.protocols.pooled import Pooled
from netbandit.simulation.byzantine_sums import SumLies
from netbandit.simulation.byzantine_vectors import RowLies
from netbandit.simulation.communication import CommunicationStrategy, Learners
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric


class FreeSynchronisations(CommunicationStrategy):
    """All agents that are up share in every slot, or in those that the learner names; no agent calls or waits.

    The others keep what an agent has shared while it is down, even if it loses its memory.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: SumLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        agents = len(self.everybody)
        self.members = np.full(agents, agents)
        self.isolated = agents == 1
        self._rows: dict[tuple[int, int], NDArray[np.float64]] = {}  # the newest of each agent in each of its lives
        self._lives = [0] * agents
        self._shares = np.zeros(agents, dtype=np.int64)
        self._due: int | None = None  # the slot in which all have something to share that is not known to others
        self._combined: NDArray[np.float64] | None = None
        self._behind = np.zeros(agents, dtype=np.bool_)
        self._rounds = 0

    def open(self, learners: Learners) -> None:
        """Take the learner, and find when it first shares."""
        super().open(learners)
        (self._learner,) = learners
        self._next = None if self.isolated else self._learner.next_share(0)

    def last(self, first: int, last: int) -> int:
        """Stop after the next slot in which agents share."""
        return last if self._next is None else max(first + 1, min(last, self._next + 1))

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Note whether it is time to share; nothing is sent."""
        if self._next is not None and slot >= self._next:
            self._due = slot
            self._next = self._learner.next_share(slot + 1)
        return False

    def apply_received(self, slot: int) -> None:
        """Let all that are up share what they have not, and adopt what all have shared so far."""
        if self._due is not None and (len(self.present) or self._rows):
            if len(self.present):
                self._share(self._due, self.present)
            self._due = None
            self._rounds += 1
            told = [self._rows[key] for key in sorted(self._rows)]
            believed = [told[place] for place in self.lies.sound(told)]
            self._combined = self._learner.combine(believed) if believed else self._nothing
            self._behind[:] = True
        adopting = self.present[self._behind[self.present]]
        if len(adopting):
            assert self._combined is not None
            self._behind[adopting] = False
            self._learner.adopt(slot, adopting, self._combined)

    def _share(self, slot: int, agents: NDArray[np.int64]) -> None:
        shared = self._learner.share(slot, agents)
        assert shared is not None, "in a round every agent shares"
        self._nothing = np.zeros_like(shared[0])
        for agent, row in zip(agents.tolist(), shared, strict=True):
            if not self.lies.is_mute(agent):
                self._rows[agent, self._lives[agent]] = self.lies.released(agent, 0, 1, row)
        self._shares[agents] += 1

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`: the others know what it has observed, though it may not."""
        if self._due is not None:
            self._share(self._due, self.everybody[agent : agent + 1])
        if forgets:
            self._lives[agent] += 1
            self._behind[agent] = self._combined is not None

    @property
    def releases(self) -> int:
        """See `CommunicationStrategy.releases`."""
        return int(self._shares.max())

    def metrics(self) -> dict[str, Metric]:
        """Return how often all shared; no agent waited."""
        return {"rounds": self._rounds, "round_slots": 0.0}


class InTurn(CommunicationStrategy):
    """Each agent shares after its pull, and all others receive before the next agent decides, within the same slot.

    Agents that are down receive nothing.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: RowLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        protocol = context.protocol
        assert isinstance(protocol, Pooled)
        agents = len(self.everybody)
        self.in_turn = True
        self.log = protocol.log
        self.members = np.full(agents, agents)
        self.isolated = agents == 1
        self._told = 0

    def open(self, learners: Learners) -> None:
        """Attach the learner."""
        super().open(learners)
        (self._learner,) = learners

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let the agent that has just decided tell all others, who hear it at once."""
        (agent,) = self.deciding.tolist()
        others = self.present[self.present != agent]
        told = self._learner.share(slot, self.deciding)
        if told is None or not len(others) or self.lies.is_mute(agent):
            return
        sources, said = np.full(len(others), agent), np.full(len(others), slot)
        told = self.lies.told(slot, self.deciding, told)
        if self.lies.sound(self.deciding, told, said[:1]) is None:
            self._learner.hear(slot, others, sources, np.repeat(told, len(others), axis=0), said)
            self._told = slot + 1

    @property
    def releases(self) -> int:
        """How often agents told others."""
        return self._told

    def metrics(self) -> dict[str, Metric]:
        """Return the slots in which agents shared."""
        return {"rounds": self._told, "round_slots": 0.0, "delay_slots": 0.0 if self._told else None}
