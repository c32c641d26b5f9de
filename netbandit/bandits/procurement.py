"""A market: agents procure units from the same producers, some of them good, at costs of their own."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.bandit import Bandit, BanditSettings, GeneratorOf
from netbandit.settings import Problem

MOST_CAPACITY = 1_000
"""The largest capacity: up to it no probability of a binomial draw underflows."""

TOLERANCE = 1e-9
"""How far below zero the surplus of quality may be by rounding errors alone."""


class ProcurementSettings(BanditSettings):
    """The keys of the ``procurement`` bandit.

    Attributes:
        producers: The number m of producers.
        quality_threshold: alpha: a slot's units must be good with this probability on average.
        rho: What a good unit is worth; Solanki et al. do not give it.
        sampling: How qualities and costs are drawn: ``uniform`` in [0, 1], or ``normal`` around alpha.
        spread: The standard deviation of the normal sampling.
        capacity: The smallest and the largest number of units a producer sells to an agent in a slot.
        homogeneous: Whether costs and capacities are the same for all agents.
    """

    kind: str = "procurement"
    producers: int = Field(default=30, ge=1, le=10_000)
    quality_threshold: float = Field(default=0.4, ge=0, le=1)
    rho: float = Field(default=1.0, gt=0)
    sampling: Literal["uniform", "normal"] = "uniform"
    spread: float = Field(default=0.1, ge=0)
    capacity: list[int] = Field(default=[1, 50], min_length=2, max_length=2)
    homogeneous: bool = False

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield capacities that cannot be."""
        capacity = table.get("capacity")
        if not isinstance(capacity, list) or len(capacity) != 2 or any(type(units) is not int for units in capacity):
            return
        for place, units in enumerate(capacity):
            if not 1 <= units <= MOST_CAPACITY:
                yield ("capacity", place), f"must be from 1 to {MOST_CAPACITY}"
        if capacity[0] > capacity[1]:
            yield ("capacity",), "the smallest capacity comes first, then the largest"

    def facts(self) -> dict[str, Any]:
        """Return the number of producers and the threshold."""
        return {"producers": self.producers, "quality_threshold": self.quality_threshold}

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield a spread that nothing is drawn with."""
        if self.sampling != "normal" and "spread" in self.model_fields_set:
            yield "spread", 'is used only with sampling = "normal"'


class Procurement(Bandit):
    """One market (Solanki et al. 2022, Section 3.1): each unit of producer i is good with probability q_i.

    An agent j that procures l_ij units of each producer i sees ``x_ij ~ Binomial(l_ij, q_i)`` good ones, and earns
    ``sum_i l_ij (rho q_i - c_ij)``. It should keep ``sum_i l_ij (q_i - alpha) >= 0``.

    Args:
        settings: The keys.
        qualities: q, shape (m,).
        costs: c, shape (n, m).
        capacities: k, shape (n, m), integers.

    Attributes:
        agents: The number n of agents.
        producers: The number m of producers.
        rho: What a good unit is worth.
        threshold: alpha.
        qualities: q, shape (m,), read-only.
        costs: c, shape (n, m), read-only.
        capacities: k, shape (n, m), int64, read-only.
        revenues: ``rho q_i - c_ij``, shape (n, m), read-only.
    """

    Settings: ClassVar[type[BanditSettings]] = ProcurementSettings

    def __init__(
        self,
        settings: ProcurementSettings,
        qualities: NDArray[np.float64],
        costs: NDArray[np.float64],
        capacities: NDArray[np.int64],
    ) -> None:
        self.agents, self.producers = costs.shape
        self.rho = settings.rho
        self.threshold = settings.quality_threshold
        self.qualities = qualities
        self.costs = costs
        self.capacities = capacities
        self.revenues: NDArray[np.float64] = settings.rho * qualities - costs
        for array in (qualities, costs, capacities, self.revenues):
            array.setflags(write=False)

    @classmethod
    def build(cls, settings: ProcurementSettings, agents: int, generator: GeneratorOf) -> Self:
        """Draw the market; qualities do not depend on the number of agents, nor do the first agents' costs."""
        rows = 1 if settings.homogeneous else agents
        shape = (rows, settings.producers)
        qualities_of, costs_of = generator("bandit.qualities", 0), generator("bandit.costs", 0)
        if settings.sampling == "uniform":
            qualities, costs = qualities_of.random(settings.producers), costs_of.random(shape)
        else:
            centre, spread = settings.quality_threshold, settings.spread
            qualities = np.clip(qualities_of.normal(centre, spread, settings.producers), 0.0, 1.0)
            costs = costs_of.normal(centre, spread, shape)
        least, most = settings.capacity
        capacities = generator("bandit.capacities", 0).integers(least, most, size=shape, endpoint=True)
        if settings.homogeneous:
            costs, capacities = np.repeat(costs, agents, axis=0), np.repeat(capacities, agents, axis=0)
        return cls(settings, qualities, costs, capacities)

    def revenue(self, quantities: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return each agent's expected revenue of a slot, shape (n,).

        Args:
            quantities: l, shape (n, m).
        """
        earned: NDArray[np.float64] = (quantities * self.revenues).sum(axis=1)
        return earned

    def keeps_threshold(self, quantities: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each agent's units meet the threshold with the true qualities, shape (n,)."""
        kept: NDArray[np.bool_] = (quantities * (self.qualities - self.threshold)).sum(axis=1) >= -TOLERANCE
        return kept

    @property
    def least_revenue(self) -> NDArray[np.float64]:
        """The smallest revenue each agent could make in a slot, shape (n,)."""
        return self.revenue(np.where(self.revenues < 0, self.capacities, 0))

    @property
    def binding(self) -> NDArray[np.bool_]:
        """Whether the threshold costs each agent revenue: its best choice without it would violate it; shape (n,)."""
        return ~self.keeps_threshold(np.where(self.revenues > 0, self.capacities, 0))

    def regret(self, quantities: NDArray[np.int64], optimum: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return each agent's regret of a slot, shape (n,): L_j where the threshold is violated.

        Args:
            quantities: What was procured, shape (n, m).
            optimum: What the oracle chooses with the true qualities, shape (n, m).
        """
        best = self.revenue(optimum)
        return best - np.where(self.keeps_threshold(quantities), self.revenue(quantities), self.least_revenue)

    def good_units(self, quantities: NDArray[np.int64], luck: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how many of the units are good.

        Args:
            quantities: l, shape (..., m).
            luck: Uniform numbers from [0, 1), of the same shape: the draw is the binomial quantile at it, so the
                same luck with more units never gives fewer good ones.
        """
        from scipy.stats import binom

        drawn: NDArray[np.int64] = np.maximum(binom.ppf(luck, quantities, self.qualities), 0).astype(np.int64)
        return drawn
