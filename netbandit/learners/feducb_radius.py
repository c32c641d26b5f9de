"""The radius of FedUCB's confidence ellipsoid and the threshold of its synchronisation test.

Source: Dubey & Pentland 2020, Sections 4 and 5 (Algorithm 1, Theorem 1); some formulas are reconstructed. With
L = S = 1: no action and no parameter is longer than 1.
"""

from dataclasses import dataclass
from math import log, sqrt

from netbandit.privacy.tree_calibration import TreeNoise


@dataclass(frozen=True)
class Radius:
    """The constants of an agent's confidence bounds.

    Attributes:
        members: M, or the size of the agent's clique.
        dimension: d.
        alpha: The confidence.
        sub_gaussian: The sub-Gaussian constant sigma of the rewards.
        least, most: rho_min and rho_max: bounds on what a release adds to the matrix, times the identity.
        offset: The part of beta that does not grow.
    """

    members: int
    dimension: int
    alpha: float
    sub_gaussian: float
    least: float
    most: float
    offset: float

    @property
    def inflation(self) -> float:
        """The multiple of the identity that the test adds to V: ``M (rho_max - rho_min)``."""
        return self.members * (self.most - self.least)

    @property
    def start(self) -> float:
        """The multiple of the identity that is the initial S: ``M rho_min``."""
        return self.members * self.least

    def growth(self, slots: float) -> float:
        """Return ``ln(rho_max / rho_min + t / (d rho_min))`` for t = *slots*."""
        return log(self.most / self.least + slots / (self.dimension * self.least))

    def beta(self, slots: float) -> float:
        """Return beta_t for t = *slots*."""
        spread = 2 * log(2 / self.alpha) + self.dimension * self.growth(slots)
        return self.sub_gaussian * sqrt(spread) + self.offset


def radius(
    *,
    members: int,
    dimension: int,
    alpha: float,
    sub_gaussian: float,
    regularizer: float,
    noise: TreeNoise | None,
    quietest: TreeNoise | None,
    paper_beta: bool,
    epsilon: float,
) -> Radius:
    """Return the constants of an agent's confidence bounds.

    Args:
        members: Agents whose releases are summed.
        dimension: d.
        alpha: The confidence.
        sub_gaussian: Of the rewards.
        regularizer: lambda, used without noise.
        noise: The noise of each release, or None; where agents differ, the largest.
        quietest: The smallest noise of an agent's releases, or None.
        paper_beta: Whether beta has the paper's last two terms.
        epsilon: The budget of privacy, the smallest of all agents; used with noise.
    """
    if noise is None or quietest is None:
        least = most = regularizer / members
        kappa = 0.0
    else:
        least, most = quietest.shift, 3 * noise.shift
        kappa = noise.paper_kappa(dimension, epsilon) if paper_beta else noise.kappa(dimension)
    factor = members if paper_beta else sqrt(members)
    offset = factor * (sqrt(most) + kappa)
    return Radius(members, dimension, alpha, sub_gaussian, least, most, offset)


def paper_threshold(radius: Radius, horizon: int) -> float:
    """Return ``D = 2 T d / (ln(rho_max / rho_min + T / (d rho_min)) + 1)``."""
    return 2 * horizon * radius.dimension / (radius.growth(horizon) + 1)


def dislinucb_threshold(dimension: int, agents: int, horizon: float) -> float:
    """Return ``D = T ln(M T) / (d M)``, of DisLinUCB (Wang et al. 2020); T: the decisions of an agent."""
    return horizon * log(agents * horizon) / (dimension * agents)
