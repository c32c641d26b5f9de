"""Consensus learners: agents average their counts with neighbours and never receive single observations."""

from abc import abstractmethod
from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attack_kinds import Form
from netbandit.learners.steps import StepLearner
from netbandit.learners.world import World
from netbandit.util.rows import rows_of

Agents = NDArray[np.int64]
Numbers = NDArray[np.float64]


class ExchangingLearner(StepLearner):
    """Pulls each own arm once, in order, then the one with the largest index; sends 2 K numbers in a step.

    State: ``own_pulls``, how often each agent has pulled each arm, shape (M, K); ``steps``, the steps that each agent
    has made, shape (M,); ``mass``, see `Mass`.
    """

    counts_slots: ClassVar[bool] = True
    late_rewards: ClassVar[bool] = False
    impossible: ClassVar[Mapping[str, str]] = {
        "robust": "agents mix rows whose sums must be preserved, which a robust step does not"
    }

    def tells(self) -> Form | None:
        """See `AnyLearner.tells`: counts and sums."""
        return "mixed counts"

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Initialise the state that these learners have in common."""
        self.world = world
        own = np.ones((agents, world.arms), dtype=bool) if world.own_arms is None else world.own_arms
        self.own_arms = np.argsort(~own, axis=1, kind="stable")
        self.counts = own.sum(axis=1)
        self.tried = int(self.counts.max())
        """The slot from which on all agents have tried all of their arms."""
        self.group = np.ones(agents) if world.members is None else world.members.astype(np.float64)
        """How many agents each agent mixes with, itself included: M, or 1 if agents never communicate."""
        self.own_pulls = np.zeros((agents, world.arms))
        self.steps = np.zeros(agents, dtype=np.int64)
        self.mass = Mass(agents)

    def rows(self, agents: Agents) -> Agents | slice:
        """Return an index of the rows of *agents*; see `rows_of`."""
        return rows_of(agents, len(self.steps))

    def why_no_loop(self, *, isolated: bool) -> str | None:
        """See `StepLearner.why_no_loop`."""
        return "agents of this learner mix after every decision"

    @abstractmethod
    def level_one(self, slot: int, agent: int) -> Any:
        """Return the factor that the bonuses of all arms of *agent* have in common, such as ln tau."""

    @abstractmethod
    def index_one(self, agent: int, arm: int, level: float) -> Any:
        """Return the index of an *arm*; *level* is what `level_one` returned."""

    def choose(self, slot: int, agents: Agents) -> NDArray[Any]:
        """Return the arms that `choose_one` returns.

        Raises:
            ArithmeticError: An index is no number.
        """
        arms = super().choose(slot, agents)
        if arms.size and arms[arms.argmin()] < 0:
            raise ArithmeticError("an index is no number: the simulator has a mistake, please report it")
        return arms

    def choose_one(self, slot: int, agent: int) -> Any:
        """Return the next own arm in the first slots, then the best."""
        return self.own_arms[agent, slot] if slot < self.counts[agent] else self.best_one(slot, agent)

    def best_one(self, slot: int, agent: int) -> Any:
        """Return the arm to pull once all were tried: by default `largest_one`."""
        return self.largest_one(slot, agent)

    def largest_one(self, slot: int, agent: int) -> Any:
        """Return the own arm with the largest index, the lowest among equals; -1 if an index is no number."""
        level = self.level_one(slot, agent)
        best = -1
        highest = -inf
        for place in range(self.counts[agent]):
            arm = self.own_arms[agent, place]
            index = self.index_one(agent, arm, level)
            if index != index:
                best = -1
                break
            if index > highest or best < 0:
                highest = index
                best = arm
        return best

    def figures(self) -> dict[str, float | int | None]:
        """Return ``mass``."""
        return {"mass": self.mass.value}

    def remarks(self) -> tuple[str, ...]:
        """Warn if sums were not preserved."""
        mass = self.mass.value
        if mass is None or abs(mass - 1) <= _KEPT:
            return ()
        lost = "values that were missing were not mixed"
        return (f"sums over agents were not preserved (mass = {mass:.3g}): {lost}{self.advice()}",)

    def advice(self) -> str:
        """Return advice to append to the remark; by default none."""
        return ""


_KEPT = 1e-6


class Mass:
    """The share of the agents' counts that is in what they mix: 1 for each arm if sums are preserved.

    Neighbours are up to a step apart, and only the rows of all agents for the same step add up to the counts. The
    latest step for which all have sent a row is used.

    Args:
        agents: The number M of agents.
    """

    def __init__(self, agents: int) -> None:
        self._agents = agents
        self._open: dict[int, tuple[int, Numbers, Numbers]] = {}
        self._complete: tuple[Numbers, Numbers] | None = None  # rows of both, to be added up

    @property
    def value(self) -> float | None:
        """Sum of the counts told over the pulls that they stand for, of the arm for which that is furthest from 1.

        None before anything was sent, or where no reward had come by then.
        """
        if self._complete is None:
            return None
        told, pulls = (rows.sum(axis=0) for rows in self._complete)
        if not (pulls > 0).any():
            return None
        shares = told[pulls > 0] / pulls[pulls > 0]
        return float(shares[np.abs(shares - 1).argmax()])

    def add(self, steps: NDArray[np.int64], told: Numbers, pulls: Numbers) -> None:
        """Note what some agents send.

        Args:
            steps: The step of each, shape (n,).
            told: The counts that each sends, shape (n, K); not changed later.
            pulls: The numbers of pulls that each is to account for, shape (n, K); not changed later.
        """
        if len(steps) == self._agents and (steps == steps[0]).all():
            self._complete = told, pulls
            return
        for step in np.unique(steps).tolist():
            some = steps == step
            sent, *sums = self._open.pop(step, (0, np.zeros(()), np.zeros(())))
            counts, numbers = (
                total + rows[some].sum(axis=0, keepdims=True) for total, rows in zip(sums, (told, pulls), strict=True)
            )
            sent += int(some.sum())
            if sent == self._agents:
                self._complete = counts, numbers
            else:
                self._open[step] = sent, counts, numbers
