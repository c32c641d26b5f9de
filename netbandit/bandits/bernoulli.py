"""A bandit whose arms pay 0 or 1."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.bandit import FiniteBandit, GeneratorOf, column_means
from netbandit.bandits.varied import MOST_ARMS, VariedArms, means_key
from netbandit.parts.component import Checks, Mistake, Note

Mean = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
Means = Annotated[
    Literal["uniform"] | list[Mean], means_key(Mean, 'must be "uniform" or a list of numbers from 0 to 1')
]
MeansByAgent = Annotated[
    Literal["uniform"] | list[Mean] | list[list[Mean]],
    means_key(Mean, 'must be "uniform" or a list of numbers from 0 to 1, or one for each agent', by_agent=True),
]


class Bernoulli(VariedArms, FiniteBandit):
    """Bernoulli arms: reward 1 with the probability of the mean, else 0.

    The means of agent i are ``clip(mean + U(-h, h), 0, 1)``, drawn independently for each agent and arm; the
    global mean of an arm is the average of these realised means (papers/li-2022-dpmab, Section VI).
    """

    arms: int | None = Field(default=None, ge=1, le=MOST_ARMS)
    """The number K of arms; may be left out where *means* is a list."""
    means: MeansByAgent = "uniform"
    """``"uniform"``: drawn from U[0, 1]; the mean of each arm; or a list of these for each agent."""
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    heterogeneity: float = Field(default=0.0, ge=0, le=1)
    """Half-width h of the interval in which an agent's means vary around the common ones."""
    averaged: bool = False
    """Whether each agent has the average of all agents' means: the homogeneous counterpart of the heterogeneous
    instance that the same seed and replication yield without this key."""

    def check(self) -> Checks:
        """Yield a missing number of arms, or one that is not that of the means, and *averaged* without differences."""
        if self.averaged and self.heterogeneity == 0 and self._rows is None:
            yield Note("averaged", "has no effect: with heterogeneity = 0 all agents have the same means")
        yield from self.check_arms()
        yield from self.check_changes()
        for index, change in enumerate(self.changes or []):
            if not all(0 <= mean <= 1 for mean in change.means):
                yield Mistake(("changes", index, "means"), f"must be numbers from 0 to 1, not {change.means}")
        if self.averaged and self.changing:
            yield Mistake("averaged", "excludes means that change")

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Draw the common means, and around them those of each agent.

        Streams: ``bandit.means`` and ``bandit.heterogeneity``, row i of the latter for agent i. The common means
        do not depend on the heterogeneity.
        """
        common = self.common_means(generator)
        means, shifts = self.means_by_agent(common, agents, generator)
        self.settle(column_means(means) if self.averaged and shifts is not None else means, agents)
        self.vary(common, shifts, generator)

    def settle(self, means: NDArray[np.float64], agents: int) -> None:
        """Fix the means; see :meth:`FiniteBandit.settle`. Raises ValueError for means outside [0, 1], too."""
        super().settle(means, agents)
        if not (np.all(self.agent_means >= 0) and np.all(self.agent_means <= 1)):
            raise ValueError("a mean must be a number from 0 to 1")
        if not self.changing and self.arm_sets is None and self.arms_per_agent is None:
            self.vary(self.global_means, None, _nothing_to_draw)  # a user-defined bandit may settle its means alone

    def pull_blocks(
        self, rng: np.random.Generator, agents: NDArray[np.int64], arms: NDArray[np.int64], pulls: int
    ) -> NDArray[np.int64]:
        """Draw the number of ones in *pulls* pulls of each agent and arm: a binomial draw each.

        See :meth:`FiniteBandit.pull_blocks` for shapes. Raises ValueError for a number of pulls that is negative
        or does not fit 63 bits.
        """
        if not 0 <= pulls < 2**63:
            raise ValueError(f"cannot draw a block of {pulls} pulls")
        drawn: NDArray[np.int64] = rng.binomial(pulls, self.agent_means[np.ix_(agents, arms)])
        return drawn


def _nothing_to_draw(purpose: str, index: int) -> np.random.Generator:
    raise AssertionError(f"{purpose} {index} is drawn though means stay and all agents have all arms")
