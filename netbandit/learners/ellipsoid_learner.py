"""The base class of learners with a confidence ellipsoid: optimism, and sums shared at synchronisations."""

from abc import abstractmethod
from collections.abc import Sequence
from math import log1p
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.byzantine.adversaries.attack_kinds import Form
from netbandit.learners.defence import Defence, SumRule, Tally
from netbandit.learners.robust_sums import robust_sums, unpacked_gram
from netbandit.learners.steps import StepLearner
from netbandit.learners.world import World

if TYPE_CHECKING:  # it is compiled, which only runs need
    from netbandit.learners.ellipsoid import Ellipsoids, Trigger

Floats = NDArray[np.float64]

REFRESH = 1_024
"""Decisions after which the inverse is made afresh from V, so that rounding does not pile up."""


class Sums(NamedTuple):
    """The combined sums of agents: a matrix, shape (d, d), a vector, shape (d,), and the number of observations."""

    gram: Floats
    response: Floats
    observations: int = 0


class Start(NamedTuple):
    """The initial values of a learner, one entry per agent.

    Attributes:
        diagonal: The factor of the identity in the initial S, shape (M,).
        inflation: The multiple of the identity that the test adds to V, shape (M,).
        bonus_terms: The terms of the bonus, shape (M, 6); see `netbandit.learners.ellipsoid.bonus_at`.
        thresholds: D of each agent, shape (M,); infinite if no test is made.
        interval: Slots from one synchronisation to the next, or 0 where a test decides.
        growth: See `netbandit.learners.ellipsoid.Trigger`.
        received: Whether agents choose by what they have received alone.
    """

    diagonal: Floats
    inflation: Floats
    bonus_terms: Floats
    thresholds: Floats
    interval: int
    growth: float = -1.0
    received: bool = False


class Loan(NamedTuple):
    """Observations that an agent has shared and that no sum it has adopted includes yet.

    Attributes:
        number: Of the row, among those of the agent's present life.
        gram, response: What was new in it, shapes (d, d) and (d,).
    """

    number: int
    gram: Floats
    response: Floats


