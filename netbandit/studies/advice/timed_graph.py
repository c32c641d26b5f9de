"""A graph with link times: the input of round times and advice."""

from dataclasses import dataclass

import networkx
import numpy as np
from numpy.typing import NDArray

from netbandit.network.edge_latencies import any_given
from netbandit.network.topology import Topology


@dataclass(frozen=True)
class TimedGraph:
    """A topology with the time of each of its links.

    Attributes:
        topology: The graph.
        latencies: Nanoseconds of each link, shape (L,), in the order of ``topology.edges``.
        slot: Nanoseconds of a slot.
        slotted: Whether what begins in a slot takes effect in a later one.
        uplinks: Nanoseconds from each agent to the server, shape (n,).
    """

    topology: Topology
    latencies: NDArray[np.int64]
    slot: int
    slotted: bool
    uplinks: NDArray[np.int64]

    def hop_times(self, trips: int = 1) -> NDArray[np.int64]:
        """Return `times_over` the links, shape (L,)."""
        return self.times_over(self.latencies, trips)

    def times_over(self, latencies: NDArray[np.int64], trips: int = 1) -> NDArray[np.int64]:
        """Return how long after a node has begun it a hop over links of these *latencies* is complete, in nanoseconds.

        Slotted, it is complete at a boundary, the next one at the earliest (interface, Timing).

        Args:
            latencies: Nanoseconds of each link, shape (k,).
            trips: The number of link crossings of a hop: 1, or 3 for a handshake.
        """
        times = trips * latencies
        return np.maximum(1, -(-times // self.slot)) * self.slot if self.slotted else times

    def with_link(self, first: int, second: int, latency: int) -> "TimedGraph":
        """Return the graph with one more link."""
        graph = self.topology.graph.copy()
        graph.add_edge(first, second, **({"latency": f"{latency} ns"} if any_given(self.topology) else {}))
        return self._of(graph, {**self._by_link(), (min(first, second), max(first, second)): latency})

    def without_link(self, first: int, second: int) -> "TimedGraph":
        """Return the graph without a link."""
        graph = self.topology.graph.copy()
        graph.remove_edge(first, second)
        return self._of(graph, self._by_link())

    def with_latencies(self) -> Topology:
        """Return the topology with the latency of each link as its attribute."""
        graph = self.topology.graph.copy()
        for link, latency in self._by_link().items():
            graph.edges[link]["latency"] = f"{latency} ns"
        return Topology(graph)

    def _by_link(self) -> dict[tuple[int, int], int]:
        pairs = zip(self.topology.edges.tolist(), self.latencies.tolist(), strict=True)
        return {(first, second): latency for (first, second), latency in pairs}

    def _of(self, graph: "networkx.Graph[int]", latency: dict[tuple[int, int], int]) -> "TimedGraph":
        topology = Topology(graph)
        latencies = [latency[first, second] for first, second in topology.edges.tolist()]
        return TimedGraph(topology, np.array(latencies, dtype=np.int64), self.slot, self.slotted, self.uplinks)
