"""The links of a network in the form compiled loops use."""

from typing import TYPE_CHECKING

import numpy as np

from netbandit.advice.timed_graph import TimedGraph

if TYPE_CHECKING:  # importing numba takes time
    from netbandit.advice.kernels import Hops


def hops_of(graph: TimedGraph, trips: int = 1) -> "Hops":
    """Return the hops of a network, each of which crosses its link *trips* times."""
    from netbandit.advice.kernels import Hops

    edges = graph.topology.edges
    ends = np.concatenate([edges, edges[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    counts = np.bincount(ends[:, 0], minlength=graph.topology.agents)
    starts = np.concatenate([[0], np.cumsum(counts)])
    latencies, times = np.tile(graph.latencies, 2), np.tile(graph.hop_times(trips), 2)
    return Hops(starts, ends[order, 1], latencies[order], times[order])
