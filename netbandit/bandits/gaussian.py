"""A bandit whose arms pay a mean and normal noise."""

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.bandits.bandit import FiniteBandit, GeneratorOf, Outline
from netbandit.bandits.bernoulli import MOST_ARMS
from netbandit.bandits.varied import VariedArms
from netbandit.parts.component import Checks, Mistake, Others

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_MEANS: TypeAdapter[list[float]] = TypeAdapter(Annotated[list[Number], Field(min_length=1)])


def _means(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    # A union reports a mistake once for each alternative; the user made it once.
    if isinstance(value, list):
        return _MEANS.validate_python(value)
    if value == "uniform":
        return handler(value)
    raise PydanticCustomError("means", 'must be "uniform" or a list of numbers')


class Gaussian(VariedArms, FiniteBandit):
    """Gaussian arms: reward is the mean plus normal noise.

    The means of agent i are ``mean + U(-h, h)``, drawn independently for each agent and arm, and not clipped. A block
    of n pulls pays one draw of N(n mean, n sigma^2).
    """

    arms: int | None = Field(default=None, ge=1, le=MOST_ARMS)
    """The number K of arms; may be left out where *means* is a list."""
    means: Annotated[Literal["uniform"] | list[Number], WrapValidator(_means)] = "uniform"
    """Either ``"uniform"``: drawn from U[0, 1]; or the mean of each arm, any numbers."""
    sigma: float | list[float] = 1.0
    """Standard deviation of a reward, or one for each arm; learners are given the largest."""
    heterogeneity: float = Field(default=0.0, ge=0)
    """Half-width h of the interval in which an agent's means vary around the common ones."""

    def check(self) -> Checks:
        """Yield missing numbers of arms, those that do not agree, and deviations that are none."""
        arms = self._arms()
        if self.means == "uniform" and self.arms is None:
            yield Mistake("arms", 'is missing: with means = "uniform" the number of arms must be given')
        elif self.arms is not None and arms != self.arms:
            text = f"is {self.arms}, but means lists {arms}: they must be the same, or leave arms out"
            yield Mistake("arms", text)
        sigmas = self.sigma if isinstance(self.sigma, list) else [self.sigma]
        if not sigmas or not all(0 <= sigma < float("inf") for sigma in sigmas):
            yield Mistake("sigma", f"must be at least 0, not {self.sigma}")
        if isinstance(self.sigma, list) and arms is not None and len(self.sigma) != arms:
            yield Mistake("sigma", f"lists {len(self.sigma)} deviations, but there are {arms} arms")
        yield from self.check_changes(arms, self.means == "uniform")
        yield from self.check_sets(arms)

    def check_with(self, others: Others) -> Checks:
        """Yield what does not go with the number of agents and the horizon."""
        yield from self.check_agents(others, self._arms())
        yield from self.check_course(others, self._arms())

    def _arms(self) -> int | None:
        return self.arms if self.means == "uniform" else len(self.means)

    def outline(self) -> Outline:
        """Return the number of arms, and whether one can be worse than another."""
        if self.means == "uniform":
            return Outline(arms=self.arms, has_gap=self.arms != 1)
        can_differ = len(set(self.means)) > 1 or (self.heterogeneity > 0 and len(self.means) > 1)
        return Outline(arms=len(self.means), has_gap=can_differ)

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Draw the common means, and around them those of each agent; streams as for `bernoulli`."""
        common = (
            generator("bandit.means", 0).random(self.arms)
            if self.means == "uniform"
            else np.array(self.means, dtype=np.float64)
        )
        shifts = None
        if self.heterogeneity:
            spread = self.heterogeneity
            shifts = generator("bandit.heterogeneity", 0).uniform(-spread, spread, size=(agents, common.size))
        self.settle(common if shifts is None else common + shifts, agents)
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
