"""How long a round of gis takes with a link more, or less.

Who is asked for an item is the first to advertise it, so an item may take a longer way than the shortest, and a new
link may even make a round longer: each item that a link can concern is followed anew.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netbandit.advice.round_times import HANDSHAKE, NEVER
from netbandit.advice.timed_graph import TimedGraph

if TYPE_CHECKING:  # it brings numba along, which takes its time
    from netbandit.advice.kernels import Hops, Ways


def handshakes_with_link(
    graph: TimedGraph,
    candidates: NDArray[np.int64],
    latencies: NDArray[np.int64],
    times: NDArray[np.int64],
    bounds: NDArray[np.float64],
    before: float | None,
    shown: int,
) -> NDArray[np.float64]:
    """Return how long a round takes with one link more, in nanoseconds, exact for the best candidates, shape (k,).

    Candidates are followed in the order of *bounds*, until no other can be among the best; those keep infinity that
    are no better than the best that are *shown*, or than none.

    Args:
        graph: The network.
        candidates: Ends of each new link, shape (k, 2).
        latencies: Nanoseconds of each, shape (k,).
        times: Nanoseconds of a handshake over each, shape (k,).
        bounds: How long it takes by shortest ways, which no round takes less than, shape (k,).
        before: How long it takes as the network is; None: for ever.
        shown: How many are to be exact.
    """
    from netbandit.advice.kernels import follow_all, handshake_with_link

    hops = _hops(graph)
    ways = follow_all(hops)
    sources = _slowest_first(ways)
    values = np.full(len(candidates), np.inf)
    exact: list[float] = []
    for place in np.argsort(bounds, kind="stable"):
        limit = float(NEVER) if before is None else before - 1
        if len(exact) >= shown:
            limit = exact[shown - 1]
        if bounds[place] >= NEVER or bounds[place] > limit:
            break
        one, other = candidates[place]
        value = handshake_with_link(hops, ways, sources, one, other, latencies[place], times[place], int(limit))
        if value <= limit:
            values[place] = value
            exact = sorted([*exact, float(value)])[: max(shown, 1)]
    return values


def handshakes_without_links(graph: TimedGraph) -> NDArray[np.float64]:
    """Return how long a round takes without one link, in nanoseconds, for each link, shape (L,); infinite: for ever."""
    from netbandit.advice.kernels import follow_all, handshake_without_link

    hops = _hops(graph)
    ways = follow_all(hops)
    sources = _slowest_first(ways)
    values = [handshake_without_link(hops, ways, sources, one, other) for one, other in graph.topology.edges]
    return np.array([np.inf if value >= NEVER else value for value in values], dtype=np.float64)


def _slowest_first(ways: "Ways") -> NDArray[np.intp]:
    """Return all nodes, those first whose items take longest to be everywhere."""
    return np.argsort(-ways.complete.max(axis=1), kind="stable")


def _hops(graph: TimedGraph) -> "Hops":
    from netbandit.advice.kernels import Hops

    edges = graph.topology.edges
    ends = np.concatenate([edges, edges[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    counts = np.bincount(ends[:, 0], minlength=graph.topology.agents)
    starts = np.concatenate([[0], np.cumsum(counts)])
    latencies, times = np.tile(graph.latencies, 2), np.tile(graph.hop_times(HANDSHAKE), 2)
    return Hops(starts, ends[order, 1], latencies[order], times[order])
