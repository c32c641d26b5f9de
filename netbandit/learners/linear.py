"""Linear contextual learners: LinUCB and linear Thompson sampling.

Both keep ``V = regularizer I + sum x x'`` and ``u = sum r x`` of the arms chosen, and ``theta_hat = V^-1 u``.
"""

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.learners.defence import SumRule, defence_checks
from netbandit.learners.gathering import GatherLearner
from netbandit.learners.linear_costs import lints_slot, linucb_slot
from netbandit.learners.oful import Oful, unused_keys
from netbandit.learners.slots import Learner
from netbandit.learners.symmetric_root import ROOM, Expansion, expand
from netbandit.learners.world import World
from netbandit.parts.component import Checks, CommunicationPattern, Mistake, Note, Others
from netbandit.parts.settings import AtLeastOneOrInfinite

TIE = 1e-12
"""Scores closer than this are equal; the arm with the lowest index is chosen."""


class LinearLearner(GatherLearner):
    """The common base of both learners: their keys, and learners that decide in every slot in their place."""

    talks: ClassVar[frozenset[CommunicationPattern]] = frozenset({"gather", "call", "deposit"})
    stands_in_slots: ClassVar[bool] = True

    regularizer: float = Field(default=1.0, ge=1e-9, le=1e9)
    """lambda; V starts as lambda times the identity."""
    every: int = Field(default=1, ge=1, le=10**12)
    """Slots from one synchronisation to the next, where each agent decides on its own and shares its sums."""
    upload: AtLeastOneOrInfinite = 2.0
    """Over ``parameter-server``: see ``oful``."""
    push: AtLeastOneOrInfinite | None = None
    """Over ``parameter-server``: see ``oful``; by default as *upload*."""
    decide: Literal["all", "received"] = "all"
    """Where each agent decides on its own: see ``oful``."""
    robust: SumRule = "mean"
    """Where each agent decides on its own: see ``oful``."""
    tolerate: int | None = Field(default=None, ge=0)
    """Where each agent decides on its own: see ``oful``."""

    def check_with(self, others: Others) -> Checks:
        """Yield keys without effect over the protocol."""
        if others.talk == "gather":
            for key in sorted(self.model_fields_set & {"upload", "push", "decide"}):
                yield Note(key, "is used only where each agent decides on its own, not where one sees all parts")
            if self.robust != "mean":
                text = "nobody else has an agent's columns, so that nothing can be compared with them"
                yield Mistake("robust", f'must be "mean" with protocol.kind = "vertical": {text}')
        else:
            yield from unused_keys(self, others)
            yield from defence_checks(self, others)

    def _shared(self, kind: "type[SharedLinUcb]", weight: float) -> Learner:
        return kind(
            schedule="fixed",
            every=self.every,
            regularizer=self.regularizer,
            radius=weight,
            upload=self.upload,
            push=self.push,
            decide=self.decide,
            robust=self.robust,
            tolerate=self.tolerate,
        )


