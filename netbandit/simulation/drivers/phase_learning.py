"""When agents learn the rewards of a phase: at its end, or, if feedback is late, in a later slot."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import FiniteBandit
from netbandit.conditions.feedback_plan import FeedbackPlan
from netbandit.conditions.phase_feedback import FOR_EVER, PhaseFeedback
from netbandit.learners.learner import Phase
from netbandit.network.message import Kind
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.drivers.presence import Presence, Waiting
from netbandit.simulation.drivers.round_aggregation import Cohort, Epoch, RoundAggregation
from netbandit.simulation.result import Metric
from netbandit.util.text import pluralize
from netbandit.util.units import Duration

EXPLORE, EXPLOIT = Kind("explore"), Kind("exploit")
"""What an agent does, in fingerprints."""

Pulled = Callable[[str, int, int, int, int, int], None]
"""Counts and traces what an agent pulls: name of its state, agent, round, first slot, slot after the last, arm."""


def phase_learning(
    context: ReplicationContext,
    aggregation: RoundAggregation,
    presence: Presence,
    pulled: Pulled,
    exploring: dict[int, int],
) -> "PhaseLearning":
    """Return how the agents of a replication learn the rewards of their phases.

    Args:
        context: The replication.
        aggregation: Its rounds.
        presence: When agents are up.
        pulled: See `Pulled`.
        exploring: The agents that still explore at the horizon, and the round: those that wait for rewards are added.
    """
    plan = context.feedback
    if plan is None:
        return PhaseLearning(context, aggregation)
    deadline, clock = context.protocol.feedback_deadline, context.clock
    patience = None if deadline is None else Duration(deadline).nanoseconds(clock.slot)
    feedback = PhaseFeedback(plan, context.streams, context.bandit.agents, clock.slot, clock.horizon, patience)
    return LatePhaseLearning(context, aggregation, plan, feedback, presence, pulled, exploring)


class PhaseLearning:
    """Rewards are known when the phase is over; they are drawn for a whole cohort at once.

    Args:
        context: The replication.
        aggregation: Its rounds.
    """

    def __init__(self, context: ReplicationContext, aggregation: RoundAggregation) -> None:
        self._streams = context.streams
        bandit = context.bandit
        assert isinstance(bandit, FiniteBandit)
        self._bandit = bandit
        # An agent that learns alone, or may know something else than others, draws alone; what a cohort draws belongs
        # to the epoch, row i to agent i.
        alone = aggregation.isolated or aggregation.per_agent
        self._own = [self._generators(agent) for agent in range(bandit.agents)] if alone else []

    def _generators(self, index: int) -> tuple[np.random.Generator, np.random.Generator]:
        return self._streams.generator("rewards", index), self._streams.generator("noise", index)

    def until_known(
        self, agent: int, cohort: Cohort, row: int, number: int, start: int, end: int, limit: int
    ) -> Waiting:
        """Let *agent* learn the rewards of its phase, and pull its best arm from slot *end* on for as long as it waits.

        Args:
            agent: The agent.
            cohort: Its cohort.
            row: Its row there.
            number: The epoch.
            start: The first slot of the phase.
            end: The first slot after it.
            limit: The first slot that it no longer plays.

        Returns:
            The slot in which it goes on; one from *limit* on means that it does not.
        """
        yield from ()
        epoch = cohort.epochs[number]
        if not epoch.best:
            self._draw(cohort, number, epoch)
        return end

    def _draw(self, cohort: Cohort, number: int, epoch: Epoch) -> None:
        """Draw the rewards of an epoch for the whole cohort."""
        phase = epoch.action
        assert isinstance(phase, Phase)
        members = np.asarray(cohort.members, dtype=np.int64)
        rewards, noise = self._own[cohort.number] if self._own else self._generators(number)
        sums = self._learned(rewards, members, phase, epoch)
        if sums is not None:
            cohort.learner.observe(sums, noise)
            epoch.best, epoch.releases = cohort.learner.best_arms.tolist(), cohort.learner.releases

    def _learned(
        self, rewards: np.random.Generator, members: NDArray[np.int64], phase: Phase, epoch: Epoch
    ) -> NDArray[np.int64] | None:
        """Return the sums of the rewards that are learned; None if these are known when an agent goes on."""
        return self._bandit.pull_blocks(rewards, members, phase.arms, phase.pulls)

    @property
    def lacking(self) -> int:
        """How many agents lack rewards of a phase at the horizon."""
        return 0

    def metrics(self, agents: int) -> dict[str, Metric]:
        """Return the metrics of late rewards of so many *agents*, if there are any."""
        return {}

    def remarks(self) -> tuple[str, ...]:
        """Return how many agents lack rewards of a phase at the horizon, if any do."""
        return ()


class LatePhaseLearning(PhaseLearning):
    """Rewards may be late: an agent waits for those of its phase, or until its patience ends.

    Args:
        context: The replication.
        aggregation: Its rounds.
        plan: How late rewards are,
        feedback: and those of the replication.
        presence: When agents are up.
        pulled: See `Pulled`.
        exploring: See `phase_learning`.
    """

    def __init__(
        self,
        context: ReplicationContext,
        aggregation: RoundAggregation,
        plan: FeedbackPlan,
        feedback: PhaseFeedback,
        presence: Presence,
        pulled: Pulled,
        exploring: dict[int, int],
    ) -> None:
        super().__init__(context, aggregation)
        self._clock, self._fingerprint, self._liars = context.clock, context.fingerprint, aggregation.lies.liars
        self._feedback, self._presence, self._pulled, self._exploring = feedback, presence, pulled, exploring
        self._lack = plan.may_lack(context.protocol)
        self._until: list[int] = []  # until when each agent waits that lacks rewards at the horizon

    def _learned(
        self, rewards: np.random.Generator, members: NDArray[np.int64], phase: Phase, epoch: Epoch
    ) -> NDArray[np.int64] | None:
        epoch.late = self._feedback.of_phase(self._bandit, rewards, members, phase)
        return None if self._lack else epoch.late.sums

    def until_known(
        self, agent: int, cohort: Cohort, row: int, number: int, start: int, end: int, limit: int
    ) -> Waiting:
        """See `PhaseLearning.until_known`."""
        clock, feedback, presence = self._clock, self._feedback, self._presence
        epoch, learner = cohort.epochs[number], cohort.learner
        if not epoch.best and epoch.late is None:
            self._draw(cohort, number, epoch)
        assert epoch.late is not None
        slots = np.concatenate([np.arange(*span) for span in presence.spans(agent, start, end)])
        awaited = feedback.of_agent(epoch.late, row, slots, end)
        until, arm = awaited.until, -1

        def ended(stop: int) -> None:
            if stop > end:
                self._pulled("feedback", agent, number, end, stop, arm)
            if agent not in self._liars:
                feedback.note(awaited, end, stop, None if presence.always else partial(presence.next, agent))

        if until > end:
            sums, pulls = awaited.known(end)
            if epoch.best:  # its learner has observed all of them
                sums, pulls = sums - awaited.sums, pulls - awaited.slots.shape[1]
            arm = learner.best_given(row, sums, pulls)
            self._fingerprint.record(end * clock.slot, agent, EXPLOIT.code, arm)
            if until >= limit:
                if limit == clock.horizon:
                    self._until.append(until)
                    if until < FOR_EVER:
                        self._exploring[agent] = number
                presence.count_to_the_end(agent, partial(ended, limit))
                return limit
            presence.count_meanwhile(agent, partial(ended, limit))
            yield clock.wait_until(until)
            until = yield from presence.until_up(agent, until)
            presence.counted(agent)
        stop = max(until, end)
        ended(min(stop, limit))
        if not epoch.best and stop < limit:
            sums, pulls = awaited.known(stop)
            learner.observe_some(sums[np.newaxis], pulls)
            epoch.best = learner.best_arms.tolist()
        return stop

    @property
    def lacking(self) -> int:
        """See `PhaseLearning.lacking`."""
        return len(self._until)

    def metrics(self, agents: int) -> dict[str, Metric]:
        """See `PhaseLearning.metrics`."""
        return self._feedback.metrics(agents)

    def remarks(self) -> tuple[str, ...]:
        """See `PhaseLearning.remarks`."""
        if not self._until:
            return ()
        text = f"{pluralize(len(self._until), 'agent')} lacked late rewards of a phase at the horizon"
        ways = "feedback.window or protocol.feedback_deadline ends such waits"
        return (f"{text}, {self._until.count(FOR_EVER)} of them for ever: {ways}",)
