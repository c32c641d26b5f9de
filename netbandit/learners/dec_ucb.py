"""Dec_UCB (Zhu & Liu 2021): estimates that follow the own means and mix with the neighbours'."""

from math import log, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attack_kinds import Form
from netbandit.learners.exchanging import Agents, ExchangingLearner, Numbers
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others

_BLOCK = 256
"""How many slots' random numbers are drawn at once."""

_WEIGHTS = {1: "uniform", 2: "metropolis"}
"""The weights for which each theorem is proved."""


class DecUcb(ExchangingLearner):
    """UCB whose agents average means with neighbours, with no number of the whole network (Dec_UCB).

    Mixes estimates z of the means, and tracks by m how often others have pulled an arm; needs no global knowledge.

    n and x are an agent's own counts and means. After all arms were pulled once, z = x and m = n. In a slot an agent
    pulls an arm that it has pulled K times less often than another agent, as far as it knows, ``n <= m - K``, if there
    is one, else the one with the largest ``z + C``. It sends z and m as they were before the pull; at the next boundary
    ``z_i <- sum_j w_ij z_j + x_i(new) - x_i(old)`` and ``m_i <- max(n_i(new), m_i, m_j of all neighbours)``. In the
    paper's (8) the sum of w_ii leaves out the agent itself, as here. Links go both ways: the paper's directed graphs
    are left out. |N_i| counts the neighbours of an agent in the graph, and itself, even if agents never communicate.

    State: ``estimates`` z, ``own_pulls`` n, ``most`` m, each of shape (M, K).
    """

    theorem: Literal[1, 2] = 2
    """The bonus C: 2: ``2 sigma sqrt(3 ln tau / (|N_i| n))``, for ``weights = "metropolis"``; 1:
    ``2 sigma sqrt(4 ln tau / (3 n))``, for ``weights = "uniform"``."""
    catch_up: bool = True
    """Of several arms that lag behind (``n <= m - K``), whether the one of lowest number is pulled; if not, a random
    one is, as in the paper."""

    def check_with(self, others: Others) -> Checks:
        """Yield sets of arms, and weights for which the theorem is not proved."""
        yield from self._check_arms(others)
        weights = getattr(others.protocol, "weights", None)
        if weights not in (None, _WEIGHTS[self.theorem]):
            text = f'theorem {self.theorem} is of protocol.weights = "{_WEIGHTS[self.theorem]}", not "{weights}"'
            yield Note("theorem", text)

    def _check_arms(self, others: Others) -> Checks:
        bandit = others.bandit
        for key in ("arms_per_agent", "arm_sets"):
            if getattr(bandit, key, None) is not None:
                text = "cannot be with dec-ucb, which mixes estimates of all arms: leave it out"
                yield Mistake(key, text, table="bandit")

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state; random choices among arms use the stream ``catch_up`` of the agent."""
        super().start(world, agents, rng)
        self.sums, self.estimates, self.most, self._since = np.zeros((4, agents, world.arms))
        self._before, self._change = np.zeros((2, agents, world.arms))  # z before the latest pull, what it added to x
        degrees = np.zeros(agents) if world.degrees is None else world.degrees
        first = self.theorem == 1
        self._near = np.ones(agents) if first else degrees + 1.0
        self._spread = 2 * world.sub_gaussian * sqrt(4 / 3 if first else 3)
        self._generators = [] if self.catch_up else [world.streams.generator("catch_up", one) for one in range(agents)]
        self._drawn, self._drawn_from = np.empty((agents, 0)), 0
        self._uniforms = np.zeros(agents)

    def choose(self, slot: int, agents: Agents) -> NDArray[Any]:
        """Draw the numbers for random choices among arms that lag behind, then choose."""
        if not self.catch_up:
            self._uniforms[:] = self._drawn_for(slot)
        return super().choose(slot, agents)

    def _drawn_for(self, slot: int) -> Numbers:
        while slot - self._drawn_from >= self._drawn.shape[1]:
            self._drawn_from += self._drawn.shape[1]
            self._drawn = np.array([generator.random(_BLOCK) for generator in self._generators])
        return self._drawn[:, slot - self._drawn_from]

    def best_one(self, slot: int, agent: int) -> Any:
        """Return an arm that lags behind, if there is one, else the one with the largest index."""
        behind = 0
        best = -1
        for arm in range(self.world.arms):
            if self.behind_one(agent, arm):
                behind += 1
                if behind == 1:
                    best = arm
        if behind == 0:
            best = self.largest_one(slot, agent)
        elif not self.catch_up:
            left = int(self._uniforms[agent] * behind)
            for arm in range(self.world.arms):
                if self.behind_one(agent, arm):
                    if left == 0:
                        best = arm
                    left -= 1
        return best

    def behind_one(self, agent: int, arm: int) -> Any:
        """Return whether *arm* lags behind: ``n <= m - K``."""
        return self.own_pulls[agent, arm] <= self.most[agent, arm] - self.world.arms

    def level_one(self, slot: int, agent: int) -> Any:
        """Return ln tau."""
        return log(max(slot, 1))

    def index_one(self, agent: int, arm: int, level: float) -> Any:
        """Return ``z + C``."""
        bonus = sqrt(level / (self._near[agent] * self.own_pulls[agent, arm]))
        return self.estimates[agent, arm] + self._spread * bonus

    def learn_one(self, slot: int, agent: int, arm: int, reward: float) -> None:
        """Count the own pull, and let z follow the change of x."""
        pulls = self.own_pulls[agent, arm]
        mean = self.sums[agent, arm] / pulls if pulls > 0.0 else 0.0
        self.own_pulls[agent, arm] += 1.0
        self.sums[agent, arm] += reward
        change = self.sums[agent, arm] / (pulls + 1.0) - mean
        for each in range(self.world.arms):
            self._before[agent, each] = self.estimates[agent, each]
            self._change[agent, each] = 0.0
        self._change[agent, arm] = change
        self.estimates[agent, arm] += change
        self._since[agent, arm] += change
        if slot < self.tried:
            self.most[agent, arm] = pulls + 1.0

    def share(self, slot: int, agents: Agents) -> Numbers | None:
        """Return z and m as before the latest pull, shape (n, 2 K); nothing in the first slots."""
        if slot < self.tried:
            return None
        rows = self.rows(agents)
        self._since[rows] = self._change[rows]
        return np.concatenate([self._before[rows], self.most[rows]], axis=1)

    def mix(self, slot: int, agents: Agents, mixed: Numbers, largest: Numbers) -> None:
        """Adopt the mixed rows, plus the change of x since they were sent."""
        arms, rows = self.world.arms, self.rows(agents)
        self.estimates[rows] = mixed[:, :arms] + self._since[rows]
        most = np.maximum(self.own_pulls[rows], self.most[rows])
        self.most[rows] = np.maximum(most, largest[:, arms:])
        self.steps[rows] += 1

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`: estimates, and counts of which receivers use the largest."""
        return "mixed means"

    def figures(self) -> dict[str, float | int | None]:
        """Return no metrics: means have no mass."""
        return {}
