"""The round strategy: agents contribute a row each, and all adopt the combined row.

`Slots` calls it; it calls the learner and a protocol, which calls back to aggregate rows (`SyncHandler`).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.protocols.adapters import call_protocol
from netbandit.protocols.protocol import Item
from netbandit.simulation.byzantine_sums import SumLies
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric
from netbandit.simulation.return_validation import figures_of
from netbandit.simulation.strategies.communication import CommunicationStrategy, Learners
from netbandit.user_code.errors import ReturnedError


class _Adoption(NamedTuple):
    """A combined row that some agents adopt before their next decision.

    Attributes:
        param_set: The parameter set.
        combined: The row; of a learner with `serve` the answer for each agent.
        agents: The agents that adopt it.
        included: For each agent, the number of its own row that is included; empty if it is the last of each.
    """

    param_set: int
    combined: NDArray[np.float64]
    agents: list[int]
    included: list[int]


class _Uploaded(NamedTuple):
    """The row that an agent contributes for a learner with `serve`, and how many rows there were before."""

    agent: int
    number: int
    row: NDArray[np.float64]


def answers_of(learner: Learner, sources: Sequence[int], rows: Sequence[NDArray[np.float64]], agents: int) -> list[Any]:
    """Let the server of *learner* take in *rows* of some agents, and return its answer for each of all *agents*."""
    if rows:
        learner.serve(np.array(sources), np.stack(rows))
    answers = [learner.answer_for(agent) for agent in range(agents)]
    if any(answer is None for answer in answers):
        text = "must return a row for each agent where all upload at once (master-worker, pooled), not None"
        raise ReturnedError(f"{type(learner).__qualname__}.answer_for {text}", "learner")
    return answers


class Rounds(CommunicationStrategy):
    """Agents that synchronise in rounds: each contributes a row, and all adopt the combined row.

    A round begins in a slot known ahead, or when an agent calls for one. See `SyncHandler` for the methods that the
    protocol calls.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: SumLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        self._dimension = getattr(context.bandit, "dimension", 0)
        self._template = learner
        self._protocol = call_protocol(context.protocol, context.network, self)
        self.isolated = self._protocol.isolated
        groups = np.asarray(self._protocol.groups)
        self.members = np.bincount(groups)[groups]
        self.sets = self._protocol.sets
        self._wants = learner.has("wants")
        self._serves = learner.has("serve")
        self._served = [-1] * len(self.everybody)  # of each agent the number of the last row that its server took in
        self._all_slots = context.run.activity == "every" and context.feedback is None
        self.quiet = np.zeros((self.sets, len(self.everybody)), dtype=np.bool_)
        self._releases = np.zeros((self.sets, len(self.everybody)), dtype=np.int64)
        self._released_at: dict[tuple[int, int], int] = {}
        self._waits: dict[int, list[int]] = {}
        self._adopting: list[_Adoption] = []

    def open(self, learners: Learners) -> None:
        """Attach the learners, and find when they first share.

        If some agents do not decide, or do not learn their reward, in every slot, agents cannot infer from their own
        observations when a round without a call begins. Such rounds then begin in the slots that the learner names.
        """
        super().open(learners)
        self._wanted = self._wants and (self._all_slots or learners[0].called)
        self.asks = self._wanted and not self.isolated
        self._next = None if self._wanted or self.isolated else learners[0].next_share(0)

    def last(self, first: int, last: int) -> int:
        """Stop after the next slot in which a scheduled round begins."""
        return last if self._next is None else max(first + 1, min(last, self._next + 1))

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether an agent wants to synchronise, or a scheduled round begins."""
        return bool(calls.any()) if self._wanted else slot == self._next

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let agents call for a round, or begin a scheduled one."""
        if self.isolated:
            return
        param_set = slot % self.sets
        learner = self.learners[param_set]
        begin, agents = self._protocol.begin, self.present
        if self._wanted:
            agents = np.flatnonzero(calls)
            if learner.called:
                begin = self._protocol.call
        else:
            self._next = learner.next_share(slot + 1)
        for agent in agents.tolist():
            if not self.quiet[param_set, agent] and not self.lies.is_mute(agent):
                self.quiet[param_set, agent] = True
                self.context.network.after_own_jobs(agent, partial(begin, agent, param_set))

    def sync_started(self, agent: int, param_set: int) -> None:
        """Tell the learner; see `SyncHandler`."""
        self.quiet[param_set, agent] = True
        if self.learners:
            self.learners[param_set].sync_started(self.clock.now // self.clock.slot, self.everybody[agent : agent + 1])

    @property
    def release_size(self) -> int:
        """Bytes; see `SyncHandler`."""
        return self._template.item_bytes(self._template.share_numbers(self._dimension))

    def release(self, agent: int, param_set: int) -> Item | None:
        """Ask the learner; see `SyncHandler`."""
        if self.lies.is_mute(agent):
            return None
        now = self.clock.now
        self.catch_up(self.everybody[agent : agent + 1])
        self.apply_received(now // self.clock.slot)
        self._released_at[agent, param_set] = now
        self._releases[param_set, agent] += 1
        shared = self.learners[param_set].share(now // self.clock.slot, self.everybody[agent : agent + 1])
        assert shared is not None, "in a round every agent shares"
        payload = self.lies.released(agent, param_set, self.sets, shared[0])
        if self._serves:
            payload = _Uploaded(agent, int(self._releases[param_set, agent]), payload)
        return Item(self.learners[param_set].item_bytes(shared[0].size), payload)

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Ask the learner; see `SyncHandler`."""
        learner = self.learners[0]
        if self._serves:
            new = [each.value for each in items if each.value.number > self._served[each.value.agent]]
            for upload in new:
                self._served[upload.agent] = upload.number
            sources, rows = [upload.agent for upload in new], [upload.row for upload in new]
            answers = answers_of(learner, sources, rows, len(self.everybody))
            return Item(learner.item_bytes(answers[0].size), answers)
        valid = self.lies.valid_items(items)
        if len(valid) < len(items):
            items = [items[index] for index in valid]
            weights = None if weights is None else [weights[index] for index in valid]
        if not items:  # no item passed validation
            return Item(self.release_size, np.zeros(self._template.share_numbers(self._dimension)))
        row = learner.combine([item.value for item in items], weights)
        return Item(learner.item_bytes(row.size), row)

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`: the agent leaves the round in progress."""
        for param_set in np.flatnonzero(self.quiet[:, agent]).tolist():
            self.sync_missed(agent, param_set)
        self._protocol.leave(agent, forgets=forgets)
        if forgets:
            for adoption in self._adopting:
                if agent in adoption.agents:
                    index = adoption.agents.index(agent)
                    del adoption.agents[index], adoption.included[index : index + 1]

    def sync_missed(self, agent: int, param_set: int) -> None:
        """Let *agent* call again; see `SyncHandler`."""
        if self.quiet[param_set, agent]:
            self.quiet[param_set, agent] = False
            slot = self.clock.boundary(self.clock.now)
            self.learners[param_set].sync_missed(slot, self.everybody[agent : agent + 1])

    def apply_sync(self, agent: int, param_set: int, aggregate: Item, round: int, included: int | None = None) -> None:
        """Buffer the aggregate until the agent's next decision; see `SyncHandler`."""
        now = self.clock.now
        released = self._released_at.get((agent, param_set), now)
        trace = self.context.network.trace
        if trace is not None and self.sets == 1:  # several sets can wait at once, but an agent has a single track
            trace.phase("exploit", agent, round, released, now)
        self._waits.setdefault(round, []).append(-(-(now - released) // self.clock.slot))
        self.quiet[param_set, agent] = False
        latest = self._adopting[-1] if self._adopting else None
        # An agent that adopts the same twice does so one after the other, each time without what was not included.
        alike = latest is not None and latest.param_set == param_set and latest.combined is aggregate.value
        if latest is None or not alike or agent in latest.agents:
            latest = _Adoption(param_set, aggregate.value, [], [])
            self._adopting.append(latest)
        latest.agents.append(agent)
        if included is not None:
            latest.included.append(included)

    def apply_received(self, slot: int) -> None:
        """Let the learners adopt all aggregates since the last decision, in order."""
        if self._adopting:
            adopting, self._adopting = self._adopting, []
            for param_set, combined, who, included in adopting:
                agents = np.array(who, dtype=np.int64)
                if included:
                    self.learners[param_set].included(agents, np.array(included))
                if who:
                    row = np.stack([combined[agent] for agent in who]) if self._serves else combined
                    self.learners[param_set].adopt(slot, agents, row)

    @property
    def releases(self) -> int:
        """See `CommunicationStrategy.releases`."""
        return int(self._releases.max())

    @property
    def waits(self) -> bool:
        """See `CommunicationStrategy.waits`: for the end of a round."""
        return not self.isolated

    def waiting(self) -> list[int]:
        """See `CommunicationStrategy.waiting`; an agent that has called but not yet released has waited 0 slots.

        A mute agent takes part in no round and never waits.
        """
        slot, horizon = self.clock.slot, self.clock.horizon
        sets, agents = np.nonzero(self.quiet & ~self.lies.mute)
        since: dict[int, int] = {}
        for own, agent in zip(sets.tolist(), agents.tolist(), strict=True):
            released = self._released_at.get((agent, own), self.clock.end)
            since[agent] = min(since.get(agent, horizon), -(-released // slot))
        return [horizon - slots for slots in since.values()]

    def metrics(self) -> dict[str, Metric]:
        """Return the rounds that have ended, their waiting times, and the protocol's own metrics."""
        ended = [round for round, time in self._protocol.ended.items() if time <= self.clock.end]
        waits = [slots for round in ended for slots in self._waits.get(round, [])]
        return {
            "rounds": len(ended),
            # A wait that has not ended is not a wait of zero.
            "round_slots": sum(waits) / len(waits) if waits else None if self._released_at else 0.0,
            **figures_of(self._protocol, self._protocol.figures()),
        }


class PooledRounds(CommunicationStrategy):
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
        self._rows: dict[tuple[int, int], NDArray[np.float64]] = {}  # the newest row of each agent in each incarnation
        self._incarnations = [0] * agents
        self._shares = np.zeros(agents, dtype=np.int64)
        self._due: int | None = None  # the slot of a round that has not been shared yet
        self._combined: NDArray[np.float64] | None = None  # of a learner with `serve` an answer for each agent
        self._serves = learner.has("serve")
        self._behind = np.zeros(agents, dtype=np.bool_)
        self._rounds = 0

    def open(self, learners: Learners) -> None:
        """Attach the learner, and find when it first shares."""
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
        """If a round is due, let all agents that are up share; let them adopt the sum of all rows shared so far."""
        if self._due is not None and (len(self.present) or self._rows):
            if len(self.present):
                self._share(self._due, self.present)
            self._due = None
            self._rounds += 1
            rows = [self._rows[key] for key in sorted(self._rows)]
            believed = [rows[index] for index in self.lies.valid(rows)]
            if self._serves:
                sources = [agent for agent, _ in sorted(self._rows)]
                self._combined = np.stack(answers_of(self._learner, sources, rows, len(self.everybody)))
                self._rows.clear()
            else:
                self._combined = self._learner.combine(believed) if believed else self._nothing
            self._behind[:] = True
        adopting = self.present[self._behind[self.present]]
        if len(adopting):
            assert self._combined is not None
            self._behind[adopting] = False
            self._learner.adopt(slot, adopting, self._combined[adopting] if self._serves else self._combined)

    def _share(self, slot: int, agents: NDArray[np.int64]) -> None:
        shared = self._learner.share(slot, agents)
        assert shared is not None, "in a round every agent shares"
        self._nothing = np.zeros_like(shared[0])
        for agent, row in zip(agents.tolist(), shared, strict=True):
            if not self.lies.is_mute(agent):
                self._rows[agent, self._incarnations[agent]] = self.lies.released(agent, 0, 1, row)
        self._shares[agents] += 1

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`: the others keep its observations, even if it forgets them."""
        if self._due is not None:
            self._share(self._due, self.everybody[agent : agent + 1])
        if forgets:
            self._incarnations[agent] += 1
            self._behind[agent] = self._combined is not None

    @property
    def releases(self) -> int:
        """See `CommunicationStrategy.releases`."""
        return int(self._shares.max())

    def metrics(self) -> dict[str, Metric]:
        """Return how often all shared; no agent waited."""
        return {"rounds": self._rounds, "round_slots": 0.0}
