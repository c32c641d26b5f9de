"""The time of a gis round with one link added or removed.

An item is requested from the first agent that advertises it, so it may take a longer path than the shortest, and a new
link may even lengthen a round: each item that a link can affect is simulated again.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netbandit.studies.advice.flooding_time import longest_with_link
from netbandit.studies.advice.measure import Measure, exact_for_best
from netbandit.studies.advice.round_times import HANDSHAKE, NEVER, distances, handshakes
from netbandit.studies.advice.timed_graph import TimedGraph

if TYPE_CHECKING:  # importing numba takes time
    from netbandit.studies.advice.kernels import Ways


class GisTime(Measure):
    """The time of a round of gis."""

    subject = "time of a round of gis"

    def value(self, graph: TimedGraph) -> float | None:
        """See `Measure.value`."""
        return handshakes(graph)

    def with_link(
        self, graph: TimedGraph, candidates: NDArray[np.int64], latencies: NDArray[np.int64], shown: int
    ) -> NDArray[np.float64]:
        """See `Measure.with_link`."""
        return gis_with_link(graph, candidates, latencies, self.value(graph), shown)

    def without_link(self, graph: TimedGraph) -> NDArray[np.float64]:
        """See `Measure.without_link`."""
        from netbandit.studies.advice.kernels import follow_all, handshake_without_link, hops_of

        hops = hops_of(graph, HANDSHAKE)
        ways = follow_all(hops)
        sources = _slowest_first(ways)
        values = [handshake_without_link(hops, ways, sources, one, other) for one, other in graph.topology.edges]
        return np.array([np.inf if value >= NEVER else value for value in values], dtype=np.float64)


def gis_with_link(
    graph: TimedGraph,
    candidates: NDArray[np.int64],
    latencies: NDArray[np.int64],
    before: float | None,
    shown: int,
    afterwards: NDArray[np.int64] | int = 0,
) -> NDArray[np.float64]:
    """Return the time of a round of gis, plus the phase after it, with one link added; see `Measure.with_link`.

    Shortest paths give a lower bound, so candidates are simulated in ascending order of this bound.

    Args:
        graph: The network.
        candidates: Ends of each new link, shape (k, 2).
        latencies: Nanoseconds of each, shape (k,).
        before: The time without the link; None: infinite.
        shown: The number of exact results.
        afterwards: Nanoseconds added after the round, for all or for each, shape (k,).
    """
    from netbandit.studies.advice.kernels import follow_all, handshake_with_link, hops_of

    times = graph.times_over(latencies, HANDSHAKE)
    shortest = longest_with_link(distances(graph, graph.hop_times(HANDSHAKE)), candidates, times)
    hops = hops_of(graph, HANDSHAKE)
    ways = follow_all(hops)
    sources = _slowest_first(ways)
    after = np.broadcast_to(afterwards, shortest.shape)

    def value_of(place: int, limit: float) -> float:
        one, other = candidates[place]
        most = int(limit) - int(after[place])
        found = handshake_with_link(hops, ways, sources, one, other, latencies[place], times[place], most)
        return float(found + after[place])

    return exact_for_best((shortest + after).astype(np.float64), before, shown, value_of)


def _slowest_first(ways: "Ways") -> NDArray[np.intp]:
    """Return all nodes, in descending order of the time their items take to reach all."""
    return np.argsort(-ways.complete.max(axis=1), kind="stable")
