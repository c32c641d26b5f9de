"""Cooperative UCB over a running consensus (Landgren, Srivastava, Leonard 2016, 2021)."""

from math import inf, log, sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from netbandit.learners.counts import fading_notes
from netbandit.learners.exchanging import Agents, ExchangingLearner, Numbers
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others

_MOST_AGENTS = 3_000
"""Computing all eigenvectors for so many agents takes about ten seconds."""


class CoopUcb2(ExchangingLearner):
    """UCB whose agents average their estimates with neighbours in every slot (coop-UCB2).

    Mixes running estimates n^ and s^ of the pulls and rewards of each arm, averaged over agents.

    In every step ``n^ <- P (n^ + xi)`` and ``s^ <- P (s^ + r xi)``, with what an agent has pulled since the last one:
    its own pull of the slot, where a hop takes a slot. Sums over agents are then all pulls, and all rewards. An agent
    pulls the arm with the largest ``s^/n^ + sigma sqrt((2 gamma / G) (n^ + f) / (M n^) ln tau / n^)``; what it has
    pulled and not mixed yet counts in n^ and s^ with weight 1/M.

    With ``index = "coop-ucb2"``: ``f = sqrt(ln tau)``, ``G = 1 - eta^2 / 16``. With ``index = "coop-ucb"``: G = 1 and f
    is what the agent's place in the graph costs, ``M sum_{p >= 2} u_p^2 lambda_p^2 / (1 - lambda_p^2)`` over the
    eigenvectors u_p of P (``epsilon_c`` of the code of Martínez-Rubio et al. 2019, there with rows for eigenvectors;
    Landgren's own is a double sum over pairs, which is not tried here).
    """

    late_rewards: ClassVar[bool] = True

    index: Literal["coop-ucb2", "coop-ucb"] = "coop-ucb2"
    """The term f added to n^ in the bonus: the same for all agents, or by each agent's position in the graph."""
    exploration: float = Field(default=2.0, gt=0)
    """gamma, above 1 in theory."""
    eta: float = Field(default=2.0, ge=0, lt=4)
    """eta of ``G = 1 - eta^2 / 16``."""
    discount: float = Field(default=1.0, gt=0, le=1)
    """The factor applied to n^ and s^ after every decision; below 1, ln of the sum of n^ replaces ln of the slots."""

    def check(self) -> Checks:
        """Yield *eta* if it is not used."""
        if self.index == "coop-ucb" and self.eta != 2.0:
            yield Note("eta", 'has no effect with index = "coop-ucb"')

    def check_with(self, others: Others) -> Checks:
        """Yield an index that needs eigenvectors, if the mixing matrix is not symmetric or too large."""
        if self.index == "coop-ucb" and getattr(others.protocol, "weights", "") == "uniform":
            yield Mistake("index", 'must be "coop-ucb2" with protocol.weights = "uniform", which is not symmetric')
        if self.index == "coop-ucb" and others.agents > _MOST_AGENTS:
            text = f'must be "coop-ucb2" for more than {_MOST_AGENTS:,} agents: "coop-ucb" needs all eigenvectors'
            yield Mistake("index", text)
        yield from fading_notes(self.discount, others)
        if self.discount < 1 and not others.protocol.isolated:
            left = self.discount ** (others.slowest_hop(0) - 1)  # of a pull, when all have it
            counted = (left + (1 - left) / others.agents) / (1 - self.discount)
            if counted <= 1:
                text = f"what an agent counts is {counted:.2g} pulls when all have mixed it, over hops so slow"
                yield Note("discount", f"{text}: at most 1 is no exploration")

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state."""
        super().start(world, agents, rng)
        self.mixed, self.told, self.gathered = np.zeros((3, agents, 2, world.arms))
        self._decided, self._told_after = np.zeros((2, agents), dtype=np.int64)  # decisions, and those before a row
        self._open = np.zeros((agents, world.arms)) if world.late else None  # own pulls that are not learned
        self._ages = np.zeros(0) if world.ages is None else world.ages
        self._by_place = self.index == "coop-ucb"
        margin = 1.0 if self._by_place else 1 - self.eta**2 / 16
        self._spread = world.sub_gaussian * sqrt(2 * self.exploration / margin)
        self.extra = self._place() if self._by_place else np.zeros(agents)

    def _place(self) -> Numbers:
        """Return epsilon_c of each agent, shape (M,)."""
        agents = self.world.agents
        if self.world.matrix is None or self.world.isolated or agents == 1:
            return np.zeros(agents)
        values, vectors = np.linalg.eigh(self.world.matrix())
        left = np.delete(np.arange(agents), int(np.argmin(np.abs(values - 1))))
        squares = values[left] ** 2
        return np.asarray(agents * (vectors[:, left] ** 2 @ (squares / (1 - squares))))

    def choose_one(self, slot: int, agent: int) -> Any:
        """Choose, arms without any observation first, then discount all counts that were there."""
        self._decided[agent] += 1
        arm = -1
        if slot < self.counts[agent]:
            arm = self.own_arms[agent, slot]
        elif self._open is not None:
            arm = self.unknown_one(agent)
        if arm < 0:
            arm = self.best_one(slot, agent)
        if self._open is not None:
            self._open[agent, arm] += 1.0
        if self.discount < 1.0:
            for each in range(self.world.arms):
                self.own_pulls[agent, each] *= self.discount
                for part in range(2):
                    self.mixed[agent, part, each] *= self.discount
                    self.told[agent, part, each] *= self.discount
                    self.gathered[agent, part, each] *= self.discount
        return arm

    def unknown_one(self, agent: int) -> Any:
        """Return the least pulled arm without any observation, the lowest among equals; -1: there is none."""
        found = -1
        if self._open is not None:
            for place in range(self.counts[agent]):
                arm = self.own_arms[agent, place]
                known = self.mixed[agent, 0, arm] + self.told[agent, 0, arm] + self.gathered[agent, 0, arm]
                if not known > 0.0 and (found < 0 or self._open[agent, arm] < self._open[agent, found]):
                    found = arm
        return found

    def level_one(self, slot: int, agent: int) -> Any:
        """Return ln tau: of the slots played, or of the discounted pulls that the agent counts."""
        time = float(slot)
        if self.discount < 1.0:
            time = 0.0
            for arm in range(self.world.arms):
                time += self.counted_one(agent, 0, arm)
        return log(max(time, 1.0))

    def index_one(self, agent: int, arm: int, level: float) -> Any:
        """See `ExchangingLearner.index_one`."""
        pulls = self.counted_one(agent, 0, arm)
        index = inf
        if pulls > 0.0:
            more = self.extra[agent] if self._by_place else sqrt(level)
            inner = (pulls + more) / (pulls * self.group[agent]) * (level / pulls)
            index = self.counted_one(agent, 1, arm) / pulls + self._spread * sqrt(inner)
        return index

    def counted_one(self, agent: int, part: int, arm: int) -> Any:
        """Return n^ or s^ of an *arm*, in which what is not mixed yet has weight 1/M."""
        return self.mixed[agent, part, arm] + 1.0 / self.group[agent] * (
            self.told[agent, part, arm] + self.gathered[agent, part, arm]
        )

    def learn_one(self, slot: int, agent: int, arm: int, reward: float) -> None:
        """Count the own pull, discounted in each decision since."""
        weight = 1.0
        if self._open is not None:
            self._open[agent, arm] -= 1.0
            if self.discount < 1.0:
                weight = self.discount ** float(self._ages[agent])
        self.own_pulls[agent, arm] += weight
        self.gathered[agent, 0, arm] += weight
        self.gathered[agent, 1, arm] += weight * reward

    def share(self, slot: int, agents: Agents) -> Numbers:
        """Return n^ and s^ with what was pulled since the last step, shape (n, 2 K)."""
        rows = self.rows(agents)
        gathered = self.gathered[rows]
        told = self.mixed[rows] + gathered
        self.mass.add(self.steps[rows], told[:, 0], self.own_pulls[rows].copy())
        self.told[rows] = gathered
        self.gathered[rows] = 0.0
        self._told_after[rows] = self._decided[rows]
        return told.reshape(len(agents), -1)

    def mix(self, slot: int, agents: Agents, mixed: Numbers, largest: Numbers) -> None:
        """Adopt the mixed rows, discounted by the decisions since they were sent."""
        rows = self.rows(agents)
        if self.discount < 1:
            faded = (self._decided[rows] - self._told_after[rows]).astype(np.float64)
            mixed = np.power(self.discount, faded)[:, None] * mixed
        self.mixed[rows] = mixed.reshape(len(agents), 2, -1)
        self.told[rows] = 0.0
        self.steps[rows] += 1
