"""The latencies of links: drawn from the laws of ``[links]``, or known from the graph."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.conditions.links import link_class
from netbandit.network import faults as network_faults
from netbandit.network.edge_latencies import given_latencies
from netbandit.network.geography import latency_nanoseconds
from netbandit.network.message import HEADER_BYTES
from netbandit.network.topology import Topology
from netbandit.scenario.links import LinkSettings, LinksSettings, UniformLatency, UplinkSettings
from netbandit.util.streams import Streams
from netbandit.util.units import Duration


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
    latencies: Mapping[str, Sequence[int]],
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
        ways.append(max(drawn, default=0) + link_class(getattr(links, table)).transmission(HEADER_BYTES) + longest)
    return max(ways)


def _latencies(latency: str | UniformLatency, links: int, slot: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if isinstance(latency, UniformLatency):
        shortest, longest = (duration.nanoseconds(slot) for duration in latency.ends)
        return rng.integers(shortest, longest, size=links, endpoint=True)
    return np.full(links, Duration(latency).nanoseconds(slot), dtype=np.int64)
