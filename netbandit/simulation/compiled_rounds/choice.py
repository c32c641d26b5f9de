"""Which rounds are played by a compiled loop: decided here, and nobody is asked, because the numbers are the same."""

from collections.abc import Callable, Mapping

from netbandit.network.network import Network
from netbandit.protocols import adapters
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, NetworkProtocol
from netbandit.simulation.compiling import announce

LEAST_HOPS = 200_000
"""The fewest hops of a round for which a loop is worth its compilation, or fetching it: below, a round takes less than
half a second in any case."""

_LATEST = 1 << 60


def round_protocol(protocol: NetworkProtocol, network: Network, aggregation: Aggregation) -> CallbackRoundProtocol:
    """Return a protocol of rounds, started and attached: compiled, or as `adapters.round_protocol` makes it."""
    if not fits(protocol, network):
        return adapters.round_protocol(protocol, network, aggregation)
    rounds = _compiled(protocol)
    rounds.start(network, aggregation)
    network.attach(rounds.handler)
    return rounds


def fits(protocol: NetworkProtocol, network: Network) -> bool:
    """Return whether a loop knows all that can happen to the messages of *protocol*, and is worth it."""
    hops = _HOPS.get(type(protocol))
    return (
        hops is not None
        and type(network) is Network
        and network.trace is None
        and not network.transmission(10**6)
        and getattr(protocol, "deadline", None) is None
        and network.clock.end + _slowest(network) < _LATEST
        and hops(network) >= LEAST_HOPS
    )


def _slowest(network: Network) -> int:
    return max((channel.latency for near in network.channels for channel in near), default=0)


def _compiled(protocol: NetworkProtocol) -> CallbackRoundProtocol:
    from netbandit.simulation.compiled_rounds.flooding import CompiledFlooding
    from netbandit.simulation.kernels import flooding

    announce(flooding.play, "flooding")
    return CompiledFlooding(timing=protocol.timing)


def _each_item_over_each_link(network: Network) -> int:
    return 2 * len(network.links) * network.agents


_HOPS: Mapping[type[NetworkProtocol], Callable[[Network], int]] = {Flooding: _each_item_over_each_link}
"""About how many hops a round takes, of each protocol that has a loop."""
