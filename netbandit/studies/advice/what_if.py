"""Which links to add or remove for the largest effect: every single change is evaluated exactly.

For several links the search is greedy: it keeps the best link and continues; good, but not always optimal.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from netbandit.studies.advice.measure import Measure, MeasureName
from netbandit.studies.advice.timed_graph import TimedGraph

LatencyOf = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""Returns the nanoseconds of links that do not exist yet, from their ends, shape (k, 2)."""


@dataclass(frozen=True)
class Change:
    """One link more or less, and its effect.

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
    """The result of one step of the search.

    Attributes:
        measure: The measure: ``time`` (ns), ``cost`` (link activations), ``resilience`` (pairs), or ``gap``: of
            consensus the remaining share of a difference after a step, 1 less the spectral gap.
        lose: Whether links were taken away.
        before: The measure before; None where a round would never end.
        best: The changes in order: links to add, the best first; links to lose, the worst loss first.
        tried: The number of links tried.
        subject: The measure in words, with the protocol whose round it is of.
        remarks: Remarks, one per line.
    """

    measure: MeasureName
    lose: bool
    before: float | None
    best: list[Change]
    tried: int
    subject: str
    remarks: list[str] = field(default_factory=list)


def what_if(
    graph: TimedGraph,
    count: int,
    measure: Measure,
    latency_of: LatencyOf,
    *,
    lose: bool = False,
    shown: int = 5,
) -> list[Advice]:
    """Return *count* steps of advice, each from the graph that the best of the step before leaves.

    Fewer where no link is left, or none makes it better.

    Args:
        graph: The network.
        count: The number of links to add or to lose.
        measure: The measure that ranks them.
        latency_of: The latency of a link that does not exist yet.
        lose: Take links away instead, and find those whose loss hurts most.
        shown: The number of changes that each step lists.
    """
    if not measure.of_links:
        return [Advice(measure.name, lose, measure.value(graph), [], 0, measure.subject, [*measure.remarks(graph)])]
    steps = []
    for _ in range(count):
        step = _lost(graph, measure, shown) if lose else _added(graph, measure, latency_of, shown)
        if not step.tried:
            break
        steps.append(step)
        if not step.best:
            break
        (first, second), latency = step.best[0].link, step.best[0].latency
        graph = graph.without_link(first, second) if lose else graph.with_link(first, second, latency)
    return steps


def _added(graph: TimedGraph, measure: Measure, latency_of: LatencyOf, shown: int) -> Advice:
    """Try each link that does not exist."""
    agents = graph.topology.agents
    missing = np.ones((agents, agents), dtype=bool)
    missing[graph.topology.edges[:, 0], graph.topology.edges[:, 1]] = False
    candidates = np.argwhere(np.triu(missing, 1)).astype(np.int64)
    latencies = latency_of(candidates)
    known = latencies >= 0
    candidates, latencies = candidates[known], latencies[known]
    before = measure.value(graph)
    values = measure.with_link(graph, candidates, latencies, shown) if len(candidates) else np.empty(0)
    # Of links that do as well, the shortest is the best; then the lowest numbers.
    order = np.lexsort((candidates[:, 1], candidates[:, 0], latencies, values))
    order = order[values[order] < (np.inf if before is None else before)][:shown]
    best = _changes(candidates, latencies, values, order)
    return Advice(measure.name, False, before, best, len(candidates), measure.subject, [*measure.remarks(graph)])


def _lost(graph: TimedGraph, measure: Measure, shown: int) -> Advice:
    """Try to do without each link."""
    edges = graph.topology.edges
    before = measure.value(graph)
    values = measure.without_link(graph)
    order = np.lexsort((edges[:, 1], edges[:, 0], -values))[:shown]
    best = _changes(edges, graph.latencies, values, order)
    return Advice(measure.name, True, before, best, len(edges), measure.subject, [*measure.remarks(graph)])


def _changes(
    links: NDArray[np.int64], latencies: NDArray[np.int64], values: NDArray[np.float64], order: NDArray[np.intp]
) -> list[Change]:
    changes = []
    for place in order:
        first, second = links[place].tolist()
        value = float(values[place])
        changes.append(Change((first, second), int(latencies[place]), value if np.isfinite(value) else None))
    return changes
