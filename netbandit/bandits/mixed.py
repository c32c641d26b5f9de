"""A bandit whose arms pay by different distributions in [0, 1] with the same mean (Zhu & Liu 2021)."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.bandits.bandit import ArmBandit, GeneratorOf
from netbandit.bandits.bernoulli import Means
from netbandit.bandits.varied import MOST_ARMS, VariedArms
from netbandit.parts.component import Checks, Mistake

Law = Literal["beta", "bernoulli", "truncated-normal"]


class Mixed(VariedArms, ArmBandit):
    """Arms with different reward distributions, each with the arm's mean and, except for 0/1 rewards, the same spread.

    The published code centres the truncated normal at the arm's mean, which shifts the mean of the rewards (.064 for
    .05); here the centre is solved for, so that the mean of the rewards is the arm's.
    """

    arms: int | None = Field(default=None, ge=1, le=MOST_ARMS)
    """The number K of arms; may be left out where *means* is a list."""
    means: Means = "uniform"
    """Either ``"uniform"``: drawn from U[``lowest``, ``highest``]; or the mean of each arm."""
    lowest: float = Field(default=0.05, ge=0, le=1)
    """The smallest mean that is drawn."""
    highest: float = Field(default=0.95, ge=0, le=1)
    """The largest mean that is drawn."""
    laws: list[Law] = Field(default=["beta", "bernoulli", "truncated-normal"], min_length=1)
    """The reward distributions to draw from."""
    differ: Literal["agents", "arms"] = "agents"
    """Whether a distribution is drawn for each agent and arm, or for each arm."""
    spread: float = Field(default=0.05, gt=0, lt=0.5)
    """Standard deviation of a reward that is not 0/1; of the truncated normal distribution, that before truncation."""

    def check(self) -> Checks:
        """Yield missing numbers of arms, those that do not agree, and means too near to 0 or 1 for the spread."""
        yield from self.check_arms()
        if self.means == "uniform" and self.lowest > self.highest:
            yield Mistake("highest", f"must be at least lowest = {self.lowest}")
        if "beta" in self.laws and any(self.spread**2 >= mean * (1 - mean) for mean in self._extremes()):
            yield Mistake(
                "spread", "is too large for a beta distribution with the smallest or largest mean: m (1 - m) > spread^2"
            )
        if "truncated-normal" in self.laws and not all(0 < mean < 1 for mean in self._extremes()):
            yield Mistake("means", "must lie strictly between 0 and 1 for a truncated normal distribution")
        if self.changing:
            key = next(key for key in ("changes", "breakpoints", "drift") if getattr(self, key))
            yield Mistake(key, "is not offered for mixed distributions: bernoulli and gaussian have it")

    def _extremes(self) -> tuple[float, float]:
        return (self.lowest, self.highest) if self.means == "uniform" else (min(self.means), max(self.means))

    def start(self, agents: int, generator: GeneratorOf) -> None:
        """Draw means and laws; streams ``bandit.means`` and ``bandit.laws``."""
        super().start(agents, generator)
        common = self.common_means(generator)
        if self.means == "uniform":
            common = self.lowest + (self.highest - self.lowest) * common
        self.vary(common, None, generator)
        rows = agents if self.differ == "agents" else 1
        drawn = generator("bandit.laws", 0).integers(len(self.laws), size=(rows, len(common)))
        numbers = np.array([_NUMBERS[law] for law in self.laws])
        self.law_of = np.broadcast_to(numbers[drawn], (agents, len(common)))
        variance = self.spread**2
        size = np.maximum(common * (1 - common) / variance - 1, 1e-12)
        self._beta = common * size, (1 - common) * size
        needed = "truncated-normal" in self.laws
        self._centres = np.array([centre(mean, self.spread) for mean in common]) if needed else common

    @property
    def law(self) -> str:
        """``other``."""
        return "other"

    def pull(
        self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64], numbers: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the quantiles of the arms' laws at the agents' numbers; see the base class."""
        from scipy.special import betaincinv

        laws = self.law_of[agents, arms]
        means = self.mean_of(slot, agents, arms)
        rewards = (numbers < means).astype(np.float64)
        beta = laws == _NUMBERS["beta"]
        first, second = self._beta
        rewards[beta] = betaincinv(first[arms[beta]], second[arms[beta]], numbers[beta])
        cut = laws == _NUMBERS["truncated-normal"]
        rewards[cut] = truncated_quantile(numbers[cut], self._centres[arms[cut]], self.spread)
        return rewards


_NUMBERS: dict[str, int] = {"bernoulli": 0, "beta": 1, "truncated-normal": 2}


def truncated_quantile(chances: NDArray[np.float64], centres: Any, spread: float) -> NDArray[np.float64]:
    """Return the quantiles of normal laws of *spread* around *centres*, cut to [0, 1]."""
    from scipy.special import ndtr, ndtri

    low, high = ndtr((0 - centres) / spread), ndtr((1 - centres) / spread)
    found: NDArray[np.float64] = np.clip(centres + spread * ndtri(low + chances * (high - low)), 0.0, 1.0)
    return found


def truncated_mean(centre: float, spread: float) -> float:
    """Return the mean of a normal law around *centre* that is cut to [0, 1]."""
    from scipy.stats import truncnorm

    return float(truncnorm.mean((0 - centre) / spread, (1 - centre) / spread, loc=centre, scale=spread))


def centre(mean: float, spread: float) -> float:
    """Return where a normal law cut to [0, 1] must be centred for its mean to be *mean*, strictly between 0 and 1."""
    from scipy.optimize import brentq

    low = high = mean
    step = spread
    while truncated_mean(low, spread) > mean:
        low, step = low - step, 2 * step
    step = spread
    while truncated_mean(high, spread) < mean:
        high, step = high + step, 2 * step
    if low == high:
        return mean
    return float(brentq(lambda at: truncated_mean(at, spread) - mean, low, high, xtol=1e-13))
