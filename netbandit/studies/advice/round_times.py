"""The exact time of a round of each protocol, as in a run with unlimited bandwidth."""

from dataclasses import dataclass
from heapq import heappop, heappush

import networkx
import numpy as np
from numpy.typing import NDArray

from netbandit.studies.advice.timed_graph import TimedGraph

HANDSHAKE = 3
"""The number of link crossings of a handshake (ADV, REQ, DATA)."""

NEVER = np.iinfo(np.int64).max // 4
"""The distance of unreachable nodes; sums of a few of them still fit 64 bits."""


@dataclass(frozen=True)
class RoundTime:
    """The time of a round.

    Attributes:
        protocol: The protocol.
        nanoseconds: From the contributions to the moment the last agent is informed; None if it never ends.
        slots: The slots that agents wait.
    """

    protocol: str
    nanoseconds: int | None
    slots: int | None


def round_times(graph: TimedGraph) -> list[RoundTime]:
    """Return the time of a round of each protocol for which the graph alone determines it."""
    times = {
        "master-worker": 2 * int(graph.uplinks.max()),
        "gis": handshakes(graph),
        "flooding": longest_of(distances(graph, graph.hop_times())),
        "sink": sink_round(graph),
    }
    return [RoundTime(name, time, None if time is None else -(-time // graph.slot)) for name, time in times.items()]


def distances(graph: TimedGraph, times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the time of an item from each node to each other over hops with these *times*, shape (n, n).

    `NEVER` if there is no path. Sums of nanoseconds below 2^53 are exact.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    agents, edges = graph.topology.agents, graph.topology.edges
    # Stored entries are links, also those without latency.
    sparse = csr_array((times.astype(np.float64), (edges[:, 0], edges[:, 1])), shape=(agents, agents))
    found = np.asarray(dijkstra(sparse, directed=False))
    return np.where(np.isfinite(found), found, NEVER).astype(np.int64)


def handshakes(graph: TimedGraph) -> int | None:
    """Return the time of a round of ``gis``, None if it never ends.

    A node asks the first that advertises an item, the lowest number among simultaneous ones, even if another could
    deliver earlier; so this is no shortest path where links differ, and each item is followed separately.
    """
    if len(graph.topology.components) > 1:
        return None
    times = graph.hop_times(HANDSHAKE)
    steps: list[list[tuple[int, int, int]]] = [[] for _ in range(graph.topology.agents)]
    for (first, second), latency, time in zip(
        graph.topology.edges.tolist(), graph.latencies.tolist(), times.tolist(), strict=True
    ):
        steps[first].append((second, latency, time))
        steps[second].append((first, latency, time))
    return max(_last_heard(steps, source) for source in range(len(steps)))


def _last_heard(steps: list[list[tuple[int, int, int]]], source: int) -> int:
    """Return when the last node has the item of *source*."""
    has = {source: 0}
    advertised: list[tuple[int, int, int, int]] = []

    def advertise(node: int) -> None:
        for neighbour, latency, time in steps[node]:
            if neighbour not in has:
                heappush(advertised, (has[node] + latency, node, neighbour, has[node] + time))

    advertise(source)
    while advertised:
        _, _, node, complete = heappop(advertised)
        if node not in has:
            has[node] = complete
            advertise(node)
    return max(has.values())


def longest_of(table: NDArray[np.int64]) -> int | None:
    """Return the largest distance of a *table*, None if a node cannot be reached."""
    longest = int(table.max())
    return None if longest >= NEVER else longest


def sink_round(graph: TimedGraph) -> int:
    """Return the time until each sink has the items of its component, and has heard back from the server."""
    topology, parents = graph.topology, graph.topology.sink_parents
    pairs = zip(topology.edges.tolist(), graph.hop_times().tolist(), strict=True)
    time_of = {(first, second): time for (first, second), time in pairs}
    uploaded = 0
    for sink in topology.sinks:
        needed = {sink: 0}
        for _, node in networkx.bfs_edges(topology.graph, sink):  # parents come before their children
            parent = int(parents[node])
            needed[node] = needed[parent] + time_of[min(node, parent), max(node, parent)]
        uploaded = max(uploaded, max(needed.values()) + int(graph.uplinks[sink]))
    return uploaded + int(graph.uplinks.max())
