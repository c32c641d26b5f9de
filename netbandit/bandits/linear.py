"""A bandit whose mean reward is linear in the action: <theta, x>."""

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.action_set import ActionSetBandit
from netbandit.bandits.bandit import BanditSettings, GeneratorOf
from netbandit.settings import Problem, Settings

SHORTEST = 0.85
"""The least norm of theta; no mean can then be larger with actions in the unit ball."""

Band = Annotated[list[Annotated[float, Field(ge=-SHORTEST, le=SHORTEST)]], Field(min_length=2, max_length=2)]


class GapMeans(Settings):
    """The bands from which the means of the arms are drawn, uniformly.

    Attributes:
        best: Of the one best arm, lowest and highest.
        others: Of all others; must not reach above the best.
    """

    best: Band = Field(default=[0.7, 0.8])
    others: Band = Field(default=[0.5, 0.6])


class LinearSettings(BanditSettings):
    """The keys of the ``linear`` bandit.

    Attributes:
        dimension: The length d of an action.
        arms: The number K of actions in a set.
        actions: One set for the whole run (``fixed``), or a new one for every agent and slot (``fresh``).
        gap_means: The bands of the means: ``{ best = [0.7, 0.8], others = [0.5, 0.6] }``.
        rewards: Their law, given the mean m: Beta(m, 1 - m), Bernoulli(m), or Gaussian around m.
        deviation: The standard deviation of Gaussian rewards.
    """

    kind: str = "linear"
    dimension: int = Field(ge=1, le=1_000)
    arms: int = Field(ge=1, le=1_000_000)
    actions: Literal["fixed", "fresh"] = "fixed"
    gap_means: GapMeans = GapMeans()
    rewards: Literal["beta", "bernoulli", "gaussian"] = "beta"
    deviation: float = Field(default=0.5, gt=0)

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield bands that are upside down, overlap, or hold means the law of the rewards cannot have."""
        written = table.get("gap_means", {})
        if not isinstance(written, Mapping):
            return
        bands = {"best": [0.7, 0.8], "others": [0.5, 0.6], **written}
        for name in ("best", "others"):
            band = bands[name]
            if not _is_band(band):
                return  # said by the model
            path = ("gap_means", name) if name in written else ("gap_means",)
            if band[0] > band[1]:
                yield path, f"is [{band[0]}, {band[1]}]: the lowest mean comes first"
            law = table.get("rewards", "beta")
            if law == "beta" and band[0] <= 0:
                yield path, 'holds a mean that is not above 0: rewards = "beta" needs means above 0 and below 1'
            if law == "bernoulli" and band[0] < 0:
                yield path, 'holds a mean below 0: rewards = "bernoulli" needs means from 0 to 1'
        if bands["others"][1] > bands["best"][0]:
            path = ("gap_means", "others") if "others" in written else ("gap_means", "best")
            yield path, "overlaps: the others' highest mean must not be above the best arm's lowest"

    def facts(self) -> dict[str, Any]:
        """Return ``arms`` and ``dimension``."""
        return {"arms": self.arms, "dimension": self.dimension}

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield a deviation without Gaussian rewards."""
        if "deviation" in self.model_fields_set and self.rewards != "gaussian":
            yield "deviation", 'is used only with rewards = "gaussian"'


def _is_band(band: Any) -> bool:
    return isinstance(band, list) and len(band) == 2 and all(type(mean) in (int, float) for mean in band)


class Linear(ActionSetBandit):
    """Actions in the unit ball, theta in it with a norm from 0.85 to 1, one best arm (Dubey & Pentland, 4.4).

    The mean of an arm is uniform in its band; given the mean, the action is uniform in the part of the unit ball
    with this mean. The best arm stands at a random place of the set.

    Streams of the instance: ``bandit.theta``; ``bandit.actions``, index 0 for a fixed set, the agent for fresh ones.

    Args:
        settings: The keys.
        agents: The number M of agents.
        generator: The streams of the instance.

    Attributes:
        world: What a compiled loop needs of it.
        fixed: Whether the actions stay the same.
        shown: The actions shown last, shape (1, K, d) where they stay the same, else (M, K, d).
    """

    Settings: ClassVar[type[BanditSettings]] = LinearSettings

    def __init__(self, settings: LinearSettings, agents: int, generator: GeneratorOf) -> None:
        from netbandit.bandits import draws, linear_draws

        self._draws = linear_draws
        self._states = draws.states
        self.settings = settings
        self.agents = agents
        self.arms = settings.arms
        self.dimension = settings.dimension
        self.sub_gaussian = settings.deviation if settings.rewards == "gaussian" else 0.5
        rng = generator("bandit.theta", 0)
        direction = rng.standard_normal(self.dimension)
        # Uniform in the shell between the two norms.
        volume = rng.uniform(SHORTEST**self.dimension, 1.0)
        self.theta: NDArray[np.float64] = direction / sqrt(direction @ direction) * volume ** (1 / self.dimension)
        bands = settings.gap_means
        fixed = settings.actions == "fixed"
        sources = 1 if fixed else agents
        self.world = linear_draws.World(
            theta=self.theta,
            bands=np.array([bands.best, bands.others]),
            law=linear_draws.LAWS.index(settings.rewards),
            deviation=settings.deviation,
            sets=draws.states([generator("bandit.actions", source) for source in range(sources)]),
            rewards=np.zeros((agents, 4), dtype=np.uint64),
            means=np.zeros((sources, self.arms)),
        )
        self.shown: NDArray[np.float64] = np.zeros((sources, self.arms, self.dimension))
        self.fixed = fixed
        if fixed:
            linear_draws.draw_set(self.world, 0, self.shown[0])
            self.fixed_actions = self.shown[0]

    @classmethod
    def build(cls, settings: LinearSettings, agents: int, generator: GeneratorOf) -> Self:
        """Draw theta, and the arms if they are fixed."""
        return cls(settings, agents, generator)

    def start(self, generator: GeneratorOf) -> None:
        """See :meth:`ActionSetBandit.start`."""
        self.world.rewards[:] = self._states([generator("rewards", agent) for agent in range(self.agents)])

    def actions(self, agent: int) -> NDArray[np.float64]:
        """See :meth:`ActionSetBandit.actions`."""
        if self.fixed_actions is not None:
            return self.fixed_actions
        shown: NDArray[np.float64] = self.shown[agent]
        self._draws.draw_set(self.world, agent, shown)
        return shown

    def pull(self, agent: int, arm: int) -> tuple[float, float]:
        """See :meth:`ActionSetBandit.pull`."""
        means = self.world.means[0 if self.fixed else agent]
        reward = self._draws.draw_reward(self.world, agent, float(means[arm]))
        return float(reward), float(means.max() - means[arm])
