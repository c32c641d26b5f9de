"""As `netbandit.protocols.adapters`: protocols for what drivers need, started; compiled where that is chosen."""

from typing import TYPE_CHECKING

from netbandit.network.network import Network
from netbandit.protocols import adapters
from netbandit.protocols.broadcast import Heard
from netbandit.protocols.calls import CallProtocol, SyncHandler
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, NetworkProtocol
from netbandit.protocols.relay import Relay
from netbandit.protocols.rounds_over_broadcast import RoundsOverBroadcast
from netbandit.protocols.triggered_rounds import TriggeredRounds
from netbandit.simulation.choosing.network_loops import (
    CalledRounds,
    CallsOverLocal,
    Rounds,
    RoundsOfBroadcasts,
    hears_apart,
)
from netbandit.simulation.choosing.way import chosen
from netbandit.simulation.compile_notice import announce

if TYPE_CHECKING:  # it brings numba along, which takes its time
    from netbandit.simulation.compiled_rounds.broadcasts import BroadcastOverCompiledRounds
    from netbandit.simulation.compiled_rounds.engine import CompiledLoop, CompiledRounds


def round_protocol(protocol: NetworkProtocol, network: Network, aggregation: Aggregation) -> CallbackRoundProtocol:
    """Return a protocol of rounds, started and attached: compiled, or as `adapters.round_protocol` makes it."""
    if not chosen(Rounds(protocol, network, aggregation=aggregation)):
        return adapters.round_protocol(protocol, network, aggregation)
    rounds = _compiled(protocol, network)
    rounds.start(network, aggregation)
    network.attach(rounds.handler)
    return rounds


def call_protocol(protocol: NetworkProtocol, network: Network, sync_handler: SyncHandler) -> CallProtocol:
    """Return a protocol of calls, started and attached: compiled, or as `adapters.call_protocol` makes it."""
    if not chosen(CallsOverLocal(protocol, network, sync_handler)):
        return adapters.call_protocol(protocol, network, sync_handler)
    from netbandit.simulation.compiled_rounds.local import CompiledLocal

    _announce(CompiledLocal, network, "calls over local")
    calls = CompiledLocal.model_validate(protocol.table())
    calls.start(network, sync_handler)
    network.attach(calls.handler)
    return calls


def uncalled_protocol(
    protocol: NetworkProtocol, network: Network, sync_handler: SyncHandler, rounds: int
) -> CallProtocol | None:
    """Return synchronisations over compiled rounds, none of which is called for; None: over others.

    Args:
        protocol: The protocol.
        network: The network, over which nothing has been sent yet.
        sync_handler: What agents do.
        rounds: How many synchronisations are known of ahead; see `choosing.network_loops.enough_rounds`.
    """
    if not chosen(Rounds(protocol, network, rounds)):
        return None
    return _started(TriggeredRounds.over(_compiled(protocol, network)), network, sync_handler)


def called_protocol(protocol: NetworkProtocol, network: Network, sync_handler: SyncHandler) -> CallProtocol | None:
    """As `uncalled_protocol`, of synchronisations that are called for."""
    if not chosen(CalledRounds(protocol, network)):
        return None
    from netbandit.simulation.compiled_rounds.calls import TriggeredCompiledRounds

    rounds = _compiled(protocol, network)
    return _started(TriggeredCompiledRounds.over(rounds), network, sync_handler)


def _started(calls: TriggeredRounds, network: Network, sync_handler: SyncHandler) -> CallProtocol:
    calls.start(network, sync_handler)
    network.attach(calls.handler)
    return calls


def broadcasts(
    protocol: NetworkProtocol, network: Network, shares: int, *, mute: bool
) -> "BroadcastOverCompiledRounds | None":
    """Return compiled broadcasts, started and attached; None: they go message by message.

    Args:
        protocol: The protocol.
        network: The network.
        shares: How often all agents tell something.
        mute: Whether some of them tell nothing.
    """
    if not chosen(RoundsOfBroadcasts(protocol, network, shares, mute=mute)):
        return None
    from netbandit.simulation.compiled_rounds.broadcasts import BroadcastOverCompiledRounds

    broadcasts = BroadcastOverCompiledRounds.over(_compiled(protocol, network))
    broadcasts.start(network, _unasked)
    network.attach(broadcasts.handler)
    return broadcasts


def _unasked(agent: int, heard: list[Heard]) -> None:
    raise RuntimeError("what is heard of compiled broadcasts is asked for")


def _compiled(protocol: NetworkProtocol, network: Network) -> CallbackRoundProtocol:
    """Return what stands for *protocol*, not started, and say so if its loop has to be compiled first."""
    rounds: CompiledRounds
    if isinstance(protocol, NeighbourRounds):
        from netbandit.simulation.compiled_rounds.neighbour_rounds import compiled_neighbour_rounds

        rounds = compiled_neighbour_rounds(type(protocol)).model_validate(protocol.table())
    else:
        assert isinstance(protocol, Relay)
        from netbandit.simulation.compiled_rounds.trees import CompiledRelay, CompiledTreeRounds

        if hears_apart(protocol, network):
            _announce(CompiledRelay, network, "relay rounds")
            return RoundsOverBroadcast.over(CompiledRelay.model_validate(protocol.table()))
        rounds = CompiledTreeRounds.over(protocol)
    _announce(type(rounds), network, f"{rounds.name} rounds")
    return rounds


def _announce(kind: "type[CompiledLoop]", network: Network, what: str) -> None:
    """Say if the loop of *kind* has to be compiled first; *what*: its name for the reader."""
    announce(kind.loop.over(network), what, *(one.over(network) for one in kind.compiled_beside))
