"""Which rounds are played by a compiled loop: decided here, and nobody is asked, because the numbers are the same.

Whether a loop is worth it comes first: to find out whether it knows all that can happen may take seconds.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from netbandit.execution import execution
from netbandit.network.loss import BurstLoss
from netbandit.network.message import HEADER_BYTES
from netbandit.network.network import Network
from netbandit.protocols import adapters
from netbandit.protocols.broadcast import Heard
from netbandit.protocols.calls import CallProtocol, SyncHandler
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gather import GatherProtocol
from netbandit.protocols.gis import Gis
from netbandit.protocols.gossip import Gossip
from netbandit.protocols.local import Local
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, NetworkProtocol
from netbandit.protocols.relay import Relay
from netbandit.protocols.sink import Sink
from netbandit.protocols.triggered_rounds import TriggeredRounds
from netbandit.protocols.vertical import Vertical
from netbandit.simulation.compiled_rounds.cuts import cuts_fit
from netbandit.simulation.compiling import announce

if TYPE_CHECKING:  # it brings numba along, which takes its time
    from netbandit.simulation.compiled_rounds.broadcasts import BroadcastOverCompiledRounds
    from netbandit.simulation.compiled_rounds.engine import CompiledLoop, CompiledRounds
    from netbandit.simulation.compiled_rounds.trees import CompiledTrees

LEAST_HOPS = 200_000
"""The fewest hops of all rounds that are known ahead, or of one round, for which a loop is worth its compilation, or
fetching it: below, they take less than half a second in any case."""

_A_ROUND = 1_000
"""What part of the fewest hops one of many rounds has at the least: with fewer it takes longer to call a loop at each
slot boundary than to do without one."""

_SYNCHRONISATIONS = 500
"""How often an agent may release in a run, or in every tenth slot of it, where nobody can know it ahead: a hop of a
release takes several times as long as others event by event, so that a tenth as many are worth a loop."""

_CALLED_ROUNDS = 10
"""About how many rounds agents call for in a run, where nobody can know it ahead: few with the usual thresholds."""

_AN_ANSWER = 10
"""About how many hops of a loop's gain are lost on an answer of a server."""

_LATEST = 1 << 60
_MOST_CHANNELS = 1 << 21  # of a network with faults: some numbers are kept of each
_MOST_STAYS = 1 << 22  # of channels in a state, where all have to be known in advance
_MOST_QUEUEING = 10_000  # bits times nanoseconds of one message with all their items are to stay below 2^63
_LARGEST_QUEUEING = 10**9  # the same of a message of so many bytes
_MOST_IN_CLIQUES = 5_000  # for each word on its way, and each agent, a number is kept
_MOST_SOURCES = 5_000  # for each of them and each agent, a number is kept
_MOST_OVERLAPPING = 2_000  # of each round that is open, for each pair of agents a number is kept
_MOST_ITEMS = 10**12  # below `netbandit.simulation.machine.trees.MOST_ITEMS`
_MOST_UNDER_WAY = 10**7  # each takes a number


def _least_hops() -> int:
    """Return from how many hops on loops are used."""
    return {"chosen": LEAST_HOPS, "compiled": 0, "plain": sys.maxsize}[execution()]


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
    if (aggregation.apart and not _overlaps(protocol)) or not fits(protocol, network):
        return adapters.round_protocol(protocol, network, aggregation)
    rounds = _compiled(protocol, network)
    rounds.start(network, aggregation)
    network.attach(rounds.handler)
    return rounds


def call_protocol(protocol: NetworkProtocol, network: Network, sync_handler: SyncHandler) -> CallProtocol:
    """Return a protocol of calls, started and attached: compiled, or as `adapters.call_protocol` makes it."""
    if not isinstance(protocol, Local) or not _calls_fit(protocol, network, sync_handler):
        return adapters.call_protocol(protocol, network, sync_handler)
    from netbandit.simulation.compiled_rounds.local import CompiledLocal

    _announce(CompiledLocal, network, "calls over local")
    calls = CompiledLocal.model_validate(protocol.table())
    calls.start(network, sync_handler)
    network.attach(calls.handler)
    return calls


