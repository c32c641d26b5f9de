"""Learners written as steps of one agent and one decision, compiled into a loop over agents and slots."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.compilation.array_functions import StepError
from netbandit.compilation.steps import Compiled
from netbandit.learners.slots import Agents, Learner
from netbandit.learners.world import World
from netbandit.parts.component import state

_STEPS = {"choose": "choose_one", "learn": "learn_one", "wants": "wants_one"}


class StepLearner(Learner):
    """A learner written in steps: what one agent does in one decision, on arrays and numbers.

    Steps are plain Python functions. If the environment has steps as well, all are compiled into one loop over agents
    and slots: attributes of ``self`` that they read are arrays or numbers, and only the contents of arrays may change.
    An attribute may be None, too: ``if self.x is not None`` is decided when the loop is compiled. Steps may call
    functions and methods written in the same way, those of `math`, and the part of numpy that numba supports. Random
    numbers come from a list of generators, one for each agent: ``self.rngs[agent].random()``.

    All else is as for `Learner`: ``self.world`` is the argument of `start`, and :meth:`choose`, :meth:`learn` and
    :meth:`wants` call the steps, one agent after another.
    """

    all_sets: ClassVar[bool] = False
    """Whether one learner holds all sets of parameters, and its steps select one by the slot."""
    settles: ClassVar[bool | None] = None
    """Whether agents may have to `settle` before they decide; None: they never do, and compiled loops do not ask."""
    world: World = state()
    """The environment, as far as agents know it."""

    @classmethod
    def has(cls, name: str) -> bool:
        """Return whether it defines the method *name*, or the step that the method calls."""
        if name == "wants" and cls.wants is StepLearner.wants:
            return cls.wants_one is not StepLearner.wants_one
        return super().has(name)

    @classmethod
    def maker_of(cls, step: str) -> str:
        """Return the name of the class that defines a *step*."""
        return cls.__mro__[_first_with(cls, step)].__name__

    @classmethod
    def step_in_force(cls, method: str) -> bool:
        """Return whether a *method* only calls its step: no class overrides the method without overriding the step."""
        return _first_with(cls, _STEPS[method]) <= _first_with(cls, method)

    def why_no_loop(self, *, isolated: bool) -> str | None:
        """Return why the steps are not all that agents do between two messages; None if they are.

        Args:
            isolated: Whether agents never communicate.
        """
        return None

    @abstractmethod
    def choose_one(self, *given: Any, **named: Any) -> Any:
        """Return the arm that *agent* pulls in *slot*: ``choose_one(self, slot, agent)``.

        If arms are vectors, these are one more argument, of shape (K, d). In a market one more argument, of shape (m,),
        is to be filled with the units bought of each producer, and nothing is returned.
        """

    @abstractmethod
    def learn_one(self, *given: Any, **named: Any) -> None:
        """Learn from the reward of the chosen arm: ``learn_one(self, slot, agent, arm, reward)``.

        If arms are vectors, that of the arm is one more argument, of shape (d,). In a market the last two arguments
        are the units bought, and how many of them were good, of shape (m,) each.
        """

    def unsettled_one(self, slot: int, agent: int) -> Any:
        """Return whether *agent* has to `settle` before it decides in *slot*; asked if the learner `settles`."""
        return False

    def settle(self, slot: int, agents: Agents) -> None:
        """Do what is to be done before *agents* decide in *slot*, and is no step; by default nothing."""

    def wants_one(self, slot: int, agent: int) -> Any:
        """Return whether *agent* wants a synchronisation after its decision: ``wants_one(self, slot, agent)``."""
        return False

    def choose(self, slot: int, agents: Agents) -> NDArray[Any]:
        """Return what :meth:`choose_one` does for each of *agents*."""
        self.settle(slot, agents)
        if self.plays == "market":
            assert self.world.capacities is not None
            units = np.empty((len(agents), self.world.capacities.shape[1]))
            self._each(choose_units, slot, agents, units)
            return units
        found = np.empty(len(agents), dtype=np.int64)
        if self.plays == "vectors":
            fixed = self.world.fixed_actions
            self._each(choose_vectors, slot, agents, self._shown(agents) if fixed is None else fixed[None], found)
        else:
            self._choose_arms(slot, agents, found)
        return found

    def _choose_arms(self, slot: int, agents: Agents, found: NDArray[np.int64]) -> None:
        """Write the arm that :meth:`choose_one` returns for each of *agents* into *found*, shape (n,)."""
        self._each(choose_arms, slot, agents, found)

    def learn(self, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Do what :meth:`learn_one` does for each of *agents*."""
        if self.plays == "vectors":
            self._each(learn_vectors, slot, agents, arms, rewards, self._shown(agents)[np.arange(len(agents)), arms])
        else:
            self._each(learn_all, slot, agents, arms, rewards)

    def wants(self, slot: int, agents: Agents) -> NDArray[np.bool_]:
        """Return what :meth:`wants_one` does for each of *agents*."""
        found = np.zeros(len(agents), dtype=np.bool_)
        self._each(want_all, slot, agents, found)
        return found

    def _shown(self, agents: Agents) -> NDArray[np.float64]:
        assert self.world.actions is not None
        return self.world.actions(agents)

    def _each(self, text: Callable[..., None], *given: Any) -> None:
        """Call *text*, compiled unless it contains user code."""
        kept: dict[Any, Callable[..., Any]] = self.__dict__.setdefault("_each_text", {})
        if text not in kept:
            kept[text] = partial(text, self)
            with suppress(StepError):
                made = Compiled(text, {"learner": self}, f"{text.__name__}_{self.maker_of('choose_one')}")
                kept[text] = made if made.ours else kept[text]
        kept[text](*given)


def _first_with(cls: type, name: str) -> int:
    """Return the index in the method resolution order of the class that defines *name*."""
    return next(place for place, one in enumerate(cls.__mro__) if name in one.__dict__)


def choose_arms(learner: Any, slot: int, agents: Agents, found: NDArray[np.int64]) -> None:
    """Let each of *agents* choose an arm."""
    for row in range(agents.size):
        found[row] = learner.choose_one(slot, agents[row])


def choose_vectors(learner: Any, slot: int, agents: Agents, shown: NDArray[Any], found: NDArray[np.int64]) -> None:
    """Let each of *agents* choose one of the vectors *shown*, to it or to all."""
    for row in range(agents.size):
        found[row] = learner.choose_one(slot, agents[row], shown[min(row, shown.shape[0] - 1)])


def choose_units(learner: Any, slot: int, agents: Agents, units: NDArray[np.float64]) -> None:
    """Let each of *agents* fill in the units that it buys."""
    for row in range(agents.size):
        learner.choose_one(slot, agents[row], units[row])


def learn_all(learner: Any, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any]) -> None:
    """Let each of *agents* learn the reward of its arm, or of its units."""
    for row in range(agents.size):
        learner.learn_one(slot, agents[row], arms[row], rewards[row])


def learn_vectors(
    learner: Any, slot: int, agents: Agents, arms: NDArray[Any], rewards: NDArray[Any], actions: NDArray[Any]
) -> None:
    """Let each of *agents* learn the reward of its arm, whose vector is its row of *actions*."""
    for row in range(agents.size):
        learner.learn_one(slot, agents[row], arms[row], rewards[row], actions[row])


def want_all(learner: Any, slot: int, agents: Agents, found: NDArray[np.bool_]) -> None:
    """Fill *found* with whether each of *agents* wants a synchronisation."""
    for row in range(agents.size):
        found[row] = learner.wants_one(slot, agents[row])
