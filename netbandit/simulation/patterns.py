"""Which pattern of communication carries what the agents of a learner say."""

from collections.abc import Callable

from netbandit.learners.slots import Learner
from netbandit.simulation.bulk_broadcasts import BulkBroadcasts, fits
from netbandit.simulation.communication import Broadcasts, Communication, Exchanges, Never, Synchronisations
from netbandit.simulation.driver import ReplicationContext


def communication(stage: ReplicationContext, learner: Learner) -> Communication:
    """Return how the agents of *learner* talk."""
    kinds: dict[str | None, Callable[[ReplicationContext, Learner], Communication]] = {
        None: Never,
        "broadcast": BulkBroadcasts if learner.talk() == "broadcast" and fits(stage, learner) else Broadcasts,
        "call": Synchronisations,
        "exchange": Exchanges,
    }
    return kinds[learner.talk()](stage, learner)