def _calls_fit(protocol: Local, network: Network, sync_handler: SyncHandler) -> bool:
    return (
        type(protocol) is Local
        and protocol.ttl > 0
        and network.agents <= _MOST_IN_CLIQUES
        and _near(protocol, network) * min(_SYNCHRONISATIONS, network.clock.horizon // 10) >= _least_hops()
        and _times_fit(network)
        and sync_handler.release_size <= _LARGEST_QUEUEING
        and network.transmission(HEADER_BYTES + sync_handler.release_size) < _LATEST
        and _is_known(network, absences=False)
    )


def _near(protocol: Local, network: Network) -> int:
    """Return about how many hops it is if every agent releases once."""
    channels = 2 * len(network.links)
    degree = max(1, channels // network.agents)
    return int(channels * min(network.agents, degree ** min(protocol.ttl - 1, network.agents)))


def trees_fit(protocol: NetworkProtocol, network: Network, shares: int) -> bool:
    """Return whether a loop knows all that can happen to what agents tell along trees, and is worth it.

    Args:
        protocol: The protocol.
        network: The network.
        shares: How often all agents tell something.
    """
    if not (type(protocol) is Relay or (type(protocol) is Local and protocol.route == "tree" and protocol.ttl)):
        return False
    return (
        network.agents <= _MOST_SOURCES
        and shares * _near_trees(protocol, network) >= _least_hops()
        and _times_fit(network)
        and network.clock.horizon * network.agents < _MOST_ITEMS
        and _is_known(network, absences=True)
    )


def rounds_of_broadcasts_fit(protocol: NetworkProtocol, network: Network, shares: int) -> bool:
    """Return whether a loop knows all that can happen to what agents tell over rounds, and is worth it; see above."""
    return not network.nodes_fail and _overlapping_fit(protocol, network) and fits(protocol, network, shares)


def broadcasts_over_rounds(protocol: NetworkProtocol, network: Network) -> "BroadcastOverCompiledRounds":
    """Return broadcasts over compiled rounds, started: for what `rounds_of_broadcasts_fit`."""
    from netbandit.simulation.compiled_rounds.broadcasts import BroadcastOverCompiledRounds

    broadcasts = BroadcastOverCompiledRounds.over(_compiled(protocol, network))
    broadcasts.start(network, _unasked)
    network.attach(broadcasts.handler)
    return broadcasts


def tree_broadcasts(protocol: NetworkProtocol, network: Network) -> "CompiledTrees":
    """Return broadcasts along trees, started: for what `trees_fit`."""
    from netbandit.simulation.compiled_rounds.trees import CompiledTrees

    _announce(CompiledTrees, network, "broadcasts along trees")
    broadcasts = CompiledTrees(timing=protocol.timing)
    broadcasts.hops = protocol.ttl if isinstance(protocol, Local) else None
    broadcasts.start(network, _unasked)
    network.attach(broadcasts.handler)
    return broadcasts


def _unasked(agent: int, heard: list[Heard]) -> None:
    raise RuntimeError("what is heard of compiled broadcasts is asked for")


def _near_trees(protocol: NetworkProtocol, network: Network) -> int:
    """Return about how many hops it is if every agent tells something once."""
    others = network.agents - 1
    if isinstance(protocol, Local):
        degree = max(1, 2 * len(network.links) // network.agents)
        others = min(others, degree ** min(protocol.ttl, others))
    return int(network.agents * others)


def uncalled_protocol(
    protocol: NetworkProtocol, network: Network, sync_handler: SyncHandler, rounds: int
) -> CallProtocol | None:
    """Return synchronisations over compiled rounds, none of which is called for; None: over others.

    Args:
        protocol: The protocol.
        network: The network, over which nothing has been sent yet.
        sync_handler: What agents do.
        rounds: How many synchronisations are known of ahead; see `enough_rounds`.
    """
    if not fits(protocol, network, rounds):
        return None
    return _started(TriggeredRounds.over(_compiled(protocol, network)), network, sync_handler)


def called_protocol(protocol: NetworkProtocol, network: Network, sync_handler: SyncHandler) -> CallProtocol | None:
    """As `uncalled_protocol`, of synchronisations that are called for."""
    if (
        network.nodes_fail
        or not (_overlaps(protocol) or type(protocol) is Relay)
        or not fits(protocol, network, _CALLED_ROUNDS)
    ):
        return None
    from netbandit.simulation.compiled_rounds.calls import TriggeredCompiledRounds

    rounds = _compiled(protocol, network)
    return _started(TriggeredCompiledRounds.over(rounds), network, sync_handler)


def _started(calls: TriggeredRounds, network: Network, sync_handler: SyncHandler) -> CallProtocol:
    calls.start(network, sync_handler)
    network.attach(calls.handler)
    return calls


def enough_rounds(protocol: NetworkProtocol, network: Network) -> int:
    """Return of how many rounds it must be known for a loop to be worth it; how many more there are is all the same."""
    known = _hops_of(protocol)
    return 1 if known is None else -(-_least_hops() // max(1, known[0](network), _least_hops() // _A_ROUND))


def fits(protocol: NetworkProtocol, network: Network, rounds: int = 1) -> bool:
    """Return whether a loop knows all that can happen to the messages of *protocol*, and is worth it."""
    known = _hops_of(protocol)
    if known is None or getattr(protocol, "collect", "sink") == "gis":
        return False
    hops, most_agents = known
    return (
        network.agents <= most_agents
        and hops(network) * rounds >= _least_hops()
        and hops(network) * _A_ROUND >= _least_hops()
        and (_nobody_waits_in_vain(protocol, network) or _overlapping_fit(protocol, network))
        and (network.peer_bandwidth is None or network.agents <= _MOST_QUEUEING)
        and _is_known(network, absences=_overlapping_fit(protocol, network))
    )


def _overlapping_fit(protocol: NetworkProtocol, network: Network) -> bool:
    """Return whether several rounds of *protocol* can be open at once."""
    return (
        isinstance(protocol, NeighbourRounds)
        and _overlaps(protocol)
        and network.agents <= _MOST_OVERLAPPING
        and _times_fit(network)
        and network.clock.end + (protocol.deadline_ns(network.clock.slot) or 0) < _LATEST
    )


def _is_known(network: Network, *, absences: bool) -> bool:
    """Return whether a loop knows what goes wrong between agents of *network*, and can keep what messages draw.

    Args:
        network: The network.
        absences: Whether it knows of nodes that are down.
    """
    if network.nodes_fail and not absences:
        return False
    if not network.unreliable:
        return True
    faults, channels = network.peer_faults, 2 * len(network.links)
    if not 0 < channels <= _MOST_CHANNELS or not cuts_fit(network):
        return False
    if isinstance(faults.loss, BurstLoss) and network.peer_bandwidth is not None:
        stays = 2 * network.clock.end / (faults.loss.good_for + faults.loss.bad_for)
        return channels * stays <= _MOST_STAYS
    return True


def _nobody_waits_in_vain(protocol: NetworkProtocol, network: Network) -> bool:
    """Return whether times are small enough, and nobody goes on without the others."""
    return getattr(protocol, "deadline", None) is None and _times_fit(network)


def _times_fit(network: Network) -> bool:
    """Return whether there are messages, nobody wants to see them, and their times are small enough."""
    return network.agents > 1 and network.trace is None and network.clock.end + _slowest(network) < _LATEST


def gather_protocol(
    protocol: NetworkProtocol,
    network: Network,
    part_bytes: Sequence[int],
    mask_bytes: Sequence[int],
    decide: Callable[[int, int], None],
    block: int,
) -> GatherProtocol:
    """Return a protocol of gathers, started and attached: compiled, or as `adapters.gather_protocol` makes it.

    Compiled, *decide* is called for the users of a *block* (in slots) no later than for the first of another one, and
    then before anything else happens.
    """
    if not gathers_fit(protocol, network, part_bytes):
        return adapters.gather_protocol(protocol, network, part_bytes, mask_bytes, decide)
    from netbandit.simulation.compiled_rounds.vertical import CompiledVertical

    _announce(CompiledVertical, network, "gathers")
    gathers = CompiledVertical.model_validate(protocol.table())
    gathers.block = block
    gathers.start(network, part_bytes, mask_bytes, decide)
    network.attach(gathers.handler)
    return gathers


def gathers_fit(protocol: NetworkProtocol, network: Network, part_bytes: Sequence[int]) -> bool:
    """Return whether a loop knows all that can happen to the parts of a whole run, and is worth it."""
    return (
        type(protocol) is Vertical
        and network.clock.horizon * _hops_of_a_user(network, part_bytes) >= max(1, _least_hops())
        and _times_fit(network)
        and network.clock.end + (protocol.deadline_ns(network.clock.slot) or 0) < _LATEST
        and max(part_bytes) <= _LARGEST_QUEUEING
        and network.transmission(HEADER_BYTES + max(part_bytes)) < _LATEST
        and min(protocol.pipeline, network.clock.horizon) <= _MOST_UNDER_WAY
        and _is_known(network, absences=False)
    )


def _hops_of_a_user(network: Network, part_bytes: Sequence[int]) -> int:
    distances = network.topology.hops(0).tolist()
    return sum(hops for hops, size in zip(distances, part_bytes, strict=True) if size)


def _slowest(network: Network) -> int:
    peers = (channel.latency for near in network.channels for channel in near)
    return max(network.slowest_uplink, max(peers, default=0))


def _compiled(protocol: NetworkProtocol, network: Network) -> CallbackRoundProtocol:
    """Return what stands for *protocol*, not started, and say so if its loop has to be compiled first."""
    rounds: CompiledRounds
    if isinstance(protocol, NeighbourRounds):
        from netbandit.simulation.compiled_rounds.neighbour_rounds import compiled_neighbour_rounds

        rounds = compiled_neighbour_rounds(type(protocol)).model_validate(protocol.table())
    elif isinstance(protocol, Relay):
        from netbandit.simulation.compiled_rounds.trees import CompiledTreeRounds

        rounds = CompiledTreeRounds.over(protocol)
    else:
        from netbandit.simulation.compiled_rounds.sink import CompiledSink

        rounds = CompiledSink(timing=protocol.timing)
    _announce(type(rounds), network, f"{rounds.name} rounds")
    return rounds


def _announce(kind: "type[CompiledLoop]", network: Network, what: str) -> None:
    """Say if the loop of *kind* has to be compiled first; *what*: its name for the reader."""
    announce(kind.loop.over(network), what, *(one.over(network) for one in kind.compiled_beside))


def _overlaps(protocol: NetworkProtocol) -> bool:
    """Return whether there is a loop for *protocol* that knows rounds that overlap."""
    return isinstance(protocol, NeighbourRounds) and protocol.can_be_compiled()


_Hops = tuple[Callable[[Network], int], int]
"""About how many hops a round takes, and for how many agents the arrays of a loop fit into some gigabytes."""


def _hops_of(protocol: NetworkProtocol) -> _Hops | None:
    """Return what is known of the hops of *protocol*; None: there is no loop for it."""
    if type(protocol) in _HOPS:
        return _HOPS[type(protocol)]
    return (_each_item_over_each_link, 5_000) if _overlaps(protocol) else None


def _each_item_over_each_link(network: Network) -> int:
    return 2 * len(network.links) * network.agents


def _new_item_a_slot(network: Network) -> int:
    return network.agents**2 // 10


def _each_item_to_each_agent(network: Network) -> int:
    return network.agents**2


def _each_item_to_its_sink(network: Network) -> int:
    """About half the way of the farthest, less what an answer costs that the loop does not bring itself."""
    parts = zip(network.topology.components, network.topology.extremes, strict=True)
    return sum(len(members) * max(0, extremes.radius // 2 - _AN_ANSWER) for members, extremes in parts)


_HOPS: Mapping[type[NetworkProtocol], _Hops] = {
    Flooding: (_each_item_over_each_link, 5_000),
    Gis: (_each_item_over_each_link, 10_000),
    Gossip: (_new_item_a_slot, 50_000),
    Relay: (_each_item_to_each_agent, 10_000),
    Sink: (_each_item_to_its_sink, 50_000),
}
"""What is known of shipped protocols; of one's own as much is taken to be as of flooding."""
