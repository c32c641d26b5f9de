"""Which broadcasts and exchanges go in bulk: chosen here, never configured."""

from netbandit.execution import execution
from netbandit.learners.slots import Learner
from netbandit.network import bulk_links
from netbandit.protocols.consensus import Consensus
from netbandit.protocols.local import Local
from netbandit.protocols.pooled import Pooled
from netbandit.simulation.bulk_broadcasts import BulkBroadcasts, BulkNeighbours, BulkPooled
from netbandit.simulation.bulk_exchanges import BulkExchanges
from netbandit.simulation.bulk_exchanges import fits as alike
from netbandit.simulation.communication import Communication
from netbandit.simulation.driver import ReplicationContext


def bulk_broadcasts(stage: ReplicationContext, learner: Learner) -> BulkBroadcasts | None:
    """Return how agents talk in bulk; None: something is irregular, and goes message by message.

    All agents must decide in every slot, and share in slots that are known as they come, by one hop or by floods,
    slotted, over links that never queue, though they may fail, lose messages, delay or double them.
    """
    protocol, network = stage.point.protocol, stage.network
    if learner.has("next_share") or network.trace is not None or stage.point.scenario.run.activity != "every":
        return None
    if network.agents_fail or execution() == "plain":
        return None
    if type(protocol) is Pooled:
        return BulkPooled(stage, learner)
    if type(protocol) is not Local or not protocol.slotted or not protocol.ttl or not bulk_links.fits(network):
        return None
    if protocol.ttl == 1 and not protocol.absorb:
        return BulkNeighbours(stage, learner)
    if protocol.route == "flood":
        from netbandit.simulation.bulk_floods import BulkFloods, fits

        if fits(stage, learner):
            return BulkFloods(stage, learner)
    return None


def bulk_exchanges(stage: ReplicationContext, learner: Learner) -> Communication | None:
    """Return how agents exchange in bulk; None: something is irregular, and goes message by message.

    All together where every row takes the same number of slots and none is lost; else each when it holds what it needs.
    """
    if execution() == "plain":
        return None
    if alike(stage):
        return BulkExchanges(stage, learner)
    if type(stage.point.protocol) is not Consensus:
        return None
    from netbandit.simulation import bulk_steps

    return bulk_steps.BulkSteps(stage, learner) if bulk_steps.fits(stage) else None
