"""Which pattern of communication carries what the agents of a learner say."""

from collections.abc import Callable

from netbandit.learners.deposits import DepositLearner
from netbandit.learners.slots import Learner
from netbandit.protocols.pooled import Pooled
from netbandit.simulation.asks import Asks
from netbandit.simulation.bulk import bulk_broadcasts, bulk_exchanges
from netbandit.simulation.communication import Broadcasts, CommunicationStrategy, Exchanges, Never, Synchronisations
from netbandit.simulation.deposits import Deposits
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.free_synchronisations import FreeSynchronisations
from netbandit.simulation.in_turn import InTurn


def communication(context: ReplicationContext, learner: Learner) -> CommunicationStrategy:
    """Return how the agents of *learner* talk."""
    protocol = context.protocol
    if isinstance(protocol, Pooled) and learner.talk() == "call":
        return FreeSynchronisations(context, learner)
    if isinstance(protocol, Pooled) and learner.talk() == "broadcast" and protocol.when == "pull":
        return InTurn(context, learner)
    if isinstance(learner, DepositLearner) and "deposit" in protocol.patterns:
        return Deposits(context, learner)
    kinds: dict[str | None, Callable[[ReplicationContext, Learner], CommunicationStrategy]] = {
        None: Never,
        "broadcast": _broadcasts,
        "call": Synchronisations,
        "ask": Asks,
        "exchange": _exchanges,
    }
    return kinds[learner.talk()](context, learner)


def _exchanges(context: ReplicationContext, learner: Learner) -> CommunicationStrategy:
    """Return exchanges in bulk where all is known of a message when it is sent, else message by message."""
    return bulk_exchanges(context, learner) or Exchanges(context, learner)


def _broadcasts(context: ReplicationContext, learner: Learner) -> CommunicationStrategy:
    """Return broadcasts in bulk where everything is regular, else message by message."""
    return bulk_broadcasts(context, learner) or Broadcasts(context, learner)
