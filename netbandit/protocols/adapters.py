"""Adapters: carry a learner's communication pattern over a protocol made for another pattern, chosen only here.

A protocol is made for one pattern, and a learner needs one. Where they differ, an adapter translates:

========= =================== ======================================== ========== ============
needed    over rounds         over broadcasts                          over calls over gathers
========= =================== ======================================== ========== ============
round     itself              RoundsOverBroadcast                      --         --
call      TriggeredRounds     TriggeredRounds over RoundsOverBroadcast itself     --
broadcast BroadcastOverRounds itself                                   --         --
gather    --                  --                                       --         itself
========= =================== ======================================== ========== ============

Exchanges, uploads and requests run only over protocols of their own kind. A protocol may name substitutes for other
patterns in its ``stand_ins``. Invalid combinations are rejected before anything runs: :func:`misfit` checks the class,
:func:`check_with` at the keys and the graph.
"""

from collections.abc import Callable, Mapping, Sequence

from netbandit.network.network import Network
from netbandit.parts.component import Checks, CommunicationPattern, Note, Others
from netbandit.protocols.broadcast import BroadcastProtocol, Hear
from netbandit.protocols.broadcast_over_rounds import BroadcastOverRounds
from netbandit.protocols.calls import CallProtocol, SyncHandler
from netbandit.protocols.exchange import ExchangeProtocol, Mix
from netbandit.protocols.gather import GatherProtocol
from netbandit.protocols.neighbour_rounds import must_be_connected
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, NetworkProtocol
from netbandit.protocols.requests import Answer, HearResponse, RequestProtocol
from netbandit.protocols.rounds_over_broadcast import RoundsOverBroadcast
from netbandit.protocols.triggered_rounds import TriggeredRounds
from netbandit.protocols.uploads import UploadHandler, UploadProtocol

_MADE_FOR: Mapping[CommunicationPattern, type] = {
    "round": CallbackRoundProtocol,
    "broadcast": BroadcastProtocol,
    "call": CallProtocol,
    "gather": GatherProtocol,
    "exchange": ExchangeProtocol,
    "ask": RequestProtocol,
    "deposit": UploadProtocol,
}
"""The base class of the protocols made for each pattern."""

_CARRIED_BY: Mapping[CommunicationPattern, tuple[CommunicationPattern, ...]] = {
    "round": ("round", "broadcast"),
    "broadcast": ("broadcast", "round"),
    "call": ("call", "round", "broadcast"),
    "gather": ("gather",),
    "exchange": ("exchange",),
    "ask": ("ask",),
    "deposit": ("deposit",),
}
"""For each pattern, the protocol patterns that can carry it."""


def misfit(kind: type[NetworkProtocol], pattern: CommunicationPattern) -> str | None:
    """Return why a class that offers *pattern* cannot carry it, or None if it can."""
    stand_in = kind.stand_ins.get(pattern)
    made_for = tuple(_MADE_FOR[each] for each in _CARRIED_BY[pattern])
    if stand_in is not None:
        needed = (CallbackRoundProtocol, BroadcastProtocol) if pattern == "round" else (_MADE_FOR[pattern],)
        if not issubclass(stand_in, needed):
            classes = " or ".join(map(_name, needed))
            return f'{_name(stand_in)} stands in for "{pattern}" and must be a subclass of {classes}'
        if kind.model_fields.keys() != stand_in.model_fields.keys():
            return f'{_name(stand_in)} stands in for "{pattern}" and must have the same keys'
    elif not issubclass(kind, made_for):
        return f'a protocol that offers "{pattern}" must be a subclass of {" or ".join(map(_name, made_for))}'
    return None


def check_with(protocol: NetworkProtocol, others: Others) -> Checks:
    """Yield the mistakes and notes of *protocol* with the *others*, for the learner's communication pattern.

    A learner that never communicates is checked as for calls.
    """
    pattern: CommunicationPattern = getattr(others, "talk", "call")
    if pattern not in protocol.patterns or misfit(type(protocol), pattern) is not None:
        return  # reported by misfit()
    yield from _stand_in(protocol, pattern).check_with(others)
    over_broadcasts = isinstance(protocol, BroadcastProtocol) and pattern not in (*protocol.stand_ins, "broadcast")
    if over_broadcasts and protocol.uses_peer_links:
        yield from must_be_connected(others, "a round over ")
    elif protocol.used_links == {"peer"} and not protocol.isolated and others.components > 1:
        sizes = sorted({len(component) for component in others.graph.components})
        agents = " to ".join(dict.fromkeys(f"{size:,}" for size in (sizes[0], sizes[-1])))
        found = f"{others.components:,} components of {agents} agent{'s' * (sizes[-1] > 1)}"
        key = {"hybrid": "components", "random": "disconnected"}.get(others.kinds["topology"], "family")
        text = f"{found}, which hear nothing of one another over {others.kinds['protocol']}: each learns on its own"
        yield Note(key, text, "topology")


