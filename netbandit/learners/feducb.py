"""FedUCB: optimism in an ellipsoid, sums shared when they tell enough, and private ones at that.

Source: Dubey & Pentland 2020, Algorithms 1 to 3.
"""

from collections.abc import Mapping
from math import inf, log, sqrt
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.adversaries.attacks import Form
from netbandit.learners.defence_checks import defence_checks
from netbandit.learners.ellipsoid_learner import EllipsoidLearner, Start, Sums
from netbandit.learners.feducb_radius import Radius, dislinucb_threshold, paper_threshold, radius
from netbandit.part import Checks, Mistake, Note, Others
from netbandit.privacy.accountant import PrivacySpent
from netbandit.privacy.tree import Tree
from netbandit.privacy.tree_calibration import Calibration, TreeNoise, account_tree, calibrate
from netbandit.settings import PositiveOrInfinite

_LEAST, _MOST = 1e-9, 1e9


def _threshold(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:  # one mistake, not one for each alternative
        return handler(value)
    except ValidationError:
        raise PydanticCustomError("threshold", 'must be "paper", "dislinucb" or a number > 0') from None


class FedUcb(EllipsoidLearner):
    """The beliefs of all agents, and their Privatizers.

    A release is the upper triangle of the d x d matrix U^, row by row, and then the d numbers of u^: the sums over all
    that the agent has seen, not over what is new. A synchronised matrix that is not positive definite, because noise
    was larger than what it hides, has its eigenvalues clipped at rho_min.

    Other state than the base class's: ``radii``, the bounds of each agent; ``clipped``, adoptions in which eigenvalues
    had to be clipped.
    """

    impossible: ClassVar[Mapping[str, str]] = {
        "adversary": "noise that is larger than what it hides makes the truth look like a lie: epsilon = inf is needed"
    }

    epsilon: PositiveOrInfinite = 1.0
    """Privacy budget epsilon of all releases of an agent together; ``inf``: no noise."""
    delta: float = Field(default=0.1, ge=1e-300, lt=1)
    """Privacy budget delta of all releases of an agent together."""
    alpha: float = Field(default=0.1, ge=1e-300, lt=1)
    """The confidence of all bounds."""
    beta_scale: float = Field(default=1.0, ge=0)
    """The factor of the bonus; with 1, the value of the theory, it exceeds every gap for any feasible horizon."""
    threshold: Annotated[Literal["paper", "dislinucb"] | Annotated[float, Field(gt=0)], WrapValidator(_threshold)] = (
        "paper"
    )
    """D of the test: that of the paper, that of DisLinUCB, or a number."""
    schedule: Literal["logdet", "fixed"] = "logdet"
    """``logdet``: agents ask for a synchronisation when they have enough new observations; ``fixed``: at fixed
    times."""
    every: int | None = Field(default=None, ge=1, le=10**12)
    """With ``fixed``: slots from one synchronisation of a parameter set to the next, rounded up to a multiple of the
    number of sets."""
    calibration: Calibration = "paper"
    """The scale of the noise: the paper's, or that of zero-concentrated differential privacy."""
    beta: Literal["reconstructed", "paper"] = "reconstructed"
    """The last two terms of beta: reconstructed, or those of the paper, which are larger."""
    members: Literal["all", "clique"] = "all"
    """The agents that M counts in the initial matrix, the inflation and beta: all, or those of the clique."""
    regularizer: float = Field(default=1.0, ge=1e-9, le=1e9)
    """lambda; used where there is no noise."""

    def check(self) -> Checks:
        """Yield a fixed schedule without its interval, budgets that no number can hold, and keys without effect."""
        if not _LEAST <= self.epsilon <= _MOST and self.epsilon != inf:
            yield Mistake("epsilon", f"must be inf, or from {_LEAST:g} to {_MOST:g}, not {self.epsilon}")
        if self.schedule == "fixed" and self.every is None:
            yield Mistake("every", 'is missing: schedule = "fixed" needs it, a number of slots >= 1')
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
                yield Note(key, text)
        if self.robust != "mean" and self.epsilon != inf:
            text = "noise that is larger than what it hides is told from no lie: it needs epsilon = inf"
            yield Mistake("robust", f'must be "mean" with an epsilon: {text}')

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`."""
        return super().tells() if self.epsilon == inf else None

    def check_with(self, others: Others) -> Checks:
        """Yield a test that is never made, as nobody calls, and what a defence lacks."""
        if others.protocol.out_of_band and "threshold" in self.model_fields_set and self.schedule != "fixed":
            yield Note("threshold", f'is not used with protocol.kind = "{others.kinds["protocol"]}"')
        yield from defence_checks(self, others)

    def _start(self, agents: int) -> Start:
        """Begin with the initial matrix; noise comes from ``tree.<set>``, index: the agent."""
        world = self.world
        assert world.members is not None
        self.noise = self._noise()
        members = np.ones(agents, dtype=np.int64) if world.isolated else world.members
        if self.members == "all" and not world.isolated:
            members = np.full(agents, agents, dtype=np.int64)
        known: dict[int, Radius] = {size: self._radius(size) for size in set(members.tolist())}
        self.radii = [known[size] for size in members.tolist()]
        fixed = self.schedule == "fixed" and not world.isolated
        tested = not fixed and not world.isolated
        self._trees: dict[int, Tree] = {}
        self._excess: dict[int, NDArray[np.float64]] = {}
        self._released = np.zeros(agents, dtype=np.int64)  # observations of the present life
        self._common.setdefault("trees", []).append(self._trees)
        self._common.setdefault("past", [])  # how often each tree of a life that is over was released
        self.clipped = 0
        self._clipped = False  # whether the sums adopted last were
        return Start(
            diagonal=np.array([radius.start for radius in self.radii]),
            inflation=np.array([radius.inflation if tested else 0.0 for radius in self.radii]),
            bonus_terms=np.array([self._bonus_terms(one) for one in self.radii]),
            thresholds=np.array([self._test_at(radius) if tested else inf for radius in self.radii]),
            interval=(self.every or 0) if fixed else 0,
        )

    def _bonus_terms(self, radius: Radius) -> tuple[float, float, float, float, float, float]:
        scale = self.beta_scale
        return (
            scale * radius.sub_gaussian,
            2 * log(2 / radius.alpha),
            radius.most / radius.least,
            radius.dimension * radius.least,
            scale * radius.offset,
            0.0,  # it grows with the slots
        )

    def _noise(self) -> TreeNoise | None:
        world = self.world
        if self.epsilon == inf or world.isolated:
            return None  # without company nothing leaves an agent
        releases: float = world.horizon / world.sets
        if self.schedule == "fixed":
            assert self.every is not None  # said by check
            uses = -(-world.horizon // world.sets)
            releases = max(1, uses // -(-self.every // world.sets))
        return calibrate(
            self.calibration,
            epsilon=self.epsilon,
            delta=self.delta,
            alpha=self.alpha,
            dimension=world.dimension,
            releases=releases,
            trees=world.agents * world.sets**2,  # ln(2 T M gamma / alpha) with n = T / gamma
        )

    def _radius(self, members: int) -> Radius:
        return radius(
            members=members,
            dimension=self.world.dimension,
            alpha=self.alpha,
            sub_gaussian=self.world.sub_gaussian,
            regularizer=self.regularizer,
            noise=self.noise,
            paper_beta=self.beta == "paper",
            epsilon=self.epsilon,
        )

    def _test_at(self, radius: Radius) -> float:
        world = self.world
        if self.threshold == "paper":
            return paper_threshold(radius, world.horizon)
        if self.threshold == "dislinucb":
            slots = world.expected_decisions or world.horizon
            return dislinucb_threshold(world.dimension, world.agents, slots)
        return self.threshold

    def _bound(self, agents: NDArray[np.int64], arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Note by how much actions are too long; only what enters a noisy sum has to be bounded."""
        if self.noise is not None:
            actions = self._shown(agents)[np.arange(len(agents)), arms]
            squares = np.einsum("ni,ni->n", actions, actions)
            for row in np.flatnonzero(squares > 1).tolist():
                reward = min(max(float(rewards[row]), -1.0), 1.0)
                self._clip(int(agents[row]), actions[row], reward, 1 / sqrt(squares[row]))

    def _clip(self, agent: int, action: NDArray[np.float64], reward: float, factor: float) -> None:
        """Note what must be added to the next leaf so that only the part of *action* that is 1 long is in it."""
        whole, part = np.append(action, reward), np.append(factor * action, reward)
        found = self._excess.setdefault(agent, np.zeros((whole.size, whole.size)))
        found += np.outer(part, part) - np.outer(whole, whole)

    def _release(self, agent: int) -> NDArray[np.float64]:
        """Return U^ and u^ of all that the agent has seen (Algorithm 2)."""
        beliefs, param_set = self.beliefs, self.world.param_set
        dimension = self.world.dimension
        leaf = np.empty((dimension + 1, dimension + 1))
        leaf[-1, -1] = beliefs.leaf_square[param_set, agent]
        clipped = beliefs.leaf_response[param_set, agent].copy()
        self._released[agent] += beliefs.uses[param_set, agent]
        gram, response = self._lend(agent)
        leaf[:-1, :-1] = gram
        # Only what enters a noisy sum has to be bounded.
        leaf[-1, :-1] = leaf[:-1, -1] = response if self.noise is None else clipped
        if agent in self._excess:
            leaf += self._excess.pop(agent)
        released = self._tree(agent).release(leaf)
        if self.noise is not None:
            released[np.diag_indices(dimension)] += 2 * self.noise.shift
        counts = [float(self._released[agent])] if self.names_counts else []
        return np.concatenate([released[self._upper], released[:-1, -1], counts])

    def forget(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Begin anew, with a new tree."""
        for agent in agents.tolist():
            self._excess.pop(agent, None)
            self._released[agent] = 0
            tree = self._trees.get(agent)
            if tree is not None and tree.releases:
                self._common["past"].append(tree.releases)
                self._trees[agent] = tree.successor()
        super().forget(slot, agents)

    def _tree(self, agent: int) -> Tree:
        tree = self._trees.get(agent)
        if tree is None:
            rng = self.world.streams.generator(f"tree.{self.world.param_set}", agent)
            deviation = self.noise.deviation if self.noise else 0.0
            tree = self._trees[agent] = Tree(self.world.dimension + 1, deviation, rng)
        return tree

    def _alike(self, first: int, second: int) -> bool:
        """Return whether both clip at the same eigenvalue."""
        return self.radii[first] == self.radii[second]

    def _adopt_again(self) -> None:
        self.clipped += self._clipped

    def _sums(self, agent: int, combined: NDArray[np.float64]) -> Sums:
        """Return what *agent* adopts: positive definite, whatever the noise."""
        self._clipped = False
        shared, response, _ = self._unpacked(combined)
        if self.noise is None:
            shared[np.diag_indices(self.world.dimension)] += self.regularizer
        else:
            shared = self._positive(shared, self.radii[agent].least)
        return Sums(shared, response)

    def _positive(self, matrix: NDArray[np.float64], least: float) -> NDArray[np.float64]:
        """Return *matrix* with its eigenvalues clipped at *least* if one of them is not positive."""
        values, vectors = np.linalg.eigh(matrix)
        if values[0] > 0:
            return matrix
        self.clipped += 1
        self._clipped = True
        return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)

    def account(self, releases: int) -> PrivacySpent:
        """Return the privacy spent by the agent that released one of its sets most often, in one of its lives."""
        claimed = 0.0 if self.world.isolated else self.epsilon
        deviation = self.noise.deviation if self.noise else 0.0
        ahead = not self.called or self.world.isolated
        if past := self._common["past"]:  # each life has a tree of its own
            present = (tree.releases for trees in self._common["trees"] for tree in trees.values())
            releases = max(*past, *present)
        return account_tree(deviation, self.delta, releases=releases, claimed=claimed, trigger_is_private=ahead)

    def remarks(self) -> tuple[str, ...]:
        """Say that noise outweighs all observations, where it does."""
        if self.noise is None:
            return ()
        world = self.world
        hidden, seen = 2 * self.noise.shift * world.dimension, world.horizon / world.sets
        if hidden <= seen:
            return ()
        return (
            f"the noise of a release outweighs all observations of an agent (2 Lambda d = {hidden:,.0f}, and "
            f"{seen:,.0f} slots of a parameter set), so that agents learn slowly; what helps is calibration = "
            '"zcdp", schedule = "fixed" with few synchronisations, a larger epsilon or a longer horizon',
        )

    def figures(self) -> dict[str, float | int | None]:
        """Return how many synchronised matrices had to be made positive."""
        return {"clipped": self.clipped, **super().figures()}
