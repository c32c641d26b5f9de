"""Races: pull until one arm is the best for certain, up to a small probability of error.

Sources: LUCB (Kalyanakrishnan, Tewari, Auer, Stone 2012); successive elimination (Even-Dar, Mannor, Mansour 2006); the
bound over all vectors of counts is that of Kaufmann & Koolen 2021, with agents in the place of arms.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.learners.slots import Agents, Learner, Numbers
from netbandit.learners.world import World
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.util.memory import exceeded, shown
from netbandit.util.text import pluralize
from netbandit.util.wording import one_of, show

_WORLDS = ("bernoulli", "gaussian", "mixed")

_RHO = 25.0
"""rho: intervals are narrowest, for their error, where the radius is a fifth of sigma: rho = (sigma / radius)^2."""

_NUMBER, _COUNT, _LABEL = 8, 8, 4

_MANY = 0.1
"""It is remarked where more than this share of what agents use from others is held back."""


class Race(Learner):
    """Pulls until the lower bound of one arm lies above the upper bounds of all others, with what others have observed.

    With probability 1 - ``confidence`` no agent ever answers an arm that is not best, however messages are delayed,
    lost or overtaken. Of each other agent it uses the observations up to some number, and none after a gap, since the
    bound is one over all numbers that may be known of each. An agent that has answered goes on to pull its answer.

    State: ``left``: the arms that each agent may pull next, shape (M, K).
    """

    identifies: ClassVar[bool] = True
    zero_for_missing: ClassVar[bool] = False
    impossible: ClassVar[Mapping[str, str]] = {
        "adversary": "its probability of error holds only where agents tell the truth",
        "robust": "its probability of error is that of sums of all observations",
    }

    rule: Literal["lucb", "elimination"] = "lucb"
    """What an agent pulls: the arm of the largest mean and the one of the largest upper bound among the others
    (``lucb``), or all arms whose upper bound is not below a lower one (``elimination``); of these always the one that
    it has pulled least itself."""
    confidence: float = Field(default=0.05, gt=0, lt=1)
    """delta: the probability that any agent ever answers an arm that is not best is at most this."""
    pool: Literal["observations", "totals"] = "observations"
    """What agents send: each observation, of which one that is lost holds back all that follow; or the number and the
    sum of all their own, of which the newest counts, so that the next message makes up for a loss."""

    def check_with(self, others: Others) -> Checks:
        """Yield worlds in which the error is not known to be bounded, too many numbers to keep, and losses."""
        bandit, kind = others.bandit, others.kinds["bandit"]
        why = f"learner.kind = {show(others.kinds['learner'])} bounds its error where"
        if kind not in _WORLDS:
            text = f"must be {one_of(_WORLDS)}: {why} rewards are independent and sub-Gaussian with a known constant"
            yield Mistake("kind", text, table="bandit")
            return
        alike = f"{why} an arm has the same mean for all agents"
        if not getattr(bandit, "averaged", False):
            if getattr(bandit, "heterogeneity", 0):
                yield Mistake("heterogeneity", f"must be 0: {alike}", table="bandit")
            if isinstance(bandit.means[0], list):
                yield Mistake("means", f"must be one list for all agents: {alike}", table="bandit")
        for key in ("changes", "breakpoints", "drift"):
            if getattr(bandit, key):
                yield Mistake(key, f"leave it out: {why} means stay as they are", table="bandit")
        for key in ("arms_per_agent", "arm_sets"):
            if getattr(bandit, key) is not None:
                yield Mistake(key, f"leave it out: {why} every agent can pull every arm", table="bandit")
        if self.pool == "observations" and others.late and not others.protocol.isolated:
            yield Mistake(
                "pool", 'must be "totals" where rewards are late: a message has one observation, that of its slot'
            )
        agents, arms = others.agents, bandit.outline().arms
        if arms is not None and (most := exceeded(size := 2 * _NUMBER * agents**2 * arms)) is not None:
            known = f"what each of {agents:,} agents knows of {pluralize(f'{arms:,}', 'arm')} and all others takes"
            text = f"too many: {known} {shown(size)} of memory; {shown(most)} is available here"
            yield Mistake("arms", text, table="bandit")
        if self.pool == "observations" and others.may_lose:
            text = "an observation that is lost holds back all that follow it (held_back), and messages may be lost"
            yield Note("pool", f'{text}: pool = "totals" makes up for a loss with the next message')

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state."""
        assert world.members is not None
        self._causal, self._sigma = world.causal is not None and world.causal(), world.sub_gaussian
        members = np.ones(agents, dtype=np.int64) if self._causal else world.members
        self._level = level(self.confidence, world.arms, members)
        # Numbers and sums that each agent knows of each source, and from which message of the source on it knows none.
        self._known = np.zeros((2, agents, agents, world.arms))
        self._next: NDArray[np.int64] = np.zeros((agents, agents), dtype=np.int64)
        self._pulled = np.zeros((agents, world.arms))
        self._early = np.zeros((0, 5))  # observations that came before an earlier one: agent, source, row
        self._told = np.zeros((agents, 3))
        self._told[:, 2] = -1
        self.left = np.ones((agents, world.arms), dtype=np.bool_)
        self._best = np.full(agents, -1)
        self._stopped = np.zeros(agents, dtype=np.bool_)

    def choose(self, slot: int, agents: Agents) -> NDArray[np.int64]:
        """Return of the arms ``left`` the one that each has pulled least itself, the lowest index among equals."""
        pulls = np.where(self.left[agents], self._pulled[agents], np.inf)
        chosen: NDArray[np.int64] = pulls.argmin(axis=1)
        self._pulled[agents, chosen] += 1
        return chosen

    def learn(self, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Count the observations."""
        self._known[0, agents, agents, arms] += 1
        self._known[1, agents, agents, arms] += rewards
        self._told[agents] = np.column_stack([arms, rewards, self._told[agents, 2] + 1])
        self._judge(agents)

    def share(self, slot: int, agents: Agents) -> Numbers:
        """Return the latest observation and its number, (arm, reward, number), or all own counts and sums, (n, 2 K)."""
        if self.pool == "observations":
            return self._told[agents]
        return self._known[:, agents, agents].swapaxes(0, 1).reshape(len(agents), -1)

    def item_bytes(self, numbers: int) -> int:
        """Return a reward, a number, an arm and the hops left, or pairs of numbers, a slot and the hops left."""
        if self.pool == "observations":
            return _NUMBER + _COUNT + 2 * _LABEL
        return _NUMBER * numbers + _COUNT + _LABEL

    def receive(
        self, slot: int, agents: Agents, sources: Agents, payloads: Numbers, sent_slots: NDArray[np.int64]
    ) -> None:
        """Take the newest totals, or the observations that have no gap before them."""
        if self.pool == "totals":
            order = np.argsort(sent_slots, kind="stable")  # of several of one source the newest is written last
            order = order[sent_slots[order] >= self._next[agents[order], sources[order]]]
            at = agents[order], sources[order]
            self._known[:, *at] = payloads[order].reshape(-1, *self._known.shape[::3]).swapaxes(0, 1)
            self._next[at] = sent_slots[order] + 1
        else:
            self._early = np.concatenate([self._early, np.column_stack([agents, sources, payloads])])
            while self._take_due():
                pass
        self._judge(np.unique(agents))

    def _take_due(self) -> bool:
        """Count the next observation of each source that has come; return whether there was any."""
        agents, sources, arms, numbers = self._early[:, [0, 1, 2, 4]].astype(np.int64).T
        due = numbers == self._next[agents, sources]
        at = agents[due], sources[due]
        self._known[0, *at, arms[due]] += 1
        self._known[1, *at, arms[due]] += self._early[due, 3]
        self._next[at] += 1
        self._early = self._early[numbers > self._next[agents, sources] - 1]
        return bool(due.any())

    def _judge(self, agents: Agents) -> None:
        """Let *agents* draw conclusions from what they know, unless they have answered."""
        agents = agents[~self._stopped[agents]]
        known = self._known[:, agents]
        if self._causal:
            known = known.sum(axis=2, keepdims=True)
        means, lower, upper = intervals(known[0], known[1], self._level[agents], self._sigma)
        left = self.left[agents]
        if self.rule == "elimination":
            left &= upper >= np.where(left, lower, -np.inf).max(axis=1, keepdims=True)
            best = np.where(left, means, -np.inf).argmax(axis=1)
        else:
            rows, best = np.arange(len(agents)), means.argmax(axis=1)
            upper[rows, best] = -np.inf
            challenger = upper.argmax(axis=1)
            left[:] = False
            left[rows, best] = True
            left[rows, challenger] |= lower[rows, best] <= upper[rows, challenger]
        self.left[agents], self._stopped[agents] = left, left.sum(axis=1) == 1
        self._best[agents] = np.where(np.isfinite(means).any(axis=1), best, -1)

    def answers(self, agents: Agents) -> NDArray[np.int64]:
        """See `Learner.answers`: the arm of the largest mean, of those that are left."""
        return self._best[agents]

    def stopped(self, agents: Agents) -> NDArray[np.bool_]:
        """See `Learner.stopped`: those that know one arm to be best."""
        return self._stopped[agents]

    def figures(self) -> dict[str, float | int | None]:
        """Return how many observations are held back by one that has not come, where any may be."""
        return {} if self._causal or self.pool == "totals" else {"held_back": len(self._early)}

    def remarks(self) -> tuple[str, ...]:
        """Return that intervals are wider because messages may come in any order, and that much is held back."""
        if self._causal:
            return ()
        text = "a message may come before what it depends on, so that intervals cover all numbers known of each agent"
        found = [f"{text}: they are wider than where it cannot"]
        if len(self._early) > _MANY * self._next.sum():
            text = "many observations were never used, since an earlier one of the same agent had not come (held_back)"
            found.append(f'{text}: learner.pool = "totals" makes up for a loss with the next message')
        return tuple(found)


def level(confidence: float, arms: int, sources: NDArray[np.int64]) -> Numbers:
    """Return the level q of the intervals of each agent, so that all hold at once with probability 1 - *confidence*.

    q_i is the quantile of Gamma(A_i, 1) at ``1 - confidence / (K M)``, or for all agents that of Gamma(M, 1) at
    ``1 - confidence / K``, if that is less than the largest of these.

    Args:
        confidence: delta.
        arms: K.
        sources: A_i, the number of sequences that agent i puts together, shape (M,).
    """
    from scipy.special import gammainccinv

    agents = len(sources)
    each = np.asarray(gammainccinv(sources, confidence / (arms * agents)), dtype=np.float64)
    one = float(gammainccinv(agents, confidence / arms))
    return np.full(agents, one) if sources.max() > 1 and one < each.max() else each


def intervals(pulls: Numbers, sums: Numbers, level: Numbers, sigma: float) -> tuple[Numbers, Numbers, Numbers]:
    """Return the centre and both ends of the confidence interval of each arm's mean, shape (n, K) each.

    The interval has all mu with ``sum_m (S_m - N_m mu)^2 / (N_m + rho) <= sigma^2 (2 q + sum_m ln(1 + N_m / rho))``,
    over sequences m; of one sequence it is ``S / N +- sigma sqrt((N + rho) (2 q + ln(1 + N / rho))) / N``. Of an arm of
    which nothing is known it is the whole line, and the centre -inf.

    Args:
        pulls: N, of each agent, sequence and arm, shape (n, A, K).
        sums: S, same shape.
        level: q, shape (n,).
        sigma: The sub-Gaussian constant.
    """
    weights = 1 / (pulls + _RHO)
    precision = (pulls**2 * weights).sum(axis=1)
    known = precision > 0
    divisor = np.where(known, precision, 1.0)
    centre = (pulls * sums * weights).sum(axis=1) / divisor
    most = sigma**2 * (2 * level[:, np.newaxis] + np.log1p(pulls / _RHO).sum(axis=1))
    apart = ((sums - pulls * centre[:, np.newaxis]) ** 2 * weights).sum(axis=1)
    radius = np.where(known, np.sqrt(np.maximum(most - apart, 0.0) / divisor), np.inf)
    return np.where(known, centre, -np.inf), centre - radius, centre + radius
