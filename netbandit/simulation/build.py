"""Builds the graph and the network from a scenario."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.conditions.faults import Faults
from netbandit.conditions.faults_plan import Changing
from netbandit.conditions.links import link_class
from netbandit.network import faults as network_faults
from netbandit.network.batteries import EnergyPlan
from netbandit.network.clock import Clock
from netbandit.network.computing import ComputePlan
from netbandit.network.edge_latencies import given_latencies
from netbandit.network.families.family import Family
from netbandit.network.families.meeting import Meeting
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.geography import latency_nanoseconds
from netbandit.network.message import HEADER_BYTES
from netbandit.network.network import Network
from netbandit.network.topology import Topology, TopologyError
from netbandit.network.trace_writer import Trace
from netbandit.scenario.links import LinkSettings, LinksSettings, UniformLatency, UplinkSettings
from netbandit.util.streams import Streams
from netbandit.util.units import Duration


def topology_streams(family: Family, seed: int, replication: int) -> Streams:
    """Return the streams of the graph and its latencies: the replication's, or fixed ones by ``topology.seed``."""
    return Streams(seed, replication) if family.seed is None else Streams(family.seed, 0)


def build_topology(family: Family, streams: Streams, slot: int, end: int) -> Topology:
    """Return a graph of *family*.

    Args:
        family: The family.
        streams: The streams of the graph.
        slot: The length of a slot (ns).
        end: The end of the run (ns): agents whose first contact is later are not linked.

    Raises:
        TopologyError: No such graph can be drawn.
    """
    import networkx

    if isinstance(family, Meeting):
        return family.met(streams, slot, end)
    graph = family.build(streams.generator("topology"))
    if not isinstance(graph, networkx.Graph):  # from a user-defined family
        text = f"{type(family).__qualname__}.build must return a graph of networkx, not {type(graph).__name__}"
        raise TopologyError([((), text)])
    return Topology(graph)


def peer_latencies(settings: LinkSettings, topology: Topology, slot: int, streams: Streams) -> NDArray[np.int64]:
    """Return the latency of each peer link in nanoseconds, shape (links,), in the order of ``topology.edges``.

    Raises:
        TopologyError: ``"geographic"`` lacks coordinates, or ``"edges"`` latencies; at the empty key path.
    """
    if settings.latency == "edges":
        return given_latencies(topology, slot)
    if settings.latency == "geographic":
        return latency_nanoseconds(topology.coordinates, topology.edges, settings.missing, topology.names)
    return _latencies(settings.latency, topology.links, slot, streams.generator("links.peer"))


def uplink_latencies(settings: UplinkSettings, agents: int, slot: int, streams: Streams) -> NDArray[np.int64]:
    """Return the latency of each agent's uplink in nanoseconds, shape (agents,)."""
    return _latencies(settings.latency, agents, slot, streams.generator("links.uplink"))


def slowest_hop(settings: LinkSettings, topology: Topology, slot: int, size: int) -> int:
    """Return the maximum slots that *size* bytes take over the slowest peer link, at least 1, without queueing.

    Raises:
        TopologyError: ``"geographic"`` lacks coordinates.
    """
    if isinstance(settings.latency, UniformLatency):
        longest = settings.latency.ends[1].nanoseconds(slot)
    else:
        longest = int(peer_latencies(settings, topology, slot, Streams(0, 0)).max(initial=0))
    return max(1, -(-(longest + link_class(settings).transmission(size)) // slot))


def slowest_way(
    links: LinksSettings,
    latencies: Mapping[Literal["peer", "uplink"], NDArray[np.int64]],
    faults: network_faults.Faults,
) -> int:
    """Return the travel time (ns) of an empty message over the slowest link, at the 99th percentile of the jitter.

    Args:
        links: ``[links]``.
        latencies: The latencies (ns) of each link class in use.
        faults: The fault models.
    """
    ways = [0]
    for table, drawn in latencies.items():
        jitter = getattr(faults, table).jitter
        longest = 0 if jitter is None else int(jitter.times(np.array([0.99]))[0])
        ways.append(int(drawn.max(initial=0)) + link_class(getattr(links, table)).transmission(HEADER_BYTES) + longest)
    return max(ways)


def build_network(
    links: LinksSettings,
    topology: Topology,
    clock: Clock,
    streams: Streams,
    fingerprint: Fingerprint,
    trace: Trace | None,
    *,
    own_streams: Streams,
    peers: bool,
    faults: Faults = Faults(),  # noqa: B008 - it is never changed
    changing: Changing | None = None,
    energy: EnergyPlan | None = None,
    compute: ComputePlan | None = None,
) -> Network:
    """Return the network.

    Args:
        links: ``[links]``.
        topology: The graph.
        clock: The clock.
        streams: The streams of the latencies.
        fingerprint: Hashes every delivery.
        trace: The trace that every message is written to, or None.
        own_streams: The streams of the replication, for random draws of nodes while they communicate.
        peers: Whether the peer links are used; if not, they are left out.
        faults: ``[faults]``.
        changing: How the graph changes, if it does.
        energy: The agents' energy model, if there is one.
        compute: What nodes compute, if that takes any time.

    Raises:
        TopologyError: ``"geographic"`` lacks coordinates.
    """
    neighbours: Sequence[Sequence[int]] = [()] * topology.agents
    latencies: dict[tuple[int, int], int] = {}
    if peers:
        neighbours = topology.neighbours
        drawn = peer_latencies(links.peer, topology, clock.slot, streams)
        nodes = list(range(topology.agents))  # one shared int object per node, instead of new ones for each link
        latencies = {
            (nodes[first], nodes[second]): latency
            for (first, second), latency in zip(topology.edges.tolist(), drawn.tolist(), strict=True)
        }
    uplinks = uplink_latencies(links.uplink, topology.agents, clock.slot, streams)
    return Network(
        clock,
        neighbours,
        link_class(links.peer),
        latencies,
        link_class(links.uplink),
        uplinks.tolist(),
        fingerprint,
        trace,
        topology=topology,
        streams=own_streams,
        faults=faults.models(links, topology, clock.slot, changing if peers else None, peers=peers),
        energy=energy,
        compute=compute,
    )


def _latencies(latency: str | UniformLatency, links: int, slot: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if isinstance(latency, UniformLatency):
        shortest, longest = (duration.nanoseconds(slot) for duration in latency.ends)
        return rng.integers(shortest, longest, size=links, endpoint=True)
    return np.full(links, Duration(latency).nanoseconds(slot), dtype=np.int64)
