"""What carries broadcasts and exchanges in bulk, where that is chosen."""

from netbandit.learners.slots import Learner
from netbandit.protocols.local import Local
from netbandit.protocols.pooled import Pooled
from netbandit.simulation.bulk_broadcasts import BulkNeighbours, BulkPooled
from netbandit.simulation.bulk_exchanges import BulkExchanges
from netbandit.simulation.choosing.bulk import (
    BroadcastsInBulk,
    ExchangesInBulk,
    TreesInBulk,
    step_together,
    to_neighbours,
)
from netbandit.simulation.choosing.way import chosen
from netbandit.simulation.communication import CommunicationStrategy
from netbandit.simulation.driver import ReplicationContext


def bulk_broadcasts(context: ReplicationContext, learner: Learner) -> CommunicationStrategy | None:
    """Return how agents talk in bulk; None: something is irregular, and goes message by message."""
    protocol = context.protocol
    if not chosen(BroadcastsInBulk(context, learner)):
        return _bulk_trees(context, learner)
    if isinstance(protocol, Pooled):
        return BulkPooled(context, learner)
    assert isinstance(protocol, Local)
    if to_neighbours(protocol):
        return BulkNeighbours(context, learner)
    from netbandit.simulation.bulk_floods import BulkFloods

    return BulkFloods(context, learner)


def _bulk_trees(context: ReplicationContext, learner: Learner) -> CommunicationStrategy | None:
    if not chosen(TreesInBulk(context, learner)):
        return None
    from netbandit.simulation.broadcasts_along_trees import BulkTrees

    protocol = context.protocol
    return BulkTrees(context, learner, protocol.ttl if isinstance(protocol, Local) else None)


def bulk_exchanges(context: ReplicationContext, learner: Learner) -> CommunicationStrategy | None:
    """Return how agents exchange in bulk; None: something is irregular, and goes message by message."""
    if not chosen(ExchangesInBulk(context)):
        return None
    if step_together(context):
        return BulkExchanges(context, learner)
    from netbandit.simulation.bulk_steps import BulkSteps

    return BulkSteps(context, learner)
