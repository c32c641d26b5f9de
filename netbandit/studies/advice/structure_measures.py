"""Measures of links that depend only on the graph: the cost of a gis round, and the pairs one failure separates."""

import numpy as np
from numpy.typing import NDArray

from netbandit.network.topology import describe
from netbandit.studies.advice.measure import Measure, MeasureName
from netbandit.studies.advice.resilience import separable_pairs, separable_with_link
from netbandit.studies.advice.round_times import distances
from netbandit.studies.advice.timed_graph import TimedGraph


class Activations(Measure):
    """Link activations of a round of gis, a hop a slot."""

    name: MeasureName = "cost"
    subject = "link activations of a round of gis, a hop a slot"

    def value(self, graph: TimedGraph) -> float | None:
        """See `Measure.value`."""
        if len(graph.topology.components) > 1:
            return None
        return float(describe(graph.topology)["links_per_round"])

    def with_link(
        self, graph: TimedGraph, candidates: NDArray[np.int64], latencies: NDArray[np.int64], shown: int
    ) -> NDArray[np.float64]:
        """See `Measure.with_link`.

        A link works in min(max(e_u, e_v) + 1, D) slots, e the eccentricities and D the diameter (see
        `netbandit.network.topology.describe`).
        """
        from netbandit.studies.advice.kernels import eccentricities_with_link

        topology = graph.topology
        edges, component = topology.edges, topology.component
        table = distances(graph, np.ones(topology.links, dtype=np.int64))
        values = np.full(len(candidates), np.inf)
        for index, (one, other) in enumerate(candidates.tolist()):
            if len(topology.components) - (component[one] != component[other]) > 1:
                continue
            eccentricity = eccentricities_with_link(table, one, other)
            ends = np.maximum(eccentricity[edges[:, 0]], eccentricity[edges[:, 1]])
            own = max(eccentricity[one], eccentricity[other])
            diameter = eccentricity.max()
            values[index] = np.minimum(ends + 1, diameter).sum() + min(own + 1, diameter)
        return values


class Resilience(Measure):
    """Pairs of agents that the failure of one link can separate."""

    name: MeasureName = "resilience"
    subject = "pairs of agents that the failure of one link can separate"

    def value(self, graph: TimedGraph) -> float | None:
        """See `Measure.value`."""
        return float(separable_pairs(graph.topology))

    def with_link(
        self, graph: TimedGraph, candidates: NDArray[np.int64], latencies: NDArray[np.int64], shown: int
    ) -> NDArray[np.float64]:
        """See `Measure.with_link`."""
        return separable_with_link(graph.topology, candidates).astype(np.float64)
