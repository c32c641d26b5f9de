"""Dec_UCB (Zhu & Liu 2021): estimates that follow the own means and mix with the neighbours'."""

from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attacks import Form
from netbandit.learners.exchanging import Agents, ExchangingLearner, Numbers, checked
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others

_BLOCK = 256
"""Slots whose random numbers are drawn at once."""

_WEIGHTS = {1: "uniform", 2: "metropolis"}
"""The weights that each theorem is proved for."""


class DecUcb(ExchangingLearner):
    """UCB whose agents average means with neighbours, with no number of the whole network (Dec_UCB).

    Mixes estimates z of the means, and tracks by m how often others have pulled an arm; needs no global knowledge.

    n and x are an agent's own counts and means. After all arms were pulled once, z = x and m = n. In a slot an agent
    pulls an arm that it has pulled K times less often than somebody it has heard of, ``n <= m - K``, if there is one,
    else the one with the largest ``z + C``. It tells z and m as they were before the pull; at the next boundary
    ``z_i <- sum_j w_ij z_j + x_i(new) - x_i(old)`` and ``m_i <- max(n_i(new), m_i, m_j of all neighbours)``. In the
    paper's (8) the sum of w_ii leaves out the agent itself, as here. Links go both ways: the paper's directed graphs
    are left out. |N_i| counts the neighbours of an agent in the graph, and itself, also where nobody talks.

    State: ``estimates`` z, ``own_pulls`` n, ``most`` m, each of shape (M, K).
    """

    theorem: Literal[1, 2] = 2
    """The bonus C: 2: ``2 sigma sqrt(3 ln tau / (|N_i| n))``, for ``weights = "metropolis"``; 1:
    ``2 sigma sqrt(4 ln tau / (3 n))``, for ``weights = "uniform"``."""
    catch_up: bool = True
    """Of several arms that lag behind (``n <= m - K``), whether the one of lowest number is pulled; if not, a random
    one is, as in the paper."""

    def check_with(self, others: Others) -> Checks:
        """Yield sets of arms, and weights for which the theorem does not stand."""
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
        """Know nothing yet; what decides among arms comes from the stream ``catch_up`` of the agent."""
        from netbandit.learners import dec_ucb_steps

        super().start(world, agents, rng)
        self._compiled = dec_ucb_steps
        self.sums, self.estimates, self.most, self._since = np.zeros((4, agents, world.arms))
        self._arms = np.zeros(agents, dtype=np.int64)
        self._latest = np.zeros((agents, 2))
        degrees = np.zeros(agents) if world.degrees is None else world.degrees
        first = self.theorem == 1
        self._near = np.ones(agents) if first else degrees + 1.0
        self._spread = 2 * world.sub_gaussian * sqrt(4 / 3 if first else 3)
        self._generators = [] if self.catch_up else [world.streams.generator("catch_up", one) for one in range(agents)]
        self._drawn, self._drawn_from = np.empty((agents, 0)), 0

    def best(self, slot: int, agents: Agents) -> NDArray[np.int64]:
        """Return the arm that must catch up, or else the one with the largest index."""
        uniforms = self._uniforms(slot)
        return checked(
            self._compiled.choose(
                agents, slot, self.estimates, self.own_pulls, self.most, self._near, self._spread, uniforms
            )
        )

    def _uniforms(self, slot: int) -> Numbers:
        """Return a number of each agent that decides among arms, for *slot*; nothing if the lowest is taken."""
        if not self._generators:
            return np.empty(0)
        while slot - self._drawn_from >= self._drawn.shape[1]:
            self._drawn_from += self._drawn.shape[1]
            self._drawn = np.array([generator.random(_BLOCK) for generator in self._generators])
        return np.ascontiguousarray(self._drawn[:, slot - self._drawn_from])

    def learn(self, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Count own pulls, and let z follow the change of x."""
        self._compiled.learn(
            agents, arms, rewards, self.own_pulls, self.sums, self.estimates, self._since, self._latest
        )  # fmt: skip
        self._arms[agents] = arms
        if slot < self.tried:
            self.most[agents, arms] = self.own_pulls[agents, arms]

    def share(self, slot: int, agents: Agents) -> Numbers | None:
        """Return z and m as before the latest pull, shape (n, 2 K); nothing in the first slots."""
        if slot < self.tried:
            return None
        rows = np.empty((len(agents), 2 * self.world.arms))
        self._compiled.share(agents, self._arms, self.estimates, self.most, self._since, self._latest, rows)
        return rows

    def mix(self, slot: int, agents: Agents, mixed: Numbers, largest: Numbers) -> None:
        """Go on from what was mixed, and from the change of x since that was told."""
        self._compiled.take(agents, mixed, largest, self.own_pulls, self.estimates, self.most, self._since)
        self.steps[agents] += 1

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`: estimates, and counts of which the largest is taken."""
        return "mixed means"

    def figures(self) -> dict[str, float | int | None]:
        """Return nothing: means have no mass."""
        return {}
