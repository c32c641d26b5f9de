"""The epoch driver: agents explore in phases known ahead, and share between phases.

It calls a round-based protocol and `round_aggregation`, which the protocol calls to conclude a round. `presence` says
when agents are up, `phase_learning` when they know their rewards, `honest_regret` whose regret counts.
"""

from collections.abc import Generator
from functools import partial
from math import inf
from typing import Any

import numpy as np
from simpy import Event

from netbandit.bandits.bandit import FiniteBandit
from netbandit.learners.learner import Commit, Phase
from netbandit.network.computing import Work
from netbandit.simulation.answers import ANSWERS, PhaseAnswers
from netbandit.simulation.driver import Driver, DriverResult, ReplicationContext
from netbandit.simulation.drivers.honest_regret import HonestRegret
from netbandit.simulation.drivers.own_jobs import do_job
from netbandit.simulation.drivers.phase_learning import EXPLOIT, EXPLORE, phase_learning
from netbandit.simulation.drivers.presence import presence_of
from netbandit.simulation.drivers.round_aggregation import Cohort, round_aggregation
from netbandit.simulation.drivers.round_waits import RoundWaits
from netbandit.simulation.result import STILL_EXPLORING, Metric
from netbandit.simulation.return_validation import figures_of


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

    def __init__(self, context: ReplicationContext) -> None:
        super().__init__(context)
        bandit, network, clock = context.bandit, context.network, context.clock
        assert isinstance(bandit, FiniteBandit)
        self.aggregation = round_aggregation(context)
        self._lies = self.aggregation.lies
        self._clock = clock
        self._agents = bandit.agents
        self._best = float(bandit.global_means.max())
        self._fingerprint = context.fingerprint
        self._trace = network.trace
        self._presence = presence_of(network, forgets=self.aggregation.per_agent and network.forgets)
        self._regret = HonestRegret(
            bandit.gaps,
            bandit.agents,
            self._lies.liars,
            self._presence,
            clock.horizon,
            together=not self.aggregation.per_agent,
            idle=context.run.idle,
        )
        honest = np.isin(np.arange(self._agents), list(self._lies.liars), invert=True)
        self._answers = PhaseAnswers(bandit, honest)
        self._waits = RoundWaits(network)
        self._exploring: dict[int, int] = {}  # agents whose phase the horizon cuts, and its round
        self._learning = phase_learning(context, self.aggregation, self._presence, self._pulled, self._exploring)

    def start(self) -> None:
        """Start a process for every agent that acts here and is up."""
        network = self.context.network
        # Who goes down is forgotten before the clock that ends rounds looks at who is left.
        down = set(self._presence.watch(self._changed)) if self._presence.forgets else set()
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
        return self._waits.lengths()

    def stalled(self) -> list[int]:
        """See `Driver.stalled`: whoever still explores at the horizon would contribute after it, if it comes back."""
        gone = self._presence.is_gone
        first = min((number for agent, number in self._exploring.items() if not gone(agent)), default=inf)
        return self._waits.lengths(before=first)

    def finish(self) -> DriverResult:
        """Count what agents played that were still waiting when the horizon came, and add up."""
        for agent in sorted(self._waits.now):
            number, since, arm = self._waits.now[agent]
            self._exploit(agent, number, since, self._clock.horizon, arm)
        self._presence.close()
        regret, curve = self._regret.total_and_curve()
        self._answers.close()
        horizon, presence = self._clock.horizon, self._presence
        for agent, stopped in enumerate(self._answers.stopped.tolist()):
            self._answers.samples[agent] = sum(b - a for a, b in presence.spans(agent, 0, stopped or horizon))
        up = np.array([presence.next(agent, horizon - 1) == horizon - 1 for agent in range(self._agents)])
        learner, protocol = self.aggregation.learner, self.aggregation.protocol
        last = self._clock.horizon - 1
        rounds = self.aggregation.ended_rounds(lambda agent: self._presence.next(agent, last) == last)
        # Releases count only if others could receive them: over links, or out of band.
        shared = bool(self.context.network.ledger.kinds) or (self.context.protocol.out_of_band and self._agents > 1)
        spent = self.aggregation.account(shared=shared)
        metrics: dict[str, Metric] = {
            "reward": self._regret.pulls * self._best - regret,
            "rounds": len(rounds),
            **self._waits.metrics(rounds),
            "best_lost": self._regret.best_lost,
            **self._lies.metrics(),
            **self._regret.metrics(),
            **self._answers.metrics(horizon - 1, self._answers.of_all, self._answers.local, up),
            **({"decisions": self._regret.pulls} if self.context.run.idle else {}),
            **figures_of(learner, learner.figures(), taken=ANSWERS),
            "epsilon": spent.epsilon,
            "delta": spent.delta,
            "epsilon_claimed": spent.epsilon_claimed,
            **self._waits.recovery(),
        }
        if getattr(self.context.protocol, "deadline", None) is not None:
            metrics["late"] = getattr(protocol, "late", 0)
        metrics |= self._learning.metrics(self._agents - len(self._lies.liars))
        over = self._exploring and not (
            self._waits.now or self._learning.lacking or self.aggregation.contributions.any()
        )
        remarks = (*self.aggregation.remarks(), *([STILL_EXPLORING] if over else []), *self._learning.remarks())
        curves = {"regret": curve, **self._answers.curves(horizon)}
        return DriverResult(regret, curves, metrics, spent, remarks, self._answers.of_agents)

    def answered(self) -> int:
        """See `Driver.answered`."""
        horizon, agents, presence = self._clock.horizon, range(self._agents), self._presence
        ends = {end for agent in agents for _, end in presence.spans(agent, 0, horizon) if end < horizon}
        return self._answers.over(lambda agent, slot: presence.next(agent, slot) == slot, ends) or horizon

    def _live(self, agent: int) -> Generator[Event, Any, None]:
        """Run one incarnation of an agent: explore, contribute, wait, and repeat; finally commit to one arm."""
        clock, rounds, presence = self._clock, self.aggregation, self._presence
        limit = presence.life_end(agent)
        cohort, row = rounds.cohort_of(agent)
        start, number = clock.boundary(clock.now), 1
        while (start := (yield from presence.until_up(agent, start))) < limit:
            epoch = cohort.enter(number)
            action = epoch.action
            self._goes_on_with(agent, action)
            if isinstance(action, Commit):  # the last epoch: one arm up to the horizon
                if rounds.per_agent:  # it announces that it commits, not before this slot
                    yield clock.wait_until(start)
                self._fingerprint.record(start * clock.slot, agent, EXPLOIT.code, action.arm)
                self._answer(agent, cohort, row, start + 1, action.arm, stops=True)
                last = start + 1 if self.context.run.idle else limit
                presence.count_to_the_end(agent, partial(self._exploit, agent, 0, start, last, action.arm))
                rounds.commit(agent, number)
                return
            self._fingerprint.record(start * clock.slot, agent, EXPLORE.code, action.slots)
            explore = partial(self._regret.explore, (cohort.number, number), agent, start, limit, action)
            end = yield from presence.until_played(agent, start, action.slots, explore)
            self._note("explore", agent, number, start, min(end, limit), arms=len(action.arms))
            if end >= clock.horizon:  # the phase is cut short: it has nothing to contribute
                self._exploring[agent] = number
                return
            end = yield from presence.until_up(agent, end)
            if end >= limit:  # it is down until then; if it has lost its memory, `_changed` starts anew
                return
            end = yield from self._learning.until_known(agent, cohort, row, number, start, end, limit)
            if end >= limit:  # its last reward comes later
                return
            yield clock.wait_until(end)
            if self._lies.is_mute(agent):  # it contributes no more, and its regret does not count
                return
            item = rounds.contribution(agent, cohort, row, number)
            best = epoch.best[row]
            self._answer(agent, cohort, row, end, best)
            self._waits.begin(agent, number, end, best)
            self._fingerprint.record(end * clock.slot, agent, EXPLOIT.code, best)
            if item is not None and not (yield from self._do(agent, "item")):  # the job ends after the run
                return
            answer = yield rounds.protocol.contribute(number, agent, item)
            if answer is not None and not rounds.protocol.served:  # else the server has put it together
                yield from self._do(agent, "aggregate")
            start = clock.boundary(clock.now)
            self._waits.end(agent, start)
            self._exploit(agent, number, end, min(start, limit), best)
            rounds.resume(agent, cohort, number, answer)
            number += 1

    def _answer(self, agent: int, cohort: Cohort, row: int, slots: int, arm: int, *, stops: bool = False) -> None:
        local = cohort.learner.local_answers()
        self._answers.answer(slots, agent, arm, arm if local is None else int(local[row]), stops=stops)

    def _do(self, agent: int, work: Work) -> Generator[Event, Any, bool]:
        """Let *agent* do a job, if it shares what it learns; return whether the run goes on then."""
        if self.aggregation.isolated:
            return self._clock.now < self._clock.end
        return (yield from do_job(self.context.network, self._presence, agent, work))

    def _changed(self, agent: int, up: bool) -> None:
        """Start a new incarnation of *agent*, or let it forget its state."""
        if up:
            self._answers.forget(self._clock.boundary(self._clock.now), agent)
            self._clock.environment.process(self._live(agent))
            return
        self._exploring.pop(agent, None)
        waiting = self._waits.now.pop(agent, None)
        if waiting is not None:
            number, since, arm = waiting
            self._exploit(agent, number, since, min(self._clock.boundary(self._clock.now), self._clock.horizon), arm)
        self.aggregation.forget(agent)

    def _goes_on_with(self, agent: int, action: Phase | Commit) -> None:
        """Note what *agent* does in the epoch that it enters."""
        self._regret.goes_on_with(agent, action)

    def _exploit(self, agent: int, round: int, start: int, end: int, arm: int) -> None:
        """Count what *agent* plays from slot *start* to *end* while it waits for *round*, or for none any more: 0."""
        self._pulled("exploit", agent, round, start, end, arm)

    def _pulled(self, phase: str, agent: int, round: int, start: int, end: int, arm: int) -> None:
        """Count the pulls of one *arm* by *agent* from slot *start* to *end*, and write them to the trace."""
        self._regret.exploit(agent, start, end, arm)
        self._note(phase, agent, round, start, end, arm=arm)

    def _note(self, phase: str, agent: int, round: int, start: int, end: int, **details: int) -> None:
        """Write to the trace what *agent* does from slot *start* to *end*."""
        if self._trace is not None:
            slot = self._clock.slot
            self._trace.phase(phase, agent, round, start * slot, end * slot, **details)
