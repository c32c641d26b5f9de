"""Asynchronous uploads: agents upload sums to a server, which adds them up and returns the total.

The sums of an agent are packed: the upper triangle of a d x d matrix, row by row, and then d numbers.
"""

from abc import abstractmethod
from collections.abc import Sequence
from math import inf, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.defence import Defence
from netbandit.learners.robust_sums import robust_sums
from netbandit.learners.slots import Learner

Floats = NDArray[np.float64]

_AFRESH = 1_024
"""Uploads after which the total is added up anew, so that rounding does not pile up."""


class Upload(NamedTuple):
    """The sums of all observations of an agent so far: packed, shape (P,), with the number of observations.

    An agent that loses its memory begins a new life without observations; lives count from 0.
    """

    sums: Floats
    observations: int
    life: int = 0


class Own(NamedTuple):
    """The number of an agent's own observations in a total, and the life that they belong to.

    An agent that has lost its memory treats observations of an earlier life like those of another agent.
    """

    observations: int
    life: int = 0


class Total(NamedTuple):
    """The sums of all agents, packed, shape (P,), and how many observations are in them."""

    sums: Floats
    observations: int


class SumServer:
    """Keeps the newest upload of each agent; its total is their sum.

    An upload holds all observations of its agent, so lost, duplicate or reordered uploads are harmless: the next one
    replaces them. Uploads of an earlier life stay in the total. Unless a message was lost, the server knows
    the matrix of each agent j: ``K_j = lambda I + the total last given to j + the uploads of j since then``.

    Args:
        agents: The number M of agents.
        dimension: d.
        regularizer: lambda.
        push: An agent lags when the determinant of lambda I + total is more than so many times that of K_j; infinite:
            nobody ever does.
        defence: What combines the uploads of agents in place of their sum, an item of each agent; None: the sum.

    Attributes:
        total: The present `Total`; totals given away never change.
    """

    def __init__(
        self, agents: int, dimension: int, regularizer: float, push: float, defence: Defence | None = None
    ) -> None:
        packed = dimension * (dimension + 1) // 2 + dimension
        self._upper = np.triu_indices(dimension)
        self._start = regularizer * np.eye(dimension)
        self._push = log(push) if push < inf else inf
        self._newest: Floats = np.zeros((agents, packed))
        self._observations = np.zeros(agents, dtype=np.int64)
        self._lives = np.zeros(agents, dtype=np.int64)
        self._past: Floats = np.zeros(packed)  # of lives that are over
        self._past_observations = 0
        self.total = Total(np.zeros(packed), 0)
        self._known: list[Floats] = [self.total.sums] * agents
        self._known_observations = np.zeros(agents, dtype=np.int64)
        log_det = dimension * log(regularizer)
        self._known_log_det: Floats = np.full(agents, log_det)
        self._log_det = log_det
        self._absorbed = 0
        self._defence = defence
        self._dimension = dimension
        # Of each agent what it uploaded in lives that are over, and how many observations that is.
        self._lost = np.zeros((agents if defence is not None else 0, packed + 1))

    def absorb(self, uploads: Sequence[tuple[int, Upload]]) -> int:
        """Take in the *uploads* of some agents, in this order; return how many of them were newer than the last."""
        sums, newer = self.total.sums.copy(), 0
        for agent, upload in uploads:
            if upload.life > self._lives[agent]:
                self._begin_life(agent, upload.life)
            new = upload.observations - int(self._observations[agent])
            if new <= 0 or upload.life < self._lives[agent]:
                continue
            newer += 1
            difference = upload.sums - self._newest[agent]
            sums += difference
            self._newest[agent] = upload.sums
            self._observations[agent] += new
            if self._push < inf:
                self._known[agent] = self._known[agent] + difference
                self._known_observations[agent] += new
                self._known_log_det[agent] = self._log_det_of(self._known[agent])
        if not newer:
            return 0
        if self._absorbed // _AFRESH < (self._absorbed + newer) // _AFRESH:
            sums = self._past + self._newest.sum(axis=0)
        self._absorbed += newer
        if self._defence is not None:
            sums = self._robust(self._defence)
        self.total = Total(sums, self._past_observations + int(self._observations.sum()))
        if self._push < inf:
            self._log_det = self._log_det_of(sums)
        return newer

    def _robust(self, defence: Defence) -> Floats:
        """Return what stands for the uploads of all agents that have made one."""
        rows = np.column_stack([self._newest, self._observations]) + self._lost
        return robust_sums(defence, list(rows[rows[:, -1] > 0]), self._dimension)[:-1]

    def _begin_life(self, agent: int, life: int) -> None:
        """Note that *agent* has forgotten all that it knew."""
        if self._defence is not None:
            self._lost[agent] += np.append(self._newest[agent], self._observations[agent])
        self._past += self._newest[agent]
        self._past_observations += int(self._observations[agent])
        self._newest[agent] = 0.0
        self._observations[agent] = 0
        self._lives[agent] = life
        self._known[agent] = np.zeros_like(self.total.sums)
        self._known_observations[agent] = 0

    def lagging(self) -> list[int]:
        """Return the agents that lack observations, and many enough, ascending."""
        if self._push == inf:
            return []
        # Counts say who lacks anything: determinants are rounded.
        lack = self._known_observations < self.total.observations
        found = np.flatnonzero(lack & (self._log_det - self._known_log_det > self._push))
        return [int(agent) for agent in found]

    def give(self, agents: Sequence[int]) -> list[Own]:
        """Note that *agents* are given the total; return which observations of its own each finds in it."""
        if self._push < inf:
            for agent in agents:
                self._known[agent] = self.total.sums
            self._known_observations[agents] = self.total.observations
            self._known_log_det[agents] = self._log_det
        pairs = zip(self._observations[agents].tolist(), self._lives[agents].tolist(), strict=True)
        return [Own(own, life) for own, life in pairs]

    def total_for(self, agent: int) -> Total:
        """Return what is given to *agent*: the same to all."""
        return self.total

    def newest_upload(self, agent: int) -> Upload:
        """Return the newest upload of *agent*."""
        return Upload(self._newest[agent].copy(), int(self._observations[agent]), int(self._lives[agent]))

    def _log_det_of(self, sums: Floats) -> float:
        gram = self._start.copy()
        gram[self._upper] += sums[: self._upper[0].size]
        # Only the lower triangle is looked at, and only of a positive definite matrix.
        return 2.0 * float(np.log(np.diagonal(np.linalg.cholesky(gram.T))).sum())


