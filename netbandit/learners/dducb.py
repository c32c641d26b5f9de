"""Decentralised delayed UCB (DDUCB; Martínez-Rubio, Kanade, Rebeschini 2019)."""

from math import ceil, inf, log, sqrt
from typing import Any

import numpy as np
from pydantic import Field

from netbandit.learners.exchanging import Agents, ExchangingLearner, Numbers
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Note

AT_ONCE = 1e-9
"""Below this |lambda_2| one plain step averages completely."""


class Dducb(ExchangingLearner):
    """UCB whose agents average with neighbours in stages, so that each knows what all have seen (DDUCB).

    Mixes in stages: the pulls of one are averaged in the C steps of the next, and then count for all.

    Of each arm pairs (pulls, rewards), as the authors' code has them: alpha, what indices are made of; beta, what is
    being mixed; gamma, own pulls since the stage began; delta, what has been mixed. After all agents have pulled
    their arms once, alpha = beta / M = first pulls / M, and in every slot an agent pulls the arm with the largest
    ``alpha / a + sigma sqrt(2 eta ln s / (M a))`` (infinite where a is not positive), adds the pull to gamma, and with
    weight 1/M to alpha, and lets beta make a step. After C steps delta += beta, alpha = delta, s is M times the slots
    played when the stage began, beta = gamma, gamma = 0. In between s grows by 1 a slot; the authors' code raises it
    by M, and begins with alpha = first pulls / K.

    A step is that of Chebyshev's polynomials, ``q_{r+1} = 2 w_r / (w_{r+1} |lambda_2|) P q_r - w_{r-1} / w_{r+1}
    q_{r-1}``, with ``w_0 = 1``, ``w_1 = 1 / |lambda_2|``, ``w_{r+1} = 2 w_r / |lambda_2| - w_{r-1}``; the first one
    of a stage is ``q_1 = P q_0``. Agents know M and |lambda_2|, the second largest modulus of the eigenvalues of P.

    State: ``alpha``, ``beta``, ``gamma``, ``delta``, pulls and rewards, shape (M, 2, K); ``times``, s, shape (M,);
    ``begun``, the slots that each agent had played when its stage began, shape (M,).
    """

    exploration: float = Field(default=2.0, gt=0)
    """eta."""
    precision: float = Field(default=1 / 22, gt=0, lt=1)
    """epsilon: the largest relative error of an agent's averages after the C steps of a stage."""
    stage: int | None = Field(default=None, ge=1)
    """C, steps in a stage; by default ``ceil(ln(2 M / epsilon) / sqrt(2 ln(1 / |lambda_2|)))``."""
    accelerate: bool = True
    """Whether steps use Chebyshev polynomials; if not, ``q_{r+1} = P q_r``, and after C steps alpha = beta,
    beta += gamma, so that earlier pulls continue to be mixed."""

    def check(self) -> Checks:
        """Yield a precision without effect."""
        if self.stage is not None and self.precision != 1 / 22:
            yield Note("precision", "has no effect where stage is given")

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state."""
        super().start(world, agents, rng)
        self.alpha, self.beta, self._before, self.gamma, self.delta = np.zeros((5, agents, 2, world.arms))
        self.times = np.zeros(agents)
        self.begun = np.full(agents, float(self.tried))
        self._spread = world.sub_gaussian * sqrt(2 * self.exploration)
        left = world.eigenvalue
        steps = stage_steps(agents, left, self.precision) if self.stage is None else self.stage
        self.factors = step_factors(steps, left if self.accelerate else 0.0)
        """The factors of ``P q_r`` and ``-q_{r-1}`` in each step of a stage, shape (C, 2)."""

    def level_one(self, slot: int, agent: int) -> Any:
        """Return ``ln s / M``."""
        return log(max(self.times[agent], 1.0)) / self.group[agent]

    def index_one(self, agent: int, arm: int, level: float) -> Any:
        """See `ExchangingLearner.index_one`."""
        pulls = self.alpha[agent, 0, arm]
        index = inf
        if pulls > 0.0:
            index = self.alpha[agent, 1, arm] / pulls + self._spread * sqrt(level / pulls)
        return index

    def learn_one(self, slot: int, agent: int, arm: int, reward: float) -> None:
        """Count the own pull, in alpha with weight 1/M: for the first stage in the first slots, then for the next."""
        self.own_pulls[agent, arm] += 1.0
        if slot < self.tried:
            self.beta[agent, 0, arm] += 1.0
            self.beta[agent, 1, arm] += reward
        else:
            self.gamma[agent, 0, arm] += 1.0
            self.gamma[agent, 1, arm] += reward
        self.alpha[agent, 0, arm] += 1.0 / self.group[agent]
        self.alpha[agent, 1, arm] += reward / self.group[agent]
        self.times[agent] += 1.0

    def share(self, slot: int, agents: Agents) -> Numbers | None:
        """Return the rows that are being mixed, shape (n, 2 K); None in the first slots."""
        if slot < self.tried:
            return None
        rows = self.rows(agents)
        mixed = self.beta[rows, 0] + self.delta[rows, 0]
        self.mass.add(self.steps[rows], mixed, self.own_pulls[rows] - self.gamma[rows, 0])
        return self.beta[agents].reshape(len(agents), -1)

    def mix(self, slot: int, agents: Agents, mixed: Numbers, largest: Numbers) -> None:
        """Step, by P q_r; at the end of a stage begin the next."""
        rows = self.rows(agents)
        step = self.steps[rows] % len(self.factors)
        now, then = self.factors.T.take(step, axis=1)[:, :, None, None]
        after = now * mixed.reshape(len(agents), 2, -1) - then * self._before[rows]
        self._before[rows] = self.beta[rows]
        self.beta[rows] = after
        self.steps[rows] += 1
        ending = agents[step == len(self.factors) - 1]
        if not len(ending):
            return
        if self.accelerate:
            self.delta[ending] += self.beta[ending]
            self.alpha[ending] = self.delta[ending]
            self.beta[ending] = self.gamma[ending]
        else:
            self.alpha[ending] = self.beta[ending]
            self.beta[ending] += self.gamma[ending]
        self.gamma[ending] = 0.0
        self.times[ending] = self.group[ending] * self.begun[ending]
        self.begun[ending] = slot

    def advice(self) -> str:
        """Say that accelerated steps amplify missing values."""
        amplifies = ", which accelerated steps amplify (accelerate = false avoids this)" if self.accelerate else ""
        return f'{amplifies}; with protocol.pace = "step" and no deadline no value is missing'


def stage_steps(agents: int, left: float, precision: float) -> int:
    """Return C, the number of steps after which the averages of *agents* agree up to *precision*.

    Args:
        agents: M.
        left: |lambda_2|.
        precision: epsilon.
    """
    if left < AT_ONCE:
        return 1
    return ceil(log(2 * agents / precision) / sqrt(2 * log(1 / left))) if left < 1 else 1


def step_factors(steps: int, left: float) -> Numbers:
    """Return the factors of ``P q_r`` and ``-q_{r-1}`` for r = 0 ... C - 1, shape (C, 2).

    By ratios ``w_{r-1} / w_r``, which stay below 1, where the w themselves grow without bound.

    Args:
        steps: C.
        left: |lambda_2|; 0: plain steps.
    """
    factors = np.tile([1.0, 0.0], (steps, 1))
    if left < AT_ONCE:
        return factors
    ratio = left
    for step in range(1, steps):
        following = 1 / (2 / left - ratio)
        factors[step] = 2 * following / left, following * ratio
        ratio = following
    return factors
