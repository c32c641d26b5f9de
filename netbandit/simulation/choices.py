"""What a learner of one's own chooses, looked at before it is played: numpy would take nearly anything."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.own_code import is_ours
from netbandit.simulation.slot_worlds import MarketWorld, SlotWorld

Choose = Callable[[int, NDArray[np.int64]], NDArray[Any]]
"""`netbandit.learners.slots.Learner.choose`."""


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


def _wrong(arms: Any, agents: NDArray[np.int64], count: int) -> str:
    """Return what *arms* are instead of an integer from 0 to before *count* for each of *agents*; else nothing."""
    if not isinstance(arms, np.ndarray):
        return type(arms).__name__
    if arms.dtype.kind not in "iu" or arms.shape != agents.shape:
        return f"{arms.dtype} of shape {arms.shape}"
    outside = arms[(arms < 0) | (arms >= count)]
    return f"arm {outside[0]}" if len(outside) else ""
