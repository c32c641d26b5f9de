"""Elimination in epochs: all agents explore the active arms, share private means, and drop the bad arms.

Source: Li & Song 2022, Algorithm 1 and its form under communication constraints (Section IV-B). Notation: N
participants, K arms, T slots, S(r) the pulls of each active arm by each agent up to the end of epoch r,
n = S(r) - S(r-1), C(r) the width of the confidence interval.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, sqrt
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.byzantine.aggregation.cover import Cover
from netbandit.learners.defence import (
    BY_ARM,
    COVERED,
    Defence,
    Rule,
    Tally,
    enough_contributions,
    half_of,
    more_liars_than_withstood,
)
from netbandit.learners.differing_sets import Answer, DifferingSets, Told
from netbandit.learners.elimination_pooled import PooledArms, left, pooled, widths
from netbandit.learners.elimination_schedule import EliminationSchedule, count_participants
from netbandit.learners.learner import Commit, EpochLearner, Phase
from netbandit.parts.component import Checks, Mistake, Note, Others, state
from netbandit.parts.settings import PositiveOrInfinite
from netbandit.privacy.accountant import PrivacySpent, account_block_means
from netbandit.privacy.mechanisms import block_mean_scale, laplace


def _gap(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    # One mistake, not one for each alternative; the likely one is the bare TOML word true.
    try:
        return handler(value)
    except ValidationError:
        raise PydanticCustomError("gap", 'must be "true" (in quotes) or a number > 0 and at most 1') from None


def _agents_of(told: Told | PooledArms) -> int:
    """Return how many agents it stands for, of the arm that most of them name."""
    return 1 if isinstance(told, Told) else int(told.agents.max(initial=0))


class Elimination(DifferingSets, EpochLearner):
    """Explores the arms left in phases, shares their means after each, in private if asked, and drops those too bad.

    The common state of a *cohort*: agents that share one active set and move through the epochs together.

    Once an epoch: :meth:`begin`, then (unless the horizon cuts the phase) :meth:`observe` with the rewards,
    then, when the round has ended, :meth:`conclude` with the aggregated means.

    What is decided is the same on every machine and in every order of the participants: best arms come from
    integers, aggregated means from exact sums.

    Beside what every `EpochLearner` has: ``schedule``, S(r) and C(r); ``epoch``, the number of the epoch that was begun
    last, 0 before the first; ``cumulative``, S(r) of that epoch, a plain int; ``width``, its C(r).
    """

    late_rewards: ClassVar[bool] = True

    epsilon: PositiveOrInfinite = inf
    """Privacy parameter; ``inf``: no noise. A run spends N epsilon, N being the number of participants of a round."""
    epsilon_total: PositiveOrInfinite | None = None
    """Instead of ``epsilon``: N epsilon, the privacy budget of one reward over a run, with which runs of different N
    are compared fairly; absent: ``epsilon`` holds."""
    rounds: int | None = Field(default=None, ge=1)
    """Budget R of rounds; absent: unlimited."""
    participation: float = Field(default=1.0, gt=0, le=1)
    """Fraction p of the agents that upload in a round."""
    gap: Annotated[Literal["true"] | Annotated[float, Field(gt=0, le=1)] | None, WrapValidator(_gap)] = None
    """With a budget: the smallest positive sub-optimality gap, or ``"true"`` for that of the instance."""
    aggregate: Literal["weighted", "paper"] = "weighted"
    """How the server averages components: ``weighted`` by their sizes, or unweighted, as in the ``paper``."""
    difference: float = Field(default=0.0, ge=0, le=1)
    """The largest difference between two agents' means of one arm: 2 h with ``heterogeneity`` = h. With a
    ``participation`` below 1 the confidence width then covers the sampling of participants, which the paper's does
    not: agents seldom eliminate the best arm, but cannot separate arms that are closer than the sampling error."""

    robust: Rule = "mean"
    """How the agents' values of an arm are combined: the ``mean``; the ``median``; the ``trimmed`` mean, without the
    ``tolerate`` smallest and largest; the ``geometric`` median; the ``median-of-means`` of ``groups``; or ``krum``, the
    one contribution that is nearest to most others."""
    tolerate: int | None = Field(default=None, ge=0)
    """The number of liars to tolerate; absent: that of ``[adversary]``."""
    groups: int | None = Field(default=None, ge=1)
    """Groups of a median of means; absent: one more than twice the liars to tolerate."""
    widths: Literal["plain", "covered"] = "plain"
    """S(r) and C(r): as made for the mean of honest agents (``plain``), or for the median, the trimmed mean or the
    median of means with so many liars (``covered``), for normal values: phases are longer, and the best arm is kept as
    surely as without lies."""

    _liars: int = state(default=0)
    _tally: Tally | None = state(default=None)
    _groups: Callable[[], np.random.Generator] = state(default=staticmethod(lambda: np.random.default_rng(0)))

    def check(self) -> Checks:
        """Yield two statements of privacy, a budget of rounds without its gap, and keys that are not used."""
        yield from self._check_defence()
        if self.epsilon != inf and self.epsilon_total is not None:
            yield Mistake("epsilon_total", "cannot be given with epsilon: it is N epsilon, for the N agents of a round")
        if self.rounds is not None and self.gap is None:
            yield Mistake("gap", 'is missing: a budget of rounds needs it, "true" or a number > 0 and at most 1')
        if self.gap is not None and self.rounds is None:
            yield Note("gap", "is used only with a budget of rounds")
        if self.difference and self.participation == 1:
            yield Note("difference", "is used only with a participation below 1: otherwise no participants are sampled")

    def check_with(self, others: Others) -> Checks:
        """Yield partial participation if participants cannot be chosen, a gap that is none, and an epsilon times N."""
        if self.participation < 1 and not (others.protocol.chooses or others.protocol.isolated):
            text = "must be 1.0: only a server (master-worker) can choose who takes part in a round"
            yield Mistake("participation", f'{text} (protocol.kind = "{others.kinds["protocol"]}")')
        if getattr(others.bandit, "changing", False) or getattr(others.bandit, "arm_sets", None) is not None:
            text = "cannot be elimination: it pulls all arms in blocks, across which means must stay as they are"
            yield Mistake("kind", f"{text}; ucb, klucb and thompson decide in every slot")
        elif getattr(others.bandit, "arms_per_agent", None) is not None:
            yield Mistake(
                "kind", "cannot be elimination: every agent pulls every arm; ucb, klucb and thompson rank their own"
            )
        if others.kinds["bandit"] == "gaussian" and (self.epsilon != inf or self.epsilon_total is not None):
            yield Mistake(
                "epsilon",
                "must be inf: noise is made for rewards from 0 to 1, and normal rewards have no bound",
            )
        outline = others.bandit.outline()
        equal = not outline.has_gap and outline.arms != 1
        if self.rounds is not None and self.gap == "true" and equal:
            text = 'cannot be "true": all means of the bandit are equal; give a number > 0 and at most 1'
            yield Mistake("gap", text)
        yield from self._check_defence_with(others)
        if self.epsilon != inf and not others.protocol.isolated and (count := self.participants(others.agents)) > 1:
            spent = f"{count * self.epsilon:g}"
            text = f"one reward spends {spent} in a run, {count} times this, once for each agent of a round"
            yield Note("epsilon", f"{text}; epsilon_total = {spent} in its place says what is spent")

    def _check_defence(self) -> Checks:
        if self.widths == "covered" and self.robust not in COVERED:
            text = f'must be "plain" with robust = "{self.robust}": how far it strays with liars is not known'
            yield Mistake("widths", f"{text}; median, trimmed and median-of-means can be covered")
        elif self.widths == "covered" and not self.bounded_releases:
            yield Mistake("widths", 'must be "plain" with an epsilon: intervals are covered for values without noise')
        if self.groups is not None and self.robust != "median-of-means":
            yield Note("groups", 'is used only with robust = "median-of-means"')
        if self.tolerate is not None and self.robust in ("mean", "geometric"):
            yield Note("tolerate", f'is not used with robust = "{self.robust}", which needs no number')
        elif self.robust == "median" and self.tolerate is not None and self.widths == "plain":
            yield Note("tolerate", 'is used by the median only with widths = "covered"')

    def _check_defence_with(self, others: Others) -> Checks:
        if self.robust == "mean":
            return
        if others.protocol.isolated:
            yield Note("robust", "has no effect: agents never communicate")
            if self.widths == "covered":
                yield Mistake("widths", 'must be "plain": agents never communicate, and an own mean holds no lies')
            return
        if others.differing and self.robust not in BY_ARM:
            text = f'must be mean, median or trimmed, not "{self.robust}": each agent concludes for itself here, from'
            yield Mistake("robust", f"{text} items that may name different arms, so that they are combined arm by arm")
        elif others.differing and self.widths == "covered":
            text = "each agent concludes for itself here, and how many of those that it hears lie is not known"
            yield Mistake("widths", f'must be "plain": {text}')
        defence = self._defence(others.liars)
        smallest = others.agents if others.differing else others.protocol.fewest_together(others.graph)
        heard = min(self.participants(others.agents), smallest)
        covered = self.widths == "covered"
        for found in enough_contributions(defence, heard):
            half = covered and isinstance(found, Note)
            yield Mistake("tolerate", half_of(defence, heard)) if half else found
        if self.robust == "median-of-means" and covered and defence.group_count <= 2 * defence.tolerate < heard:
            text = f"must be above {2 * defence.tolerate}, twice the liars to withstand, for covered widths"
            yield Mistake("groups", text)
        yield from more_liars_than_withstood(self.tolerate, others.liars)

    def start(self, *, arms: int, horizon: int, members: int, participants: int, smallest_gap: float | None) -> None:
        """Make the state of a cohort; see `EpochLearner.start`.

        With ``gap = "true"`` a *smallest_gap* of None says that no arm is worse than another: then every schedule is
        as good, and D_r = 1 is used.
        """
        if not 1 <= participants <= members:
            raise ValueError(f"{participants} of {members} agents cannot take part in a round")
        self._start(arms, horizon, members, participants, members, smallest_gap)

    def start_per_agent(
        self, *, arms: int, horizon: int, participants: int, members: int, smallest_gap: float | None
    ) -> None:
        """See `DifferingSets.start_per_agent`."""
        self._start(arms, horizon, 1, participants, members, smallest_gap)

    def expect_lies(self, liars: int, groups: Callable[[], np.random.Generator]) -> None:
        """See `EpochLearner.expect_lies`: by default as many are withstood."""
        self._liars, self._groups = liars, groups
        self._tally = Tally()

    @property
    def bounded_releases(self) -> bool:
        """See `EpochLearner.bounded_releases`: they are where no noise is added."""
        return self.epsilon == inf and self.epsilon_total in (None, inf)

    def _defence(self, liars: int) -> Defence:
        tolerate = liars if self.tolerate is None else self.tolerate
        return Defence(self.robust, tolerate, self.groups, self._tally or Tally())

    def figures(self) -> dict[str, float | int | None]:
        """Return how often its defence could not do as it should."""
        return self._defence(self._liars).figures()

    def _start(
        self, arms: int, horizon: int, rows: int, participants: int, members: int, smallest_gap: float | None
    ) -> None:
        super().start(arms=arms, horizon=horizon, members=rows, participants=participants, smallest_gap=smallest_gap)
        gap = (smallest_gap or 1.0) if self.gap == "true" else self.gap
        cover = self._defence(self._liars).cover(participants) if self.widths == "covered" else Cover()
        self.schedule = EliminationSchedule(
            arms, horizon, participants, self._epsilon(participants), self.rounds, gap, members, self.difference, cover
        )
        self.epoch = 0
        self.cumulative = 0
        # The rewards of all exploration pulls so far, by member and active arm: integers, so ties are exact.
        self._sums: NDArray[np.int64] = np.zeros((rows, arms), dtype=np.int64)
        self._known: NDArray[np.int64] = np.zeros(arms, dtype=np.int64)  # how many rewards these are, by active arm
        self._previous = 0
        self.width = inf
        self._awaits: Literal["begin", "observe", "conclude"] = "begin"
        self._commit = Commit(0) if arms == 1 else None

    def participants(self, members: int) -> int:
        """Return N = ceil(p M)."""
        return count_participants(self.participation, members)

    @property
    def weighted(self) -> bool:
        """Whether components count by their size (so that C(r) is valid), or all alike as in the paper."""
        return self.aggregate == "weighted"

    def account(self, *, participants: int, members: int, releases: int) -> PrivacySpent:
        """Account for means of disjoint blocks with Laplace noise."""
        epsilon = self._epsilon(participants)
        spent = account_block_means(epsilon, participants=participants, members=members, releases=releases)
        if self.epsilon_total is not None and releases > 0:  # N (total / N), without the rounding
            return replace(spent, epsilon=self.epsilon_total)
        return spent

    def _epsilon(self, participants: int) -> float:
        return self.epsilon if self.epsilon_total is None else self.epsilon_total / participants

    def remarks(self, *, participants: int, members: int, difference: float) -> tuple[str, ...]:
        """Say that the width leaves out the drawing of participants, where their means differ."""
        robust: tuple[str, ...] = ()
        if difference and self.robust != "mean":
            robust = (
                f"the means of agents differ by up to {difference:.3g}, and regret is that of their mean: "
                f'robust = "{self.robust}" finds something else, with an error that more pulls do not remove',
            )
        if participants == members or difference <= self.difference:
            return robust
        return (
            *robust,
            f"{participants} of {members} agents are drawn for a round, and their means differ by up to "
            f"{difference:.3g}, which the width C(r) does not cover: the best arm may be eliminated in more than one "
            f"of T runs; difference = {difference:.3g} makes the width cover it, and many participants are then "
            "needed to separate arms",
        )

    def begin(self, epoch: int) -> Phase | Commit:
        """Return what the cohort does next: explore in *epoch* (1, 2, ... in turn), or commit to an arm."""
        if self._commit is not None:
            return self._commit
        self._expect("begin", epoch == self.epoch + 1)
        self._previous, self.epoch = self.cumulative, epoch
        self.cumulative = self.schedule.cumulative_pulls(epoch, self._previous, len(self.active))
        self.width = self.schedule.width(epoch, self.cumulative, len(self.active))
        self._awaits = "observe"
        return Phase(epoch, self.active, self.cumulative - self._previous)

    def observe(self, sums: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Take in the rewards of the phase, and make :attr:`releases` and :attr:`best_arms` from them.

        With x the mean of this phase alone: ``y = x + Laplace(1 / (N epsilon n))`` (Algorithm 1 line 9) and
        ``ybar(r) = S(r-1)/S(r) ybar(r-1) + n/S(r) y`` (equation 6).

        Args:
            sums: The rewards of each member and active arm, summed over the phase's pulls, shape (members, a).
            rng: The stream of this epoch's noise; one draw for the whole cohort, row i is member i.
        """
        self._observe(sums, np.full(len(self.active), self.cumulative - self._previous), rng)

    def observe_some(self, sums: NDArray[np.int64], pulls: NDArray[np.int64]) -> None:
        """See `DifferingSets.observe_some`: S_i of each arm counts the rewards that are known of it."""
        self._observe(sums, pulls, None)

    def _observe(self, sums: NDArray[np.int64], pulls: NDArray[np.int64], rng: np.random.Generator | None) -> None:
        self._expect("observe", sums.shape == self.releases.shape)
        private = sums / np.maximum(pulls, 1)
        if rng is not None:
            scale = block_mean_scale(
                self.schedule.participants, self.schedule.epsilon, self.cumulative - self._previous
            )
            if scale > 0:
                private += laplace(rng, scale, sums.shape)
        known = self._known + pulls
        self.releases = self._known / np.maximum(known, 1) * self.releases + pulls / np.maximum(known, 1) * private
        self._sums, self._known = self._sums + sums, known
        self.best_arms = self._best(self._sums, known)
        self._awaits = "conclude"

    def _best(self, sums: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the arms of the largest means, of equal ones the first; shape (members,)."""
        if (known == known[0]).all():  # the largest sum is the largest mean
            best = sums.argmax(axis=1)
        else:
            best = np.where(known > 0, sums / np.maximum(known, 1), -inf).argmax(axis=1)
        found: NDArray[np.int64] = self.active[best]
        return found

    def best_given(self, member: int, sums: NDArray[np.int64], pulls: NDArray[np.int64]) -> int:
        """See `EpochLearner.best_given`: the arm of the largest mean."""
        (best,) = self._best(self._sums[[member]] + sums, self._known + pulls).tolist()
        return int(best)

    def conclude(self, means: NDArray[np.float64]) -> None:
        """End the round: drop each arm with ``max - mean_k >= 2 C(r)`` (Algorithm 1 line 14), and commit if due.

        Args:
            means: The aggregated mean of each active arm, shape (a,).
        """
        self._conclude(means, self.width)

    def conclude_without(self, means: NDArray[np.float64], heard: int) -> None:
        """End the round with fewer agents than the N that S(r) and the noise were made for.

        The mean over *heard* agents, each of S(r) pulls, is less sure by sqrt(N / heard), in both terms of C(r).
        """
        self._conclude(means, self.width * sqrt(self.schedule.participants / heard))

    def _conclude(self, means: NDArray[np.float64], width: float) -> None:
        self._expect("conclude", means.shape == self.active.shape and bool(np.isfinite(means).all()))
        best = int(self.active[means.argmax()])
        self._go_on_with(means.max() - means < 2 * width)
        if len(self.active) == 1 or self.epoch == self.schedule.rounds:
            self._commit = Commit(best)

    def _go_on_with(self, keep: NDArray[np.bool_]) -> None:
        if not keep.all():
            self.active, self.releases, self._sums = self.active[keep], self.releases[:, keep], self._sums[:, keep]
            self._known = self._known[keep]
        self._awaits = "begin"

    def tell(self) -> Told:
        """See `DifferingSets.tell`."""
        if (self._known == self.cumulative).all():
            return Told(self.active, self.releases[0], self.cumulative)
        some = self._known > 0
        return Told(self.active[some], self.releases[0, some], self._known[some])

    def pool(self, told: Sequence[Told | PooledArms]) -> PooledArms:
        """See `DifferingSets.pool`."""
        if len(told) > 1:
            self._defence(self._liars).hear(sum(_agents_of(one) for one in told))
        return pooled(told, weighted=self.weighted, combine=None if self.robust == "mean" else self._combine_arm)

    def _combine_arm(self, means: NDArray[np.float64], weights: NDArray[np.int64]) -> float:
        defence = self._defence(self._liars)
        (found,) = defence.combine(means[:, np.newaxis], weights.tolist(), self._groups).tolist()
        return float(found)

    def conclude_pooled(self, pooled: PooledArms) -> None:
        """Drop each arm with ``max_j (mean_j - C_j) >= mean_k + C_k``, and commit if due.

        Args:
            pooled: What stands for all items that the agent holds. Mostly its own is among them, and names all its
                arms; arms in no item stay.
        """
        known = pooled.only(self.active)
        if not len(known.arms):  # all that was heard was wrong
            self.keep()
            return
        self._expect("conclude", bool(np.isfinite(known.means).all()))
        best = int(known.arms[known.means.argmax()])
        self._go_on_with(self._stays(known))
        if len(self.active) == 1 or self.epoch == self.schedule.rounds:
            self._commit = Commit(best)

    def keep(self) -> None:
        """Keep all arms; at the end of a budget commit to the one that is best by its own releases."""
        self._expect("conclude", True)
        self._awaits = "begin"
        if self.epoch == self.schedule.rounds:
            self._commit = Commit(int(self.active[np.where(self._known > 0, self.releases[0], -inf).argmax()]))

    def _stays(self, known: PooledArms) -> NDArray[np.bool_]:
        stays = np.ones(len(self.active), dtype=bool)
        width = widths(self.schedule, self.epoch, len(self.active), known)
        stays[np.isin(self.active, known.arms)] = left(known.means, width)
        return stays

    def adopt(self, answer: Answer) -> None:
        """Keep the arms that the server has left."""
        self._expect("conclude", bool(np.isin(answer.active, self.active).any()))
        self._go_on_with(np.isin(self.active, answer.active))
        if answer.commit is not None:
            self._commit = Commit(answer.commit)
        elif len(self.active) == 1:  # answers have come in another order than they were given
            self._commit = Commit(int(self.active[0]))

    def answer(self, epoch: int, pooled: PooledArms) -> Answer:
        """Drop arms as an agent does that holds what the server has heard; every agent's set includes the server's."""
        known = pooled.only(self.active)
        if len(self.active) > 1 and len(known.arms):
            best = int(known.arms[known.means.argmax()])
            self.epoch = epoch
            self.active = self.active[self._stays(known)]
            if len(self.active) == 1 or epoch == self.schedule.rounds:
                self._commit = Commit(best)
        return Answer(self.active, None if self._commit is None else self._commit.arm)

    def combine(
        self, values: NDArray[np.float64] | Sequence[NDArray[np.float64]], weights: Sequence[int] | None = None
    ) -> NDArray[np.float64]:
        """Return what stands for what was released: by default the mean of each arm (Algorithm 1 line 12).

        Neither the order of the participants nor the machine's way of adding floats can change which arm leaves; sums
        are exact before they are rounded once.

        Args:
            values: One row for each participant or component, shape (n, a).
            weights: One for each row, such as a component's size; absent: all alike.
        """
        defence = self._defence(self._liars)
        defence.hear(len(values) if weights is None else sum(weights))
        return defence.combine(values, weights, self._groups)

    def _expect(self, call: str, fits: bool) -> None:
        if self._awaits != call:
            raise RuntimeError(f"{call} in epoch {self.epoch}, but {self._awaits} is due")
        if not fits:
            raise ValueError(f"{call} in epoch {self.epoch}: the arguments do not fit {len(self.active)} active arms")
