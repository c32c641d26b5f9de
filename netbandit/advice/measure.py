"""Measures that rate links: a number for each network, the lower the better."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.advice.round_times import NEVER
from netbandit.advice.timed_graph import TimedGraph

MeasureName = Literal["time", "cost", "resilience", "gap"]
MEASURES: tuple[MeasureName, ...] = ("time", "cost", "resilience", "gap")


class Measure(ABC):
    """A number of a network: of time in nanoseconds; None, or infinite in arrays, where it has no end.

    What is not said otherwise is computed for each changed network by itself.

    Attributes:
        name: What was asked for.
        subject: What is measured, for the reader: ``"time of a round of sink"``.
        of_links: Whether links between agents matter at all.
    """

    name: MeasureName = "time"
    subject: str
    of_links: bool = True

    @abstractmethod
    def value(self, graph: TimedGraph) -> float | None:
        """Return the number of *graph*."""

    def with_link(
        self, graph: TimedGraph, candidates: NDArray[np.int64], latencies: NDArray[np.int64], shown: int
    ) -> NDArray[np.float64]:
        """Return the number with one link more, for each of *candidates*, exact for the best, shape (k,).

        Those may be infinite that are no better than the best that are *shown*, or than none.

        Args:
            graph: The network.
            candidates: Ends of each new link, shape (k, 2).
            latencies: Nanoseconds of each, shape (k,).
            shown: How many are to be exact.
        """
        found = [
            self.value(graph.with_link(one, other, latency))
            for (one, other), latency in zip(candidates.tolist(), latencies.tolist(), strict=True)
        ]
        return _numbers(found)

    def without_link(self, graph: TimedGraph) -> NDArray[np.float64]:
        """Return the number without one link, for each link, shape (L,)."""
        return _numbers([self.value(graph.without_link(one, other)) for one, other in graph.topology.edges.tolist()])

    def remarks(self, graph: TimedGraph) -> Iterator[str]:
        """Yield what there is to say about the number of *graph* besides; by default nothing."""
        yield from ()


def exact_for_best(
    bounds: NDArray[np.float64],
    before: float | None,
    shown: int,
    value_of: Callable[[int, float], float],
    least: float = 1.0,
) -> NDArray[np.float64]:
    """Return the numbers of some networks, exact for the best, infinite for those no better than none, shape (k,).

    They are looked at in the order of *bounds*, until no other can be among the best.

    Args:
        bounds: What the number of each is not less than, shape (k,).
        before: The number of the network that is changed; None: it has no end.
        shown: How many are to be exact, at least 1.
        value_of: Returns the number of one of them, or anything above the limit that is its second argument.
        least: By how much two numbers differ at least, if they do.
    """
    values = np.full(len(bounds), np.inf)
    exact: list[float] = []
    for place in np.argsort(bounds, kind="stable").tolist():
        limit = NEVER / 2 if before is None else before - least
        if len(exact) >= shown:
            limit = exact[shown - 1]
        if bounds[place] > limit:
            break
        value = value_of(place, limit)
        if value <= limit:
            values[place] = value
            exact = sorted([*exact, value])[:shown]
    return values


def _numbers(values: list[float | None]) -> NDArray[np.float64]:
    return np.array([np.inf if value is None else value for value in values], dtype=np.float64)
