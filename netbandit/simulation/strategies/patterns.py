"""The communication strategy of each pattern.

The driver `Slots` asks once, when it starts. Drivers call strategies, strategies call protocols or kernels, never back.
"""

from collections.abc import Mapping

from netbandit.learners.slots import Learner
from netbandit.parts.component import CommunicationPattern
from netbandit.protocols.pooled import Pooled
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.strategies.broadcasts import Broadcasts
from netbandit.simulation.strategies.communication import CommunicationStrategy
from netbandit.simulation.strategies.exchanges import Exchanges
from netbandit.simulation.strategies.requests import Requests
from netbandit.simulation.strategies.rounds import PooledRounds, Rounds
from netbandit.simulation.strategies.uploads import Uploads

STRATEGIES: Mapping[CommunicationPattern | None, type[CommunicationStrategy]] = {
    None: CommunicationStrategy,
    "broadcast": Broadcasts,
    "call": Rounds,
    "exchange": Exchanges,
    "ask": Requests,
    "deposit": Uploads,
}
"""For each pattern its strategy; a strategy asks, when it is made, whether a kernel takes its messages."""


def communication(context: ReplicationContext, learner: Learner) -> CommunicationStrategy:
    """Return the communication strategy for *learner*."""
    pattern, protocol = learner.communication_pattern(), context.protocol
    if pattern == "call" and isinstance(protocol, Pooled):  # no round is called or waited for
        return PooledRounds(context, learner)
    if "deposit" in learner.talks & protocol.patterns:
        pattern = "deposit"
    return STRATEGIES[pattern](context, learner)
