"""What a learner of one's own chooses, looked at before it is played: numpy would take nearly anything."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.slot_worlds import MarketWorld, SlotWorld


def arms_to_check(world: SlotWorld, learner: object) -> int | None:
    """Return how many arms there are, where choices are looked at: those of a learner of one's own among such arms."""
    if isinstance(world, MarketWorld) or type(learner).__module__.startswith("netbandit."):
        return None
    count = world.facts().get("arms")
    return None if count is None else int(count)


def check_choices(learner: object, slot: int, agents: NDArray[np.int64], arms: Any, count: int) -> None:
    """Raise ValueError unless *arms* are an arm for each of *agents*: integers from 0 to before *count*."""
    wanted = f"an arm from 0 to {count - 1} for each of its {len(agents)} agents, integers of shape ({len(agents)},)"
    if not isinstance(arms, np.ndarray) or arms.dtype.kind not in "iu" or arms.shape != agents.shape:
        shape = f"{arms.dtype} of shape {arms.shape}" if isinstance(arms, np.ndarray) else type(arms).__name__
        raise ValueError(f"{type(learner).__qualname__}.choose must return {wanted}, not {shape} (slot {slot})")
    wrong = arms[(arms < 0) | (arms >= count)]
    if len(wrong):
        raise ValueError(f"{type(learner).__qualname__}.choose must return {wanted}, not arm {wrong[0]} (slot {slot})")
