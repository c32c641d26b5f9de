"""A bandit whose arms pay a mean and normal noise."""

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.bandit import FiniteBandit, GeneratorOf
from netbandit.bandits.varied import MOST_ARMS, VariedArms, means_key
from netbandit.parts.component import Checks, Mistake

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Means = Annotated[
    Literal["uniform"] | list[Number] | list[list[Number]],
    means_key(Number, 'must be "uniform" or a list of numbers, or one for each agent', by_agent=True),
]


class Gaussian(VariedArms, FiniteBandit):
    """Gaussian arms: reward is the mean plus normal noise.

    The means of agent i are ``mean + U(-h, h)``, drawn independently for each agent and arm, and not clipped. A block
    of n pulls pays one draw of N(n mean, n sigma^2).
    """

    arms: int | None = Field(default=None, ge=1, le=MOST_ARMS)
    """The number K of arms; may be left out where *means* is a list."""
    means: Means = "uniform"
    """``"uniform"``: drawn from U[0, 1]; the mean of each arm, any numbers; or a list of these for each agent."""
    sigma: float | list[float] = 1.0
    """Standard deviation of a reward, or one for each arm; learners are given the largest."""
    heterogeneity: float = Field(default=0.0, ge=0)
    """Half-width h of the interval in which an agent's means vary around the common ones."""

    def check(self) -> Checks:
        """Yield missing numbers of arms, those that do not agree, and deviations that are none."""
        arms = self.listed_arms
        yield from self.check_arms()
        yield from self.check_changes()
        sigmas = self.sigma if isinstance(self.sigma, list) else [self.sigma]
        if not sigmas or not all(0 <= sigma < float("inf") for sigma in sigmas):
            yield Mistake("sigma", f"must be at least 0, not {self.sigma}")
        if isinstance(self.sigma, list) and arms is not None and len(self.sigma) != arms:
            yield Mistake("sigma", f"lists {len(self.sigma)} deviations, but there are {arms} arms")

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Draw the common means, and around them those of each agent; streams as for `bernoulli`."""
        common = self.common_means(generator)
        means, shifts = self.means_by_agent(common, agents, generator)
        self.settle(means, agents)
        self.vary(common, shifts, generator)
        self.sigmas = np.broadcast_to(np.array(self.sigma, dtype=np.float64), common.shape)

    @property
    def law(self) -> str:
        """``gaussian``."""
        return "gaussian"

    @property
    def sub_gaussian(self) -> float:
        """The largest sigma."""
        return float(np.max(self.sigma))

    def draw(self, rng: np.random.Generator, slots: int) -> NDArray[np.float64]:
        """Return standard normal numbers, one for each slot, shape (slots,)."""
        return rng.standard_normal(slots)

    def paid(self, arm: Any, mean: Any, number: Any) -> Any:
        """Return mean and noise; see the base class."""
        return mean + self.sigmas[arm] * number

    def pull_blocks(
        self, rng: np.random.Generator, agents: NDArray[np.int64], arms: NDArray[np.int64], pulls: int
    ) -> NDArray[Any]:
        """Draw the sums of *pulls* pulls of each agent and arm: a normal draw each; see `FiniteBandit.pull_blocks`."""
        means = self.agent_means[np.ix_(agents, arms)]
        noise = rng.standard_normal(means.shape) * self.sigmas[arms] * np.sqrt(float(pulls))
        sums: NDArray[np.float64] = pulls * means + noise
        return sums
