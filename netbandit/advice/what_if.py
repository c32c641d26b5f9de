"""Which links to add, or to lose, change a network most: every single one is tried, exactly.

For more than one link the best is kept and the search goes on from there (greedy): good, and not always the best set.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.advice.handshakes import handshakes_with_link, handshakes_without_links
from netbandit.advice.resilience import separable_pairs, separable_with_link
from netbandit.advice.round_times import HANDSHAKE, NEVER, distances, handshakes
from netbandit.advice.timed_graph import TimedGraph, hop_times
from netbandit.network.topology import describe

Measure = Literal["time", "cost", "resilience"]
MEASURES: tuple[Measure, ...] = ("time", "cost", "resilience")

LatencyOf = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""Returns the nanoseconds of links that do not exist yet, from their ends, shape (k, 2)."""


@dataclass(frozen=True)
class Change:
    """One link more or less, and what it changes.

    Attributes:
        link: Its ends, the lower number first.
        latency: Its latency in nanoseconds.
        value: The measure afterwards; None where a round would never end.
    """

    link: tuple[int, int]
    latency: int
    value: float | None


@dataclass(frozen=True)
class Advice:
    """What one step of the search has found.

    Attributes:
        measure: What was measured.
        lose: Whether links were taken away.
        before: The measure before.
        best: The changes in order: links to add, the best first; links to lose, the worst loss first.
        tried: How many links were tried.
    """

    measure: Measure
    lose: bool
    before: float | None
    best: list[Change]
    tried: int


def what_if(
    graph: TimedGraph,
    count: int,
    measure: Measure,
    latency_of: LatencyOf,
    *,
    lose: bool = False,
    trips: int = 1,
    shown: int = 5,
) -> list[Advice]:
    """Return *count* steps of advice, each from the graph that the best of the step before leaves.

    Fewer where no link is left, or none makes it better.

    Args:
        graph: The network.
        count: How many links to add or to lose.
        measure: ``time``: how long until everybody has everything; ``cost``: link activations of a round of gis, a hop
            a slot; ``resilience``: pairs of agents that the failure of a single link can separate.
        latency_of: The latency of a link that does not exist yet.
        lose: Take links away instead, and find those whose loss hurts most.
        trips: How often a hop crosses its link: 1, or 3 where a protocol shakes hands.
        shown: How many changes each step lists.
    """
    steps = []
    for _ in range(count):
        step = _lost(graph, measure, trips, shown) if lose else _added(graph, measure, latency_of, trips, shown)
        if not step.tried:
            break
        steps.append(step)
        if not step.best:
            break
        (first, second), latency = step.best[0].link, step.best[0].latency
        graph = graph.without_link(first, second) if lose else graph.with_link(first, second, latency)
    return steps


def measured(graph: TimedGraph, measure: Measure, trips: int = 1) -> float | None:
    """Return *measure* of a network, in nanoseconds, activations or pairs; None where a round would never end."""
    if measure == "resilience":
        return float(separable_pairs(graph.topology))
    if len(graph.topology.components) > 1:
        return None
    if measure == "cost":
        return float(describe(graph.topology)["links_per_round"])
    if trips == HANDSHAKE:
        return float(handshakes(graph) or 0)
    return float(distances(graph, graph.hop_times(trips)).max())


def _added(graph: TimedGraph, measure: Measure, latency_of: LatencyOf, trips: int, shown: int) -> Advice:
    """Try each link that does not exist."""
    agents = graph.topology.agents
    missing = np.ones((agents, agents), dtype=bool)
    missing[graph.topology.edges[:, 0], graph.topology.edges[:, 1]] = False
    candidates = np.argwhere(np.triu(missing, 1)).astype(np.int64)
    before = measured(graph, measure, trips)
    if not len(candidates):
        return Advice(measure, False, before, [], 0)
    latencies = latency_of(candidates)
    known = latencies >= 0
    candidates, latencies = candidates[known], latencies[known]
    if measure == "time":
        times = hop_times(latencies, trips, graph.slot if graph.slotted else None)
        values = longest_with_link(distances(graph, graph.hop_times(trips)), candidates, times).astype(np.float64)
        if trips == HANDSHAKE:
            values = handshakes_with_link(graph, candidates, latencies, times, values, before, shown)
    elif measure == "cost":
        unit = distances(graph, np.ones(graph.topology.links, dtype=np.int64))
        values = cost_with_link(unit, graph.topology.edges, candidates)
    else:
        values = separable_with_link(graph.topology, candidates).astype(np.float64)
    # Of links that do as well, the shortest is the best; then the lowest numbers.
    order = np.lexsort((candidates[:, 1], candidates[:, 0], latencies, values))
    order = order[values[order] < (np.inf if before is None else before)][:shown]
    return Advice(measure, False, before, _changes(candidates, latencies, values, order), len(candidates))


