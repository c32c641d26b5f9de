"""Makes the communication strategy of a replication: one for each pattern, replaced by a kernel where possible.

The driver `Slots` asks once, when it starts. Drivers call strategies, strategies call protocols or kernels, never back.
"""

from netbandit.learners.deposits import DepositLearner
from netbandit.learners.slots import Learner
from netbandit.protocols.local import Local
from netbandit.protocols.pooled import Pooled
from netbandit.simulation.bulk_broadcasts import BulkNeighbours, BulkPooled
from netbandit.simulation.bulk_exchanges import BulkExchanges
from netbandit.simulation.communication import Broadcasts, CommunicationStrategy, Exchanges, Never, Synchronisations
from netbandit.simulation.dispatch.bulk import (
    BroadcastsInBulk,
    ExchangesInBulk,
    TreesInBulk,
    step_together,
    to_neighbours,
)
from netbandit.simulation.dispatch.kernel import chosen
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.pooled import FreeSynchronisations, InTurn
from netbandit.simulation.requests import Requests
from netbandit.simulation.uploads import Uploads


def communication(context: ReplicationContext, learner: Learner) -> CommunicationStrategy:
    """Return the communication strategy for *learner*."""
    protocol = context.protocol
    match learner.talk():
        case "call" if isinstance(protocol, Pooled):
            return FreeSynchronisations(context, learner)
        case "broadcast" if isinstance(protocol, Pooled) and protocol.when == "pull":
            return InTurn(context, learner)
        case _ if isinstance(learner, DepositLearner) and "deposit" in protocol.patterns:
            return Uploads(context, learner)
        case None:
            return Never(context, learner)
        case "broadcast":
            return bulk_broadcasts(context, learner) or Broadcasts(context, learner)
        case "exchange":
            return bulk_exchanges(context, learner) or Exchanges(context, learner)
        case "ask":
            return Requests(context, learner)
    return Synchronisations(context, learner)


def bulk_broadcasts(context: ReplicationContext, learner: Learner) -> CommunicationStrategy | None:
    """Return the kernel for all broadcasts; None if they must go message by message."""
    protocol = context.protocol
    if chosen(BroadcastsInBulk(context, learner)):
        if isinstance(protocol, Pooled):
            return BulkPooled(context, learner)
        assert isinstance(protocol, Local)
        if to_neighbours(protocol):
            return BulkNeighbours(context, learner)
        from netbandit.simulation.bulk_floods import BulkFloods

        return BulkFloods(context, learner)
    if chosen(TreesInBulk(context, learner)):
        from netbandit.simulation.broadcasts_along_trees import BulkTrees

        return BulkTrees(context, learner, protocol.ttl if isinstance(protocol, Local) else None)
    return None


def bulk_exchanges(context: ReplicationContext, learner: Learner) -> CommunicationStrategy | None:
    """Return the kernel for all exchanges; None if they must go message by message."""
    if not chosen(ExchangesInBulk(context)):
        return None
    if step_together(context):
        return BulkExchanges(context, learner)
    from netbandit.simulation.bulk_steps import BulkSteps

    return BulkSteps(context, learner)
