"""A market: agents procure units from the same producers, some of them good, at costs of their own."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.bandit import Bandit, GeneratorOf
from netbandit.parts.component import Checks, Mistake, Note, state

MOST_CAPACITY = 1_000
"""The largest capacity: up to it no probability of a binomial draw underflows."""

TOLERANCE = 1e-9
"""How far below zero the surplus of quality may be by rounding errors alone."""


class Procurement(Bandit):
    """Producers of different cost and quality, from whom agents buy quantities.

    One market (Solanki et al. 2022, Section 3.1): each unit of producer i is good with probability q_i.

    An agent j that procures l_ij units of each producer i sees ``x_ij ~ Binomial(l_ij, q_i)`` good ones, and earns
    ``sum_i l_ij (rho q_i - c_ij)``. It should keep ``sum_i l_ij (q_i - alpha) >= 0``.
    """

    producers: int = Field(default=30, ge=1, le=10_000)
    """The number m of producers."""
    quality_threshold: float = Field(default=0.4, ge=0, le=1)
    """alpha: the least average quality, the probability of being good, of a slot's units."""
    rho: float = Field(default=1.0, gt=0)
    """The value of a good unit; Solanki et al. do not state theirs."""
    sampling: Literal["uniform", "normal"] = "uniform"
    """How qualities and costs are drawn: ``uniform`` in [0, 1], or ``normal`` around alpha."""
    spread: float = Field(default=0.1, ge=0)
    """The standard deviation of the normal sampling."""
    capacity: list[int] = Field(default=[1, 50], min_length=2, max_length=2)
    """The smallest and the largest number of units a producer sells to an agent in a slot."""
    homogeneous: bool = False
    """Whether costs and capacities are the same for all agents."""

    threshold: float = state()
    """alpha."""
    qualities: NDArray[np.float64] = state()
    """q, shape (m,), read-only."""
    costs: NDArray[np.float64] = state()
    """c, shape (n, m), read-only."""
    capacities: NDArray[np.int64] = state()
    """k, shape (n, m), read-only."""
    revenues: NDArray[np.float64] = state()
    """``rho q_i - c_ij``, shape (n, m), read-only."""

    def check(self) -> Checks:
        """Yield capacities that cannot be, and a spread that nothing is drawn with."""
        if self.sampling != "normal" and "spread" in self.model_fields_set:
            yield Note("spread", 'is used only with sampling = "normal"')
        for index, units in enumerate(self.capacity):
            if not 1 <= units <= MOST_CAPACITY:
                yield Mistake(("capacity", index), f"must be from 1 to {MOST_CAPACITY}")
        if self.capacity[0] > self.capacity[1]:
            yield Mistake("capacity", "the smallest capacity comes first, then the largest")

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Draw the market; qualities do not depend on the number of agents, nor do the first agents' costs."""
        rows = 1 if self.homogeneous else agents
        shape = (rows, self.producers)
        qualities_of, costs_of = generator("bandit.qualities", 0), generator("bandit.costs", 0)
        if self.sampling == "uniform":
            qualities, costs = qualities_of.random(self.producers), costs_of.random(shape)
        else:
            centre, spread = self.quality_threshold, self.spread
            qualities = np.clip(qualities_of.normal(centre, spread, self.producers), 0.0, 1.0)
            costs = costs_of.normal(centre, spread, shape)
        least, most = self.capacity
        capacities = generator("bandit.capacities", 0).integers(least, most, size=shape, endpoint=True)
        if self.homogeneous:
            costs, capacities = np.repeat(costs, agents, axis=0), np.repeat(capacities, agents, axis=0)
        self.settle(qualities, costs, capacities)

    def settle(self, qualities: NDArray[np.float64], costs: NDArray[np.float64], capacities: NDArray[np.int64]) -> None:
        """Fix the market.

        Args:
            qualities: q, shape (m,).
            costs: c, shape (n, m).
            capacities: k, shape (n, m).
        """
        self.agents = len(costs)
        self.threshold = self.quality_threshold
        self.qualities = qualities
        self.costs = costs
        self.capacities = capacities
        self.revenues = self.rho * qualities - costs
        for array in (qualities, costs, capacities, self.revenues):
            array.setflags(write=False)

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
