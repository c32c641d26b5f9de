"""A bandit whose mean reward is linear in the action: <theta, x>."""

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import GeneratorOf, Outline
from netbandit.compilation.steps import Compiled
from netbandit.parts.component import Checks, Mistake, Note, state
from netbandit.parts.settings import KeyPath, Settings

if TYPE_CHECKING:
    from netbandit.bandits.linear_draws import World

SHORTEST = 0.85
"""The least norm of theta; no mean can then be larger with actions in the unit ball."""

Band = Annotated[list[Annotated[float, Field(ge=-SHORTEST, le=SHORTEST)]], Field(min_length=2, max_length=2)]


class GapMeans(Settings):
    """The bands from which the means of the arms are drawn, uniformly."""

    best: Band = Field(default=[0.7, 0.8], description="Of the one best arm, lowest and highest.")
    others: Band = Field(default=[0.5, 0.6], description="Of all others; must not reach above the best.")


POOL = 1_000
"""The vectors of a pool."""

_WORTH_COMPILING = 50_000
"""From so many numbers on, a set that is drawn once takes longer than to compile its draw."""


class Linear(ActionSetBandit):
    """Actions in the unit ball, theta in it, and a mean reward of <theta, x>.

    Drawn from ``bands`` (Dubey & Pentland 2020, 4.4): the mean of an arm is uniform in its band; given the mean, the
    action is uniform in the part of the unit ball with this mean. The best arm has a random position in the set.

    Drawn from a ``cube`` (He et al. 2022, their code): every entry of every action is uniform in [-1, 1] / sqrt(d).

    Drawn from a ``pool`` (Li & Wang 2022, their code): there are 1,000 unit vectors, whose entry i, from 0, had the
    variance (d - i) / d before they were scaled; a set shows K of them, none twice. (Their code divides theta by the
    sum of its entries, so that its norm is anything; here it is not longer than 1.)
    """

    dimension: int = Field(ge=1, le=1_000)
    """The length d of an action."""
    arms: int = Field(ge=1, le=1_000_000)
    """The number K of actions in a set."""
    showing: Literal["fixed", "fresh"] = Field(default="fixed", alias="actions")
    """One action set for the whole run (``fixed``), or a new one for each agent and slot (``fresh``; the default where
    actions are drawn from a cube or a pool)."""
    draw: Literal["bands", "cube", "pool"] = "bands"
    """What actions are drawn from: bands of means, a cube, or a pool of 1,000 unit vectors."""
    theta: Literal["shell", "ones", "positive"] = "shell"
    """The unknown vector: uniform in the shell of norms from 0.85 to 1, 1 / sqrt(d) in each entry, or uniform in
    [0, 1]^d and then scaled to the norm 1."""
    gap_means: GapMeans = GapMeans()
    """The bands of the means: ``{ best = [0.7, 0.8], others = [0.5, 0.6] }``."""
    rewards: Literal["beta", "bernoulli", "gaussian"] = "beta"
    """The distribution of the rewards, given the mean m: Beta(m, 1 - m), Bernoulli(m), or Gaussian around m."""
    deviation: float = Field(default=0.5, gt=0)
    """The standard deviation of Gaussian rewards."""

    vector: NDArray[np.float64] = state()
    """The unknown vector theta, shape (d,)."""
    world: "World" = state()
    """The arrays that compiled loops read."""
    fixed: bool = state()
    """Whether the actions stay the same."""
    shown: NDArray[np.float64] = state()
    """The actions shown last, shape (1, K, d) where they stay the same, else (M, K, d)."""

    @model_validator(mode="before")
    @classmethod
    def _fresh_by_default(cls, keys: Any) -> Any:
        if isinstance(keys, dict) and keys.get("draw") in ("cube", "pool"):
            return {"actions": "fresh", **keys}
        return keys

    @property
    def law(self) -> str:
        """``gaussian`` if rewards are, else ``other``."""
        return "gaussian" if self.rewards == "gaussian" else "other"

    def check(self) -> Checks:
        """Yield bands that are upside down, overlap, or hold means the law of the rewards cannot have."""
        if "deviation" in self.model_fields_set and self.rewards != "gaussian":
            yield Note("deviation", 'is used only with rewards = "gaussian"')
        if self.draw != "bands":
            if self.rewards != "gaussian":
                text = f'must be "gaussian" with draw = "{self.draw}", not "{self.rewards}": means may be below 0'
                yield Mistake("rewards", text)
            if self.draw == "pool" and self.arms > POOL:
                yield Mistake("arms", f'must be at most {POOL:,} with draw = "pool", which has no more vectors')
            if "gap_means" in self.model_fields_set:
                yield Note("gap_means", 'is used only with draw = "bands"')
            return
        written = self.gap_means.model_fields_set
        for name, band in (("best", self.gap_means.best), ("others", self.gap_means.others)):
            path: KeyPath = ("gap_means", name) if name in written else ("gap_means",)
            if band[0] > band[1]:
                yield Mistake(path, f"is [{band[0]}, {band[1]}]: the lowest mean comes first")
            if self.rewards == "beta" and band[0] <= 0:
                yield Mistake(
                    path, 'holds a mean that is not above 0: rewards = "beta" needs means above 0 and below 1'
                )
            if self.rewards == "bernoulli" and band[0] < 0:
                yield Mistake(path, 'holds a mean below 0: rewards = "bernoulli" needs means from 0 to 1')
        if self.gap_means.others[1] > self.gap_means.best[0]:
            path = ("gap_means", "others" if "others" in written else "best")
            yield Mistake(path, "overlaps: the others' highest mean must not be above the best arm's lowest")

    def outline(self) -> Outline:
        """Return the number of arms and the dimension."""
        return Outline(arms=self.arms, dimension=self.dimension)

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Draw theta, the pool if there is one, and the arms if they are fixed.

        Streams: ``bandit.theta``; ``bandit.pool``; ``bandit.actions``, index 0 for a fixed set, the agent for fresh
        ones.
        """
        from netbandit.bandits import draws, linear_draws

        self._draw, self._pay = linear_draws.SETS[self.draw], linear_draws.REWARDS[self.rewards]
        self._states = draws.states
        self._compiled: dict[Callable[..., None], Compiled] = {}
        self.agents = agents
        self.arm_count = self.arms
        self.sub_gaussian = self.deviation if self.rewards == "gaussian" else 0.5
        self.vector = self._drawn_theta(generator("bandit.theta", 0))
        pool = np.zeros((0, self.dimension))
        if self.draw == "pool":
            deviations = np.sqrt(1 - np.arange(self.dimension) / self.dimension)
            pool = generator("bandit.pool", 0).standard_normal((POOL, self.dimension)) * deviations
            pool /= np.linalg.norm(pool, axis=1, keepdims=True)
        bands = self.gap_means
        fixed = self.showing == "fixed"
        sources = 1 if fixed else agents
        self.world = linear_draws.World(
            theta=self.vector,
            bands=np.array([bands.best, bands.others]),
            pool=pool,
            order=np.arange(len(pool)),
            deviation=self.deviation,
            sets=draws.states([generator("bandit.actions", source) for source in range(sources)]),
            rewards=np.zeros((agents, 4), dtype=np.uint64),
            means=np.zeros((sources, self.arms)),
            best=np.zeros(sources),
        )
        self.shown: NDArray[np.float64] = np.zeros((sources, self.arms, self.dimension))
        self.fixed, self.fixed_actions = fixed, None
        if fixed:
            if self.shown.size < _WORTH_COMPILING:
                self.show_one(0)
            else:
                self._each(show_each, np.zeros(1, dtype=np.int64))
            self.fixed_actions = self.shown[0]

    def _drawn_theta(self, rng: np.random.Generator) -> NDArray[np.float64]:
        if self.theta == "ones":
            return np.full(self.dimension, 1 / sqrt(self.dimension))
        if self.theta == "positive":
            drawn = rng.random(self.dimension)
            return np.asarray(drawn / sqrt(drawn @ drawn))
        direction = rng.standard_normal(self.dimension)
        # Uniform in the shell between the two norms.
        volume = rng.uniform(SHORTEST**self.dimension, 1.0)
        return np.asarray(direction / sqrt(direction @ direction) * volume ** (1 / self.dimension))

    def begin(self, generator: GeneratorOf) -> None:
        """See :meth:`ActionSetBandit.begin`."""
        self.world.rewards[:] = self._states([generator("rewards", agent) for agent in range(self.agents)])

    def actions(self, agents: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :meth:`ActionSetBandit.actions`."""
        if self.fixed_actions is not None:
            return np.broadcast_to(self.fixed_actions, (len(agents), *self.fixed_actions.shape))
        self._each(show_each, agents)
        return self.shown if len(agents) == self.agents else self.shown[agents]

    def show_one(self, agent: int) -> Any:
        """Return the actions that *agent* sees next, shape (K, d)."""
        if self.fixed_actions is None:
            self._draw(self.world, agent, self.shown[agent])
        return self.shown[0 if self.fixed else agent]

    def action_one(self, agent: int, arm: int) -> Any:
        """Return *arm* of the actions that *agent* saw last, shape (d,)."""
        return self.shown[0 if self.fixed else agent, arm]

    def pay_one(self, agent: int, arm: int) -> Any:
        """Return what *arm* of the set that *agent* saw last pays."""
        return self._pay(self.world, agent, self.world.means[0 if self.fixed else agent, arm])

    def regret_of(self, agent: int, arm: int) -> Any:
        """Return how much less than the best *arm* of the set that *agent* saw last pays on average."""
        source = 0 if self.fixed else agent
        return self.world.best[source] - self.world.means[source, arm]

    def pull(
        self, agents: NDArray[np.int64], arms: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See :meth:`ActionSetBandit.pull`."""
        rewards, regrets = np.empty(len(agents)), np.empty(len(agents))
        self._each(pay_each, agents, arms, rewards, regrets)
        return rewards, regrets

    def _each(self, function: Callable[..., None], *given: Any) -> None:
        """Call *function*, which takes steps of it for several agents, compiled."""
        if function not in self._compiled:
            self._compiled[function] = Compiled(function, {"bandit": self}, f"{function.__name__}_Linear")
        self._compiled[function](*given)


def show_each(bandit: Any, agents: NDArray[np.int64]) -> None:
    """Show each of *agents* its next actions."""
    for row in range(agents.size):
        bandit.show_one(agents[row])


def pay_each(
    bandit: Any,
    agents: NDArray[np.int64],
    arms: NDArray[np.int64],
    rewards: NDArray[np.float64],
    regrets: NDArray[np.float64],
) -> None:
    """Write what *arms* pay *agents* into *rewards*, and their regret into *regrets*, shape (n,) each."""
    for row in range(agents.size):
        rewards[row] = bandit.pay_one(agents[row], arms[row])
        regrets[row] = bandit.regret_of(agents[row], arms[row])