def _lost(graph: TimedGraph, measure: Measure, trips: int, shown: int) -> Advice:
    """Try to do without each link."""
    edges = graph.topology.edges
    before = measured(graph, measure, trips)
    if measure == "time":
        values = handshakes_without_links(graph) if trips == HANDSHAKE else longest_without_links(graph, trips)
    else:
        found = [measured(graph.without_link(first, second), measure, trips) for first, second in edges.tolist()]
        values = np.array([np.inf if value is None else value for value in found])
    order = np.lexsort((edges[:, 1], edges[:, 0], -values))[:shown]
    return Advice(measure, True, before, _changes(edges, graph.latencies, values, order), len(edges))


def _changes(
    links: NDArray[np.int64], latencies: NDArray[np.int64], values: NDArray[np.float64], order: NDArray[np.intp]
) -> list[Change]:
    changes = []
    for place in order:
        first, second = links[place].tolist()
        value = float(values[place])
        ends = value < NEVER
        changes.append(Change((first, second), int(latencies[place]), value if ends else None))
    return changes


def longest_with_link(
    table: NDArray[np.int64], candidates: NDArray[np.int64], times: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the largest distance that is left when one link is added, for each of *candidates*, exactly.

    A way over the new link (u, v) from x to y takes d(x, u) + time + d(v, y). Only pairs that are farther apart than
    the largest distance found so far can raise it, so pairs are looked at from the farthest on.

    Args:
        table: Distances in nanoseconds, shape (n, n), `NEVER` where there is no way.
        candidates: Ends of each new link, shape (k, 2).
        times: How long a hop over each takes, shape (k,).
    """
    from netbandit.advice.kernels import longest_with_link as compiled

    first, second = np.triu_indices(len(table), 1)
    order = np.argsort(-table[first, second], kind="stable")
    found: NDArray[np.int64] = compiled(table, first[order], second[order], candidates, times)
    return found


def longest_without_links(graph: TimedGraph, trips: int) -> NDArray[np.float64]:
    """Return the largest distance that is left without one link, for each link, exactly; infinite where it cuts.

    Only what sets out from nodes with a shortest way over the link can change.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    agents, edges, times = graph.topology.agents, graph.topology.edges, graph.hop_times(trips)
    table = distances(graph, times)
    longest = table.max(axis=1)
    values = np.empty(len(edges))
    for place, (one, other) in enumerate(edges.tolist()):
        there = np.abs(table[:, one] - table[:, other]) == times[place]
        kept = np.arange(len(edges)) != place
        less = csr_array((times[kept].astype(np.float64), (edges[kept, 0], edges[kept, 1])), shape=(agents, agents))
        changed = np.asarray(dijkstra(less, directed=False, indices=np.flatnonzero(there)))
        values[place] = max(float(longest[~there].max(initial=0)), float(changed.max(initial=0)))
    return values


def cost_with_link(
    table: NDArray[np.int64], edges: NDArray[np.int64], candidates: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the link activations of a round of gis, a hop a slot, when one link is added, for each of *candidates*.

    A link works in min(max(e_u, e_v) + 1, D) slots, e the eccentricities and D the diameter (see
    `netbandit.network.topology.describe`).

    Args:
        table: Distances in hops, shape (n, n).
        edges: The links, shape (L, 2).
        candidates: Ends of each new link, shape (k, 2).
    """
    from netbandit.advice.kernels import eccentricities_with_link

    values = np.empty(len(candidates))
    for place, (one, other) in enumerate(candidates.tolist()):
        eccentricity = eccentricities_with_link(table, one, other)
        if eccentricity.max() >= NEVER:
            values[place] = np.inf
            continue
        ends = np.maximum(eccentricity[edges[:, 0]], eccentricity[edges[:, 1]])
        own = max(eccentricity[one], eccentricity[other])
        diameter = eccentricity.max()
        values[place] = np.minimum(ends + 1, diameter).sum() + min(own + 1, diameter)
    return values
