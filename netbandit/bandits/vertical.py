"""Linear rewards of contexts whose columns are split among participants (vertical federation)."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.bandit import BanditSettings, GeneratorOf
from netbandit.bandits.columns import Participants, holder_problems, seen_columns, share_problems
from netbandit.bandits.vertical_context import Users, VerticalContextBandit
from netbandit.settings import Problem

_NUMBERS_OF_A_BLOCK = 1 << 18
"""How many numbers of contexts are drawn together: two megabytes, which stay near the processor."""


class VerticalSettings(BanditSettings):
    """The keys of the ``vertical`` bandit.

    Attributes:
        dimension: The number d of columns of a context.
        arms: The number K of arms.
        participants: The number N of participants, who hold equal parts (the first ones a column more where d is no
            multiple of N), or the number of columns of each; absent: one part for each agent.
        noise: Standard deviation of the rewards.
        partial: Share of the columns the learner sees, the first participant's first; rewards always use all.
    """

    kind: str = "vertical"
    dimension: int = Field(default=100, ge=1)
    arms: int = Field(default=10, ge=1)
    participants: Participants = None
    noise: float = Field(default=0.05, ge=0, le=1e100)
    partial: float = Field(default=1.0, gt=0, le=1)

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield parts that do not add up to the dimension."""
        dimension = table.get("dimension", 100)
        if type(dimension) is int and dimension >= 1:
            yield from share_problems(table.get("participants"), dimension)

    def problems_among(self, agents: int) -> Iterator[Problem]:
        """Yield a number of participants that is not that of the agents."""
        yield from holder_problems(self.participants, agents)
        if self.participants is None and agents > self.dimension:
            yield ("dimension",), f"is {self.dimension}, which is not a column for each of {agents} agents"

    def facts(self) -> dict[str, Any]:
        """Return ``arms`` and ``dimension``."""
        return {"arms": self.arms, "dimension": self.dimension}


def unit_vectors(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return standard normal vectors scaled to norm 1, shape *shape*; the last axis is the vector's."""
    drawn = rng.standard_normal(shape)
    drawn /= np.sqrt(np.einsum("...i,...i->...", drawn, drawn))[..., np.newaxis]
    return drawn


class Vertical(VerticalContextBandit):
    """The synthetic world of the paper (papers/vertical-2022-vfucb, 5.1).

    Contexts are N(0, I_d) scaled to norm 1, one for each arm and user; so is theta. A reward is
    ``<theta, x> + N(0, noise^2)``. Regret is counted with means, without noise.

    Args:
        theta: The parameter, shape (d,).
        settings: The keys.
        agents: The number of agents, all of them participants.
    """

    Settings: ClassVar[type[BanditSettings]] = VerticalSettings

    def __init__(self, theta: NDArray[np.float64], settings: VerticalSettings, agents: int) -> None:
        self.theta = theta
        self.arms = settings.arms
        self.noise = settings.noise
        self._whole = settings.dimension
        parts = agents if settings.participants is None else settings.participants
        self.dimension, self.columns = seen_columns(self._whole, parts, settings.partial)
        self.block = max(1, _NUMBERS_OF_A_BLOCK // (self.arms * self._whole))

    @classmethod
    def build(cls, settings: VerticalSettings, agents: int, generator: GeneratorOf) -> Self:
        """Draw theta (stream ``bandit.theta``)."""
        theta = unit_vectors(generator("bandit.theta", 0), (settings.dimension,))
        theta.setflags(write=False)
        return cls(theta, settings, agents)

    def parameter(self) -> NDArray[np.float64]:
        """Return theta, shape (d,)."""
        return self.theta

    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Draw the users of a block (streams ``contexts`` and ``rewards``); see the base class."""
        contexts = unit_vectors(generator("contexts", block), (self.block, self.arms, self._whole))
        means = contexts @ self.theta
        # One disturbance a user: only one arm is shown, so no more of it is ever seen.
        noise = generator("rewards", block).standard_normal(self.block) * self.noise
        regrets = means.max(axis=1, keepdims=True) - means
        return Users(contexts[:, :, : self.dimension], means + noise[:, np.newaxis], regrets)
