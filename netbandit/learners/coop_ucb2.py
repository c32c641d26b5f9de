"""Cooperative UCB over a running consensus (Landgren, Srivastava, Leonard 2016, 2021)."""

from math import sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.learners.exchanging import Agents, ExchangingLearner, Numbers, checked
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others

_MOST_AGENTS = 3_000
"""For so many agents all eigenvectors take some ten seconds."""


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
    """The factor applied to n^ and s^ before every slot; below 1, ln of the sum of n^ replaces ln of the slots."""

    def check(self) -> Checks:
        """Yield *eta* where it is not used."""
        if self.index == "coop-ucb" and self.eta != 2.0:
            yield Note("eta", 'has no effect with index = "coop-ucb"')

    def check_with(self, others: Others) -> Checks:
        """Yield an index that needs the eigenvectors of a symmetric matrix over one that is not."""
        if self.index == "coop-ucb" and getattr(others.protocol, "weights", "") == "uniform":
            yield Mistake("index", 'must be "coop-ucb2" with protocol.weights = "uniform", which is not symmetric')
        if self.index == "coop-ucb" and others.agents > _MOST_AGENTS:
            text = f'must be "coop-ucb2" for more than {_MOST_AGENTS:,} agents: "coop-ucb" needs all eigenvectors'
            yield Mistake("index", text)

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Know nothing yet."""
        from netbandit.learners import coop_ucb2_steps

        super().start(world, agents, rng)
        self._compiled = coop_ucb2_steps
        self.mixed, self.told, self.gathered = np.zeros((3, agents, 2, world.arms))
        self._told_in = np.zeros(agents, dtype=np.int64)
        self._ones = np.ones(agents)
        self._open = np.zeros((agents, world.arms))  # own pulls that are not learned
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

    def best(self, slot: int, agents: Agents) -> NDArray[np.int64]:
        """Return the arm with the largest index."""
        time = slot if self.discount == 1 else -1
        return checked(
            self._compiled.choose(
                agents, self.own_arms, self.counts, self.mixed, self.told, self.gathered, self.group, time,
                self._spread, self.extra, not self._by_place,
            )
        )  # fmt: skip

    def choose(self, slot: int, agents: Agents) -> NDArray[np.int64]:
        """Let what was seen fade, then choose."""
        if self.discount < 1:
            for kept in (self.mixed, self.told, self.gathered):
                kept[agents] *= self.discount
            self.own_pulls[agents] *= self.discount
        arms = super().choose(slot, agents)
        if self.world.late:
            self._pull_unknown(slot, agents, arms)
            self._open[agents, arms] += 1
        return arms

    def _pull_unknown(self, slot: int, agents: Agents, arms: NDArray[np.int64]) -> None:
        """Replace *arms* by those of which nothing is known, once all were pulled: the least pulled comes first."""
        known = (self.mixed[agents, 0] + self.told[agents, 0] + self.gathered[agents, 0]) > 0
        for row in np.flatnonzero(slot >= self.counts[agents]).tolist():
            own = np.sort(self.own_arms[agents[row], : self.counts[agents[row]]])
            unknown = own[~known[row, own]]
            if len(unknown):
                arms[row] = unknown[self._open[agents[row], unknown].argmin()]

    def learn(self, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Count own pulls, which fade in each decision."""
        weights = self._ones[agents]
        if self.world.late:
            self._open[agents, arms] -= 1
            if self.discount < 1:
                assert self.world.ages is not None
                weights = np.power(self.discount, self.world.ages[agents].astype(np.float64))
        self._compiled.learn(agents, arms, rewards, weights, self.own_pulls, self.gathered)

    def share(self, slot: int, agents: Agents) -> Numbers:
        """Return n^ and s^ with what was pulled since the last step, shape (n, 2 K)."""
        rows = np.empty((len(agents), 2 * self.world.arms))
        self.mass.add(self.steps[agents], agents, self._counted)
        self._compiled.share(agents, self.mixed, self.told, self.gathered, rows)
        self._told_in[agents] = slot
        return rows

    def _counted(self, agents: Agents) -> Numbers:
        return np.asarray(self._compiled.counted(agents, self.mixed, self.gathered, self.own_pulls))

    def mix(self, slot: int, agents: Agents, mixed: Numbers, largest: Numbers) -> None:
        """Go on from what was mixed; what has faded since it was told has faded in it as well."""
        factors = self._ones[agents]
        if self.discount < 1:
            factors = np.power(self.discount, slot - self._told_in[agents] - 1.0)
        self._compiled.take(agents, mixed, factors, self.mixed, self.told)
        self.steps[agents] += 1
