"""A bandit whose mean reward is linear in the action: <theta, x>."""

from math import sqrt
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import GeneratorOf, Outline
from netbandit.part import Checks, Mistake, Note, state
from netbandit.settings import KeyPath, Settings

if TYPE_CHECKING:
    from netbandit.bandits.linear_draws import World

SHORTEST = 0.85
"""The least norm of theta; no mean can then be larger with actions in the unit ball."""

Band = Annotated[list[Annotated[float, Field(ge=-SHORTEST, le=SHORTEST)]], Field(min_length=2, max_length=2)]


class GapMeans(Settings):
    """The bands from which the means of the arms are drawn, uniformly."""

    best: Band = Field(default=[0.7, 0.8], description="Of the one best arm, lowest and highest.")
    others: Band = Field(default=[0.5, 0.6], description="Of all others; must not reach above the best.")


class Linear(ActionSetBandit):
    """Actions in the unit ball, theta in it with a norm from 0.85 to 1, one best arm (Dubey & Pentland, 4.4).

    The mean of an arm is uniform in its band; given the mean, the action is uniform in the part of the unit ball
    with this mean. The best arm stands at a random place of the set.

    """

    dimension: int = Field(ge=1, le=1_000)
    """The length d of an action."""
    arms: int = Field(ge=1, le=1_000_000)
    """The number K of actions in a set."""
    showing: Literal["fixed", "fresh"] = Field(default="fixed", alias="actions")
    """One set for the whole run (``fixed``), or a new one for every agent and slot (``fresh``)."""
    gap_means: GapMeans = GapMeans()
    """The bands of the means: ``{ best = [0.7, 0.8], others = [0.5, 0.6] }``."""
    rewards: Literal["beta", "bernoulli", "gaussian"] = "beta"
    """Their law, given the mean m: Beta(m, 1 - m), Bernoulli(m), or Gaussian around m."""
    deviation: float = Field(default=0.5, gt=0)
    """The standard deviation of Gaussian rewards."""

    world: "World" = state()
    """What a compiled loop needs of it."""
    fixed: bool = state()
    """Whether the actions stay the same."""
    shown: NDArray[np.float64] = state()
    """The actions shown last, shape (1, K, d) where they stay the same, else (M, K, d)."""

    def check(self) -> Checks:
        """Yield bands that are upside down, overlap, or hold means the law of the rewards cannot have."""
        if "deviation" in self.model_fields_set and self.rewards != "gaussian":
            yield Note("deviation", 'is used only with rewards = "gaussian"')
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
        """Draw theta, and the arms if they are fixed.

        Streams: ``bandit.theta``; ``bandit.actions``, index 0 for a fixed set, the agent for fresh ones.
        """
        from netbandit.bandits import draws, linear_draws

        self._draws = linear_draws
        self._states = draws.states
        self.agents = agents
        self.arm_count = self.arms
        self.sub_gaussian = self.deviation if self.rewards == "gaussian" else 0.5
        rng = generator("bandit.theta", 0)
        direction = rng.standard_normal(self.dimension)
        # Uniform in the shell between the two norms.
        volume = rng.uniform(SHORTEST**self.dimension, 1.0)
        self.theta: NDArray[np.float64] = direction / sqrt(direction @ direction) * volume ** (1 / self.dimension)
        bands = self.gap_means
        fixed = self.showing == "fixed"
        sources = 1 if fixed else agents
        self.world = linear_draws.World(
            theta=self.theta,
            bands=np.array([bands.best, bands.others]),
            law=linear_draws.LAWS.index(self.rewards),
            deviation=self.deviation,
            sets=draws.states([generator("bandit.actions", source) for source in range(sources)]),
            rewards=np.zeros((agents, 4), dtype=np.uint64),
            means=np.zeros((sources, self.arms)),
        )
        self.shown: NDArray[np.float64] = np.zeros((sources, self.arms, self.dimension))
        self.fixed = fixed
        if fixed:
            linear_draws.draw_set(self.world, 0, self.shown[0])
            self.fixed_actions = self.shown[0]

    def begin(self, generator: GeneratorOf) -> None:
        """See :meth:`ActionSetBandit.begin`."""
        self.world.rewards[:] = self._states([generator("rewards", agent) for agent in range(self.agents)])

    def actions(self, agents: NDArray[np.int64]) -> NDArray[np.float64]:
        """See :meth:`ActionSetBandit.actions`."""
        if self.fixed_actions is not None:
            return np.broadcast_to(self.fixed_actions, (len(agents), *self.fixed_actions.shape))
        self._draws.draw_sets(self.world, agents, self.shown)
        return self.shown if len(agents) == self.agents else self.shown[agents]

    def pull(
        self, agents: NDArray[np.int64], arms: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See :meth:`ActionSetBandit.pull`."""
        rewards, missed = np.empty(len(agents)), np.empty(len(agents))
        self._draws.draw_rewards(self.world, self.fixed, agents, arms, rewards, missed)
        return rewards, missed
