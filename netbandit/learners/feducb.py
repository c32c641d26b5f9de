"""FedUCB: optimism in a confidence ellipsoid, with event-triggered sharing of private sums.

Source: Dubey & Pentland 2020, Algorithms 1 to 3.
"""

from collections.abc import Mapping
from math import inf, log, sqrt
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.byzantine.adversaries.attack_kinds import Form
from netbandit.learners.defence import defence_checks
from netbandit.learners.ellipsoid_learner import EllipsoidLearner, Start, Sums
from netbandit.learners.feducb_radius import Radius, dislinucb_threshold, paper_threshold, radius
from netbandit.parts.component import Checks, Mistake, Note, Others
from netbandit.parts.settings import KeyPath, PositiveOrInfinite, Settings
from netbandit.privacy.accountant import PrivacySpent
from netbandit.privacy.tree import Tree
from netbandit.privacy.tree_calibration import Calibration, TreeNoise, account_tree, calibrate
from netbandit.util.text import pluralize

_LEAST, _MOST = 1e-9, 1e9


def _threshold(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:  # one mistake, not one for each alternative
        return handler(value)
    except ValidationError:
        raise PydanticCustomError("threshold", 'must be "paper", "dislinucb" or a number > 0') from None


class UniformBudgets(Settings):
    """Budgets drawn for each agent, uniformly between two."""

    uniform: list[PositiveOrInfinite] = Field(min_length=2, max_length=2)
    """Smallest and largest budget."""


def _budgets(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        text = "must be a number > 0, inf, a list of numbers, one for each agent, or { uniform = [smallest, largest] }"
        raise PydanticCustomError("budgets", text) from None


class FedUcb(EllipsoidLearner):
    """Linear UCB whose agents add up their private sums when these have grown enough (FedUCB).

    The beliefs of all agents, and their Privatizers.

    A release is the upper triangle of the d x d matrix U^, row by row, and then the d numbers of u^: the sums over all
    that the agent has seen, not over what is new. A synchronised matrix that is not positive definite, because noise
    was larger than what it hides, has its eigenvalues clipped at rho_min.

    Other state than the base class's: ``radii``, the bounds of each agent; ``clipped``, adoptions in which eigenvalues
    had to be clipped; ``budgets``, each agent's epsilon; ``noise``, that of the smallest budget, None without any.
    Where agents have budgets of their own, rho_min is that of the largest, and rho_max and kappa are those of the
    smallest: bounds that hold for every agent (Section 4.1).
    """

    impossible: ClassVar[Mapping[str, str]] = {
        "adversary": "noise that is larger than what it hides makes the truth look like a lie: epsilon = inf is needed"
    }

    epsilon: Annotated[PositiveOrInfinite | list[PositiveOrInfinite] | UniformBudgets, WrapValidator(_budgets)] = 1.0
    """Privacy budget epsilon of all releases of an agent together; ``inf``: no noise. Of agents with budgets of their
    own a list, one for each, or ``{ uniform = [smallest, largest] }``, drawn in each replication (stream
    ``budgets``)."""
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
        """Yield a fixed schedule without its interval, budgets out of range, and keys without effect."""
        for path, budget in self._stated():
            if not _LEAST <= budget <= _MOST and self.epsilon != inf:
                also = "inf, or " if path == ("epsilon",) else ""
                yield Mistake(path, f"must be {also}from {_LEAST:g} to {_MOST:g}, not {budget}")
        if isinstance(self.epsilon, UniformBudgets) and self.epsilon.uniform[0] > self.epsilon.uniform[1]:
            yield Mistake(("epsilon", "uniform"), "must have the smallest budget first")
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
            text = "noise larger than the releases cannot be told from a lie: it needs epsilon = inf"
            yield Mistake("robust", f'must be "mean" with an epsilon: {text}')

    def _stated(self) -> list[tuple[KeyPath, float]]:
        """Return the budgets in the scenario, and the key of each."""
        if isinstance(self.epsilon, UniformBudgets):
            return [(("epsilon", "uniform", place), one) for place, one in enumerate(self.epsilon.uniform)]
        if isinstance(self.epsilon, list):
            return [(("epsilon", place), one) for place, one in enumerate(self.epsilon)]
        return [(("epsilon",), self.epsilon)]

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`."""
        return super().tells() if self.epsilon == inf else None

    def check_with(self, others: Others) -> Checks:
        """Yield a test without calls, deficits of a defence, and budgets whose number is not that of the agents."""
        if others.protocol.out_of_band and "threshold" in self.model_fields_set and self.schedule != "fixed":
            yield Note("threshold", f'is not used with protocol.kind = "{others.kinds["protocol"]}"')
        yield from defence_checks(self, others)
        if isinstance(self.epsilon, list) and len(self.epsilon) != others.agents:
            text = (
                f"must have a budget for each of {others.agents} agents, not {pluralize(len(self.epsilon), 'budget')}"
            )
            yield Mistake("epsilon", text)

    def _start(self, agents: int) -> Start:
        """Begin with the initial matrix; noise comes from ``tree.<set>``, index: the agent."""
        world = self.world
        assert world.members is not None
        self.budgets = self._drawn(agents)
        noise_of = {budget: self._noise(budget) for budget in set(self.budgets)}
        self._noises = [noise_of[budget] for budget in self.budgets]
        self.noise = self._noises[int(np.argmin(self.budgets))]
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
        self._common.setdefault("past", [])  # of each tree of a life that is over, whose, and how often it was released
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

    def _drawn(self, agents: int) -> list[float]:
        """Return the budget of each agent, the same in all sets."""
        if isinstance(self.epsilon, UniformBudgets):
            low, high = self.epsilon.uniform
            drawn: list[float] = self.world.streams.generator("budgets").uniform(low, high, agents).tolist()
            return drawn
        return self.epsilon if isinstance(self.epsilon, list) else [self.epsilon] * agents

    def _noise(self, epsilon: float) -> TreeNoise | None:
        world = self.world
        if epsilon == inf or world.isolated:
            return None  # without company nothing leaves an agent
        releases: float = world.horizon / world.sets
        if self.schedule == "fixed":
            assert self.every is not None  # said by check
            uses = -(-world.horizon // world.sets)
            releases = max(1, uses // -(-self.every // world.sets))
        return calibrate(
            self.calibration,
            epsilon=epsilon,
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
            quietest=self._noises[int(np.argmax(self.budgets))],
            paper_beta=self.beta == "paper",
            epsilon=min(self.budgets),
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
        """Note by how much actions are too long; only contributions to noisy sums must be bounded."""
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
        noise = self._noises[agent]
        if noise is not None:
            released[np.diag_indices(dimension)] += 2 * noise.shift
        counts = [float(self._released[agent])] if self.names_counts else []
        return np.concatenate([released[self._upper], released[:-1, -1], counts])

    def forget(self, slot: int, agents: NDArray[np.int64]) -> None:
        """Reset to the initial state, with a new tree."""
        for agent in agents.tolist():
            self._excess.pop(agent, None)
            self._released[agent] = 0
            tree = self._trees.get(agent)
            if tree is not None and tree.releases:
                self._common["past"].append((agent, tree.releases))
                self._trees[agent] = tree.successor()
        super().forget(slot, agents)

    def _tree(self, agent: int) -> Tree:
        tree = self._trees.get(agent)
        if tree is None:
            rng = self.world.streams.generator(f"tree.{self.world.param_set}", agent)
            tree = self._trees[agent] = Tree(self.world.dimension + 1, self._deviation(agent), rng)
        return tree

    def _deviation(self, agent: int) -> float:
        noise = self._noises[agent]
        return noise.deviation if noise else 0.0

    def _alike(self, first: int, second: int) -> bool:
        """Return whether both clip at the same eigenvalue."""
        return self.radii[first] == self.radii[second]

    def _adopt_again(self) -> None:
        self.clipped += self._clipped

    def _sums(self, agent: int, combined: NDArray[np.float64]) -> Sums:
        """Return the sums that *agent* adopts, made positive definite whatever the noise."""
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
        """Return the privacy spent by the agent that released one of its sets most often, in one of its lives.

        With per-agent budgets: that of the agent with the largest epsilon spent, and its budget.
        """
        if self._own_budgets:
            return max(self._accounts(), key=lambda spent: (spent.epsilon, spent.epsilon_claimed))
        if self._common["past"]:  # each life has a tree of its own
            releases = max(self._told())
        return self._account(0, releases)

    @property
    def _own_budgets(self) -> bool:
        return not isinstance(self.epsilon, float) and not self.world.isolated

    def _told(self) -> list[int]:
        """Return how often each agent released the tree that it released most often."""
        most = [0] * len(self.budgets)
        present = ((agent, tree.releases) for trees in self._common["trees"] for agent, tree in trees.items())
        for agent, releases in (*self._common["past"], *present):
            most[agent] = max(most[agent], releases)
        return most

    def _accounts(self) -> list[PrivacySpent]:
        """Return the privacy that each agent has spent, beside its budget."""
        return [self._account(agent, releases) for agent, releases in enumerate(self._told())]

    def _account(self, agent: int, releases: int) -> PrivacySpent:
        return account_tree(
            self._deviation(agent),
            self.delta,
            releases=releases,
            claimed=0.0 if self.world.isolated else self.budgets[agent],
            trigger_is_private=not self.called or self.world.isolated,
        )

    def remarks(self) -> tuple[str, ...]:
        """Warn if noise outweighs all observations."""
        world, noise = self.world, self._noise(min(budget for _, budget in self._stated()))
        if noise is None:
            return ()
        hidden, seen = 2 * noise.shift * world.dimension, world.horizon / world.sets
        if hidden <= seen:
            return ()
        return (
            f"the noise of a release outweighs all observations of an agent (2 Lambda d = {hidden:,.0f}, and "
            f"{seen:,.0f} slots of a parameter set), so that agents learn slowly; what helps is calibration = "
            '"zcdp", schedule = "fixed" with few synchronisations, a larger epsilon or a longer horizon',
        )

    def figures(self) -> dict[str, float | int | None]:
        """Return how many synchronised matrices had to be made positive, and where budgets differ, who spent least."""
        least = {"epsilon_best_off": min(one.epsilon for one in self._accounts())} if self._own_budgets else {}
        return {"clipped": self.clipped, **least, **super().figures()}
