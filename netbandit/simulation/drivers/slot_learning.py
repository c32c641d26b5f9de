"""When agents that decide in slots learn their rewards: at once, or, if late, before a later decision."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.conditions.feedback_plan import FeedbackPlan
from netbandit.conditions.feedback_queue import FeedbackQueue
from netbandit.conditions.turns import Turns
from netbandit.learners.counts import tells_observations
from netbandit.learners.slots import Learner
from netbandit.simulation.bandit_environments import BanditEnvironment
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.drivers.decision_loop import learn_due
from netbandit.simulation.result import Metric
from netbandit.simulation.strategies.communication import CommunicationStrategy


def slot_learning(
    context: ReplicationContext,
    world: BanditEnvironment,
    learners: Sequence[Learner],
    strategy: CommunicationStrategy,
) -> "SlotLearning":
    """Return how the agents of a replication learn their rewards.

    Args:
        context: The replication.
        world: The environment.
        learners: Their learners, one per parameter set, not yet started.
        strategy: How they communicate; it gets a function that returns what they have learned.
    """
    plan = context.feedback
    return SlotLearning() if plan is None else LateSlotLearning(context, plan, world, learners, strategy)


class SlotLearning:
    """Rewards are learned at once.

    Attributes:
        queue: The rewards that have not been learned yet, for the loops of decisions; None: there are none.
    """

    queue: FeedbackQueue | None = None

    def facts(self) -> dict[str, Any]:
        """Return the facts for learners: fields of `netbandit.learners.world.World`."""
        return {}

    def forget(self, agent: int) -> None:
        """Drop what *agent*, which loses its memory, has not learned yet."""

    def metrics(self, turns: Turns) -> dict[str, Metric]:
        """Return the metrics of late rewards, if there are any, once all *turns* are played."""
        return {}


class LateSlotLearning(SlotLearning):
    """Rewards may be late: agents learn those that are due before each decision.

    Args:
        context: The replication.
        plan: How late rewards are.
        world: See `slot_learning`.
        learners: The same.
        strategy: The same.
    """

    queue: FeedbackQueue

    def __init__(
        self,
        context: ReplicationContext,
        plan: FeedbackPlan,
        world: BanditEnvironment,
        learners: Sequence[Learner],
        strategy: CommunicationStrategy,
    ) -> None:
        self._clock, self._world, self._learners, self._counts = context.clock, world, learners, plan.counts
        learner, agents, facts = learners[0], context.topology.agents, world.facts()
        dimension = facts["dimension"] if learner.plays == "vectors" else 0
        self.queue = FeedbackQueue(plan, context.streams, agents, facts["arms"], context.clock.slot, dimension)
        self.queue.trace = context.network.trace
        if tells_observations(learner) and not strategy.isolated:
            self.queue.fresh = [[] for _ in range(agents)]
            strategy.new_observations = self.queue.new_observations
        strategy.catch_up = self._catch_up

    def _catch_up(self, agents: NDArray[np.int64]) -> None:
        """Let *agents* learn all rewards that are due by now."""
        now = self._clock.now
        learn_due(self._world, self._learners, self.queue, self._clock.boundary(now), now, agents)

    def facts(self) -> dict[str, Any]:
        """See `SlotLearning.facts`."""
        return {"late": True, "ages": self.queue.ages, "window": self.queue.window_slots}

    def forget(self, agent: int) -> None:
        """See `SlotLearning.forget`."""
        self.queue.forget(agent)

    def metrics(self, turns: Turns) -> dict[str, Metric]:
        """See `SlotLearning.metrics`."""
        return self.queue.metrics(turns.counted, turns.up, self._clock.end) if self._counts else {}
