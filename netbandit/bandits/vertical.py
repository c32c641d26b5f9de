"""Linear rewards of contexts whose columns are split among participants (vertical federation)."""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.bandit import GeneratorOf, Outline
from netbandit.bandits.vertical_context import (
    Participants,
    Users,
    VerticalContextBandit,
    check_holders,
    check_shares,
    seen_columns,
)
from netbandit.parts.component import Checks, Mistake, Others, state

_NUMBERS_OF_A_BLOCK = 1 << 18
"""How many numbers of contexts are drawn together: two megabytes, which stay near the processor."""


def unit_vectors(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return standard normal vectors scaled to norm 1, shape *shape*; the last axis is the vector's."""
    drawn = rng.standard_normal(shape)
    drawn /= np.sqrt(np.einsum("...i,...i->...", drawn, drawn))[..., np.newaxis]
    return drawn


class Vertical(VerticalContextBandit):
    """Users with contexts of which each agent sees a part, drawn at random.

    The synthetic world of the paper (papers/vertical-2022-vfucb, 5.1).

    Contexts are N(0, I_d) scaled to norm 1, one for each arm and user; so is theta. A reward is
    ``<theta, x> + N(0, noise^2)``. Regret is counted with means, without noise.
    """

    dimension: int = Field(default=100, ge=1)
    """The number d of columns of a context."""
    arms: int = Field(default=10, ge=1)
    """The number K of arms."""
    participants: Participants = None
    """The number N of participants, who hold equal parts (the first ones a column more where N does not divide d), or
    the number of columns of each; absent: one participant for each agent."""
    noise: float = Field(default=0.05, ge=0, le=1e100)
    """Standard deviation of the rewards."""
    partial: float = Field(default=1.0, gt=0, le=1)
    """Share of the columns the learner sees, the first participant's first; rewards always use all."""

    theta: NDArray[np.float64] = state()
    """The parameter, shape (d,)."""

    def check(self) -> Checks:
        """Yield parts that do not add up to the dimension."""
        yield from check_shares(self.participants, self.dimension)

    def check_with(self, others: Others) -> Checks:
        """Yield a number of participants that is not that of the agents."""
        yield from check_holders(self.participants, others.agents)
        if self.participants is None and others.agents > self.dimension:
            yield Mistake("dimension", f"is {self.dimension}, which is not a column for each of {others.agents} agents")

    def outline(self) -> Outline:
        """Return the number of arms and of columns."""
        return Outline(arms=self.arms, dimension=self.dimension)

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Draw theta (stream ``bandit.theta``); all *agents* are participants."""
        self.theta = unit_vectors(generator("bandit.theta", 0), (self.dimension,))
        self.theta.setflags(write=False)
        self.arm_count = self.arms
        parts = agents if self.participants is None else self.participants
        self.seen, self.columns = seen_columns(self.dimension, parts, self.partial)
        self.block = max(1, _NUMBERS_OF_A_BLOCK // (self.arms * self.dimension))

    def parameter(self) -> NDArray[np.float64]:
        """Return theta, shape (d,)."""
        return self.theta

    def users(self, block: int, generator: GeneratorOf) -> Users:
        """Draw the users of a block (streams ``contexts`` and ``rewards``); see the base class."""
        contexts = unit_vectors(generator("contexts", block), (self.block, self.arms, self.dimension))
        means = contexts @ self.theta
        # One disturbance a user: only one arm is shown, so no more of it is ever seen.
        noise = generator("rewards", block).standard_normal(self.block) * self.noise
        regrets = means.max(axis=1, keepdims=True) - means
        return Users(contexts[:, :, : self.seen], means + noise[:, np.newaxis], regrets)
