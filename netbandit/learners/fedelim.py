"""FedElim (Reddy, Karthik & Tan 2023): the best arm of each agent, and that of all, with few uplinks."""

from math import log, sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.learners.slots import Agents, Numbers
from netbandit.learners.steps import StepLearner
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others

_UNCOVERED = (
    "it needs the mean of all agents in each round, as agents have over master-worker, sink, gis, flooding, gossip and "
    "relay"
)


class FedElim(StepLearner):
    """Successive elimination of local arms by each agent, and of global arms by all of them in rounds.

    In step n = 1, 2, ... an agent pulls each arm of its local and of the global active set once, a pull a slot. Then it
    drops local arms whose mean is more than 2 alpha_l(n) below the largest:
    ``alpha_l(n) = sigma sqrt(2 ln(8 K M n^2 / confidence) / n)``. If n is a step of communication, all agents share
    their means of the global active arms, and drop those whose mean over all agents is more than 2 alpha_g(n) below the
    largest: ``alpha_g(n) = sigma sqrt(2 ln(8 K n^2 / confidence) / (M n))``. An active set of one arm is an answer, and
    asks for no more pulls.

    While an agent waits for the others' means it pulls the arm of its largest own mean, and once it has both answers
    the global one; what these pulls pay enters no mean.

    State: ``steps``: n, the steps that each agent has ended, shape (M,); ``local_arms``, ``global_arms``: the active
    sets, shape (M, K), bool; ``sums``: the rewards of each arm, of which an active one has been pulled n times, shape
    (M, K); ``selections``, ``uplinks``: pulls that enter a mean, and means shared, by agent, shape (M,).
    """

    identifies: ClassVar[bool] = True
    counts_slots: ClassVar[bool] = True
    late_rewards: ClassVar[bool] = False

    confidence: float = Field(default=0.05, gt=0, lt=1)
    """delta: the probability that any answer of a run is wrong is at most this."""
    communicate: Literal["doubling", "every"] = "doubling"
    """After which steps agents share: 1, 2, 4, 8, ... (``doubling``), or ``every`` one, or every ``period``-th."""
    period: int = Field(default=1, ge=1)
    """With ``every``: the number of steps from one round to the next."""
    uplink_cost: float = Field(default=0.0, ge=0)
    """C: what one use of the uplink costs, in pulls, in the metric ``total_cost``; one use reports the mean of one
    arm."""

    def check(self) -> Checks:
        """Yield a period without effect."""
        if self.communicate == "doubling" and "period" in self.model_fields_set:
            yield Note("period", 'is used only with communicate = "every"')

    def check_with(self, others: Others) -> Checks:
        """Yield what the proof of its error probability does not cover."""
        protocol = others.protocol
        if protocol.differs and getattr(protocol, "deadline", None) is not None:
            text = "must be left out: the mean of those heard in time is not the mean of all agents"
            yield Mistake("deadline", text, table="protocol")
        elif protocol.isolated or protocol.out_of_band or protocol.differs:
            text = f"cannot be {others.kinds['protocol']} with fedelim: {_UNCOVERED}"
            yield Mistake("kind", text, table="protocol")
        world = others.kinds["bandit"]
        if getattr(others.bandit, "changing", False) or world == "contexts":
            yield Mistake("kind", "cannot be fedelim: the means of its arms must stay as they are")
        elif world == "table" and others.bandit.rows not in ("drawn", "laws"):
            text = 'must be "drawn" or "laws" with fedelim: its rewards must be independent, and rows in order are not'
            yield Mistake("rows", text, table="bandit")
        elif any(getattr(others.bandit, key, None) is not None for key in ("arms_per_agent", "arm_sets")):
            yield Mistake("kind", "cannot be fedelim: every agent pulls every arm")
        if others.agents_fail:
            yield Mistake("kind", "cannot be fedelim where agents go down: a mean without them is not that of all")

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Begin the first step; nothing is drawn."""
        arms = world.arms
        self.agents, self.arms, self.sigma = agents, arms, world.sub_gaussian
        self._doubling = self.communicate == "doubling"
        self.steps: NDArray[np.int64] = np.zeros(agents, dtype=np.int64)
        self.sums: Numbers = np.zeros((agents, arms))
        self.local_arms: NDArray[np.bool_] = np.ones((agents, arms), dtype=np.bool_)
        self.global_arms: NDArray[np.bool_] = np.ones((agents, arms), dtype=np.bool_)
        self.selections: NDArray[np.int64] = np.zeros(agents, dtype=np.int64)
        self.uplinks: NDArray[np.int64] = np.zeros(agents, dtype=np.int64)
        self.waits: NDArray[np.bool_] = np.zeros(agents, dtype=np.bool_)
        self._next: NDArray[np.int64] = np.zeros(agents, dtype=np.int64)  # the arm to pull next in this step; K: none
        self._global: NDArray[np.int64] = np.full(agents, 0 if arms == 1 else -1)  # the best global arm so far
        if arms == 1:
            self._next[:] = 1

    def _next_one(self, agent: int, first: int) -> Any:
        """Return the first arm from *first* on that *agent* pulls in this step; K: none."""
        local = self.local_arms[agent].sum() > 1
        overall = self.global_arms[agent].sum() > 1
        for arm in range(first, self.arms):
            if (local and self.local_arms[agent, arm]) or (overall and self.global_arms[agent, arm]):
                return arm
        return self.arms

    def _best_one(self, agent: int) -> Any:
        """Return the local arm of *agent* with the largest sum, the first of equals: active arms have as many pulls."""
        best = -1
        for arm in range(self.arms):
            if self.local_arms[agent, arm] and (best < 0 or self.sums[agent, arm] > self.sums[agent, best]):
                best = arm
        return best

    def choose_one(self, slot: int, agent: int) -> Any:
        """Return the next arm of the step; while it waits the best of its own, and at the end the global answer."""
        if self.waits[agent]:
            return self._best_one(agent)
        if self._next[agent] == self.arms:
            return self._global[agent]
        return self._next[agent]

    def learn_one(self, slot: int, agent: int, arm: int, reward: float) -> None:
        """Count the reward, unless it waits or has its answers; after the last pull of a step end it."""
        if self.waits[agent] or self._next[agent] == self.arms:
            return
        self.sums[agent, arm] += reward
        self.selections[agent] += 1
        self._next[agent] = self._next_one(agent, arm + 1)
        if self._next[agent] == self.arms:
            self.steps[agent] += 1
            n = self.steps[agent]
            if self.local_arms[agent].sum() > 1:
                least = self.sums[agent, self._best_one(agent)] - 2 * n * self.alpha(n, self.agents, 1)
                for each in range(self.arms):
                    if self.sums[agent, each] < least:
                        self.local_arms[agent, each] = False
            due = n & (n - 1) == 0 if self._doubling else n % self.period == 0
            if due and self.global_arms[agent].sum() > 1:
                self.waits[agent] = True
            else:
                self._next[agent] = self._next_one(agent, 0)

    def wants_one(self, slot: int, agent: int) -> Any:
        """Return whether a step of communication has ended."""
        return self.waits[agent]

    def alpha(self, n: int, arms: int, means: int) -> Any:
        """Return ``sigma sqrt(2 ln(8 K * arms * n^2 / confidence) / (means n))``: alpha_l with M, 1; alpha_g 1, M."""
        return self.sigma * sqrt(2 * log(8 * self.arms * arms * n * n / self.confidence) / (means * n))

    @property
    def called(self) -> bool:
        """False: agents know after which steps they share."""
        return False

    def share(self, slot: int, agents: Agents) -> Numbers:
        """Return the means of the global active arms, in order of their numbers."""
        (agent,) = agents.tolist()
        shared = self.sums[agent, self.global_arms[agent]] / self.steps[agent]
        self.uplinks[agent] += shared.size
        return np.asarray(shared[None])

    def adopt(self, slot: int, agents: Agents, combined: Numbers) -> None:
        """Drop global arms by the mean over all agents, and begin the next step."""
        for agent in agents.tolist():
            active = np.flatnonzero(self.global_arms[agent])
            dropped = combined < combined.max() - 2 * self.alpha(int(self.steps[agent]), 1, self.agents)
            self.global_arms[agent, active[dropped]] = False
            self._global[agent] = active[combined.argmax()]
            self.waits[agent] = False
            self._next[agent] = self._next_one(agent, 0)

    def answers(self, agents: Agents) -> NDArray[np.int64]:
        """Return the global arm of the largest mean that they have heard of; -1 before the first round."""
        return self._global[agents]

    def local_answers(self, agents: Agents) -> NDArray[np.int64]:
        """Return the local arm of their largest own mean; -1 before the end of the first step."""
        found = np.array([self._best_one(agent) for agent in agents.tolist()], dtype=np.int64)
        return np.where((self.steps[agents] > 0) | (self.arms == 1), found, -1)

    def stopped(self, agents: Agents) -> NDArray[np.bool_]:
        """Return who has one local and one global arm left."""
        return np.asarray((self._next[agents] == self.arms) & ~self.waits[agents])

    def figures(self) -> dict[str, float | int | None]:
        """Return selections, uses of the uplink, and what they cost together."""
        selections, uplinks = int(self.selections.sum()), int(self.uplinks.sum())
        total = selections + self.uplink_cost * uplinks
        return {"selections": selections, "uplinks": uplinks, "total_cost": total}