class UploadLearner(Learner):
    """A learner of calls that can upload too: nobody waits for others, and nobody else takes part.

    Over a protocol of uploads an agent uploads all that it has observed when it ``wants`` to; it may be given a
    total, at any time and for several uploads at once or for none.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.talks |= {"deposit"}

    @abstractmethod
    def sum_server(self) -> SumServer:
        """Return a new server, which has nothing yet."""

    @abstractmethod
    def deposit(self, agent: int) -> Upload:
        """Return all that *agent* has observed; it makes no test until it may `resume`."""

    @abstractmethod
    def resume(self, agent: int) -> None:
        """Let *agent* test again whether it wants to upload, from its next decision on."""

    @abstractmethod
    def take(self, agent: int, total: Total, own: Own) -> bool:
        """Have *agent* adopt *total* before its next decision, in which these observations are its *own*.

        Returns:
            Whether it does; not if it has adopted more already.
        """

    @property
    @abstractmethod
    def unseen(self) -> float | None:
        """Observations that existed before a decision and were not in its sums, mean over decisions."""

    def deposit_numbers(self, dimension: int) -> int:
        """Return how many numbers an upload has: what is shared, and how many observations are in it.

        Where agents may forget, the number of the life comes on top.
        """
        return self.share_numbers(dimension) + 1