class LinUcb(LinearLearner):
    """Chooses the arm with the largest ``<x, theta_hat> + alpha sqrt(x' V^-1 x)`` (Li et al. 2010).

    V^-1 is kept up to date by rank-one updates and made afresh from V now and then, so rounding does not pile up.
    """

    alpha: float = Field(default=0.1, ge=0)
    """The weight of the width of the confidence interval."""

    def in_slots(self) -> Learner:
        """Return `SharedLinUcb`."""
        return self._shared(SharedLinUcb, self.alpha)

    def start(self, dimension: int) -> None:
        """Initialise the state."""
        self._gram = np.eye(dimension) * self.regularizer
        self._inverse = np.eye(dimension) / self.regularizer
        self._response = np.zeros(dimension)
        self._updates = np.zeros(1, dtype=np.int64)

    def operations(self, arms: int, dimension: int) -> int:
        """Return the unit operations of a decision; see :mod:`netbandit.learners.linear_costs`."""
        return linucb_slot(arms, dimension)

    def play(
        self, contexts: NDArray[np.float64], rewards: NDArray[np.float64], normals: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Choose and learn, user after user, in one compiled loop; see the base class."""
        from netbandit.learners.ellipsoid import invert
        from netbandit.learners.linear_kernels import REFRESH, play_linucb

        arms = np.empty(len(contexts), dtype=np.int64)
        known = self._gram, self._inverse, self._response, self._updates
        done = 0
        while done < len(contexts):
            done = play_linucb(contexts, rewards, self.alpha, TIE, *known, arms, done)
            if self._updates[0] == REFRESH:
                self._inverse[:], _ = invert(self._gram)
                self._updates[0] = 0
        return arms

    @property
    def parameter(self) -> NDArray[np.float64]:
        """The present estimate, shape (m,)."""
        return np.asarray(np.linalg.solve(self._gram, self._response), dtype=np.float64)


class LinTs(LinearLearner):
    """Draws ``theta ~ N(theta_hat, v^2 V^-1)`` for each user and chooses the arm with the largest ``<x, theta>``.

    The draw is ``theta_hat + v V^(-1/2) z`` with the symmetric root: if contexts and z are rotated alike, the draw is
    too, so masked and plain runs follow the same path (Agrawal & Goyal 2013; papers/vertical-2022-vfucb, A.1). How the
    root is found: :mod:`netbandit.learners.symmetric_root`.
    """

    draws_normals: ClassVar[bool] = True

    v: float = Field(default=0.02, ge=0)
    """The spread of the sampled parameter."""

    def in_slots(self) -> Learner:
        """Return `SharedLinTs`."""
        return self._shared(SharedLinTs, self.v)

    def start(self, dimension: int) -> None:
        """Initialise the state."""
        self._gram = np.eye(dimension) * self.regularizer
        self._response = np.zeros(dimension)
        self._expansion: Expansion | None = None
        self._largest = 0.0

    def operations(self, arms: int, dimension: int) -> int:
        """Return the unit operations of a decision; see :mod:`netbandit.learners.linear_costs`."""
        return lints_slot(arms, dimension)

    def play(
        self, contexts: NDArray[np.float64], rewards: NDArray[np.float64], normals: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Choose and learn, user after user, in one compiled loop; see the base class."""
        from netbandit.learners.linear_kernels import play_lints

        arms = np.empty(len(contexts), dtype=np.int64)
        largest = float(np.einsum("uki,uki->uk", contexts, contexts).max(initial=0.0))
        if largest > self._largest:
            self._largest, self._expansion = largest, None
        done = 0
        while done < len(contexts):
            if self._expansion is None:
                self._expansion = expand(self._gram, self._response, self.regularizer, self._largest)
            done = play_lints(
                contexts, rewards, normals, self.v, TIE, self._gram, self._response, self._expansion, arms, done
            )
            if self._expansion.used[0] == ROOM:
                self._expansion = None
        return arms

    @property
    def parameter(self) -> NDArray[np.float64]:
        """The present estimate, shape (m,)."""
        return np.asarray(np.linalg.solve(self._gram, self._response), dtype=np.float64)


class SharedLinUcb(Oful):
    """OFUL with a radius that does not grow: alpha of ``linucb`` (Li et al. 2010)."""

    @property
    def weight(self) -> float:
        """The factor of the width of an arm."""
        assert not isinstance(self.radius, str)
        return self.radius

    def remarks(self) -> tuple[str, ...]:
        """Warn if agents explore too little for the noise of the rewards."""
        return self._daring("alpha", self.weight, 2 * self.world.sub_gaussian)

    def _daring(self, key: str, value: float, enough: float) -> tuple[str, ...]:
        if value >= enough:
            return ()
        return (
            f"{key} = {value:g} is small relative to the noise of these rewards: agents may settle early on a "
            f"suboptimal arm; with {key} = {enough:g} they continue to explore",
        )


class SharedLinTs(SharedLinUcb):
    """Chooses the arm with the largest ``<x, theta>``, ``theta ~ N(theta_hat, v^2 V^-1)`` (Agrawal & Goyal 2013)."""

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Begin as OFUL; draws come from ``thompson``, index: the agent."""
        super().start(world, agents, rng)
        # An agent draws one stream, whichever of its sets decides.
        self._rngs = self._common.setdefault(
            "thompson", [world.streams.generator("thompson", agent) for agent in range(agents)]
        )

    def remarks(self) -> tuple[str, ...]:
        """Warn if agents explore too little for the noise of the rewards."""
        return self._daring("v", self.weight, self.world.sub_gaussian)

    def choose(self, slot: int, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Draw theta for each agent, and choose."""
        beliefs, param_set = self.beliefs, self.world.param_set
        self.settle(slot, agents)
        beliefs.tally[1] += (beliefs.tally[0] - beliefs.held[param_set, agents]).sum()
        # With V^-1 = C C', C z has the covariance V^-1.
        factors = np.linalg.cholesky(beliefs.inverse[param_set, agents])
        normals: Any = np.stack([self._rngs[agent].standard_normal(factors.shape[-1]) for agent in agents.tolist()])
        drawn = beliefs.estimate[param_set, agents] + self.weight * (factors @ normals[:, :, None])[:, :, 0]
        return np.asarray(np.argmax((self._shown(agents) @ drawn[:, :, None])[:, :, 0], axis=1))
