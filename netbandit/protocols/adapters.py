"""How a learner's pattern of communication is carried by a protocol of another pattern: decided here, and only here.

A protocol is made for one pattern, and a learner needs one. Where they differ, an adapter stands between them:

========= =================== ======================================== ========== ============
needed    over rounds         over broadcasts                          over calls over gathers
========= =================== ======================================== ========== ============
round     itself              RoundsOverBroadcast                      --         --
call      TriggeredRounds     TriggeredRounds over RoundsOverBroadcast itself     --
broadcast BroadcastOverRounds itself                                   --         --
gather    --                  --                                       --         itself
========= =================== ======================================== ========== ============

A protocol may name one that stands for it in a pattern instead, in its ``stand_ins``. What cannot be is refused before
anything runs: :func:`misfit` looks at the class, :func:`problems` at the keys and the graph.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from netbandit.network.network import Network
from netbandit.protocols.broadcast import BroadcastProtocol, Hear
from netbandit.protocols.broadcast_over_rounds import BroadcastOverRounds
from netbandit.protocols.calls import CallProtocol, SyncHandler
from netbandit.protocols.gather import GatherProtocol, GatherSettings
from netbandit.protocols.protocol import (
    Aggregation,
    CallbackRoundProtocol,
    GraphFacts,
    NetworkProtocol,
    Pattern,
    ProtocolSettings,
    Rounds,
)
from netbandit.protocols.rounds_over_broadcast import RoundsOverBroadcast
from netbandit.protocols.triggered_rounds import TriggeredRounds

_MADE_FOR: Mapping[Pattern, type] = {
    "round": CallbackRoundProtocol,
    "broadcast": BroadcastProtocol,
    "call": CallProtocol,
    "gather": GatherProtocol,
}
"""The class of the protocols that are made for a pattern."""

_CARRIED_BY: Mapping[Pattern, tuple[Pattern, ...]] = {
    "round": ("round", "broadcast"),
    "broadcast": ("broadcast", "round"),
    "call": ("call", "round", "broadcast"),
    "gather": ("gather",),
}
"""The patterns for which a protocol may be made that carries a pattern."""

_Attached = TypeVar("_Attached", bound=NetworkProtocol)


def misfit(kind: type[NetworkProtocol], pattern: Pattern) -> str | None:
    """Return why a class that offers *pattern* cannot carry it, or None if it can."""
    stand_in = kind.stand_ins.get(pattern)
    made_for = tuple(_MADE_FOR[each] for each in _CARRIED_BY[pattern])
    if stand_in is not None:
        needed = _MADE_FOR[pattern]
        if not issubclass(stand_in, needed):
            return f'{_name(stand_in)} stands in for "{pattern}" and must be a subclass of {_name(needed)}'
    elif not issubclass(kind, made_for):
        return f'a protocol that offers "{pattern}" must be a subclass of {" or ".join(map(_name, made_for))}'
    elif issubclass(kind, GatherProtocol) and not issubclass(kind.Settings, GatherSettings):
        return f'the Settings of a protocol that offers "gather" must be a subclass of {_name(GatherSettings)}'
    return None


def problems(
    kind: type[NetworkProtocol], pattern: Pattern, settings: ProtocolSettings, graph: GraphFacts
) -> Iterator[tuple[str, str]]:
    """Yield (key, text) for each reason why *kind* cannot carry *pattern* on such a graph."""
    stand_in = kind.stand_ins.get(pattern)
    if stand_in is not None:
        yield from stand_in.problems(settings, graph)
        return
    yield from kind.problems(settings, graph)
    if pattern != "broadcast" and issubclass(kind, BroadcastProtocol):
        yield from RoundsOverBroadcast.problems(settings, graph)


def round_protocol(
    kind: type[NetworkProtocol], settings: ProtocolSettings, network: Network, aggregation: Aggregation
) -> CallbackRoundProtocol:
    """Return a protocol of rounds, attached: *kind* itself, or its broadcasts of everybody to everybody."""
    return _attached(_rounds(kind)(settings, network, aggregation))


def call_protocol(
    kind: type[NetworkProtocol], settings: ProtocolSettings, network: Network, sync_handler: SyncHandler
) -> CallProtocol:
    """Return a protocol of calls, attached: *kind* itself, what stands for it, or its rounds with calls before them."""
    called = kind.stand_ins.get("call", kind)
    if issubclass(called, CallProtocol):
        return _attached(called(settings, network, sync_handler))
    return _attached(TriggeredRounds(_rounds(kind), settings, network, sync_handler))


def broadcast_protocol(
    kind: type[NetworkProtocol], settings: ProtocolSettings, network: Network, hear: Hear
) -> BroadcastProtocol:
    """Return a protocol of broadcasts, attached: *kind* itself, what stands for it, or its rounds with all items."""
    broadcasting = kind.stand_ins.get("broadcast", kind)
    if issubclass(broadcasting, BroadcastProtocol):
        return _attached(broadcasting(settings, network, hear))
    return _attached(BroadcastOverRounds(_rounds(kind), settings, network, hear))


def gather_protocol(
    kind: type[NetworkProtocol],
    settings: ProtocolSettings,
    network: Network,
    parts: Sequence[int],
    masks: Sequence[int],
    decide: Callable[[int], None],
) -> GatherProtocol:
    """Return a protocol of gathers, attached: *kind* itself."""
    assert issubclass(kind, GatherProtocol)  # see misfit()
    return _attached(kind(settings, network, parts, masks, decide))


def _attached(protocol: _Attached) -> _Attached:
    protocol.network.attach(protocol.handler)
    return protocol


def _rounds(kind: type[NetworkProtocol]) -> Rounds:
    if issubclass(kind, BroadcastProtocol):
        return partial(RoundsOverBroadcast, kind)
    assert issubclass(kind, CallbackRoundProtocol)  # see misfit()
    return kind


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__name__}"
