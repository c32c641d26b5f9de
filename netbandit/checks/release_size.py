"""How large a release is, where that is known before a run."""

from netbandit.simulation.point import RunnablePoint
from netbandit.simulation.return_validation import checked
from netbandit.simulation.slot_learner import in_slots


def release_size(point: RunnablePoint) -> int:
    """Return the bytes that an agent who decides in every slot releases, as far as they are known ahead."""
    if "call" not in point.learner.talks:
        return 0
    learner = checked(in_slots(point.learner).fresh())
    return learner.item_bytes(learner.share_numbers(point.bandit.outline().dimension or 0))
