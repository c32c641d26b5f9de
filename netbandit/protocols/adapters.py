"""What carries each way of talking: a protocol that is made for it, or one that can stand in."""

from collections.abc import Iterator, Mapping
from functools import partial

from netbandit.network.network import Network
from netbandit.protocols.broadcast import BroadcastProtocol, Hear
from netbandit.protocols.broadcast_over_rounds import BroadcastOverRounds
from netbandit.protocols.calls import CallProtocol, SyncHandler
from netbandit.protocols.protocol import (
    Aggregation,
    GraphFacts,
    NetworkProtocol,
    ProtocolSettings,
    RoundProtocol,
    Rounds,
)
from netbandit.protocols.rounds_over_broadcast import RoundsOverBroadcast
from netbandit.protocols.triggered_rounds import TriggeredRounds

_CARRIERS: Mapping[str, tuple[type[NetworkProtocol], ...]] = {
    "round": (RoundProtocol, BroadcastProtocol),
    "call": (RoundProtocol, BroadcastProtocol, CallProtocol),
    "broadcast": (BroadcastProtocol, RoundProtocol),
}


def carriers(kind: type[NetworkProtocol], talk: str) -> tuple[type[NetworkProtocol], ...]:
    """Return the classes of which *kind* must be one to carry *talk*."""
    if talk == "broadcast" and kind.broadcasts is not None:
        return (NetworkProtocol,)
    return _CARRIERS.get(talk, (NetworkProtocol,))


def rounding(
    kind: type[NetworkProtocol], settings: ProtocolSettings, network: Network, aggregation: Aggregation
) -> RoundProtocol:
    """Return a protocol of rounds: *kind* itself, or its broadcasts of everybody to everybody."""
    return _rounds(kind)(settings, network, aggregation)


def calling(
    kind: type[NetworkProtocol], settings: ProtocolSettings, network: Network, sync_handler: SyncHandler
) -> CallProtocol:
    """Return a protocol of calls: *kind* itself, what it says stands for it, or its rounds with calls before them."""
    if issubclass(kind, CallProtocol):
        return kind(settings, network, sync_handler)
    if issubclass(kind, RoundProtocol) and kind.called is not None:
        return kind.called(settings, network, sync_handler)
    return TriggeredRounds(_rounds(kind), settings, network, sync_handler)


def broadcasting(
    kind: type[NetworkProtocol], settings: ProtocolSettings, network: Network, hear: Hear
) -> BroadcastProtocol:
    """Return a protocol of broadcasts: *kind* itself, what it says stands for it, or its rounds with all items."""
    if issubclass(kind, BroadcastProtocol):
        return kind(settings, network, hear)
    if kind.broadcasts is not None:
        return kind.broadcasts(settings, network, hear)
    return BroadcastOverRounds(_rounds(kind), settings, network, hear)


def problems(
    kind: type[NetworkProtocol], talk: str, settings: ProtocolSettings, graph: GraphFacts
) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for each reason why *kind* cannot carry *talk* on such a graph."""
    if talk == "broadcast" and kind.broadcasts is not None:
        yield from kind.broadcasts.problems(settings, graph)
        return
    yield from kind.problems(settings, graph)
    if talk != "broadcast" and issubclass(kind, BroadcastProtocol):
        yield from RoundsOverBroadcast.problems(settings, graph)


def _rounds(kind: type[NetworkProtocol]) -> Rounds:
    if issubclass(kind, BroadcastProtocol):
        return partial(RoundsOverBroadcast, kind)
    assert issubclass(kind, RoundProtocol)  # checked before anything runs
    return kind