class EllipsoidLearner(StepLearner):
    """The beliefs of all agents: an agent keeps what was synchronised, S and s, and its own since then, U and u.

    Where agents keep several sets of parameters, these are learners that share one array of beliefs, which compiled
    loops work on: ``beliefs``, see `netbandit.learners.ellipsoid`. Other state: ``thresholds``, ``interval`` and
    ``bonus_terms``, see `Start`; ``trigger``, of these and ``growth``; ``columns``, the arms that stay the same, one a
    column, shape (d, K), K = 0 where they do not.
    """

    plays: ClassVar[Literal["arms", "vectors", "market"]] = "vectors"
    all_sets: ClassVar[bool] = True
    settles: ClassVar[bool | None] = True

    robust: SumRule = "mean"
    """How the sums of agents are combined: added up (``mean``), or the ``geometric`` median, the ``trimmed`` mean, the
    ``median`` or ``krum``'s choice of what they say of one observation, times all observations."""
    tolerate: int | None = Field(default=None, ge=0)
    """The number of liars to tolerate; absent: that of ``[adversary]``."""

    def replicas(self, sets: int) -> list[Self]:
        """Return learners that share one array of beliefs, which the first to start makes; see the base class."""
        found = super().replicas(sets)
        common: dict[str, Any] = {}
        for learner in found:
            learner._have(common)
        return found

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`."""
        return "sums"

    @property
    def names_counts(self) -> bool:
        """Whether what is shared says how many observations are in it, which a defence must know."""
        return self.robust != "mean"

    def _defence(self) -> Defence:
        return Defence(self.robust, self.world.liars if self.tolerate is None else self.tolerate, tally=self._tally)

    def _have(self, common: dict[str, Any]) -> None:
        self._common = common
        self._tally: Tally = common.setdefault("tally", Tally())

    def figures(self) -> dict[str, float | int | None]:
        """Return the metrics of its defence."""
        found = self._defence().figures()
        return {**found, "repaired": self._tally.repaired} if self.robust in ("median", "trimmed") else found

    @abstractmethod
    def _start(self, agents: int) -> Start:
        """Return the initial parameters, once ``world`` is known."""

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Start from the initial matrix."""
        from netbandit.learners import ellipsoid

        assert world.members is not None
        self._steps = ellipsoid
        self.world = world
        begin = self._start(agents)
        self.thresholds: Floats = begin.thresholds
        self.interval = begin.interval
        self.trigger: Trigger = ellipsoid.Trigger(begin.thresholds, begin.interval, begin.growth)
        # With the slot in which each agent began: 0, unless it lost its memory later.
        self.bonus_terms: Floats = np.column_stack([begin.bonus_terms, np.zeros(agents)])
        self.columns: Floats = np.zeros((world.dimension, 0))
        if world.fixed_actions is not None:
            self.columns = np.ascontiguousarray(world.fixed_actions.T)
        if "beliefs" not in self._common:
            self._common["beliefs"] = ellipsoid.ellipsoids(
                world.sets,
                agents,
                world.dimension,
                self.columns.shape[1],
                begin.inflation,
                received=begin.received,
            )
        self.beliefs: Ellipsoids = self._common["beliefs"]
        param_set = world.param_set
        alike = np.append(begin.diagonal, begin.inflation).reshape(2, agents)
        for agent in range(agents):
            self.beliefs.shared_gram[param_set, agent] = begin.diagonal[agent] * np.eye(world.dimension)
            if agent and (alike[:, agent] == alike[:, agent - 1]).all():
                self._steps.copy(self.beliefs, param_set, agent - 1, agent)
            else:
                self._steps.renew(self.beliefs, param_set, agent, self.columns)
        self._fixed = world.fixed_actions
        self._product = np.empty(world.dimension)  # room
        self._bonus = np.zeros(1)
        self._bonus_of = np.full(2, -1)  # the slot and the agent of this bonus
        self._diagonal = begin.diagonal
        self._lent: dict[int, list[Loan]] = {}
        self._included: dict[int, int] = {}
        self._shared = np.zeros(agents, dtype=np.int64)  # rows of the present life
        self._upper = np.triu_indices(world.dimension)
        self._adopted: tuple[int, Floats] | None = None
        self._observations = 0  # in the sums adopted last

    @property
    def called(self) -> bool:
        """Whether a synchronisation must be called for by a message."""
        return self.interval == 0

    def next_share(self, slot: int) -> int:
        """Return the first slot from *slot* on that ends a fixed interval; asked where not all decide in every slot."""
        return -(-(slot + 1) // self.interval) * self.interval - 1 if self.interval else slot

    def unsettled_one(self, slot: int, agent: int) -> Any:
        """Return whether a total waits for *agent*, or its inverse is to be made afresh."""
        return self.beliefs.waiting[agent] or self.beliefs.updates[slot % self.world.sets, agent] >= REFRESH

    def settle(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Make the inverses afresh that were updated often."""
        param_set = slot % self.world.sets
        for agent in agents[self.beliefs.updates[param_set, agents] >= REFRESH].tolist():
            self._steps.refresh(self.beliefs, param_set, agent, self.columns)

    def choose_one(self, slot: int, agent: int, actions: Floats) -> Any:
        """Return the arm with the largest upper bound."""
        param_set = slot % self.world.sets
        self.beliefs.tally[1] += self.beliefs.tally[0] - self.beliefs.held[param_set, agent]
        bonus = self._bonus_now(param_set, slot, agent)
        if self._fixed is not None:
            return self._steps.choose_fixed(
                self.beliefs.fits[param_set, agent], self.beliefs.widths[param_set, agent], bonus
            )
        return self._steps.choose_fresh(
            self.beliefs.inverse[param_set, agent], self.beliefs.estimate[param_set, agent], bonus, actions
        )

    def _bonus_now(self, param_set: int, slot: int, agent: int) -> Any:
        """Return what widths are multiplied with; where it grows with the slots alone, many agents have the same."""
        terms = self.bonus_terms[agent]
        same = self._bonus_of[0] == slot
        if same:
            same = self._steps.same_bonus(terms, self.bonus_terms[self._bonus_of[1]])
        if not same:
            held, log_det = self.beliefs.held[param_set, agent], self.beliefs.log_det[param_set, agent]
            self._bonus[0] = self._steps.bonus_at(log_det, held, terms, self._product.size, slot)
            self._bonus_of[0] = slot
            self._bonus_of[1] = agent
        return self._bonus[0]

    def learn_one(self, slot: int, agent: int, arm: int, reward: float, action: Floats) -> None:
        """Learn from the reward: update the outer products and the response."""
        param_set = slot % self.world.sets
        grown = 0.0
        if not self.beliefs.received:
            width = self._steps.update_choice(
                param_set,
                agent,
                self.beliefs.inverse,
                self.beliefs.estimate,
                self.beliefs.fits,
                self.beliefs.widths,
                action,
                reward,
                self.columns,
                self._product,
            )
            grown = log1p(width)
            self.beliefs.held[param_set, agent] += 1
            self.beliefs.log_det[param_set, agent] += grown
        square = self._steps.add(
            self.beliefs.own_gram[param_set, agent],
            self.beliefs.own_response[param_set, agent],
            self.beliefs.leaf_response[param_set, agent],
            action,
            reward,
        )
        self.beliefs.leaf_square[param_set, agent] += square
        if self.beliefs.inflated.shape[2]:
            grown = log1p(self._steps.divide(self.beliefs.inflated[param_set, agent], action, self._product))
        self.beliefs.log_ratio[param_set, agent] += grown
        self.beliefs.uses[param_set, agent] += 1
        self.beliefs.updates[param_set, agent] += 1

    def learn(self, slot: int, agents: NDArray[np.int64], arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """See `StepLearner.learn`; worlds that have steps show no action that is longer than 1."""
        self._bound(agents, arms, rewards)
        super().learn(slot, agents, arms, rewards)

    def _bound(self, agents: NDArray[np.int64], arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Note actions that are longer than 1; by default does nothing."""

    def end_turn(self, decisions: int) -> None:
        """Note that an instant has passed."""
        self.beliefs.tally[0] += decisions

    def wants_one(self, slot: int, agent: int) -> Any:
        """Return whether the test holds, or the interval has passed."""
        param_set = slot % self.world.sets
        wanted = self._steps.wants(
            self.beliefs.quiet[param_set, agent],
            self.beliefs.uses[param_set, agent],
            self.beliefs.log_ratio[param_set, agent],
            self.trigger.thresholds[agent],
            self.trigger.every,
            self.trigger.growth,
            self.world.sets,
        )
        if wanted:
            self.beliefs.quiet[param_set, agent] = True
        return wanted

    def sync_started(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Suspend the test meanwhile."""
        self.beliefs.quiet[self.world.param_set, agents] = True

    def share_numbers(self, dimension: int) -> int:
        """Return ``d (d + 1) / 2 + d``, and one more where counts are named."""
        return dimension * (dimension + 1) // 2 + dimension + self.names_counts

    def share(self, slot: int, agents: NDArray[np.int64]) -> Floats:
        """Return the sums over all that each agent has seen, a packed row each."""
        return np.stack([self._release(agent) for agent in agents.tolist()])

    @abstractmethod
    def _release(self, agent: int) -> Floats:
        """Return the row of *agent*; it must `_lend` what is new in it."""

    def _lend(self, agent: int) -> tuple[Floats, Floats]:
        """Note that all that *agent* has seen leaves it now; return what is new of U and u."""
        beliefs, param_set = self.beliefs, self.world.param_set
        gram, response = beliefs.own_gram[param_set, agent].copy(), beliefs.own_response[param_set, agent].copy()
        loans = self._lent.setdefault(agent, [])
        for loan in loans:  # not adopted so far, but shared
            gram -= loan.gram
            response -= loan.response
        self._shared[agent] += 1
        loans.append(Loan(int(self._shared[agent]), gram, response))
        beliefs.leaf_response[param_set, agent] = 0.0
        beliefs.leaf_square[param_set, agent] = 0.0
        beliefs.uses[param_set, agent] = 0
        beliefs.quiet[param_set, agent] = True
        return gram, response

    def combine(self, shared: Sequence[Floats], weights: Sequence[int] | None = None) -> Floats:
        """Return the sum of what was *shared*, in order, or what stands for it where a defence combines."""
        if self.robust != "mean":
            return robust_sums(self._defence(), shared, self.world.dimension, weights)
        total = shared[0].copy()
        for release in shared[1:]:
            total += release
        return total

    def adopt(self, slot: int, agents: NDArray[np.int64], combined: Floats) -> None:
        """Replace S and s, and forget of U and u what is in them now."""
        for agent in agents.tolist():
            self._adopt(agent, combined)

    def _adopt(self, agent: int, combined: Floats) -> None:
        beliefs, param_set = self.beliefs, self.world.param_set
        own_gram, own_response = beliefs.own_gram[param_set, agent], beliefs.own_response[param_set, agent]
        loans = self._lent.pop(agent, [])
        included = self._included.pop(agent, int(self._shared[agent]))
        rest = [loan for loan in loans if loan.number > included]
        if rest:
            self._lent[agent] = rest
        nothing_new = not rest and beliefs.uses[param_set, agent] == 0
        if nothing_new:
            own_gram[:] = 0.0
            own_response[:] = 0.0
        else:
            for loan in loans[: len(loans) - len(rest)]:
                own_gram -= loan.gram
                own_response -= loan.response
        beliefs.quiet[param_set, agent] = False
        same = self._adopted
        if same is not None and same[1] is combined and self._alike(same[0], agent):
            source = same[0]
            self._adopt_again()
            beliefs.shared_gram[param_set, agent] = beliefs.shared_gram[param_set, source]
            beliefs.shared_response[param_set, agent] = beliefs.shared_response[param_set, source]
            self._hold(agent, self._observations)
            if nothing_new and beliefs.uses[param_set, source] == 0 and source not in self._lent:
                self._steps.copy(self.beliefs, param_set, source, agent)
            else:
                self._steps.renew(self.beliefs, param_set, agent, self.columns)
            return
        adopted = self._sums(agent, combined)
        beliefs.shared_gram[param_set, agent] = adopted.gram
        beliefs.shared_response[param_set, agent] = adopted.response
        self._observations = adopted.observations
        self._hold(agent, adopted.observations)
        self._adopted = agent, combined
        self._steps.renew(self.beliefs, param_set, agent, self.columns)

    def included(self, agents: NDArray[np.int64], shared: NDArray[np.int64]) -> None:
        """Subtract of the agent's own, when the next sums are adopted, no more than what is in them."""
        self._included.update(zip(agents.tolist(), shared.tolist(), strict=True))

    def sync_missed(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Resume the test."""
        self.beliefs.quiet[self.world.param_set, agents] = False

    def forget(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Reset to the initial matrix."""
        beliefs, param_set = self.beliefs, self.world.param_set
        for agent in agents.tolist():
            for sums in (
                beliefs.shared_response,
                beliefs.own_gram,
                beliefs.own_response,
                beliefs.leaf_response,
                beliefs.leaf_square,
                beliefs.uses,
                beliefs.held,
            ):
                sums[param_set, agent] = 0
            beliefs.quiet[param_set, agent] = False
            beliefs.shared_gram[param_set, agent] = self._diagonal[agent] * np.eye(self.world.dimension)
            self._lent.pop(agent, None)
            self._included.pop(agent, None)
            self._shared[agent] = 0
            self.bonus_terms[agent, 6] = slot
            self._bonus_of[0] = -1
            if self._adopted is not None and self._adopted[0] == agent:
                self._adopted = None
            self._steps.renew(self.beliefs, param_set, agent, self.columns)

    def _hold(self, agent: int, count: int) -> None:
        """Note how many observations *agent* holds, of which *count* were shared."""
        beliefs, param_set = self.beliefs, self.world.param_set
        own = 0 if beliefs.received else int(beliefs.uses[param_set, agent])
        beliefs.held[param_set, agent] = count + own

    def _alike(self, first: int, second: int) -> bool:
        """Return whether two agents make the same of what they adopt."""
        return True

    def _adopt_again(self) -> None:
        """Note that another agent adopts what one has adopted already."""

    @abstractmethod
    def _sums(self, agent: int, combined: Floats) -> Sums:
        """Return S, s and what they hold, once *agent* has adopted what was *combined*."""

    def _unpacked(self, row: Floats) -> Sums:
        """Return the sums in a packed *row*."""
        dimension = self.world.dimension
        size = self._upper[0].size
        return Sums(unpacked_gram(row, self._upper, dimension), row[size : size + dimension])
