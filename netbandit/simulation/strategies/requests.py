"""The request strategy: agents ask a random neighbour at boundaries known to them, before any agent decides there.

`Slots` calls it, and so does the clock at these boundaries; it calls the learner and a protocol.
"""

import numpy as np
from numpy.typing import NDArray
from simpy import Event
from simpy.events import EventPriority

from netbandit.learners.slots import Learner
from netbandit.network.clock import ScheduledEvent
from netbandit.protocols.adapters import request_protocol
from netbandit.protocols.protocol import Item
from netbandit.simulation.byzantine_replies import AnswerLies
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric
from netbandit.simulation.strategies.communication import CommunicationStrategy, Learners

_FIRST = EventPriority(-1)
"""Agents ask before anything arrives at the boundary."""


class Requests(CommunicationStrategy):
    """Agents that ask their neighbours, and receive the answers on arrival.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: AnswerLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        self._protocol = request_protocol(context.protocol, context.network, self._answer, self._hear)
        self.isolated = self._protocol.isolated
        near = np.array([len(neighbours) for neighbours in context.topology.neighbours], dtype=np.int64)
        self.members = np.ones_like(near) if self.isolated else near + 1
        self._asked_at = np.full(len(near), -1)
        self._answers = np.zeros(len(near), dtype=np.int64)
        self._heard: list[tuple[int, int, NDArray[np.float64], int]] = []
        self._slots = 0
        self._delays = [0, 0]

    def open(self, learners: Learners) -> None:
        """Attach the learner, and wake when agents first ask."""
        super().open(learners)
        (self._learner,) = learners
        self._appoint(0)

    def _appoint(self, slot: int) -> None:
        following = self._learner.next_ask(slot)
        if following is not None and following < self.clock.horizon:
            environment = self.clock.environment
            delay = following * self.clock.slot - environment.now
            environment.schedule(ScheduledEvent([self._ask]), _FIRST, delay)

    def _ask(self, _: Event) -> None:
        """Let agents ask at this boundary; all decide whether to ask before the first request is sent."""
        slot = self.clock.now // self.clock.slot
        agents = self.everybody
        if self.context.network.agents_fail:
            agents = np.array([agent for agent in agents.tolist() if not self.context.network.is_down(agent)], np.int64)
        asking = agents[self._learner.ask(slot, agents)]
        self._slots += len(asking) > 0
        self._asked_at[asking] = slot
        for agent in asking.tolist():
            self._protocol.ask(agent, self._learner.avoided(agent))
        self._appoint(slot + 1)

    def _answer(self, agent: int, asker: int) -> Item | None:
        if self.lies.is_mute(agent):
            return None
        slot = self.clock.now // self.clock.slot
        (row,) = self._learner.answer(slot, self.everybody[agent : agent + 1])
        self._answers[agent] += 1
        payload = self.lies.answered(agent, asker, slot, row, self._learner)
        return Item(self._learner.item_bytes(row.size), payload)

    def _hear(self, agent: int, source: int, item: Item) -> None:
        boundary = self.clock.boundary(self.clock.now)
        if boundary < self.clock.horizon and self.lies.valid(item.value):
            asked = int(self._asked_at[agent])
            self._delays[0] += boundary - asked
            self._delays[1] += 1
            self._heard.append((agent, source, item.value, asked))

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`."""
        if forgets:
            self._heard = [heard for heard in self._heard if heard[0] != agent]

    def apply_received(self, slot: int) -> None:
        """Pass all answers received since the last decision to the learner, in order."""
        if self._heard:
            agents, sources, payload, sent_at = zip(*self._heard, strict=True)
            self._heard = []
            self._learner.receive(slot, np.array(agents), np.array(sources), np.array(payload), np.array(sent_at))

    @property
    def releases(self) -> int:
        """The number of answers of the agent that answered most often."""
        return int(self._answers.max(initial=0))

    def metrics(self) -> dict[str, Metric]:
        """Return the number of slots in which agents asked, and the delay of the answers received."""
        waited, heard = self._delays
        return {
            "rounds": 0 if self.isolated else self._slots,
            "round_slots": 0.0,
            "delay_slots": waited / heard if heard else None,
            **self._blocked(),
        }

    def _blocked(self) -> dict[str, Metric]:
        """Return how many neighbours honest agents block at the horizon: honest ones, and liars."""
        links = getattr(self._learner, "blocked_links", None)
        if links is None or getattr(self._learner, "block", "none") == "none":
            return {}
        liars = self.lies.liars
        sources = [source in liars for agent, source in links() if agent not in liars]
        return {"blocked_honest": len(sources) - sum(sources), "blocked_liars": sum(sources)}
