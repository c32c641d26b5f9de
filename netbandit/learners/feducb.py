"""FedUCB: optimism in an ellipsoid, sums shared when they tell enough, and private ones at that.

Source: Dubey & Pentland 2020, Algorithms 1 to 3.
"""

from collections.abc import Iterator, Mapping
from math import inf, log, sqrt
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.learners.feducb_radius import Radius, dislinucb_threshold, paper_threshold, radius
from netbandit.learners.learner import LearnerSettings
from netbandit.learners.slots import SlotLearner, Surroundings
from netbandit.privacy.accountant import PrivacySpent
from netbandit.privacy.tree import Tree
from netbandit.privacy.tree_calibration import Calibration, TreeNoise, account_tree, calibrate
from netbandit.settings import PositiveOrInfinite, Problem
from netbandit.streams import Streams

_LEAST, _MOST = 1e-9, 1e9


def _threshold(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:  # one mistake, not one for each alternative
        return handler(value)
    except ValidationError:
        raise PydanticCustomError("threshold", 'must be "paper", "dislinucb" or a number > 0') from None


class FedUcbSettings(LearnerSettings):
    """The keys of the ``feducb`` learner.

    Attributes:
        epsilon: Privacy budget of all releases of an agent together; ``inf``: no noise.
        delta: The other privacy parameter.
        alpha: The confidence of all bounds.
        beta_scale: What the bonus is multiplied with; 1 is theory, with which the bonus exceeds every gap for any
            feasible horizon.
        threshold: D of the test: the paper's, DisLinUCB's, or a number.
        schedule: ``logdet``: agents ask for a synchronisation when they know enough new; ``fixed``: it is known ahead.
        every: With ``fixed``: slots from one synchronisation of a set of parameters to the next, rounded up to a
            multiple of the sets.
        calibration: How much noise: the paper's, or what zero-concentrated privacy asks for.
        beta: The last two terms of beta: reconstructed, or the paper's, which are larger.
        members: What M stands for in the initial matrix, the inflation and beta: all agents, or those of the clique.
        regularizer: lambda, where there is no noise.
    """

    kind: str = "feducb"
    epsilon: PositiveOrInfinite = 1.0
    delta: float = Field(default=0.1, ge=1e-300, lt=1)
    alpha: float = Field(default=0.1, ge=1e-300, lt=1)
    beta_scale: float = Field(default=1.0, ge=0)
    threshold: Annotated[Literal["paper", "dislinucb"] | Annotated[float, Field(gt=0)], WrapValidator(_threshold)] = (
        "paper"
    )
    schedule: Literal["logdet", "fixed"] = "logdet"
    every: int | None = Field(default=None, ge=1, le=10**12)
    calibration: Calibration = "paper"
    beta: Literal["reconstructed", "paper"] = "reconstructed"
    members: Literal["all", "clique"] = "all"
    regularizer: float = Field(default=1.0, ge=1e-9, le=1e9)

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield a fixed schedule without its interval, and budgets that no number can hold."""
        epsilon = table.get("epsilon")
        if isinstance(epsilon, int | float) and (0 < epsilon < _LEAST or _MOST < epsilon < inf):
            yield ("epsilon",), f"must be inf, or from {_LEAST:g} to {_MOST:g}, not {epsilon}"
        if table.get("schedule") == "fixed" and table.get("every") is None:
            yield ("every",), 'is missing: schedule = "fixed" needs it, a number of slots >= 1'

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield the keys that the chosen mode does not use."""
        unused: dict[str, str] = {}
        if self.schedule == "fixed":
            unused["threshold"] = 'is not used with schedule = "fixed"'
        else:
            unused["every"] = 'is used only with schedule = "fixed"'
        if self.epsilon == inf:
            unused |= dict.fromkeys(("delta", "calibration"), "is not used with epsilon = inf")
        else:
            unused["regularizer"] = "is used only where there is no noise: with epsilon = inf, or alone"
        for key, text in unused.items():
            if key in self.model_fields_set and getattr(self, key) is not None:
                yield key, text


class FedUcb(SlotLearner):
    """The beliefs of all agents, and their Privatizers.

    A release is the upper triangle of the d x d matrix U^, row by row, and then the d numbers of u^: the sums over all
    that the agent has seen, not over what is new. A synchronised matrix that is not positive definite, because noise
    was larger than what it hides, has its eigenvalues clipped at rho_min.

    Args:
        settings: The keys.
        surroundings: The world and the protocol.
        streams: The streams of this replication; noise comes from ``tree.<set>``, index: the agent.

    Attributes:
        radii: The bounds of each agent, M of them.
        threshold: D, for each agent, shape (M,); infinite where no test is made.
        every: Slots from one synchronisation to the next, or 0 where a test decides.
        columns: The arms that stay the same, one a column, shape (d, K); K = 0 where they do not.
        bonus_terms: What the compiled loop makes the bonus of, shape (M, 5); see `linear_play.play`.
        beliefs: The state that compiled steps work on.
        clipped: Adoptions in which eigenvalues had to be clipped.
    """

    Settings: ClassVar[type[LearnerSettings]] = FedUcbSettings

    def __init__(self, settings: FedUcbSettings, surroundings: Surroundings, streams: Streams) -> None:
        from netbandit.learners import ellipsoid

        self._steps = ellipsoid
        self._settings = settings
        around = self.surroundings = surroundings
        self.noise = self._noise()
        members = np.ones(around.agents, dtype=np.int64) if around.alone else around.members
        if settings.members == "all" and not around.alone:
            members = np.full(around.agents, around.agents, dtype=np.int64)
        known: dict[int, Radius] = {size: self._radius(size) for size in set(members.tolist())}
        self.radii = [known[size] for size in members.tolist()]
        fixed = settings.schedule == "fixed" and not around.alone
        self.called = not fixed
        self.every = (settings.every or 0) if fixed else 0
        self.threshold: NDArray[np.float64] = np.full(around.agents, inf)
        if not fixed and not around.alone:
            self.threshold[:] = [self._threshold(radius) for radius in self.radii]
        self.columns: NDArray[np.float64] = np.zeros((around.dimension, 0))
        if around.fixed_actions is not None:
            self.columns = np.ascontiguousarray(around.fixed_actions.T)
        scale = settings.beta_scale
        self.bonus_terms = np.array(
            [
                (
                    scale * one.sub_gaussian,
                    2 * log(2 / one.alpha),
                    one.most / one.least,
                    one.dimension * one.least,
                    scale * one.offset,
                )
                for one in self.radii
            ]
        )
        tested = not fixed and not around.alone
        inflation = np.array([radius.inflation if tested else 0.0 for radius in self.radii])
        self.beliefs = ellipsoid.ellipsoids(
            around.sets, around.agents, around.dimension, self.columns.shape[1], inflation
        )
        for agent, radius_of in enumerate(self.radii):
            self.beliefs.shared_gram[:, agent] = radius_of.start * np.eye(around.dimension)
        for own in range(around.sets):
            for agent in range(around.agents):
                if agent and self.radii[agent] == self.radii[agent - 1]:
                    ellipsoid.copy(self.beliefs, own, agent - 1, agent)
                else:
                    ellipsoid.refresh(self.beliefs, own, agent, self.columns)
        self._streams = streams
        self._trees: dict[tuple[int, int], Tree] = {}
        self._excess: dict[tuple[int, int], NDArray[np.float64]] = {}
        self._lent: dict[tuple[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        self._upper = np.triu_indices(around.dimension)
        self._product = np.zeros(around.dimension)
        self._adopted: tuple[int, int, NDArray[np.float64]] | None = None
        self.clipped = 0
        self._clipped = False  # whether the sums adopted last were

    @classmethod
    def build(cls, settings: Any, surroundings: Surroundings, streams: Streams) -> Self:
        """See :meth:`SlotLearner.build`."""
        return cls(settings, surroundings, streams)

    def _noise(self) -> TreeNoise | None:
        settings, around = self._settings, self.surroundings
        if settings.epsilon == inf or around.alone:
            return None  # without company nothing leaves an agent
        releases: float = around.horizon / around.sets
        if settings.schedule == "fixed":
            assert settings.every is not None  # checked by FedUcbSettings.problems
            uses = -(-around.horizon // around.sets)
            releases = max(1, uses // -(-settings.every // around.sets))
        return calibrate(
            settings.calibration,
            epsilon=settings.epsilon,
            delta=settings.delta,
            alpha=settings.alpha,
            dimension=around.dimension,
            releases=releases,
            trees=around.agents * around.sets**2,  # ln(2 T M gamma / alpha) with n = T / gamma
        )

    def _radius(self, members: int) -> Radius:
        settings, around = self._settings, self.surroundings
        return radius(
            members=members,
            dimension=around.dimension,
            alpha=settings.alpha,
            sub_gaussian=around.sub_gaussian,
            regularizer=settings.regularizer,
            noise=self.noise,
            paper_beta=settings.beta == "paper",
            epsilon=settings.epsilon,
        )

    def _threshold(self, radius: Radius) -> float:
        threshold, around = self._settings.threshold, self.surroundings
        if threshold == "paper":
            return paper_threshold(radius, around.horizon)
        if threshold == "dislinucb":
            return dislinucb_threshold(around.dimension, around.agents, around.horizon)
        return threshold

    def bonus(self, agent: int, slot: int) -> float:
        """Return what the width of an arm is multiplied with, in *slot*, from 0."""
        return self._settings.beta_scale * self.radii[agent].beta(slot + 1)

    def choose(self, agent: int, own: int, slot: int, actions: NDArray[np.float64]) -> int:
        """See :meth:`SlotLearner.choose`."""
        bonus = self.bonus(agent, slot)
        if self.columns.shape[1]:
            return int(self._steps.choose_fixed(self.beliefs, own, agent, bonus))
        return int(self._steps.choose_fresh(self.beliefs, own, agent, bonus, actions))

    def learn(self, agent: int, own: int, action: NDArray[np.float64], reward: float) -> bool:
        """See :meth:`SlotLearner.learn`; the test is line 12 of Algorithm 1."""
        beliefs = self.beliefs
        square = float(action @ action)
        if square > 1 and self.noise is not None:
            self._clip(agent, own, action, min(max(reward, -1.0), 1.0), 1 / sqrt(square))
        self._steps.learn(beliefs, own, agent, action, reward, self.columns, self._product)
        wants = bool(self._steps.wants(beliefs, own, agent, self.threshold[agent], self.every, self.surroundings.sets))
        if wants:
            beliefs.quiet[own, agent] = True
        return wants

    def _clip(self, agent: int, own: int, action: NDArray[np.float64], reward: float, factor: float) -> None:
        """Note what must be added to the next leaf so that only the part of *action* that is 1 long is in it."""
        whole, part = np.append(action, reward), np.append(factor * action, reward)
        found = self._excess.setdefault((own, agent), np.zeros((whole.size, whole.size)))
        found += np.outer(part, part) - np.outer(whole, whole)

    def sync_started(self, agent: int, own: int) -> None:
        """See :meth:`SlotLearner.sync_started`."""
        self.beliefs.quiet[own, agent] = True

    @classmethod
    def release_numbers(cls, dimension: int) -> int:
        """Return ``d (d + 1) / 2 + d``."""
        return dimension * (dimension + 1) // 2 + dimension

    def release(self, agent: int, own: int) -> NDArray[np.float64]:
        """Return U^ and u^ of all that *agent* has seen (Algorithm 2), d (d + 1) / 2 + d numbers."""
        beliefs = self.beliefs
        dimension = self.surroundings.dimension
        gram, response = beliefs.own_gram[own, agent], beliefs.own_response[own, agent]
        self._lent[own, agent] = gram.copy(), response.copy()
        leaf = np.empty((dimension + 1, dimension + 1))
        leaf[:-1, :-1] = gram
        # Only what enters a noisy sum has to be bounded.
        leaf[-1, :-1] = leaf[:-1, -1] = response if self.noise is None else beliefs.leaf_response[own, agent]
        leaf[-1, -1] = beliefs.leaf_square[own, agent]
        if (own, agent) in self._excess:
            leaf += self._excess.pop((own, agent))
        beliefs.leaf_response[own, agent] = 0.0
        beliefs.leaf_square[own, agent] = 0.0
        beliefs.uses[own, agent] = 0
        beliefs.quiet[own, agent] = True
        released = self._tree(agent, own).release(leaf)
        if self.noise is not None:
            released[np.diag_indices(dimension)] += 2 * self.noise.shift
        return np.concatenate([released[self._upper], released[:-1, -1]])

    def _tree(self, agent: int, own: int) -> Tree:
        tree = self._trees.get((own, agent))
        if tree is None:
            rng = self._streams.generator(f"tree.{own}", agent)
            deviation = self.noise.deviation if self.noise else 0.0
            tree = self._trees[own, agent] = Tree(self.surroundings.dimension + 1, deviation, rng)
        return tree

    def adopt(self, agent: int, own: int, combined: NDArray[np.float64]) -> None:
        """Replace S and s, and forget of U and u what is in them now."""
        beliefs = self.beliefs
        dimension = self.surroundings.dimension
        gram, response = self._lent.pop((own, agent))
        own_gram, own_response = beliefs.own_gram[own, agent], beliefs.own_response[own, agent]
        nothing_new = beliefs.uses[own, agent] == 0
        if nothing_new:
            own_gram[:] = 0.0
            own_response[:] = 0.0
        else:
            own_gram -= gram
            own_response -= response
        beliefs.quiet[own, agent] = False
        same = self._adopted
        if same is not None and same[0] == own and same[2] is combined and self.radii[same[1]] == self.radii[agent]:
            source = same[1]
            self.clipped += self._clipped
            beliefs.shared_gram[own, agent] = beliefs.shared_gram[own, source]
            beliefs.shared_response[own, agent] = beliefs.shared_response[own, source]
            if nothing_new and beliefs.uses[own, source] == 0:
                self._steps.copy(beliefs, own, source, agent)
            else:
                self._steps.refresh(beliefs, own, agent, self.columns)
            return
        self._clipped = False
        shared = np.zeros((dimension, dimension))
        shared[self._upper] = combined[:-dimension]
        shared += np.triu(shared, 1).T
        if self.noise is None:
            shared[np.diag_indices(dimension)] += self._settings.regularizer
        else:
            shared = self._positive(shared, self.radii[agent].least)
        beliefs.shared_gram[own, agent] = shared
        beliefs.shared_response[own, agent] = combined[-dimension:]
        self._adopted = own, agent, combined
        self._steps.refresh(beliefs, own, agent, self.columns)

    def _positive(self, matrix: NDArray[np.float64], least: float) -> NDArray[np.float64]:
        """Return *matrix* with its eigenvalues clipped at *least* if one of them is not positive."""
        values, vectors = np.linalg.eigh(matrix)
        if values[0] > 0:
            return matrix
        self.clipped += 1
        self._clipped = True
        return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)

    def account(self, releases: int) -> PrivacySpent:
        """See :meth:`SlotLearner.account`."""
        settings = self._settings
        claimed = 0.0 if self.surroundings.alone else settings.epsilon
        deviation = self.noise.deviation if self.noise else 0.0
        ahead = not self.called or self.surroundings.alone
        return account_tree(deviation, settings.delta, releases=releases, claimed=claimed, trigger_is_private=ahead)

    def remarks(self) -> tuple[str, ...]:
        """Say that noise outweighs all observations, where it does."""
        if self.noise is None:
            return ()
        around = self.surroundings
        hidden, seen = 2 * self.noise.shift * around.dimension, around.horizon / around.sets
        if hidden <= seen:
            return ()
        return (
            f"what hides a release outweighs all that an agent observes (2 Lambda d = {hidden:,.0f}, in {seen:,.0f} "
            'slots of a set), so that it learns slowly: calibration = "zcdp", schedule = "fixed" with few '
            "synchronisations, a larger epsilon or a longer horizon change that",
        )

    def figures(self) -> dict[str, float | int | None]:
        """Return how many synchronised matrices had to be made positive."""
        return {"clipped": self.clipped}