def round_protocol(protocol: NetworkProtocol, network: Network, aggregation: Aggregation) -> CallbackRoundProtocol:
    """Return a round protocol, started and attached: *protocol* itself, or rounds over its broadcasts."""
    rounds = _rounds(protocol)
    rounds.start(network, aggregation)
    network.attach(rounds.handler)
    return rounds


def call_protocol(protocol: NetworkProtocol, network: Network, sync_handler: SyncHandler) -> CallProtocol:
    """Return a call protocol, started and attached: *protocol* itself, or calls over its rounds."""
    called = _stand_in(protocol, "call")
    calls = called if isinstance(called, CallProtocol) else TriggeredRounds.over(_rounds(protocol))
    calls.start(network, sync_handler)
    network.attach(calls.handler)
    return calls


def broadcast_protocol(protocol: NetworkProtocol, network: Network, hear: Hear) -> BroadcastProtocol:
    """Return a broadcast protocol, started and attached: *protocol* itself, or broadcasts over its rounds."""
    telling = _stand_in(protocol, "broadcast")
    broadcasts = telling if isinstance(telling, BroadcastProtocol) else BroadcastOverRounds.over(_rounds(protocol))
    broadcasts.start(network, hear)
    network.attach(broadcasts.handler)
    return broadcasts


def gather_protocol(
    protocol: NetworkProtocol,
    network: Network,
    part_bytes: Sequence[int],
    mask_bytes: Sequence[int],
    decide: Callable[[int, int], None],
) -> GatherProtocol:
    """Return a gather protocol, started and attached: *protocol* itself."""
    gathers = _stand_in(protocol, "gather")
    assert isinstance(gathers, GatherProtocol)  # see misfit()
    gathers.start(network, part_bytes, mask_bytes, decide)
    network.attach(gathers.handler)
    return gathers


def exchange_protocol(protocol: NetworkProtocol, network: Network, mix: Mix) -> ExchangeProtocol:
    """Return an exchange protocol, started and attached: *protocol* itself, or its stand-in."""
    exchanges = _stand_in(protocol, "exchange")
    assert isinstance(exchanges, ExchangeProtocol)  # see misfit()
    exchanges.start(network, mix)
    network.attach(exchanges.handler)
    return exchanges


def request_protocol(
    protocol: NetworkProtocol, network: Network, answer: Answer, hear: HearResponse
) -> RequestProtocol:
    """Return a request protocol, started and attached: *protocol* itself, or its stand-in."""
    requests = _stand_in(protocol, "ask")
    assert isinstance(requests, RequestProtocol)  # see misfit()
    requests.start(network, answer, hear)
    network.attach(requests.handler)
    return requests


def upload_protocol(protocol: NetworkProtocol, network: Network, upload_handler: UploadHandler) -> UploadProtocol:
    """Return an upload protocol, started and attached: *protocol* itself."""
    uploads = _stand_in(protocol, "deposit")
    assert isinstance(uploads, UploadProtocol)  # see misfit()
    uploads.start(network, upload_handler)
    network.attach(uploads.handler)
    return uploads


def _rounds(protocol: NetworkProtocol) -> CallbackRoundProtocol:
    rounds = _stand_in(protocol, "round")
    if isinstance(rounds, BroadcastProtocol):
        return RoundsOverBroadcast.over(rounds)
    assert isinstance(rounds, CallbackRoundProtocol)  # see misfit()
    return rounds


def _stand_in(protocol: NetworkProtocol, pattern: CommunicationPattern) -> NetworkProtocol:
    """Return the stand-in for *protocol* in a pattern, or a copy of *protocol*; not started."""
    kind = protocol.stand_ins.get(pattern)
    return protocol.fresh() if kind is None else kind.model_validate(protocol.table())


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__name__}"
