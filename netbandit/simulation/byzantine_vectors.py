"""Byzantine vectors: lies in rows that agents broadcast or mix, and their validation."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.decision_numbers import DecisionNumbers
from netbandit.bandits.mixed import Mixed
from netbandit.byzantine.adversaries.false_totals import TotalsView, false_totals
from netbandit.byzantine.adversaries.own_attack import LiarsView
from netbandit.byzantine.adversaries.validation import valid_totals
from netbandit.learners.slots import Learner
from netbandit.scenario.activity import PoissonActivity
from netbandit.simulation.byzantine_items import Liars

if TYPE_CHECKING:
    from netbandit.simulation.driver import ReplicationContext

Agents = NDArray[np.int64]
Numbers = NDArray[np.float64]


class RowLies(Liars):
    """Forges rows, for all liars that send in a slot at once, and validates received rows.

    Only the rows of liars are validated: those of honest agents always pass.

    Args:
        context: The replication.
        learner: The learner, not yet started.
    """

    def __init__(self, context: "ReplicationContext", learner: Learner) -> None:
        super().__init__(context)
        if not self._forges:
            return
        self._form = learner.tells()
        self._streams_of = context.streams
        bandit = context.bandit
        rewards_bounded = getattr(bandit, "law", "") == "bernoulli" or isinstance(bandit, Mixed)
        market = self._form == "statistics"
        exact = learner.bounded_releases and self._form in ("totals", "statistics")
        self._bounded = exact and (market or rewards_bounded)
        several = isinstance(context.run.activity, PoissonActivity)
        # The maximum pulls in a slot.
        self._in_a_slot: Numbers | float = (
            bandit.capacities.sum(axis=1).astype(np.float64) if market else np.inf if several else 1.0  # type: ignore[attr-defined]
        )
        self._first: dict[int, Numbers] = {}
        self._normals: DecisionNumbers | None = None
        self._ranked: tuple[Agents, Agents, Agents] | None = None

    def sent(self, slot: int, agents: Agents, truth: Numbers) -> Numbers:
        """Return the rows that *agents* send after their decision of *slot*, given the honest rows *truth*.

        Args:
            slot: The slot.
            agents: The agents, shape (n,).
            truth: The honest row of each, shape (n, k).
        """
        if not self.liars:
            return truth
        self._contributed += len(agents)
        if not self._lies_now:
            return truth
        rows = np.flatnonzero(self.counted[agents] == 0.0)
        if not len(rows):
            return truth
        false = self._false(slot, agents[rows], truth[rows])
        self._forged += int((false != truth[rows]).any(axis=1).sum())
        payload = truth.copy()
        payload[rows] = false
        return payload

    def _false(self, slot: int, liars: Agents, truth: Numbers) -> Numbers:
        """Return the rows that *liars* send in place of the *truth*, shape (n, k)."""
        arms = truth.shape[1] // 2
        rows = self._own_rows if self._own else self._false_rows
        pulls, sums = rows(slot, liars, truth)
        if self._plan.strength is None and self._bounded:
            sums = np.clip(sums, 0.0, pulls)
        payload = truth.copy()
        if self._form == "mixed means":
            payload[:, :arms] = sums
        else:
            payload[:, :arms], payload[:, arms : 2 * arms] = pulls, sums
        return payload

    def _own_rows(self, slot: int, liars: Agents, truth: Numbers) -> tuple[Numbers, Numbers]:
        """Return the pulls and total rewards that *liars* report under a user-defined attack, of shape (n, K) each."""
        arms = truth.shape[1] // 2
        means = self._means(slot, arms)
        reports = [
            self._own_lie("totals", both, LiarsView(agent, np.arange(arms), means[agent].copy(), np.empty((0, arms))))
            for agent, *both in zip(liars.tolist(), *self._of(truth, arms), strict=True)
        ]
        pulls, sums = np.array(reports).swapaxes(0, 1)
        return pulls, sums

    def _false_rows(self, slot: int, liars: Agents, truth: Numbers) -> tuple[Numbers, Numbers]:
        """Return the pulls and total rewards that *liars* report under a built-in attack, of shape (n, K) each."""
        for agent, row in zip(liars.tolist(), truth, strict=True):
            self._first.setdefault(agent, row.copy())
        arms = truth.shape[1] // 2
        first = np.array([self._first[agent] for agent in liars.tolist()])
        best, second, target = (places[liars] for places in self._ranks(slot, arms))
        view = TotalsView(
            *self._of(truth, arms),
            best=best,
            second=second,
            target=target,
            first=np.array(self._of(first, arms)),
            normals=self._drawn(liars, arms) if self._attack == "noise" else np.empty((0, arms)),
            made_up=self._made_up(slot),
        )
        return false_totals(self._attack, view)

    def _of(self, rows: Numbers, arms: int) -> tuple[Numbers, Numbers]:
        """Return the pulls and total rewards reported by *rows*; a mean counts as the reward of one pull."""
        if self._form == "mixed means":
            return np.ones((len(rows), arms)), rows[:, :arms]
        return rows[:, :arms], rows[:, arms : 2 * arms]

    def _made_up(self, slot: int) -> float | None:
        if self._plan.strength is None or self._form != "totals":
            return None
        return float(slot + 1)

    def _drawn(self, liars: Agents, arms: int) -> Numbers:
        if self._normals is None:
            draw = np.random.Generator.standard_normal
            self._normals = DecisionNumbers(
                lambda _, agent: self._streams_of.generator("adversary", agent), len(self.counted), draw, arms
            )
        return self._normals.of(0, liars).reshape(len(liars), arms)

    def _means(self, slot: int, arms: int) -> Numbers:
        """Return the mean of each arm for each agent in *slot*, shape (M, K)."""
        means = self._bandit.qualities if self._form == "statistics" else self._bandit.known_means(slot)
        if means.ndim == 2 and getattr(self._bandit, "own_arms", None) is None:
            means = means.mean(axis=0)
        return np.broadcast_to(means, (len(self.counted), arms))

    def _ranks(self, slot: int, arms: int) -> tuple[Agents, Agents, Agents]:
        """Return each agent's best arm in *slot*, the second best, and the one it promotes, all of shape (M,)."""
        if self._ranked is not None and not getattr(self._bandit, "changing", False):
            return self._ranked
        agents = len(self.counted)
        means = self._means(slot, arms)
        own = getattr(self._bandit, "own_arms", None)
        seen = np.ones((agents, arms), dtype=np.bool_) if own is None else own
        order = np.argsort(np.where(seen, -means, np.inf), axis=1, kind="stable")
        counts, everybody = seen.sum(axis=1), np.arange(agents)
        second = order[everybody, np.minimum(1, counts - 1)]
        worst = order[everybody, counts - 1]
        target = self._plan.target
        chosen = worst if target == "worst" else second if target == "second" else np.full(agents, target)
        self._ranked = order[:, 0], second, chosen
        return self._ranked

    def valid(self, sources: Agents, payload: Numbers, sent_at: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return which rows pass validation, shape (n,); None if all do.

        Args:
            sources: The source of each row, shape (n,).
            payload: The rows, shape (n, k).
            sent_at: The slot in which each was sent, shape (n,).
        """
        if not self._forges:
            return None
        rows = np.flatnonzero(self.counted[sources] == 0.0)
        if not len(rows):
            return None
        arms = payload.shape[1] // 2
        in_a_slot = self._in_a_slot if isinstance(self._in_a_slot, float) else self._in_a_slot[sources[rows]]
        most: Numbers = np.full(len(rows), np.inf)
        if self._bounded or self._form == "totals":
            most = np.asarray((sent_at[rows] + 1) * in_a_slot, dtype=np.float64)
        passed = valid_totals(payload[rows, :arms], payload[rows, arms : 2 * arms], most, bounded=self._bounded)
        if passed.all():
            return None
        wrong = rows[~passed]
        self._rejected.update(dict.fromkeys(zip(sources[wrong].tolist(), sent_at[wrong].tolist(), strict=True)))
        kept = np.ones(len(sources), dtype=np.bool_)
        kept[wrong] = False
        return kept
