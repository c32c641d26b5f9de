"""Arms whose means may change and that only some agents have: the common base of bandits with finitely many arms."""

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.arm_sets import ArmSets
from netbandit.bandits.bandit import FiniteBandit, GeneratorOf
from netbandit.bandits.changes import ChangingMeans, Course
from netbandit.parts.component import state


class VariedArms(ChangingMeans, ArmSets):
    """Keeps the course of the means and the arms of each agent; its world calls `vary` in its start.

    Then the regret of a pull is against the best arm of the slot: by the mean over all agents, or, where agents have
    arms of their own, by the agent's own mean against the best of its arms.
    """

    agents: int = state()
    """The number M of agents."""
    horizon: int = state(default=1)
    """T, in slots; known before the start."""
    bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    """Means of agents are cut to these."""

    def vary(self, common: NDArray[np.float64], shifts: NDArray[np.float64] | None, generator: GeneratorOf) -> None:
        """Draw how the means go on, and who has which arms.

        Args:
            common: The common means of slot 0, shape (K,).
            shifts: What the means of each agent differ by, shape (M, K), or None.
            generator: Streams of the instance.
        """
        self.course = Course(self, common, self.horizon, generator)
        self.shifts = shifts
        self.own = self.own_arms_of(len(common), self.agents, generator)
        self._period = -1
        self._look(0)

    @property
    def own_arms(self) -> NDArray[np.bool_] | None:
        """Which arms each agent has, shape (M, K); None: all."""
        return self.own

    def means_at(self, slot: int) -> NDArray[np.float64]:
        """Return the means of *slot*, shape (K,), or (M, K) where agents differ."""
        self._look(slot)
        return self._means

    def mean_of(self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean of the arm of each agent, shape (n,)."""
        means = self.means_at(slot)
        found: NDArray[np.float64] = means[arms] if means.ndim == 1 else means[agents, arms]
        return found

    def regrets(self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much less than the best of the slot each choice pays on average, shape (n,)."""
        self._look(slot)
        missed: NDArray[np.float64] = self._gaps[arms] if self._gaps.ndim == 1 else self._gaps[agents, arms]
        return missed

    @cached_property
    def best_static(self) -> int:
        """The arm with the largest sum of means over all slots, the lowest number among equals."""
        return int((self.course.lengths() @ self.course.means).argmax())

    def static_regrets(self, slot: int, arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much less each choice pays in *slot* than the arm that is best over all slots, shape (n,)."""
        common = self.course.at(slot)
        missed: NDArray[np.float64] = common[self.best_static] - common[arms]
        return missed

    def _fixed(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means and gaps that never change: those that a world of blocks has settled, to the last digit."""
        if isinstance(self, FiniteBandit):
            return self.agent_means, self.gaps
        common = self.course.means[0]
        return common, common.max() - common

    def _look(self, slot: int) -> None:
        """Have the means and gaps of the period of *slot* at hand."""
        period = self.course.period(slot)
        if period == self._period:
            return
        self._period = period
        if self.own is None and not self.changing:
            self._means, self._gaps = self._fixed()
            return
        common = self.course.means[period]
        self._means = common if self.shifts is None else np.clip(common + self.shifts, *self.bounds)
        if self.own is None:
            overall = self._means if self._means.ndim == 1 else self._means.mean(axis=0)
            self._gaps = overall.max() - overall
        else:
            own = np.broadcast_to(self._means, self.own.shape)
            self._gaps = np.where(self.own, own, -np.inf).max(axis=1, keepdims=True) - own
