"""Sequential halving with a fixed budget: all agents explore, and after each round the better part of the arms is left.

Sources: Karnin, Koren, Somekh 2013; with several agents and few rounds Hillel et al. 2013, Karpov & Zhang 2023.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.learners.learner import Commit, EpochLearner, Phase
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.util.text import pluralize


class Halving(EpochLearner):
    """Spends its budget in rounds of equal parts, pools the means of all agents, and keeps one arm of every eta.

    eta is the smallest whole number with eta^R >= K: 2 with R = ceil(log2 K) rounds, as in the original. In round r
    each agent pulls each of the arms left ``floor(B / (R |I|))`` times, and ``ceil(|I| / eta)`` of them with the
    largest means over all pulls so far are left, the lowest numbers among equals. The arm left in the end is played.
    """

    identifies: ClassVar[bool] = True
    late_rewards: ClassVar[bool] = False
    impossible: ClassVar[Mapping[str, str]] = {"robust": "arms are left by the plain means of all agents"}

    rounds: int | None = Field(default=None, ge=1)
    """R; absent: ceil(log2 K). More than these have no effect, as at least half of the arms go in each."""
    budget: int | None = Field(default=None, ge=1)
    """B, the pulls of each agent in all rounds; absent: ``run.horizon`` minus 1, of which waiting takes a part."""

    def check_with(self, others: Others) -> Checks:
        """Yield a budget that is not enough for one pull of each arm in each round, or more than the horizon."""
        arms = others.bandit.outline().arms
        if self.rounds is not None and arms is not None and self.rounds > len(sizes(arms, None)):
            most = pluralize(len(sizes(arms, None)), "round")
            yield Note("rounds", f"{most} are enough for {pluralize(arms, 'arm')}, of which half go in each")
        if self.budget is not None and self.budget >= others.horizon:
            yield Mistake("budget", f"must be less than run.horizon = {others.horizon}: agents answer after it")
        elif arms is not None:
            rounds = len(sizes(arms, self.rounds))
            text = f"{pluralize(arms, 'arm')} are pulled once in {pluralize(rounds, 'round')}"
            if self.budget is not None and self.budget < arms * rounds:
                yield Mistake("budget", f"must be at least {arms * rounds}: {text}")
            elif self.budget is None and others.horizon <= arms * rounds:
                text = f"must be at least {arms * rounds + 1}: {text}, as learner.budget is not given"
                yield Mistake("horizon", text, table="run")
        if self.budget is None and not (others.protocol.isolated or others.protocol.out_of_band):
            yield Note("budget", "is not given: agents that wait for others do not come to the end of the last round")

    def start(self, *, arms: int, horizon: int, members: int, participants: int, smallest_gap: float | None) -> None:
        """Make the state of a cohort before its first round."""
        super().start(arms=arms, horizon=horizon, members=members, participants=participants, smallest_gap=smallest_gap)
        self._sizes = sizes(arms, self.rounds)
        self._part = (horizon - 1 if self.budget is None else self.budget) // max(1, len(self._sizes))
        self._pulls = 0  # of each arm left
        self._sums = np.zeros((members, arms))

    def begin(self, epoch: int) -> Phase | Commit:
        """Explore the arms left, or play the last one."""
        if epoch > len(self._sizes):
            return Commit(int(self.active[0]))
        self._round, self._added = epoch, max(1, self._part // len(self.active))
        return Phase(epoch, self.active, self._added)

    def observe(self, sums: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Add the rewards of the round; what is shared are means over all pulls so far."""
        self._pulls += self._added
        self._sums = self._sums + sums
        self.releases = self._sums / self._pulls
        self.best_arms = self.active[self.releases.argmax(axis=1)]

    def conclude(self, means: NDArray[np.float64]) -> None:
        """Keep the arms with the largest *means*."""
        kept = np.sort(np.argsort(-means, kind="stable")[: self._sizes[self._round - 1]])
        self.active, self._sums = self.active[kept], self._sums[:, kept]


def sizes(arms: int, rounds: int | None) -> list[int]:
    """Return how many of *arms* are left after each of at most so many *rounds*; None: of as many as halving takes."""
    share = 2
    while rounds is not None and share**rounds < arms:
        share += 1
    left: list[int] = []
    while arms > 1:
        arms = -(-arms // share)
        left.append(arms)
    return left
