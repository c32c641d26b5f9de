"""OTFLinUCB (Vernade et al. 2020): linear bandits whose rewards are late, or never come, within a window."""

from math import log
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.learners.queued import not_alone
from netbandit.learners.slots import Agents, Learner, Numbers
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Note, Others


class OtfLinUcb(Learner):
    """Counts a pull in V at once and in u when its reward comes, and widens the bonus by the pulls still open.

    It pulls the arm with the largest ``<x, V^-1 u> + scale b ||x||``, norms in V^-1. With m the slots of the window,
    and A_s the vector pulled in slot s: ``b = 2 f + sum of ||A_s||`` over the m slots before t,
    ``f = sqrt(2 ln(1/delta) + d ln(1 + n / (d regularizer)))`` after n pulls (``paper``: Theorem 1); or
    ``b = sqrt(regularizer) + sqrt(2 ln(1/delta) + ln(det V / regularizer^d)) + sum of ||A_s||`` over those whose
    window is open, s > t - m (``tight``).

    Theorem 1 has no ``sqrt(regularizer)`` in f, and needs none: with rewards from 0 to 1 the error of the estimate is
    within ``f / 2`` for the noise, ``sqrt(regularizer)`` for shrinking it to 0, and the sum; ``2 f`` covers the first
    two as long as ``regularizer <= 4.5 ln(1/delta)``.
    """

    plays: ClassVar[Literal["arms", "vectors", "market"]] = "vectors"
    needs_window: ClassVar[bool] = True

    regularizer: float = Field(default=1.0, gt=0)
    """lambda: V starts from it, times the identity."""
    delta: float = Field(default=0.05, gt=0, lt=1)
    """delta: with probability 1 - 2 delta the ellipsoid holds tau_m theta."""
    scale: float = Field(default=1.0, ge=0)
    """The factor of the bonus."""
    bonus: Literal["paper", "tight"] = "paper"
    """The width of the ellipsoid: as in the paper, or by the determinant of V."""

    def check_with(self, others: Others) -> Checks:
        """Yield any protocol by which agents could communicate, and a regularizer that the paper's width leaves out."""
        yield from not_alone(others)
        most = 4.5 * log(1 / self.delta)  # where sqrt(regularizer) = 1.5 f before the first pull, see the class
        if self.bonus == "paper" and self.regularizer > most:
            text = (
                f"above 4.5 ln(1/delta) = {most:.3g} the width of Theorem 1 leaves out what it shrinks the estimate by"
            )
            yield Note("regularizer", f'{text}; bonus = "tight" counts it')

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Start from the initial matrix."""
        assert world.actions is not None
        self.world = world
        self._gram: Numbers = np.tile(self.regularizer * np.eye(world.dimension), (agents, 1, 1))
        self._response: Numbers = np.zeros((agents, world.dimension))
        self._pulls: Numbers = np.zeros(agents)
        self._window = min(world.window, world.horizon)  # no window closes after the last slot
        self._recent: Numbers = np.zeros((agents, self._window, world.dimension))
        self._recent_slots = np.full((agents, self._window), -self._window - 1)

    def choose(self, slot: int, agents: Agents) -> NDArray[np.int64]:
        """Return the arm with the largest upper bound, and count it in V."""
        actions = self._actions(agents)
        inverse: Numbers = np.asarray(np.linalg.inv(self._gram[agents]), dtype=np.float64)
        estimates = np.einsum("nij,nj->ni", inverse, self._response[agents])
        fits = np.einsum("nki,ni->nk", actions, estimates)
        bonus = self.scale * self._width(slot, agents, inverse)[:, None] * _norms(actions, inverse)
        arms = (fits + bonus).argmax(axis=1)
        pulled = actions[np.arange(len(agents)), arms]
        self._gram[agents] += pulled[:, :, None] * pulled[:, None, :]
        self._pulls[agents] += 1
        self._recent[agents, slot % self._window] = pulled
        self._recent_slots[agents, slot % self._window] = slot
        return np.asarray(arms)

    def _actions(self, agents: Agents) -> Numbers:
        assert self.world.actions is not None
        return self.world.actions(agents)

    def _width(self, slot: int, agents: Agents, inverse: Numbers) -> Numbers:
        """Return b of each agent, shape (n,)."""
        dimension, confidence = self.world.dimension, 2 * log(1 / self.delta)
        since = slot - self._window + (self.bonus == "tight")
        norms = np.where(self._recent_slots[agents] >= since, _norms(self._recent[agents], inverse), 0.0).sum(axis=1)
        if self.bonus == "paper":
            grown = dimension * np.log1p(self._pulls[agents] / (dimension * self.regularizer))
            return np.asarray(2 * np.sqrt(confidence + grown) + norms)
        grown = np.linalg.slogdet(self._gram[agents])[1] - dimension * log(self.regularizer)
        return np.asarray(np.sqrt(self.regularizer) + np.sqrt(confidence + np.maximum(grown, 0.0)) + norms)

    def learn(self, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Add the rewards to u."""
        self._response[agents] += rewards[:, None] * self._actions(agents)[np.arange(len(agents)), arms]

    def forget(self, slot: int, agents: Agents) -> None:
        """Reset to the initial matrix."""
        self._gram[agents] = self.regularizer * np.eye(self.world.dimension)
        self._response[agents] = self._pulls[agents] = 0.0
        self._recent_slots[agents] = -self._window - 1


def _norms(vectors: Numbers, inverse: Numbers) -> Numbers:
    """Return the norms in V^-1 of the vectors of each agent, shape (n, k)."""
    squares = np.einsum("nki,nij,nkj->nk", vectors, inverse, vectors, optimize=True)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
