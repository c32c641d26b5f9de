"""What a learner of one's own chooses, looked at before it is played: numpy would take nearly anything."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.own_code import is_ours
from netbandit.simulation.slot_worlds import MarketWorld, SlotWorld

Choose = Callable[[int, NDArray[np.int64]], NDArray[Any]]
"""`netbandit.learners.slots.Learner.choose`."""
Says = Callable[[int, NDArray[np.int64]], NDArray[np.bool_]]
"""`netbandit.learners.slots.Learner.wants`, or `ask`."""


def choose_of(learner: Learner, world: SlotWorld) -> Choose:
    """Return how *learner* chooses in *world*; of a learner of one's own, what is no arm for each agent is an error."""
    count = world.facts().get("arms")
    if count is None or isinstance(world, MarketWorld) or is_ours(type(learner)):
        return learner.choose

    def choose(slot: int, agents: NDArray[np.int64]) -> NDArray[Any]:
        arms = learner.choose(slot, agents)
        wrong = _wrong(arms, agents, int(count))
        if wrong:
            wanted = f"an arm from 0 to {count - 1} for each of its {len(agents)} agents"
            shape = f"integers of shape ({len(agents)},)"
            name = type(learner).__qualname__
            raise ValueError(f"{name}.choose must return {wanted}, {shape}, not {wrong} (slot {slot})")
        return arms

    return choose


def says_of(learner: Learner, method: Literal["wants", "ask"]) -> Says:
    """Return which agents of *learner* say yes; of a learner of one's own, what is no yes or no an agent is an error.

    Args:
        learner: The learner.
        method: Its method of that name.
    """
    says: Says = getattr(learner, method)
    if is_ours(type(learner)):
        return says

    def checked(slot: int, agents: NDArray[np.int64]) -> NDArray[np.bool_]:
        said: Any = says(slot, agents)
        if not isinstance(said, np.ndarray) or said.dtype != np.bool_ or said.shape != agents.shape:
            wanted = f"yes or no for each of its {len(agents)} agents, booleans of shape ({len(agents)},)"
            name = f"{type(learner).__qualname__}.{method}"
            raise ValueError(f"{name} must return {wanted}, not {described(said)} (slot {slot})")
        return said

    return checked


def _wrong(arms: Any, agents: NDArray[np.int64], count: int) -> str:
    """Return what *arms* are instead of an integer from 0 to before *count* for each of *agents*; else nothing."""
    if not isinstance(arms, np.ndarray) or arms.dtype.kind not in "iu" or arms.shape != agents.shape:
        return described(arms)
    outside = arms[(arms < 0) | (arms >= count)]
    return f"arm {outside[0]}" if len(outside) else ""


def described(value: Any) -> str:
    """Return the type of what was returned, of an array with its shape."""
    return f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
