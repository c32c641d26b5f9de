"""The epoch driver: agents explore in phases known ahead, and share between phases.

It calls a round-based protocol and `round_aggregation`, which the protocol calls to conclude a round.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import accumulate
from math import inf
from typing import Any

import numpy as np
from simpy import Event

from netbandit.bandits.bandit import FiniteBandit
from netbandit.learners.learner import Commit, Phase
from netbandit.network.computing import Work
from netbandit.network.message import Kind
from netbandit.simulation.build_feedback import build_feedback, rewards_may_lack
from netbandit.simulation.driver import Driver, DriverResult, ReplicationContext
from netbandit.simulation.phase_feedback import FOR_EVER, PhaseFeedback
from netbandit.simulation.regret import PhaseAccount, PullCounts
from netbandit.simulation.result import STILL_EXPLORING, Metric
from netbandit.simulation.return_validation import figures_of
from netbandit.simulation.round_aggregation import Cohort, Epoch, round_aggregation
from netbandit.simulation.up_slots import Recovery, UpSlots, UpSlotsSoFar
from netbandit.util.text import pluralize
from netbandit.util.units import Duration

EXPLORE = Kind("explore")
EXPLOIT = Kind("exploit")


class Epochs(Driver):
    """Agents are SimPy processes that sleep through a phase, contribute, and wait for the result.

    Epoch number n of an agent begins with its phase n, in which it explores, and ends with round n of the protocol,
    which brings the result.

    No agent wakes for a single pull. The rewards of an epoch are drawn for a whole cohort at once, before its first
    agent explores. Pulls made while waiting enter no estimate and are only counted. If rewards are late, a phase is
    over once its last reward has come, or the agent goes on without: meanwhile it pulls its best arm.

    If agents lose their memory, each of an agent's incarnations starts with the first epoch in the first slot after it
    comes back up, and ends when it goes down.

    Args:
        context: The replication context, with a finite bandit, an epoch learner and a round-based protocol.
    """

    pattern = "round"

    def __init__(self, context: ReplicationContext) -> None:
        super().__init__(context)
        bandit, network, clock = context.bandit, context.network, context.clock
        assert isinstance(bandit, FiniteBandit)
        self.aggregation = round_aggregation(context)
        self._lies = self.aggregation.lies
        self._bandit = bandit
        self._clock = clock
        self._agents = bandit.agents
        self._fingerprint = context.fingerprint
        self._trace = network.trace
        agents = range(bandit.agents)
        # An agent that learns alone, or may know something else than others, draws alone; what a cohort draws belongs
        # to the epoch, row i to agent i.
        alone = self.aggregation.isolated or self.aggregation.per_agent
        self._own = [self._generators(agent) for agent in agents] if alone else []
        self._forgets = self.aggregation.per_agent and network.forgets
        self._waits: dict[int, Counter[int]] = {}
        self._computing: Counter[int] = Counter()  # for how long (ns) nodes computed in the waits of each round
        self._waiting: dict[int, tuple[int, int, int]] = {}
        self._exploring: dict[int, int] = {}  # agents whose phase the horizon cuts, and its round
        self._regret = PhaseAccount(bandit.gaps, clock.horizon)
        # What each honest agent has pulled is asked for where some lie.
        self._pulls = PullCounts(bandit.agents, bandit.gaps, clock.horizon) if self._lies.liars else None
        self._is_best = bandit.gaps == 0
        self._best_lost = False
        self._lack = rewards_may_lack(context.feedback, context.protocol)
        self._feedback = self._late_feedback()
        self._lacking: list[int] = []  # until when each agent waits that lacks rewards at the horizon
        self._batteries = network.batteries
        self._uncounted: dict[int, Callable[[], object]] = {}  # what agents play whose end is not known
        self._up_slots: list[UpSlots] | None = None
        outages = network.outages
        self._recovery: Recovery | None = None
        if outages is not None and (ends := outages.ends(clock.end)):
            self._recovery = Recovery(ends, clock.slot)
        if outages is not None and outages.any_agents:
            absent = [partial(outages.absent_slots, agent, clock.slot, clock.horizon) for agent in agents]
            known = self._batteries is None
            self._up_slots = [UpSlots(each()) if known else UpSlotsSoFar(each) for each in absent]

    def _late_feedback(self) -> PhaseFeedback | None:
        """Return how late the rewards of phases are; None: they are learned at once."""
        context = self.context
        plan = build_feedback(context.feedback, self._clock.slot, context.topology.names)
        if plan is None:
            return None
        deadline = context.protocol.feedback_deadline
        patience = None if deadline is None else Duration(deadline).nanoseconds(self._clock.slot)
        return PhaseFeedback(plan, context.streams, self._agents, self._clock.slot, self._clock.horizon, patience)

    def start(self) -> None:
        """Start a process for every agent that acts here and is up."""
        network = self.context.network
        # Who goes down is forgotten before the clock that ends rounds looks at who is left.
        down = set(network.watch_agents(self._changed)) if self._forgets else set()
        self.aggregation.open()
        for agent in network.acting:
            if agent not in down:
                self._clock.environment.process(self._live(agent))

    @property
    def waits(self) -> bool:
        """See `Driver.waits`: for the end of a round."""
        return not self.aggregation.isolated

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
        if self._up_slots is not None:
            honest = (one for agent, one in enumerate(self._up_slots) if agent not in self._lies.liars)
            played = sum(last - first for one in honest for first, last in one.spans(0, self._clock.horizon))
            assert self._regret.pulls == played, "every agent plays all slots in which it is up, and no other"
        regret, curve = self._regret.total_and_curve()
        learner, protocol = self.aggregation.learner, self.aggregation.protocol
        last = self._clock.horizon - 1
        rounds = self.aggregation.ended_rounds(lambda agent: self._next_present(agent, last) == last)
        # What stays in an agent is not released: nothing is where nobody was ever told.
        told = bool(self.context.network.ledger.kinds) or (self.context.protocol.out_of_band and self._agents > 1)
        spent = self.aggregation.account(told=told)
        metrics: dict[str, Metric] = {
            "rounds": len(rounds),
            **self._waited(rounds),
            "best_lost": int(self._best_lost),
            **self._lies.metrics(),
            **({} if self._pulls is None else {"regret_worst_agent": self._pulls.most_regret()}),
            **figures_of(learner, learner.figures(), taken=()),
            "epsilon": spent.epsilon,
            "delta": spent.delta,
            "epsilon_claimed": spent.epsilon_claimed,
        }
        if self._recovery is not None:
            metrics["recovery_slots"] = self._recovery.slots(since for _, since, _ in self._waiting.values())
        if getattr(self.context.protocol, "deadline", None) is not None:
            metrics["late"] = getattr(protocol, "late", 0)
        if self._feedback is not None:
            metrics |= self._feedback.metrics(self._agents - len(self._lies.liars))
        over = self._exploring and not (self._waiting or self._lacking or self.aggregation.contributions.any())
        remarks = (*self.aggregation.remarks(), *([STILL_EXPLORING] if over else []), *self._lacks())
        return DriverResult(regret, {"regret": curve}, metrics, spent, remarks)

    @property
    def _computed(self) -> int:
        """For how long (ns) any node has computed so far."""
        computing = self.context.network.computing
        return 0 if computing is None else computing.together()

    def _lacks(self) -> Iterator[str]:
        """Yield how many agents lack rewards of a phase at the horizon."""
        if self._lacking:
            endless = self._lacking.count(FOR_EVER)
            text = f"{pluralize(len(self._lacking), 'agent')} lacked late rewards of a phase at the horizon"
            yield f"{text}, {endless} of them for ever: feedback.window or protocol.feedback_deadline ends such waits"

    def _waited(self, rounds: Iterable[int]) -> dict[str, Metric]:
        """Return the slots from a contribution to the next phase over agents and *rounds*: mean, median and largest.

        Where nodes compute, and in how many of these slots some did.

        Without any, the mean is 0 where nobody waits, and None where somebody does: a wait that did not end is none of
        zero.
        """
        waits: Counter[int] = Counter()
        computed = 0
        for number in rounds:
            waits.update(self._waits.get(number, ()))
            computed += self._computing[number]
        agents = waits.total()
        if not agents:
            nothing = None if self._waiting else 0.0
            return {"round_slots": nothing, "round_slots_median": None, "round_slots_max": None}
        slots = sorted(waits)
        below = list(accumulate(waits[each] for each in slots))
        middle = [slots[bisect_left(below, place)] for place in ((agents + 1) // 2, agents // 2 + 1)]
        found: dict[str, Metric] = {
            "round_slots": sum(each * count for each, count in waits.items()) / agents,
            "round_slots_median": sum(middle) / 2,
            "round_slots_max": slots[-1],
        }
        if self.context.network.computing is not None:
            found["round_computing_slots"] = computed / self._clock.slot / agents
        return found

    def _live(self, agent: int) -> Generator[Event, Any, None]:
        """Run one incarnation of an agent: explore, contribute, wait, and repeat; finally commit to one arm."""
        clock, rounds = self._clock, self.aggregation
        limit = self._life_end(agent)
        cohort, row = rounds.cohort_of(agent)
        start, number = clock.boundary(clock.now), 1
        while (start := (yield from self._until_present(agent, start))) < limit:
            epoch = cohort.enter(number)
            action = epoch.action
            self._look_for_best(agent, action)
            if isinstance(action, Commit):
                if rounds.per_agent:  # which it announces
                    yield clock.wait_until(start)
                self._fingerprint.record(start * clock.slot, agent, EXPLOIT.code, action.arm)
                self._count_to_the_end(agent, partial(self._exploit, agent, 0, start, limit, action.arm))
                rounds.commit(agent, number)
                return
            self._fingerprint.record(start * clock.slot, agent, EXPLORE.code, action.slots)
            explore = partial(self._explore, (cohort.number, number), agent, start, limit, action)
            end = yield from self._until_explored(agent, start, action.slots, explore)
            self._note("explore", agent, number, start, min(end, limit), arms=len(action.arms))
            if end >= clock.horizon:
                self._exploring[agent] = number
                return
            end = yield from self._until_present(agent, end)
            if end >= limit:
                return
            if not epoch.best and epoch.late is None:
                self._observe(cohort, number, epoch, action)
            if epoch.late is not None:
                end = yield from self._until_learned(agent, cohort, row, number, start, end, limit)
                if end >= limit:
                    return
            yield clock.wait_until(end)
            if self._lies.is_mute(agent):
                return
            item = rounds.contribution(agent, cohort, row, number)
            best = epoch.best[row]
            self._waiting[agent] = number, end, best
            computed = self._computed
            self._fingerprint.record(end * clock.slot, agent, EXPLOIT.code, best)
            if item is not None and not (yield from self._compute(agent, "item")):
                return
            answer = yield rounds.protocol.contribute(number, agent, item)
            if answer is not None and not rounds.protocol.served:
                yield from self._compute(agent, "aggregate")
            del self._waiting[agent]
            start = clock.boundary(clock.now)
            self._exploit(agent, number, end, min(start, limit), best)
            self._wait_ended(number, end, start)
            self._computing[number] += self._computed - computed
            rounds.resume(agent, cohort, number, answer)
            number += 1

    def _observe(self, cohort: Cohort, number: int, epoch: Epoch, phase: Phase) -> None:
        """Draw the rewards of an epoch for the whole cohort."""
        members = np.asarray(cohort.members, dtype=np.int64)
        rewards, noise = self._own[cohort.number] if self._own else self._generators(number)
        if self._feedback is None:
            sums = self._bandit.pull_blocks(rewards, members, phase.arms, phase.pulls)
        else:
            epoch.late = self._feedback.of_phase(self._bandit, rewards, members, phase)
            if self._lack:  # what an agent learns is known when it goes on
                return
            sums = epoch.late.sums
        cohort.learner.observe(sums, noise)
        epoch.best, epoch.releases = cohort.learner.best_arms.tolist(), cohort.learner.releases

    def _until_learned(
        self, agent: int, cohort: Cohort, row: int, number: int, start: int, end: int, limit: int
    ) -> Generator[Event, Any, int]:
        """Let *agent* pull its best arm from slot *end* on, until it has the feedback of its phase.

        Return the slot in which it goes on; one from *limit* on means that it does not.
        """
        clock, feedback, epoch, learner = self._clock, self._feedback, cohort.epochs[number], cohort.learner
        assert feedback is not None
        assert epoch.late is not None
        slots = np.concatenate([np.arange(*span) for span in self._present(agent, start, end)])
        awaited = feedback.of_agent(epoch.late, row, slots, end)
        until, arm = awaited.until, -1

        def ended(stop: int) -> None:
            if stop > end:
                self._count(agent, end, stop, arm)
                self._note("feedback", agent, number, end, stop, arm=arm)
            if agent not in self._lies.liars:
                feedback.note(awaited, end, stop, None if self._up_slots is None else self._up_slots[agent].next)

        if until > end:
            sums, pulls = awaited.known(end)
            if epoch.best:  # its learner has observed all of them
                sums, pulls = sums - awaited.sums, pulls - awaited.slots.shape[1]
            arm = learner.best_given(row, sums, pulls)
            self._fingerprint.record(end * clock.slot, agent, EXPLOIT.code, arm)
            if until >= limit:
                if limit == clock.horizon:
                    self._lacking.append(until)
                    if until < FOR_EVER:
                        self._exploring[agent] = number
                self._count_to_the_end(agent, partial(ended, limit))
                return limit
            if self._batteries is not None:
                self._uncounted[agent] = partial(ended, limit)
            yield clock.wait_until(until)
            until = yield from self._until_present(agent, until)
            self._uncounted.pop(agent, None)
        stop = max(until, end)
        ended(min(stop, limit))
        if not epoch.best and stop < limit:
            sums, pulls = awaited.known(stop)
            learner.observe_some(sums[np.newaxis], pulls)
            epoch.best = learner.best_arms.tolist()
        return stop

    def _life_end(self, agent: int) -> int:
        """Return the first slot that *agent* no longer plays in the incarnation that it begins now."""
        horizon = self._clock.horizon
        outages = self.context.network.outages
        if not self._forgets or outages is None:
            return horizon
        down = outages.node(agent).down(self._clock.now)
        return horizon if down == inf else min(horizon, self._clock.boundary(int(down)))

    def _changed(self, agent: int, up: bool) -> None:
        """Start a new incarnation of *agent*, or let it forget its state."""
        if up:
            self._clock.environment.process(self._live(agent))
            return
        self._exploring.pop(agent, None)
        waiting = self._waiting.pop(agent, None)
        if waiting is not None:
            number, since, arm = waiting
            self._exploit(agent, number, since, min(self._clock.boundary(self._clock.now), self._clock.horizon), arm)
        self.aggregation.forget(agent)

    def _look_for_best(self, agent: int, action: Phase | Commit) -> None:
        """Note if an honest agent goes on without the best arm, of which there may be several."""
        left = action.arm if isinstance(action, Commit) else action.arms
        self._best_lost |= agent not in self._lies.liars and not self._is_best[left].any()

    def _explore(self, epoch: tuple[int, int], agent: int, start: int, limit: int, phase: Phase) -> int:
        """Count what *agent* plays in a phase from slot *start* on; return the boundary at which it ends.

        A phase goes on after slots in which the agent was down, and its pulls are complete.
        """
        if self._up_slots is None and not self.aggregation.per_agent:
            if agent not in self._lies.liars:
                self._regret.explore(start, epoch, phase.arms, phase.pulls)
                if self._pulls is not None:
                    self._pulls.explore(agent, start, phase.arms, phase.pulls)
            return start + phase.slots
        for place, arm in enumerate(phase.arms.tolist()):
            if start >= limit:  # what the horizon cuts may be of any length
                return start + phase.pulls * (len(phase.arms) - place)
            end = start + phase.pulls if self._up_slots is None else self._up_slots[agent].end(start, phase.pulls)
            self._count(agent, start, min(end, limit), arm)
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
        return slot if self._up_slots is None else self._up_slots[agent].next(slot)

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
        computing = None if self.context.protocol.isolated else network.computing
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
        self._batteries.when_up(agent, back.succeed)
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
        if self._batteries is None or self._up_slots is None:
            return explore()
        clock = self._clock
        self._uncounted[agent] = explore
        while True:
            while self.context.network.is_down(agent):
                yield from self._until_back(agent)
            end = self._up_slots[agent].end(start, slots)
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
        return [(start, end)] if self._up_slots is None else self._up_slots[agent].spans(start, end)

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

    def _generators(self, index: int) -> tuple[np.random.Generator, np.random.Generator]:
        return self.context.streams.generator("rewards", index), self.context.streams.generator("noise", index)


def _finish(done: Event, _: object) -> None:
    done.succeed(True)
