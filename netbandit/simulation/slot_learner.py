"""Which learner decides in every slot of each agent."""

from netbandit.learners.learner import AnyLearner
from netbandit.learners.linear import GatherLearner
from netbandit.learners.slots import Learner


def in_slots(learner: AnyLearner) -> Learner:
    """Return the learner that decides in every slot of each agent: *learner* itself, or what stands for it there."""
    found = learner.in_slots() if isinstance(learner, GatherLearner) else learner
    assert isinstance(found, Learner)  # checked before anything runs
    return found
