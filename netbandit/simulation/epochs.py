"""The epoch driver: agents explore in phases known ahead, and share between phases.

It calls a round-based protocol, which calls back to aggregate items and to conclude a round.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from simpy import Event
from simpy.events import EventPriority

from netbandit.bandits.bandit import FiniteBandit
from netbandit.learners.learner import Commit, EpochLearner, Phase
from netbandit.network.clock import SENDS
from netbandit.network.computing import Work
from netbandit.network.message import LABEL_BYTES, NUMBER_BYTES, Kind
from netbandit.privacy.accountant import PrivacySpent
from netbandit.protocols.adapters import round_protocol
from netbandit.protocols.protocol import Item
from netbandit.protocols.sink import Sink
from netbandit.simulation.driver import Driver, DriverResult, ReplicationContext
from netbandit.simulation.figures import figures_of
from netbandit.simulation.lies import Lies
from netbandit.simulation.presence import Presence, PresenceSoFar, Recovery
from netbandit.simulation.regret import PhaseAccount, PullCounts
from netbandit.simulation.result import STILL_EXPLORING, Metric
from netbandit.simulation.return_validation import checked

EXPLORE = Kind("explore")
EXPLOIT = Kind("exploit")


@dataclass
class Epoch:
    """State shared by the agents of a cohort in one epoch.

    Attributes:
        action: Their action.
        best: The arm that each member pulls while it waits; empty if no agent completes the phase.
        releases: The values each member may share for the active arms, shape (members, a).
        ahead: The number of members that have not yet left the epoch.
    """

    action: Phase | Commit
    best: list[int]
    releases: NDArray[np.float64]
    ahead: int


class Choice(NamedTuple):
    """The agents that take part in a round: ascending, and as a set to look them up in."""

    agents: Sequence[int]
    set: frozenset[int]


_CHOICES_KEPT = 4


class Cohort:
    """Agents with a common active set, which pass through the same epochs, each at its own time.

    Args:
        number: The group's number.
        members: The agents, ascending.
        learner: Their common state.
    """

    def __init__(self, number: int, members: Sequence[int], learner: EpochLearner) -> None:
        self.number = number
        self.members = members
        self.learner = learner
        self.epochs: dict[int, Epoch] = {}


class Epochs(Driver):
    """Agents are SimPy processes that sleep through a phase, contribute, and wait for the result.

    No agent wakes for a single pull. The rewards of an epoch are drawn for a whole cohort at once, when its first agent
    begins the epoch. Pulls made while waiting enter no estimate and are only counted.

    Args:
        context: The replication context, with a finite bandit, an epoch learner and a round-based protocol.
    """

    talk = "round"
    turn: EventPriority = SENDS
    """Hops take effect after all that agents do at the boundary; see `Aggregation`."""
    apart: bool = False
    """Whether each agent concludes for itself: see `netbandit.simulation.epochs_apart`."""

    def __init__(self, context: ReplicationContext) -> None:
        super().__init__(context)
        bandit = context.bandit
        assert isinstance(bandit, FiniteBandit)
        assert isinstance(context.learner, EpochLearner)
        self._learner = checked(context.learner.fresh())
        self._bandit = bandit
        self._lies = Lies(context, bounded=self._learner.bounded_releases)
        self._round = 0
        self._prepare(self._learner)
        self._clock = context.clock
        self._agents = bandit.agents
        self._fingerprint = context.fingerprint
        self._trace = context.network.trace
        # An agent that learns alone, or may know something else than others, draws alone; what a cohort draws belongs
        # to the epoch, row i to agent i.
        self._isolated = context.protocol.isolated
        agents = range(bandit.agents)
        alone = self._isolated or self.apart
        groups = [range(agent, agent + 1) for agent in agents] if alone else [agents]
        self._own = [self._generators(agent) for agent in agents] if alone else []
        self._participating = 1 if self._isolated else self._learner.participants(bandit.agents)
        self._groups: Sequence[Sequence[int]] = groups
        self._cohorts = (
            []
            if self.apart
            else [Cohort(number, members, self._started(len(members))) for number, members in enumerate(groups)]
        )
        self._everybody = self._isolated or self._participating == bandit.agents
        self._chosen: dict[int, Choice] = {}
        self._waits: dict[int, Counter[int]] = {}
        self._waiting: dict[int, tuple[int, int, int]] = {}
        self._exploring: dict[int, int] = {}  # agents whose phase the horizon cuts, and its round
        self._contributions = np.zeros(bandit.agents, dtype=np.int64)
        self._regret = PhaseAccount(bandit.gaps, context.clock.horizon)
        # What each honest agent has pulled is asked for where some lie.
        self._pulls = PullCounts(bandit.agents, bandit.gaps, context.clock.horizon) if self._lies.liars else None
        self._is_best = bandit.gaps == 0
        self._best_lost = False
        self._aggregated = 0
        self._batteries = context.network.batteries
        self._uncounted: dict[int, Callable[[], object]] = {}  # what agents play whose end is not known
        self._presence: list[Presence] | None = None
        outages = context.network.outages
        self._recovery: Recovery | None = None
        if outages is not None and (ends := outages.ends(context.clock.end)):
            self._recovery = Recovery(ends, context.clock.slot)
        if outages is not None and outages.any_agents:
            absent = [
                partial(outages.absent_slots, agent, context.clock.slot, context.clock.horizon) for agent in agents
            ]
            known = self._batteries is None
            self._presence = [Presence(each()) if known else PresenceSoFar(each) for each in absent]

    def _started(self, members: int) -> EpochLearner:
        """Return the learner for a cohort of *members*, before its first epoch."""
        learner = checked(self._learner.fresh())
        self._prepare(learner)
        learner.start(
            arms=self._bandit.arm_count,
            horizon=self._clock.horizon,
            members=members,
            participants=self._participating,
            smallest_gap=self._bandit.smallest_gap,
        )
        return learner

    def _prepare(self, learner: EpochLearner) -> None:
        """Give an unstarted learner what it may know of lies."""
        learner.expect_lies(len(self.context.liars), lambda: self.context.streams.generator("groups", self._round))

    def start(self) -> None:
        """Start a process for every agent that acts here."""
        self._protocol = round_protocol(self.context.protocol, self.context.network, self)
        self._let_sinks_lie()
        for cohort in self._cohorts:
            for row, agent in enumerate(cohort.members):
                if agent in self.context.network.acting:
                    self._clock.environment.process(self._play(cohort, row, agent))

    def _let_sinks_lie(self) -> None:
        """Let sinks that lie do so in place of their components."""
        if isinstance(self._protocol, Sink) and self._lies.liars:
            self._protocol.uploaded = self._uploaded

    def _uploaded(self, sink: int, round: int, item: Item) -> Item:
        """Return the item that *sink* uploads in place of its component's aggregate."""
        if item.value is None or sink not in self._lies.liars:
            return item
        action = self._cohorts[0].epochs[round].action
        assert isinstance(action, Phase)
        return Item(item.size, self._lies.told_of_group(sink, action.arms, item.value))

    @property
    def waits(self) -> bool:
        """See `Driver.waits`: for the end of a round."""
        return not self._isolated

    def waiting(self) -> list[int]:
        """See `Driver.waiting`."""
        return [self._clock.horizon - since for _, since, _ in self._waiting.values()]

    def stalled(self) -> list[int]:
        """See `Driver.stalled`: whoever still explores at the horizon would contribute after it, if it comes back."""
        outages, end = self.context.network.outages, self._clock.end
        gone = {agent for agent in self._exploring if outages is not None and outages.is_gone(agent, end)}
        first = min((number for agent, number in self._exploring.items() if agent not in gone), default=inf)
        return [self._clock.horizon - since for number, since, _ in self._waiting.values() if number < first]

    def finish(self) -> DriverResult:
        """Count what agents played that were still waiting when the horizon came, and add up."""
        for agent in sorted(self._waiting):
            number, since, arm = self._waiting[agent]
            self._exploit(agent, number, since, self._clock.horizon, arm)
        for _, count in sorted(self._uncounted.items()):
            count()
        if self._presence is not None:
            honest = (one for agent, one in enumerate(self._presence) if agent not in self._lies.liars)
            played = sum(last - first for one in honest for first, last in one.spans(0, self._clock.horizon))
            assert self._regret.pulls == played, "every agent plays all slots in which it is up, and no other"
        regret, curve = self._regret.total_and_curve()
        rounds = self._ended_rounds()
        # What stays in an agent is not released: nothing is where nobody was ever told.
        told = bool(self.context.network.ledger.kinds) or (self.context.protocol.out_of_band and self._agents > 1)
        spent = self._spent(int(self._contributions.max()) if told else 0)
        metrics: dict[str, Metric] = {
            "rounds": len(rounds),
            **self._waited(rounds),
            "best_lost": int(self._best_lost),
            **self._lies.metrics(),
            **({} if self._pulls is None else {"regret_worst_agent": self._pulls.most_regret()}),
            **figures_of(self._learner, self._learner.figures(), taken=()),
            "epsilon": spent.epsilon,
            "delta": spent.delta,
            "epsilon_claimed": spent.epsilon_claimed,
        }
        if self._recovery is not None:
            metrics["recovery_slots"] = self._recovery.slots(since for _, since, _ in self._waiting.values())
        if getattr(self.context.protocol, "deadline", None) is not None:
            metrics["late"] = getattr(self._protocol, "late", 0)
        over = self._exploring and not self._waiting and not self._contributions.any()
        remarks = (*self._remarks(), *([STILL_EXPLORING] if over else []))
        return DriverResult(regret, {"regret": curve}, metrics, spent, remarks)

    def _ended_rounds(self) -> list[int]:
        """Return the rounds that have ended by the horizon."""
        return [number for number, ended in self._protocol.ended.items() if ended <= self._clock.end]

    def _spent(self, releases: int) -> PrivacySpent:
        """Return the privacy spent by the agent that released most often, *releases* times."""
        return self._learner.account(participants=self._participating, members=self._agents, releases=releases)

    def _remarks(self) -> tuple[str, ...]:
        """Return the notes needed to interpret the metrics."""
        return self._learner.remarks(
            participants=self._participating,
            members=1 if self._isolated else self._agents,
            difference=float(np.ptp(self._bandit.agent_means, axis=0).max()),
        )

    def _waited(self, rounds: Iterable[int]) -> dict[str, Metric]:
        """Return the slots from a contribution to the next phase over agents and *rounds*: mean, median and largest.

        Without any, the mean is 0 where nobody waits, and None where somebody does: a wait that did not end is none of
        zero.
        """
        waits: Counter[int] = Counter()
        for number in rounds:
            waits.update(self._waits.get(number, ()))
        agents = waits.total()
        if not agents:
            nothing = None if self._waiting else 0.0
            return {"round_slots": nothing, "round_slots_median": None, "round_slots_max": None}
        slots = sorted(waits)
        below = list(accumulate(waits[each] for each in slots))
        middle = [slots[bisect_left(below, place)] for place in ((agents + 1) // 2, agents // 2 + 1)]
        return {
            "round_slots": sum(each * count for each, count in waits.items()) / agents,
            "round_slots_median": sum(middle) / 2,
            "round_slots_max": slots[-1],
        }

    def participants(self, round: int) -> Sequence[int]:
        """Return the agents that contribute to *round*, ascending; drawn uniformly for each round."""
        return range(self._agents) if self._everybody else self._choice(round).agents

    def _choice(self, round: int) -> Choice:
        chosen = self._chosen.get(round)
        if chosen is None:
            rng = self.context.streams.generator("participants", round)
            drawn: list[int] = rng.choice(self._agents, self._participating, replace=False).tolist()
            if len(self._chosen) == _CHOICES_KEPT:  # an agent far behind has it drawn again, and it is the same
                del self._chosen[min(self._chosen)]
            chosen = self._chosen[round] = Choice(sorted(drawn), frozenset(drawn))
        return chosen

    def _takes_part(self, agent: int, round: int) -> bool:
        return self._everybody or agent in self._choice(round).set

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Let the learner average those *items* that pass validation; the result has the size of one item."""
        size, sound = items[0].size, self._lies.sound(items)
        if len(sound) < len(items):
            items = [items[place] for place in sound]
            weights = None if weights is None else [weights[place] for place in sound]
        self._aggregated = len(items) if weights is None else sum(weights)
        if not items:
            return Item(size, None)
        used = weights if self._learner.weighted else None
        return Item(size, self._learner.combine([item.value for item in items], used))

    def conclude(self, round: int, group: int, aggregate: Item) -> Item:
        """Let the cohort adopt the aggregate of all items; return the remaining arms and the next participants."""
        cohort = self._cohorts[group]
        learner = cohort.learner
        if round + 1 in cohort.epochs:
            raise ValueError("others have concluded this round from something else, and all must go on alike")
        # If a round may end without some items, the learner accounts for the missing ones.
        partial = (
            self._presence is not None
            or bool(self._lies.liars)
            or getattr(self._protocol, "deadline", None) is not None
        )
        if aggregate.value is None:  # without any estimate, no arm can be eliminated
            learner.conclude(np.zeros(len(learner.active)))
        elif not partial or self._aggregated >= self._participating:
            learner.conclude(aggregate.value)
        else:
            learner.conclude_without(aggregate.value, self._aggregated)
        following = learner.begin(round + 1)
        cohort.epochs[round + 1] = Epoch(following, [], np.empty((0, 0)), len(cohort.members))
        choice = (
            self._participating if isinstance(following, Phase) and self._participating < len(cohort.members) else 0
        )
        return Item(LABEL_BYTES * (len(learner.active) + choice), None)

    def _play(self, cohort: Cohort, row: int, agent: int) -> Generator[Event, Any, None]:
        """Run one agent: explore, contribute, wait, and repeat; finally commit to one arm."""
        clock = self._clock
        horizon = clock.horizon
        start = 0
        number = 1
        while start < horizon:
            start = yield from self._until_present(agent, start)
            if start >= horizon:
                return
            epoch = self._enter(cohort, number, start)
            action = epoch.action
            self._look_for_best(agent, action)
            if isinstance(action, Commit):
                self._fingerprint.record(start * clock.slot, agent, EXPLOIT.code, action.arm)
                self._count_to_the_end(agent, partial(self._exploit, agent, 0, start, horizon, action.arm))
                return
            self._fingerprint.record(start * clock.slot, agent, EXPLORE.code, action.slots)
            explore = partial(self._explore, cohort, number, agent, start, action)
            end = yield from self._until_explored(agent, start, action.slots, explore)
            self._note("explore", agent, number, start, min(end, horizon), arms=len(action.arms))
            if end >= horizon:
                self._exploring[agent] = number
                return
            end = yield from self._until_present(agent, end)
            if end >= horizon:
                return
            yield clock.wait_until(end)
            if self._lies.is_mute(agent):
                return
            item = None
            if self._takes_part(agent, number):
                self._round = number
                told = epoch.releases[row]
                if not self._isolated:
                    told = self._lies.told(agent, action.arms, told, epoch.releases)
                item = Item(NUMBER_BYTES * len(action.arms), told)
                self._learner.note_shared(agent, number, action.arms, item.value)
                self._contributions[agent] += 1
            best = epoch.best[row]
            self._waiting[agent] = number, end, best
            self._fingerprint.record(end * clock.slot, agent, EXPLOIT.code, best)
            if item is not None and not (yield from self._compute(agent, "item")):
                return
            yield self._protocol.contribute(number, agent, item)
            if not self._protocol.served:
                yield from self._compute(agent, "aggregate")
            del self._waiting[agent]
            start = clock.boundary(clock.now)
            self._exploit(agent, number, end, min(start, horizon), best)
            self._wait_ended(number, end, start)
            epoch.ahead -= 1
            if not epoch.ahead:
                del cohort.epochs[number]
            number += 1

    def _look_for_best(self, agent: int, action: Phase | Commit) -> None:
        """Note if an honest agent goes on without the best arm, of which there may be several."""
        left = action.arm if isinstance(action, Commit) else action.arms
        self._best_lost |= agent not in self._lies.liars and not self._is_best[left].any()

    def _explore(self, cohort: Cohort, number: int, agent: int, start: int, phase: Phase) -> int:
        """Count what *agent* plays in a phase from slot *start* on; return the boundary at which it ends."""
        if self._presence is None:
            if agent not in self._lies.liars:
                self._regret.explore(start, (cohort.number, number), phase.arms, phase.pulls)
                if self._pulls is not None:
                    self._pulls.explore(agent, start, phase.arms, phase.pulls)
            return start + phase.slots
        # A phase goes on after slots in which the agent was down, and its pulls are complete.
        presence, horizon = self._presence[agent], self._clock.horizon
        for arm in phase.arms.tolist():
            if start >= horizon:
                break
            end = presence.end(start, phase.pulls)
            self._count(agent, start, min(end, horizon), arm)
            start = end
        return start

    def _count(self, agent: int, start: int, end: int, arm: int) -> None:
        if agent in self._lies.liars:
            return
        for first, last in self._present(agent, start, end):
            self._regret.exploit(first, last, arm)
            if self._pulls is not None:
                self._pulls.exploit(agent, first, last, arm)

    def _next_present(self, agent: int, slot: int) -> int:
        return slot if self._presence is None else self._presence[agent].next(slot)

    def _until_present(self, agent: int, slot: int) -> Generator[Event, Any, int]:
        """Return the first slot from *slot* on in which *agent* is up, waiting for it if outages are not known ahead.

        A slot at or after the horizon means that there is none.
        """
        clock = self._clock
        if self._batteries is None:
            return self._next_present(agent, slot)
        while (slot := max(slot, clock.boundary(clock.now))) < clock.horizon:
            yield clock.wait_until(slot)
            if not self.context.network.is_down(agent):
                break
            yield from self._until_back(agent)
        return slot

    def _compute(self, agent: int, work: Work) -> Generator[Event, Any, bool]:
        """Let *agent* do a job of its own, anew if it goes down before the end; return whether the run goes on then.

        Who loses its memory begins a new life instead.
        """
        network, clock = self.context.network, self._clock
        computing = None if self._isolated else network.computing
        while computing is not None and computing.takes(agent, work):
            if network.is_down(agent):
                slot = yield from self._until_present(agent, clock.boundary(clock.now))
                if slot >= clock.horizon:
                    return False
                yield clock.wait_until(slot)
            done = Event(clock.environment)
            dropped = None if network.forgets else partial(done.succeed, False)
            computing.submit(agent, work, partial(_finish, done), dropped=dropped)
            if (yield done):
                break
        return clock.now < clock.end

    def _until_back(self, agent: int) -> Generator[Event, Any, None]:
        """Wait until *agent*, which has run out of energy, is back up."""
        assert self._batteries is not None
        back = Event(self._clock.environment)
        self._batteries.when_back(agent, back.succeed)
        yield back

    def _until_explored(
        self, agent: int, start: int, slots: int, explore: Callable[[], int]
    ) -> Generator[Event, Any, int]:
        """Return the boundary at which *agent* has explored from slot *start* on, once that has come if it must.

        Args:
            agent: The agent.
            start: The slot in which it begins.
            slots: How many slots it explores.
            explore: Counts what it has played, and returns that boundary.
        """
        if self._batteries is None or self._presence is None:
            return explore()
        clock = self._clock
        self._uncounted[agent] = explore
        while True:
            while self.context.network.is_down(agent):
                yield from self._until_back(agent)
            end = self._presence[agent].end(start, slots)
            if end >= clock.horizon:
                return end
            if end * clock.slot <= clock.now:
                del self._uncounted[agent]
                return explore()
            yield clock.wait_until(end)

    def _count_to_the_end(self, agent: int, count: Callable[[], object]) -> None:
        """Count the pulls of *agent* up to the horizon: now, or at the horizon if its outages are not known ahead."""
        if self._batteries is None:
            count()
        else:
            self._uncounted[agent] = count

    def _present(self, agent: int, start: int, end: int) -> list[tuple[int, int]]:
        return [(start, end)] if self._presence is None else self._presence[agent].spans(start, end)

    def _exploit(self, agent: int, round: int, start: int, end: int, arm: int) -> None:
        """Count what *agent* plays from slot *start* to *end* while it waits for *round*, or for none any more: 0."""
        self._count(agent, start, end, arm)
        self._note("exploit", agent, round, start, end, arm=arm)

    def _note(self, phase: str, agent: int, round: int, start: int, end: int, **details: int) -> None:
        """Write to the trace what *agent* does from slot *start* to *end*."""
        if self._trace is not None:
            slot = self._clock.slot
            self._trace.phase(phase, agent, round, start * slot, end * slot, **details)

    def _wait_ended(self, round: int, begin: int, end: int) -> None:
        self._waits.setdefault(round, Counter())[end - begin] += 1
        if self._recovery is not None:
            self._recovery.waited(begin, end)

    def _enter(self, cohort: Cohort, number: int, start: int) -> Epoch:
        """Return the epoch that an agent begins at slot *start*; its first agent draws for the whole cohort."""
        learner = cohort.learner
        epoch = cohort.epochs.get(number)
        if epoch is None:
            epoch = cohort.epochs[number] = Epoch(learner.begin(number), [], np.empty((0, 0)), len(cohort.members))
        action = epoch.action
        # Nobody begins the epoch earlier, so if the horizon cuts this phase it cuts all, and none of it is used.
        if isinstance(action, Phase) and not epoch.best and start + action.slots < self._clock.horizon:
            members = np.asarray(cohort.members, dtype=np.int64)
            rewards, noise = self._own[cohort.number] if self._isolated else self._generators(number)
            learner.observe(self._bandit.pull_blocks(rewards, members, action.arms, action.pulls), noise)
            epoch.best = learner.best_arms.tolist()
            epoch.releases = learner.releases
        return epoch

    def _generators(self, index: int) -> tuple[np.random.Generator, np.random.Generator]:
        return self.context.streams.generator("rewards", index), self.context.streams.generator("noise", index)


def _finish(done: Event, _: object) -> None:
    done.succeed(True)
