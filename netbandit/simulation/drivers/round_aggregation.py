"""Aggregates the items of rounds for `Epochs`: agents conclude as cohorts, or individually.

`Epochs` calls it, and so does the protocol, to aggregate items and to conclude a round; it calls the learners.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from simpy.events import EventPriority

from netbandit.bandits.bandit import FiniteBandit
from netbandit.conditions.phase_feedback import PhaseRewards
from netbandit.learners.differing_sets import Answer, DifferingSets
from netbandit.learners.elimination_pooled import PooledArms
from netbandit.learners.learner import Commit, EpochLearner, Phase
from netbandit.network.clock import SENDS
from netbandit.network.message import LABEL_BYTES, NUMBER_BYTES
from netbandit.privacy.accountant import PrivacySpent
from netbandit.protocols.adapters import round_protocol
from netbandit.protocols.protocol import SERVER, CallbackRoundProtocol, Item
from netbandit.protocols.sink import Sink
from netbandit.simulation.byzantine_items import MeanLies
from netbandit.simulation.driver import ReplicationContext, concludes_per_agent
from netbandit.simulation.return_validation import checked

_CHOICES_KEPT = 4

_POOLED_BYTES = LABEL_BYTES + 4 * NUMBER_BYTES
"""Bytes per arm of an item pooled over several agents: its label, the mean, N_k, and the sums of 1/S and 1/S^2."""


def round_aggregation(context: ReplicationContext) -> "RoundAggregation":
    """Return the aggregation of a replication."""
    network = context.network
    per_agent = concludes_per_agent(
        context.learner,
        context.protocol,
        fail=network.agents_fail,
        forget=network.forgets,
        lack=context.feedback is not None and context.feedback.may_lack(context.protocol),
    )
    return (AggregationPerAgent if per_agent else RoundAggregation)(context)


@dataclass
class Epoch:
    """State shared by the agents of a cohort in one epoch.

    Attributes:
        action: Their action.
        ahead: How many members have not left the epoch.
        best: The arm that each member pulls while it waits; empty until an agent has completed the phase.
        releases: The values each member may share for the active arms, shape (members, a).
        late: How late the rewards of the phase are, where they may be.
    """

    action: Phase | Commit
    ahead: int
    best: Sequence[int] = ()
    releases: NDArray[np.float64] | None = None
    late: PhaseRewards | None = None


class Cohort:
    """Agents with a common active set, which pass through the same epochs, each at its own time.

    Args:
        number: The group's number.
        members: The agents, ascending.
        learner: Their common state.

    Attributes:
        epochs: The epochs that some members have not left.
        informed: Whether the latest round brought an answer.
    """

    def __init__(self, number: int, members: Sequence[int], learner: Any) -> None:
        self.number = number
        self.members = members
        self.learner = learner
        self.epochs: dict[int, Epoch] = {}
        self.informed = True

    def enter(self, number: int) -> Epoch:
        """Return an epoch; its first agent begins it for all."""
        epoch = self.epochs.get(number)
        if epoch is None:
            epoch = self.epochs[number] = Epoch(self.learner.begin(number), len(self.members))
        return epoch

    def leave(self, number: int) -> None:
        """Note that a member has left an epoch."""
        epoch = self.epochs[number]
        epoch.ahead -= 1
        if not epoch.ahead:
            del self.epochs[number]


class _Choice(NamedTuple):
    """The agents that take part in a round: ascending, and as a set to look them up in."""

    agents: Sequence[int]
    set: frozenset[int]


class RoundAggregation:
    """Rounds of agents with one active set: all form one cohort, or each its own if nothing is shared.

    Args:
        context: The replication context, with a finite bandit, an epoch learner and a round-based protocol.

    Attributes:
        learner: The learner that aggregates and accounts; each cohort has its own.
        lies: The lie generator.
        protocol: The started protocol.
        isolated: Whether nothing is shared.
        contributions: How often each agent has contributed, shape (M,).
    """

    turn: EventPriority = SENDS
    """Hops take effect after all that agents do at the boundary; see `Aggregation`."""
    per_agent: bool = False
    """See `Aggregation`."""
    protocol: CallbackRoundProtocol

    def __init__(self, context: ReplicationContext) -> None:
        self.context = context
        assert isinstance(context.learner, EpochLearner)
        self.learner = checked(context.learner.fresh())
        self.lies = MeanLies(context, bounded=self.learner.bounded_releases)
        self._round = 0
        self._prepare(self.learner)
        self._agents = context.bandit.agents
        self.isolated = context.protocol.isolated
        self._participating = 1 if self.isolated else self.learner.participants(self._agents)
        self._everybody = self.isolated or self._participating == self._agents
        self._chosen: dict[int, _Choice] = {}
        self.contributions = np.zeros(self._agents, dtype=np.int64)
        self._aggregated = 0
        self._cohorts: dict[int, Cohort] = {}

    def open(self) -> None:
        """Start the protocol and the learners."""
        self._start_protocol()
        groups = [[agent] for agent in range(self._agents)] if self.isolated else [range(self._agents)]
        for number, members in enumerate(groups):
            self._cohorts[number] = Cohort(number, members, self._started(len(members)))

    def _start_protocol(self) -> None:
        self.protocol = round_protocol(self.context.protocol, self.context.network, self)
        if isinstance(self.protocol, Sink) and self.lies.liars:  # sinks that lie do so in place of their components
            self.protocol.uploaded = self._uploaded

    def _started(self, members: int) -> EpochLearner:
        """Return the learner for a cohort of *members*, before its first epoch."""
        bandit = self.context.bandit
        assert isinstance(bandit, FiniteBandit)
        learner = checked(self.learner.fresh())
        self._prepare(learner)
        learner.start(
            arms=bandit.arm_count,
            horizon=self.context.run.horizon,
            members=members,
            participants=self._participating,
            smallest_gap=bandit.smallest_gap,
        )
        return learner

    def _prepare(self, learner: EpochLearner) -> None:
        """Tell an unstarted learner the number of liars."""
        learner.expect_lies(len(self.lies.liars), lambda: self.context.streams.generator("groups", self._round))

    def cohort_of(self, agent: int) -> tuple[Cohort, int]:
        """Return the cohort that *agent* enters as an incarnation of it begins, and its row there."""
        return (self._cohorts[agent], 0) if self.isolated else (self._cohorts[0], agent)

    def _uploaded(self, sink: int, round: int, item: Item) -> Item:
        """Return the item that *sink* uploads in place of its component's aggregate."""
        if item.value is None or sink not in self.lies.liars:
            return item
        action = self._cohorts[0].epochs[round].action
        assert isinstance(action, Phase)
        return Item(item.size, self.lies.sent_for_group(sink, action.arms, item.value))

    def participants(self, round: int) -> Sequence[int]:
        """Return the agents that contribute to *round*, ascending; drawn uniformly for each round."""
        return range(self._agents) if self._everybody else self._choice(round).agents

    def _choice(self, round: int) -> _Choice:
        chosen = self._chosen.get(round)
        if chosen is None:
            rng = self.context.streams.generator("participants", round)
            drawn: list[int] = rng.choice(self._agents, self._participating, replace=False).tolist()
            if len(self._chosen) == _CHOICES_KEPT:  # an agent far behind has it drawn again, and it is the same
                del self._chosen[min(self._chosen)]
            chosen = self._chosen[round] = _Choice(sorted(drawn), frozenset(drawn))
        return chosen

    def contribution(self, agent: int, cohort: Cohort, row: int, round: int) -> Item | None:
        """Return the item that *agent* contributes to *round*; None if it does not take part."""
        if not self._everybody and agent not in self._choice(round).set:
            return None
        self.contributions[agent] += 1
        return self._item(agent, cohort, row, round)

    def _item(self, agent: int, cohort: Cohort, row: int, round: int) -> Item:
        self._round = round
        epoch = cohort.epochs[round]
        action, releases = epoch.action, epoch.releases
        assert isinstance(action, Phase)
        assert releases is not None
        payload = releases[row]
        if not self.isolated:
            payload = self.lies.sent(agent, action.arms, payload, releases)
        self.learner.note_shared(agent, round, action.arms, payload)
        return Item(NUMBER_BYTES * len(action.arms), payload)

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Let the learner average those *items* that pass validation; the result has the size of one item."""
        size, valid = items[0].size, self.lies.valid(items)
        if len(valid) < len(items):
            items = [items[index] for index in valid]
            weights = None if weights is None else [weights[index] for index in valid]
        self._aggregated = len(items) if weights is None else sum(weights)
        if not items:
            return Item(size, None)
        used = weights if self.learner.weighted else None
        return Item(size, self.learner.combine([item.value for item in items], used))

    def conclude(self, round: int, group: int, aggregate: Item) -> Item:
        """Let the cohort adopt the aggregate of all items; return the remaining arms and the next participants."""
        cohort = self._cohorts[group]
        learner = cohort.learner
        if round + 1 in cohort.epochs:
            raise ValueError("others have concluded this round from something else, and all must go on alike")
        # If a round may end without some items, the learner accounts for the missing ones.
        partial = self.context.network.agents_fail or bool(self.lies.liars) or self.protocol.has_deadline
        if aggregate.value is None:  # without any estimate, no arm can be eliminated
            learner.conclude(np.zeros(len(learner.active)))
        elif not partial or self._aggregated >= self._participating:
            learner.conclude(aggregate.value)
        else:
            learner.conclude_without(aggregate.value, self._aggregated)
        chooses = isinstance(cohort.enter(round + 1).action, Phase) and self._participating < len(cohort.members)
        return Item(LABEL_BYTES * (len(learner.active) + (self._participating if chooses else 0)), None)

    def resume(self, agent: int, cohort: Cohort, round: int, answer: Item | None) -> None:
        """Note that *agent* goes on after *round*, with an *answer* or without any."""
        cohort.leave(round)

    def commit(self, agent: int, round: int) -> None:
        """Note that *agent* has committed, and contributes no more from *round* on."""

    def forget(self, agent: int) -> None:
        """Note that *agent* has lost its memory."""
        raise NotImplementedError

    def ended_rounds(self, is_up: Callable[[int], bool]) -> list[int]:
        """Return the rounds that have ended by the horizon, given whether an agent is up then."""
        return [number for number, ended in self.protocol.ended.items() if ended <= self.context.clock.end]

    def account(self, *, shared: bool) -> PrivacySpent:
        """Return the privacy spent by the agent that released most often; *shared*: releases reached others."""
        releases = int(self.contributions.max()) if shared else 0
        return self.learner.account(participants=self._participating, members=self._agents, releases=releases)

    def remarks(self) -> tuple[str, ...]:
        """Return the notes needed to interpret the metrics."""
        bandit = self.context.bandit
        assert isinstance(bandit, FiniteBandit)
        return self.learner.remarks(
            participants=self._participating,
            members=1 if self.isolated else self._agents,
            difference=float(np.ptp(bandit.agent_means, axis=0).max()),
        )


class AggregationPerAgent(RoundAggregation):
    """Rounds of agents with differing active sets: each is a cohort of one, and a new one if it loses its memory.

    State may differ if agents wait only until a deadline, receive only from nearby agents, lose their memory when down,
    or go on without some rewards. An item names its arms and how many rewards of each it stands for. An agent that
    commits announces this once, and keeps forwarding the items of others. Others keep the items that an agent has sent
    before it lost its memory.

    Args:
        context: As for `RoundAggregation`; the learner is one of `DifferingSets`.
    """

    per_agent = True

    def open(self) -> None:
        """Start the protocol; the learner of an agent starts as an incarnation of it begins."""
        self._start_protocol()
        agents = self._agents
        self._sharing = list(self.protocol.reach or [self._participating] * agents)
        self._drawn = self._participating < agents and not self.isolated and self.protocol.chooses
        self._server = self._new_learner(self._participating, agents)
        self._concluded: dict[int, set[int]] = {}
        self._committed: set[int] = set()
        self._released_as: dict[int, Cohort] = {}
        self._released_anew = False
        self._latest: tuple[Sequence[Item], Item] | None = None

    def _new_learner(self, participants: int, members: int) -> Any:
        bandit = self.context.bandit
        assert isinstance(bandit, FiniteBandit)
        learner = checked(self.learner.fresh())
        assert isinstance(learner, EpochLearner)
        assert isinstance(learner, DifferingSets)
        self._prepare(learner)
        learner.start_per_agent(
            arms=bandit.arm_count,
            horizon=self.context.run.horizon,
            participants=participants,
            members=members,
            smallest_gap=bandit.smallest_gap,
        )
        return learner

    def cohort_of(self, agent: int) -> tuple[Cohort, int]:
        """Return a cohort of *agent* alone, whose learner has just started."""
        sharing = self._sharing[agent]
        learner = self._new_learner(sharing, self._agents if self._drawn else sharing)
        learner.agent = agent  # for audits
        cohort = self._cohorts[agent] = Cohort(agent, [agent], learner)
        return cohort, 0

    def contribution(self, agent: int, cohort: Cohort, row: int, round: int) -> Item | None:
        """As in `RoundAggregation`; an agent that has missed the draw of participants does not take part."""
        return super().contribution(agent, cohort, row, round) if cohort.informed or not self._drawn else None

    def _item(self, agent: int, cohort: Cohort, row: int, round: int) -> Item:
        self._released_anew |= self._released_as.setdefault(agent, cohort) is not cohort
        learner = cohort.learner
        truth = learner.tell()
        payload = truth if self.isolated else replace(truth, means=self.lies.sent(agent, truth.arms, truth.means))
        learner.note_shared(agent, round, truth.arms, truth.means)
        return Item(
            LABEL_BYTES * len(payload.arms) + NUMBER_BYTES * (len(payload.arms) + np.size(payload.pulls)), payload
        )

    def _uploaded(self, sink: int, round: int, item: Item) -> Item:
        pooled: PooledArms = item.value
        if sink not in self.lies.liars or not len(pooled.arms):
            return item
        means = self.lies.sent_for_group(sink, pooled.arms, pooled.means)
        return Item(item.size, replace(pooled, means=means))

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Let the learner pool *items*, each of which contains the number of agents it represents."""
        items = [items[index] for index in self.lies.valid(items)]
        latest = self._latest  # agents that hold the same items usually conclude one after another
        if latest is not None and list(map(id, latest[0])) == list(map(id, items)):
            return latest[1]
        assert isinstance(self.learner, DifferingSets)
        pooled = self.learner.pool([item.value for item in items])
        found = Item(_POOLED_BYTES * len(pooled.arms), pooled)
        self._latest = items, found
        return found

    def conclude(self, round: int, group: int, aggregate: Item) -> Item:
        """Let an agent adopt the aggregate of all items it holds; or the server, which returns its answer."""
        if group != SERVER:
            learner = self._cohorts[group].learner
            learner.conclude_pooled(learner.pool([aggregate.value]))  # a protocol may give an agent's own item back
            return Item(0, None)
        answer: Answer = self._server.answer(round, aggregate.value)
        choice = self._participating if answer.commit is None and not self._everybody else 0
        return Item(LABEL_BYTES * (len(answer.active) + choice), answer)

    def resume(self, agent: int, cohort: Cohort, round: int, answer: Item | None) -> None:
        """Let *agent* adopt the *answer* of a server, or keep all arms if it has heard nothing."""
        super().resume(agent, cohort, round, answer)
        clock = self.context.clock
        if clock.now <= clock.end:
            self._concluded.setdefault(round, set()).add(agent)
        cohort.informed = answer is not None
        if answer is None:
            cohort.learner.keep()
        elif isinstance(answer.value, Answer):
            cohort.learner.adopt(answer.value)

    def commit(self, agent: int, round: int) -> None:
        """Let *agent* announce that it has committed."""
        self._committed.add(agent)
        self.protocol.done(agent, round)

    def forget(self, agent: int) -> None:
        """See `RoundAggregation.forget`."""
        self._committed.discard(agent)
        self.protocol.forget(agent)

    def ended_rounds(self, is_up: Callable[[int], bool]) -> list[int]:
        """Return the rounds that have ended, or that no agent up at the horizon takes part in any more."""
        ended = set(super().ended_rounds(is_up))
        if not self.isolated:
            up = set(filter(is_up, range(self._agents)))
            ended |= {number for number, agents in self._concluded.items() if up <= agents | self._committed}
        return sorted(ended)

    def account(self, *, shared: bool) -> PrivacySpent:
        """Return the privacy spent by the releasing agent that shares with most others, in all incarnations."""
        releases = int(self.contributions.max()) if shared else 0
        sharing = max(
            (size for size, made in zip(self._sharing, self.contributions.tolist(), strict=True) if made),
            default=max(self._sharing),
        )
        spent = self.learner.account(participants=sharing, members=self._agents, releases=releases)
        return spent.after_lost_memory() if releases and self._released_anew else spent

    def remarks(self) -> tuple[str, ...]:
        """Return the notes of `RoundAggregation`, and one if noise differs between agents."""
        remarks = super().remarks() if self.protocol.chooses else ()
        epsilon = getattr(self.learner, "epsilon", inf)
        fewest, most = min(self._sharing), max(self._sharing)
        if fewest < most and epsilon < inf:
            remarks += (
                f"agents share with {fewest} to {most} agents, and the fewer they are, the more noise each adds: the "
                f"widths take the noise of others to be as small as an agent's own",
            )
        return remarks
