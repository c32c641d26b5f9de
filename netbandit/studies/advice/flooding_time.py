"""The time of a flooding round with one link added or removed: the longest of all shortest paths."""

import numpy as np
from numpy.typing import NDArray

from netbandit.studies.advice.measure import Measure
from netbandit.studies.advice.round_times import NEVER, distances, longest_of
from netbandit.studies.advice.timed_graph import TimedGraph


class FloodingTime(Measure):
    """The time of a round of flooding."""

    subject = "time of a round of flooding"

    def value(self, graph: TimedGraph) -> float | None:
        """See `Measure.value`."""
        return longest_of(distances(graph, graph.hop_times()))

    def with_link(
        self, graph: TimedGraph, candidates: NDArray[np.int64], latencies: NDArray[np.int64], shown: int
    ) -> NDArray[np.float64]:
        """See `Measure.with_link`."""
        found = longest_with_link(distances(graph, graph.hop_times()), candidates, graph.times_over(latencies))
        return np.where(found < NEVER, found, np.inf)

    def without_link(self, graph: TimedGraph) -> NDArray[np.float64]:
        """Return the time without each link; see `Measure.without_link`.

        Only the distances from nodes with a shortest path over the link can change.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        agents, edges, times = graph.topology.agents, graph.topology.edges, graph.hop_times()
        table = distances(graph, times)
        longest = table.max(axis=1)
        values = np.empty(len(edges))
        for index, (one, other) in enumerate(edges.tolist()):
            there = np.abs(table[:, one] - table[:, other]) == times[index]
            kept = np.arange(len(edges)) != index
            less = csr_array((times[kept].astype(np.float64), (edges[kept, 0], edges[kept, 1])), shape=(agents, agents))
            changed = np.asarray(dijkstra(less, directed=False, indices=np.flatnonzero(there)))
            values[index] = max(float(longest[~there].max(initial=0)), float(changed.max(initial=0)))
        return np.where(values < NEVER, values, np.inf)


def longest_with_link(
    table: NDArray[np.int64], candidates: NDArray[np.int64], times: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the largest remaining distance when one link is added, for each of *candidates*, exactly.

    A path over the new link (u, v) from x to y takes d(x, u) + time + d(v, y). Only pairs that are farther apart than
    the largest distance found so far can raise it, so pairs are examined in descending order of distance.

    Args:
        table: Distances in nanoseconds, shape (n, n), `NEVER` if there is no path.
        candidates: Ends of each new link, shape (k, 2).
        times: The time of a hop over each, shape (k,).
    """
    from netbandit.studies.advice.kernels import longest_with_link as compiled

    first, second = np.triu_indices(len(table), 1)
    order = np.argsort(-table[first, second], kind="stable")
    found: NDArray[np.int64] = compiled(table, first[order], second[order], candidates, times)
    return found
