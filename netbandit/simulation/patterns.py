"""Which pattern of communication carries what the agents of a learner say."""

from collections.abc import Callable

from netbandit.learners.deposits import DepositLearner
from netbandit.learners.slots import Learner
from netbandit.protocols.pooled import Pooled
from netbandit.simulation import compiled_adapters
from netbandit.simulation.asks import Asks
from netbandit.simulation.bulk import bulk_broadcasts, bulk_exchanges
from netbandit.simulation.communication import Broadcasts, Communication, Exchanges, Never, Synchronisations
from netbandit.simulation.deposits import Deposits
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.free_synchronisations import FreeSynchronisations
from netbandit.simulation.in_turn import InTurn


def communication(stage: ReplicationContext, learner: Learner) -> Communication:
    """Return how the agents of *learner* talk."""
    protocol = stage.protocol
    if isinstance(protocol, Pooled) and learner.talk() == "call":
        return FreeSynchronisations(stage, learner)
    if isinstance(protocol, Pooled) and learner.talk() == "broadcast" and protocol.when == "pull":
        return InTurn(stage, learner)
    if isinstance(learner, DepositLearner) and "deposit" in protocol.patterns:
        return Deposits(stage, learner)
    kinds: dict[str | None, Callable[[ReplicationContext, Learner], Communication]] = {
        None: Never,
        "broadcast": _broadcasts,
        "call": Synchronisations,
        "ask": Asks,
        "exchange": _exchanges,
    }
    return kinds[learner.talk()](stage, learner)


def _exchanges(stage: ReplicationContext, learner: Learner) -> Communication:
    """Return exchanges in bulk where all is known of a message when it is sent, else message by message."""
    return bulk_exchanges(stage, learner) or Exchanges(stage, learner)


def _broadcasts(stage: ReplicationContext, learner: Learner) -> Communication:
    """Return broadcasts in bulk where everything is regular, else in a loop where one fits, else message by message."""
    bulk = bulk_broadcasts(stage, learner)
    if bulk is not None:
        return bulk
    shares = learner.known_shares(stage.clock.horizon)
    protocol, network = stage.protocol, stage.network
    broadcasts = compiled_adapters.broadcasts(protocol, network, shares, mute=stage.some_are_mute)
    if broadcasts is None:
        return Broadcasts(stage, learner)
    from netbandit.simulation.compiled_broadcasts import CompiledBroadcasts

    return CompiledBroadcasts(stage, learner, broadcasts)
