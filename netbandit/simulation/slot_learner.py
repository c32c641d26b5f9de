"""Which learner decides in every slot of each agent."""

from netbandit.learners.learner import Learner
from netbandit.learners.linear import GatherLearner
from netbandit.learners.slots import SlotLearner


def slot_learner(learner: type[Learner]) -> type[SlotLearner] | None:
    """Return the learner that decides in every slot of each agent: *learner* itself, or what stands for it."""
    if issubclass(learner, SlotLearner):
        return learner
    return learner.in_slots() if issubclass(learner, GatherLearner) else None
