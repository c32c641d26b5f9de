"""Which rounds are played by a compiled loop: decided here, and nobody is asked, because the numbers are the same."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from netbandit.network.loss import BurstLoss
from netbandit.network.lossy_network import LossyNetwork
from netbandit.network.network import Network
from netbandit.network.retrying_network import RetryingNetwork
from netbandit.network.unreliable_network import UnreliableNetwork
from netbandit.protocols import adapters
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.gossip import Gossip
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, NetworkProtocol
from netbandit.protocols.relay import Relay
from netbandit.simulation.compiling import announce

if TYPE_CHECKING:  # it brings numba along, which takes its time
    from netbandit.simulation.compiled_rounds.engine import CompiledRounds

LEAST_HOPS = 200_000
"""The fewest hops of a round for which a loop is worth its compilation, or fetching it: below, a round takes less than
half a second in any case."""

_LATEST = 1 << 60
_MOST_CHANNELS = 1 << 21  # of a network with faults: some numbers are kept of each
_MOST_STAYS = 1 << 22  # of channels in a state, where all have to be known in advance
_MOST_QUEUEING = 10_000  # bits times nanoseconds of one message with all their items are to stay below 2^63


@contextmanager
def worth_it_from(hops: int) -> Iterator[None]:
    """Let loops be used for rounds of so many hops and more, 0 for all, whatever is worth it; for those who compare."""
    global LEAST_HOPS
    before, LEAST_HOPS = LEAST_HOPS, hops
    try:
        yield
    finally:
        LEAST_HOPS = before


def round_protocol(protocol: NetworkProtocol, network: Network, aggregation: Aggregation) -> CallbackRoundProtocol:
    """Return a protocol of rounds, started and attached: compiled, or as `adapters.round_protocol` makes it."""
    if aggregation.apart or not fits(protocol, network):
        return adapters.round_protocol(protocol, network, aggregation)
    rounds = _compiled(protocol, network.unreliable)
    rounds.start(network, aggregation)
    network.attach(rounds.handler)
    return rounds


def fits(protocol: NetworkProtocol, network: Network) -> bool:
    """Return whether a loop knows all that can happen to the messages of *protocol*, and is worth it."""
    if type(protocol) not in _HOPS:
        return False
    hops, most_agents = _HOPS[type(protocol)]
    return (
        1 < network.agents <= most_agents
        and _is_known(network)
        and network.trace is None
        and getattr(protocol, "deadline", None) is None
        and network.clock.end + _slowest(network) < _LATEST
        and (network.peer_bandwidth is None or network.agents <= _MOST_QUEUEING)
        and hops(network) >= LEAST_HOPS
    )


def _is_known(network: Network) -> bool:
    """Return whether a loop knows what goes wrong in *network*, if anything does, and can keep what messages draw."""
    if type(network) is Network:
        return True
    if type(network) not in (LossyNetwork, RetryingNetwork, UnreliableNetwork):
        return False
    faults, channels = network.peer_faults, 2 * len(network.links)
    if faults is None or network.link_downtimes is not None or channels > _MOST_CHANNELS:
        return False
    if isinstance(faults.loss, BurstLoss) and network.peer_bandwidth is not None:
        stays = 2 * network.clock.end / (faults.loss.good_for + faults.loss.bad_for)
        return channels * stays <= _MOST_STAYS
    return True


def _slowest(network: Network) -> int:
    return max((channel.latency for near in network.channels for channel in near), default=0)


def _compiled(protocol: NetworkProtocol, unreliable: bool) -> CallbackRoundProtocol:
    """Return what stands for *protocol*, not started, and say so if its loop has to be compiled first."""
    kind: type[CompiledRounds]
    if isinstance(protocol, Flooding) and unreliable:
        from netbandit.simulation.compiled_rounds import flooding_over_queues

        kind = flooding_over_queues.CompiledQueuedFlooding
    elif isinstance(protocol, Flooding):
        from netbandit.simulation.compiled_rounds import flooding

        kind = flooding.CompiledFlooding
    elif isinstance(protocol, Gis):
        from netbandit.simulation.compiled_rounds import gis

        kind = gis.CompiledGis
    elif isinstance(protocol, Relay):
        from netbandit.simulation.compiled_rounds import relay

        kind = relay.CompiledRelayRounds
    else:
        from netbandit.simulation.compiled_rounds import gossip

        kind = gossip.CompiledGossip
    loop, *others = kind.loops_with_faults if unreliable else kind.loops
    announce(loop, f"{kind.name} rounds", *others)
    return kind(timing=protocol.timing)


def _each_item_over_each_link(network: Network) -> int:
    return 2 * len(network.links) * network.agents


def _new_item_a_slot(network: Network) -> int:
    return network.agents**2 // 10


def _each_item_to_each_agent(network: Network) -> int:
    return network.agents**2


_HOPS: Mapping[type[NetworkProtocol], tuple[Callable[[Network], int], int]] = {
    Flooding: (_each_item_over_each_link, 5_000),
    Gis: (_each_item_over_each_link, 10_000),
    Gossip: (_new_item_a_slot, 50_000),
    Relay: (_each_item_to_each_agent, 10_000),
}
"""Of each protocol that has a loop about how many hops a round takes, and for how many agents its arrays fit into some
gigabytes."""
