"""Which messages a compiled loop can handle, and from how many hops on it is worth it."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from netbandit.network.loss_laws import BurstLoss
from netbandit.network.message import HEADER_BYTES
from netbandit.network.network import Network
from netbandit.protocols.calls import SyncHandler
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.gossip import Gossip
from netbandit.protocols.local import Local
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.protocol import Aggregation, NetworkProtocol
from netbandit.protocols.relay import Relay
from netbandit.simulation.choosing.way import FATES_OPEN, NONE_FOR_PROTOCOL, SOME_MUTE, Way
from netbandit.simulation.compiled_rounds.cuts import why_no_cuts

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

_LATEST = 1 << 60
_MOST_CHANNELS = 1 << 21  # of a network with faults: some numbers are kept of each
_MOST_STAYS = 1 << 22  # of channels in a state, where all have to be known in advance
_MOST_QUEUEING = 10_000  # bits times nanoseconds of one message with all their items are to stay below 2^63
_LARGEST_QUEUEING = 10**9  # the same of a message of so many bytes
_MOST_IN_CLIQUES = 5_000  # for each word on its way, and each agent, a number is kept
_MOST_OVERLAPPING = 2_000  # of each round that is open, for each pair of agents a number is kept

_TOO_LONG = "times are longer than a loop counts"
_TOO_LARGE = "messages are larger than a loop counts"


@contextmanager
def worth_it_from(hops: int) -> Iterator[None]:
    """Let loops be used for rounds of so many hops and more, 0 for all, whatever is worth it; for those who compare."""
    global LEAST_HOPS
    before, LEAST_HOPS = LEAST_HOPS, hops
    try:
        yield
    finally:
        LEAST_HOPS = before


@dataclass(frozen=True)
class NetworkLoop(Way):
    """A compiled loop that handles the messages of a protocol.

    Attributes:
        protocol: The protocol.
        network: The network.
    """

    name: ClassVar[str] = "in a compiled loop"

    protocol: NetworkProtocol
    network: Network

    @property
    def where(self) -> str:
        """Which hops `hops` counts, for users."""
        return "known ahead"

    def should_run(self) -> str | None:
        """See `Way.should_run`."""
        hops = self.hops()
        return None if hops >= LEAST_HOPS else f"about {hops:,} hops {self.where} (worth it from {LEAST_HOPS:,} on)"

    @abstractmethod
    def hops(self) -> int:
        """Return about how many hops it is in the run that count for whether a loop is worth it."""


@dataclass(frozen=True)
class Rounds(NetworkLoop):
    """Rounds of a protocol that begin at times known ahead.

    Attributes:
        rounds: How many are known of ahead.
        aggregation: What is made of the items; None: all agents conclude alike.
    """

    rounds: int = 1
    aggregation: Aggregation | None = None

    def unsuited(self) -> str | None:
        """See `Way.unsuited`."""
        known = _hops_of(self.protocol)
        if known is None:
            return NONE_FOR_PROTOCOL
        apart = self.aggregation is not None and self.aggregation.apart
        if apart and not overlaps(self.protocol) and type(self.protocol) is not Relay:
            return "agents conclude each for itself, what it holds"
        _, most_agents = known
        return _too_many(self.network, most_agents)

    @property
    def where(self) -> str:
        """See `NetworkLoop.where`."""
        return "in a round" if self.rounds == 1 else f"in {self.rounds:,} rounds"

    def hops(self) -> int:
        """See `NetworkLoop.hops`."""
        return self.rounds * self._hops_of_one()

    def should_run(self) -> str | None:
        """See `Way.should_run`."""
        if (why := super().should_run()) is not None:
            return why
        of_one, least = self._hops_of_one(), -(-LEAST_HOPS // _A_ROUND)
        return None if of_one >= least else f"about {of_one:,} hops a round (worth it from {least:,} on)"

    def _hops_of_one(self) -> int:
        known = _hops_of(self.protocol)
        assert known is not None  # else it is unsuited
        hops, _ = known
        return hops(self.network)

    def unknown(self) -> str | None:
        """See `Way.unknown`."""
        overlapping, together = self._why_not_overlapping(), self._why_not_together()
        if overlapping is not None and together is not None:
            return overlapping if overlaps(self.protocol) else together
        if self.network.peer_bandwidth is not None and self.network.agents > _MOST_QUEUEING:
            return _TOO_LARGE
        if self.network.agents_fail and self.network.peer_bandwidth is not None and type(self.protocol) not in _HOPS:
            return "agents are down at times, and how late messages of one's own arrive is not known, given a bandwidth"
        return _why_not_known(self.network, absences=overlapping is None or type(self.protocol) is Relay)

    def _why_not_together(self) -> str | None:
        """Return why rounds cannot all end one after the other; None: nobody goes on without the others, or it may."""
        protocol, network = self.protocol, self.network
        if type(protocol) is Relay:
            if hears_apart(protocol, network) and not protocol.slotted:
                return "agents go on each for itself, so that it would stop for each message"
            return _why_no_times(network) or _why_no_deadline(protocol.deadline_ns(network.clock.slot), network)
        if getattr(protocol, "deadline", None) is not None:
            return "agents go on without others after a deadline"
        return _why_no_times(network)

    def _why_not_overlapping(self) -> str | None:
        """Return why several rounds cannot be open at once; None: they can."""
        protocol, network = self.protocol, self.network
        if not isinstance(protocol, NeighbourRounds) or not overlaps(protocol):
            return "only one round can be open at once"
        if network.agents > _MOST_OVERLAPPING:
            return f"{network.agents:,} agents, of which each goes on by itself (at most {_MOST_OVERLAPPING:,})"
        return _why_no_times(network) or _why_no_deadline(protocol.deadline_ns(network.clock.slot), network)


@dataclass(frozen=True)
class CalledRounds(Rounds):
    """Rounds that agents call for; `rounds`: about how many."""

    rounds: int = _CALLED_ROUNDS

    @property
    def where(self) -> str:
        """See `NetworkLoop.where`."""
        return f"{super().where}, as many as agents may call for"

    def unsuited(self) -> str | None:
        """See `Way.unsuited`."""
        if not overlaps(self.protocol) and type(self.protocol) is not Relay:
            return NONE_FOR_PROTOCOL
        return super().unsuited()


@dataclass(frozen=True)
class RoundsOfBroadcasts(Rounds):
    """Rounds in which each agent hears all items, one by one; `rounds`: how often all agents tell something.

    Attributes:
        mute: Whether some agents tell nothing.
    """

    mute: bool = False

    def unsuited(self) -> str | None:
        """See `Way.unsuited`."""
        if not overlaps(self.protocol):
            return NONE_FOR_PROTOCOL
        if self.mute:
            return SOME_MUTE
        if self.network.nodes_fail:
            return "it does not know agents or a server that are down at times, where agents hear each item"
        return super().unsuited()

    def unknown(self) -> str | None:
        """See `Way.unknown`."""
        return self._why_not_overlapping() or super().unknown()


@dataclass(frozen=True)
class CallsOverLocal(NetworkLoop):
    """Calls and releases of the cliques of `local`.

    Attributes:
        sync_handler: What agents do.
    """

    sync_handler: SyncHandler

    def unsuited(self) -> str | None:
        """See `Way.unsuited`."""
        protocol = self.protocol
        if type(protocol) is not Local or protocol.ttl <= 0:
            return NONE_FOR_PROTOCOL
        return _too_many(self.network, _MOST_IN_CLIQUES)

    @property
    def where(self) -> str:
        """See `NetworkLoop.where`."""
        return f"if each agent releases {self._releases:,} times"

    @property
    def _releases(self) -> int:
        """About how often an agent releases in the run."""
        return min(_SYNCHRONISATIONS, self.network.clock.horizon // 10)

    def hops(self) -> int:
        """See `NetworkLoop.hops`."""
        network, protocol = self.network, self.protocol
        assert isinstance(protocol, Local)
        channels = 2 * len(network.links)
        degree = max(1, channels // network.agents)
        return int(channels * min(network.agents, degree ** min(protocol.ttl - 1, network.agents))) * self._releases

    def unknown(self) -> str | None:
        """See `Way.unknown`."""
        network = self.network
        return (
            _why_no_times(network)
            or _why_too_large(self.sync_handler.release_size, network)
            or _why_not_known(network, absences=True)
        )


def enough_rounds(protocol: NetworkProtocol, network: Network) -> int:
    """Return of how many rounds it must be known for a loop to be worth it; how many more there are is all the same."""
    known = _hops_of(protocol)
    return 1 if known is None else -(-LEAST_HOPS // max(1, known[0](network), LEAST_HOPS // _A_ROUND))


def overlaps(protocol: NetworkProtocol) -> bool:
    """Return whether there is a loop for *protocol* that knows rounds that overlap."""
    return isinstance(protocol, NeighbourRounds) and protocol.can_be_compiled()


def hears_apart(protocol: Relay, network: Network) -> bool:
    """Return whether it is not enough to count what agents hear of a round to know when they go on."""
    return protocol.deadline is not None or network.forgets


def _too_many(network: Network, most_agents: int) -> str | None:
    """Return why a loop does not know the links, or its arrays do not fit into memory; None: it does, and they do."""
    if network.drops:
        return "messages are dropped where too many wait"
    if network.agents <= most_agents:
        return None
    return f"{network.agents:,} agents: its arrays would take many gigabytes (at most {most_agents:,})"


def _why_not_known(network: Network, *, absences: bool) -> str | None:
    """Return what goes wrong between agents of *network* that a loop does not know, or has no room for; None: nothing.

    Args:
        network: The network.
        absences: Whether it knows of nodes that are down.
    """
    if network.nodes_fail and not absences:
        return "agents or the server are down at times"
    if not network.unreliable:
        return None
    if network.sensed:
        return "agents see which of their links are up"
    faults, channels = network.peer_faults, 2 * len(network.links)
    if not channels:
        return "there are no links between agents"
    if channels > _MOST_CHANNELS:
        return f"{channels // 2:,} links that may fail (at most {_MOST_CHANNELS // 2:,})"
    if (why := why_no_cuts(network)) is not None:
        return why
    if isinstance(faults.loss, BurstLoss) and network.peer_bandwidth is not None:
        stays = 2 * network.clock.end / (faults.loss.good_for + faults.loss.bad_for)
        if channels * stays > _MOST_STAYS:
            return "links become bad, and good again, too often to be known ahead, as bandwidth needs it"
    return None


def _why_no_times(network: Network) -> str | None:
    """Return why a loop cannot keep the times of messages; None: there are messages, and it can."""
    if network.agents <= 1:
        return "there is one agent alone"
    if network.deferred_outcomes:
        return FATES_OPEN
    if network.trace is not None:
        return "a trace is written"
    peers = (channel.latency for near in network.channels for channel in near)
    slowest = max(network.slowest_uplink, max(peers, default=0))
    return None if network.clock.end + slowest < _LATEST else _TOO_LONG


def _why_no_deadline(deadline: int | None, network: Network) -> str | None:
    """Return why a loop cannot count until a *deadline* (ns; None: there is none); None: it can."""
    return None if network.clock.end + (deadline or 0) < _LATEST else _TOO_LONG


def _why_too_large(size: int, network: Network) -> str | None:
    """Return why a loop cannot send messages of *size* bytes and a header; None: it can."""
    fits = size <= _LARGEST_QUEUEING and network.transmission(HEADER_BYTES + size) < _LATEST
    return None if fits else _TOO_LARGE


_Hops = tuple[Callable[[Network], int], int]
"""About how many hops a round takes, and for how many agents the arrays of a loop fit into some gigabytes."""


def _hops_of(protocol: NetworkProtocol) -> _Hops | None:
    """Return what is known of the hops of *protocol*; None: there is no loop for it."""
    if type(protocol) in _HOPS:
        return _HOPS[type(protocol)]
    return (_each_item_over_each_link, 5_000) if overlaps(protocol) else None


def _each_item_over_each_link(network: Network) -> int:
    return 2 * len(network.links) * network.agents


def _one_neighbour_a_slot(network: Network) -> int:
    """One a slot and agent, until the farthest has heard: a hop takes its latency, and until its sender draws it.

    It draws one of its neighbours a slot; where these are many, news soon comes from others as well.
    """
    links, agents = len(network.links), network.agents
    latency = sum(channel.latency for near in network.channels for channel in near) / max(1, 2 * links)
    draws = min(2 * links / agents, 2 * math.log(agents))
    a_hop = latency / network.clock.slot + draws
    parts = zip(network.topology.components, network.topology.extremes, strict=True)
    slots = network.clock.horizon
    return sum(round(len(members) * min(slots, extremes.diameter * a_hop)) for members, extremes in parts)


def _each_item_to_each_agent(network: Network) -> int:
    return network.agents**2


_HOPS: Mapping[type[NetworkProtocol], _Hops] = {
    Flooding: (_each_item_over_each_link, 5_000),
    Gis: (_each_item_over_each_link, 10_000),
    Gossip: (_one_neighbour_a_slot, 50_000),
    Relay: (_each_item_to_each_agent, 10_000),
}
"""What is known of shipped protocols; of one's own as much is taken to be as of flooding."""
