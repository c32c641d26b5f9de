"""Bandits with finitely many arms, whose means may change and of which an agent may have only some."""

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from netbandit.bandits.bandit import FiniteBandit, GeneratorOf, Outline, column_means
from netbandit.parts.component import Checks, Mistake, Note, Others, Part, state
from netbandit.parts.settings import Settings
from netbandit.util.memory import exceeded, shown
from netbandit.util.text import pluralize

MOST_ARMS = 10**6
MOST_MEANS = 5 * 10**7
"""The most means that are computed ahead: slots, or breakpoints, times arms."""

_BYTES_A_NUMBER = 8
_BYTES_A_BREAKPOINT = 60
"""Memory of a breakpoint without its means; measured."""

_FEW = 50
"""Where one slot in more than so many is drawn, numpy does without an array of all."""

_TRIES = 1_000


def means_key(mean: Any, allowed: str, *, by_agent: bool = False) -> WrapValidator:
    """Return the validator of a key ``means``: ``"uniform"``, or a list of *mean*; *allowed* says so in words.

    *by_agent*: it may also be a list of such lists, one for each agent.
    """
    listed: TypeAdapter[list[float]] = TypeAdapter(Annotated[list[mean], Field(min_length=1)])
    rows: TypeAdapter[list[list[float]]] = TypeAdapter(list[Annotated[list[mean], Field(min_length=1)]])

    def validate(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        # A union reports a mistake once for each alternative; the user made it once, and in one element.
        if isinstance(value, list):
            nested = by_agent and any(isinstance(each, list) for each in value)
            if nested and not all(isinstance(each, list) for each in value):
                raise PydanticCustomError("means", f"{allowed}, not numbers beside lists")
            return (rows if nested else listed).validate_python(value)
        if value == "uniform":
            return handler(value)
        raise PydanticCustomError("means", allowed)

    return WrapValidator(validate)


class Change(Settings):
    """New means from a slot on."""

    slot: int = Field(ge=1)
    """The first slot with the new means."""
    means: list[float] = Field(min_length=1)
    """The mean of each arm."""


class VariedArms(Part):
    """Keeps the course of the means and the arms of each agent; its world calls `vary` in its start.

    A world adds the keys ``arms`` and ``means``. The regret of a pull is against the best arm of the slot: by the mean
    over all agents, or, where agents have arms of their own, by the agent's own mean against the best of its arms.
    """

    arms_per_agent: int | None = Field(default=None, ge=1)
    """Number of arms of each agent, a uniform random subset; all subsets are redrawn until they cover all arms."""
    arm_sets: list[list[int]] | None = Field(default=None, min_length=1)
    """The arms of each agent, by number from 0."""
    changes: Annotated[list[Change] | None, Field(min_length=1)] = None
    """Slots at which the means change, ascending: ``[{ slot = 5000, means = [0.8, 0.2] }]``."""
    breakpoints: int = Field(default=0, ge=0)
    """Number of distinct slots, drawn uniformly, at each of which all means are drawn afresh."""
    drift: float = Field(default=0.0, ge=0)
    """Standard deviation of the normal step that each mean takes in every slot, reflected at 0 and 1."""

    agents: int = state()
    """The number M of agents."""
    horizon: int = state(default=1)
    """T, in slots; known before the start."""
    bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    """Means of agents are cut to these."""

    if TYPE_CHECKING:
        arms: int | None
        means: Any

    @property
    def changing(self) -> bool:
        """Whether means are not the same in all slots."""
        return self.changes is not None or self.breakpoints > 0 or self.drift > 0

    @property
    def listed_arms(self) -> int | None:
        """The number K of arms, as far as it is known."""
        if self.means == "uniform":
            return self.arms
        return len(self.means if self._rows is None else self.means[0])

    @property
    def _rows(self) -> list[list[float]] | None:
        """The listed means of each agent; None: they are not listed by agent."""
        return self.means if isinstance(self.means[0], list) else None

    def check_arms(self) -> Checks:
        """Yield a number of arms that is missing or not that of the means, and wrong arms of agents."""
        arms = self.listed_arms
        if self.means == "uniform" and self.arms is None:
            yield Mistake("arms", 'is missing: with means = "uniform" the number of arms must be given')
        elif self.arms is not None and arms != self.arms:
            text = f"is {self.arms}, but means lists {arms}: they must be the same, or leave arms out"
            yield Mistake("arms", text)
        for agent, row in enumerate(self._rows or []):
            if len(row) != arms:
                text = f"lists {pluralize(len(row), 'mean')}, but there are {arms} arms in the row of agent 0"
                yield Mistake(("means", agent), text)
        if self.arms_per_agent is not None and self.arm_sets is not None:
            yield Mistake("arm_sets", "excludes arms_per_agent: sets are either given or drawn")
        if arms is None:
            return
        if self.arms_per_agent is not None and self.arms_per_agent > arms:
            yield Mistake("arms_per_agent", f"must be at most the number of arms, {arms}, not {self.arms_per_agent}")
        for agent, own in enumerate(self.arm_sets or []):
            if not own or len(set(own)) != len(own) or not all(0 <= arm < arms for arm in own):
                yield Mistake(("arm_sets", agent), f"must list some arms from 0 to {arms - 1}, each once, not {own}")

    def check_changes(self) -> Checks:
        """Yield what is wrong with the keys of means that change; at most one of them may be given."""
        arms = self.listed_arms
        chosen = [key for key in ("changes", "breakpoints", "drift") if getattr(self, key)]
        for key in chosen[1:]:
            yield Mistake(key, f"cannot be together with {chosen[0]}: means change in one way")
        if self.breakpoints and self.means != "uniform":
            yield Mistake("breakpoints", 'needs means that are drawn: means = "uniform"')
        before = 0
        for index, change in enumerate(self.changes or []):
            if change.slot <= before:
                yield Mistake(("changes", index, "slot"), f"must be larger than {before}: changes are in their order")
            before = change.slot
            if arms is not None and len(change.means) != arms:
                text = f"lists {len(change.means)} means, but there are {arms} arms"
                yield Mistake(("changes", index, "means"), text)

    def check_with(self, others: Others) -> Checks:
        """Yield what does not go with the number of agents and the horizon."""
        arms = self.listed_arms
        if self._rows is not None and len(self._rows) != others.agents:
            text = f"lists the means of {pluralize(len(self._rows), 'agent')}, but there are {others.agents} agents"
            yield Mistake("means", f"{text}: a list of numbers, one for each arm, is for all")
        if self.arm_sets is not None and len(self.arm_sets) != others.agents:
            yield Mistake("arm_sets", f"lists {len(self.arm_sets)} sets, but there are {others.agents} agents")
        if self.arms_per_agent is not None and arms is not None and self.arms_per_agent * others.agents < arms:
            least = -(-arms // others.agents)
            text = f"must be at least {least}: with {others.agents} agents every arm must belong to some agent"
            yield Mistake("arms_per_agent", text)
        for index, change in enumerate(self.changes or []):
            if change.slot >= others.horizon:
                ends = f"after run.horizon = {pluralize(f'{others.horizon:,}', 'slot')}"
                yield Note(("changes", index, "slot"), f"has no effect: the run ends before it, {ends}")
                break
        if self.breakpoints >= others.horizon:
            yield Mistake("breakpoints", f"must be less than run.horizon = {others.horizon}")
        elif self.breakpoints and arms is not None:
            yield from self._check_breakpoints(others.horizon, arms)
        if self.drift and arms is not None and others.horizon * arms > MOST_MEANS:
            text = f"is computed for every slot and arm ahead, here {others.horizon * arms:,} of them"
            yield Mistake("drift", f"{text}; at most {MOST_MEANS:,}: make run.horizon or arms smaller")

    def _check_breakpoints(self, horizon: int, arms: int) -> Checks:
        """Yield breakpoints whose means are too many, or that do not fit the memory while they are drawn."""
        means = (self.breakpoints + 1) * arms
        drawn_from = horizon if self.breakpoints > horizon // _FEW else 0
        kept = 2 * _BYTES_A_NUMBER * means + _BYTES_A_BREAKPOINT * self.breakpoints
        size = max(_BYTES_A_NUMBER * (drawn_from + self.breakpoints), kept)
        if means > MOST_MEANS:
            text = f"too many: all {means:,} means, of each arm one after each of them, are drawn ahead"
            yield Mistake("breakpoints", f"{text}; at most {MOST_MEANS:,}")
        elif (most := exceeded(size)) is not None:
            text = f"too many: to draw {self.breakpoints:,} of {horizon:,} slots takes some {shown(size)} of memory"
            yield Mistake("breakpoints", f"{text}; {shown(most)} is available here")

    def outline(self) -> Outline:
        """Return the number of arms, and whether one can be worse than another."""
        arms = self.listed_arms
        common = [] if self.means == "uniform" else self._listed().tolist()
        alike = len(set(common)) == 1 and not getattr(self, "heterogeneity", 0)
        return Outline(arms=arms, has_gap=arms != 1 and not alike)

    def common_means(self, generator: GeneratorOf) -> NDArray[np.float64]:
        """Return the means that are listed, or draw them from U[0, 1] (stream ``bandit.means``), shape (K,).

        Of means listed by agent, their mean over agents.
        """
        if self.means != "uniform":
            return self._listed()
        if self.arms is None:
            raise ValueError("the number of arms must be given")
        return generator("bandit.means", 0).random(self.arms)

    def _listed(self) -> NDArray[np.float64]:
        given = np.array(self.means, dtype=np.float64)
        return given if given.ndim == 1 else column_means(given)

    def means_by_agent(
        self, common: NDArray[np.float64], agents: int, generator: GeneratorOf
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the means of agents, and what they differ by from the *common* ones, shape (M, K); None: by nothing.

        These are the listed means, with a shift from U(-h, h) (stream ``bandit.heterogeneity``, row i for agent i).
        """
        listed = common if self._rows is None else np.array(self._rows, dtype=np.float64)
        spread: float = getattr(self, "heterogeneity", 0.0)
        if not spread:
            return listed, None if self._rows is None else listed - common
        shifts = generator("bandit.heterogeneity", 0).uniform(-spread, spread, size=(agents, common.size))
        differing = np.clip(listed + shifts, *self.bounds)
        return differing, shifts if self._rows is None else shifts + (listed - common)

    def vary(self, common: NDArray[np.float64], shifts: NDArray[np.float64] | None, generator: GeneratorOf) -> None:
        """Draw how the means go on, and who has which arms.

        Args:
            common: The common means of slot 0, shape (K,).
            shifts: What the means of each agent differ by, shape (M, K), or None.
            generator: Streams of the instance.

        Raises:
            ValueError: No draw assigned every arm to an agent.
        """
        self.course = Course(self, common, generator)
        self._shifts = shifts
        self._own = self._drawn_sets(len(common), generator)
        self._period = -1
        self._look(0)

    def _drawn_sets(self, arms: int, generator: GeneratorOf) -> NDArray[np.bool_] | None:
        """Return which arms each agent has, shape (M, K); None: all."""
        if self.arm_sets is not None:
            own = np.zeros((self.agents, arms), dtype=bool)
            for agent, chosen in enumerate(self.arm_sets):
                own[agent, chosen] = True
            return own
        if self.arms_per_agent is None:
            return None
        rng = generator("bandit.arm_sets", 0)
        for _ in range(_TRIES):
            ranks = rng.random((self.agents, arms)).argsort(axis=1).argsort(axis=1)
            own = ranks < self.arms_per_agent
            if own.any(axis=0).all():
                return own
        raise ValueError(f"no {_TRIES:,} draws of {self.arms_per_agent} arms for each agent covered all arms")

    @property
    def own_arms(self) -> NDArray[np.bool_] | None:
        """Which arms each agent has, shape (M, K); None: all."""
        return self._own

    def means_at(self, slot: int) -> NDArray[np.float64]:
        """Return the means of *slot*, shape (K,), or (M, K) where agents differ."""
        self._look(slot)
        return self._means

    def regrets(self, slot: int, agents: NDArray[np.int64], arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much less than the best of the slot each choice pays on average, shape (n,)."""
        self._look(slot)
        regrets: NDArray[np.float64] = self._gaps[arms] if self._gaps.ndim == 1 else self._gaps[agents, arms]
        return regrets

    @cached_property
    def best_static(self) -> int:
        """The arm with the largest sum of means over all slots, the lowest number among equals."""
        return int((self.course.lengths() @ self.course.means).argmax())

    def static_regrets(self, slot: int, arms: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much less each choice pays in *slot* than the arm that is best over all slots, shape (n,)."""
        common = self.course.at(slot)
        regrets: NDArray[np.float64] = common[self.best_static] - common[arms]
        return regrets

    def _look(self, slot: int) -> None:
        """Have the means and gaps of the period of *slot* at hand."""
        period = self.course.period(slot)
        if period == self._period:
            return
        self._period = period
        if isinstance(self, FiniteBandit) and self._own is None and not self.changing:
            self._means, self._gaps = self.agent_means, self.gaps  # as they are settled, to the last digit
            return
        common = self.course.means[period]
        self._means = common if self._shifts is None else np.clip(common + self._shifts, *self.bounds)
        if self._own is None:
            overall = self._means if self._means.ndim == 1 else self._means.mean(axis=0)
            self._gaps = overall.max() - overall
        else:
            own = np.broadcast_to(self._means, self._own.shape)
            self._gaps = np.where(self._own, own, -np.inf).max(axis=1, keepdims=True) - own


class Course:
    """The common means of all slots.

    Args:
        world: Its keys say how means change; it knows the horizon.
        first: The means of slot 0, shape (K,).
        generator: Streams of the instance: ``bandit.breakpoints`` and ``bandit.drift``.

    Attributes:
        starts: The first slot of each period of constant means, ascending.
        means: The means of each period, shape (periods, K).
    """

    def __init__(self, world: VariedArms, first: NDArray[np.float64], generator: GeneratorOf) -> None:
        horizon, arms = world.horizon, len(first)
        if world.changes is not None:
            rows = [first, *(np.array(change.means, dtype=np.float64) for change in world.changes)]
            self.starts, self.means = [0, *(change.slot for change in world.changes)], np.stack(rows)
        elif world.breakpoints:
            rng = generator("bandit.breakpoints", 0)
            slots = 1 + np.sort(rng.choice(horizon - 1, size=world.breakpoints, replace=False))
            self.starts = [0, *slots.tolist()]
            self.means = np.concatenate([first[None], rng.random((world.breakpoints, arms))])
        elif world.drift:
            steps = generator("bandit.drift", 0).normal(0.0, world.drift, size=(horizon - 1, arms))
            walk = np.cumsum(np.concatenate([first[None], steps]), axis=0)
            # Reflected at 0 and 1: a walk on the line, folded like a strip of paper two units long.
            folded = np.mod(walk, 2.0)
            self.starts, self.means = list(range(horizon)), np.where(folded > 1.0, 2.0 - folded, folded)
        else:
            self.starts, self.means = [0], first[None]
        self.means.setflags(write=False)
        self._horizon = horizon

    def at(self, slot: int) -> NDArray[np.float64]:
        """Return the means of *slot*, shape (K,)."""
        found: NDArray[np.float64] = self.means[self.period(slot)]
        return found

    def period(self, slot: int) -> int:
        """Return the number of the period that *slot* is in."""
        return bisect_right(self.starts, slot) - 1

    def lengths(self) -> NDArray[np.int64]:
        """Return how many slots before the horizon each period has, shape (periods,)."""
        bounds = np.minimum([*self.starts, self._horizon], self._horizon)
        return np.diff(bounds).astype(np.int64)
