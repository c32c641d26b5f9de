"""Measures that rate links: a number for each network, the lower the better."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.studies.advice.round_times import NEVER
from netbandit.studies.advice.timed_graph import TimedGraph

MeasureName = Literal["time", "cost", "resilience", "gap"]
MEASURES: tuple[MeasureName, ...] = ("time", "cost", "resilience", "gap")


class Measure(ABC):
    """A number of a network, times in nanoseconds; None, or infinite in arrays, if it is infinite.

    Methods that are not overridden evaluate each modified network separately.

    Attributes:
        name: The name of the measure.
        subject: The measured quantity, for the reader: ``"time of a round of sink"``.
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
        """Return the number with one link added, for each of *candidates*, exact for the best, shape (k,).

        Results may be infinite unless they are among the best that are *shown* and improve on the original.

        Args:
            graph: The network.
            candidates: Ends of each new link, shape (k, 2).
            latencies: Nanoseconds of each, shape (k,).
            shown: The number of exact results.
        """
        found = [
            self.value(graph.with_link(one, other, latency))
            for (one, other), latency in zip(candidates.tolist(), latencies.tolist(), strict=True)
        ]
        return _numbers(found)

    def without_link(self, graph: TimedGraph) -> NDArray[np.float64]:
        """Return the number with one link removed, for each link, shape (L,)."""
        return _numbers([self.value(graph.without_link(one, other)) for one, other in graph.topology.edges.tolist()])

    def remarks(self, graph: TimedGraph) -> Iterator[str]:
        """Yield remarks about the number of *graph*; by default none."""
        yield from ()


def exact_for_best(
    bounds: NDArray[np.float64],
    before: float | None,
    shown: int,
    value_of: Callable[[int, float], float],
    least: float = 1.0,
) -> NDArray[np.float64]:
    """Return the numbers of some networks, exact for the best, infinite for those no better than none, shape (k,).

    They are evaluated in the order of *bounds*, until no other can be among the best.

    Args:
        bounds: A lower bound of each number, shape (k,).
        before: The number of the original network; None: infinite.
        shown: The number of exact results, at least 1.
        value_of: Returns the number of one of them, or anything above the limit that is its second argument.
        least: The least difference between two distinct numbers.
    """
    values = np.full(len(bounds), np.inf)
    exact: list[float] = []
    for index in np.argsort(bounds, kind="stable").tolist():
        limit = NEVER / 2 if before is None else before - least
        if len(exact) >= shown:
            limit = exact[shown - 1]
        if bounds[index] > limit:
            break
        value = value_of(index, limit)
        if value <= limit:
            values[index] = value
            exact = sorted([*exact, value])[:shown]
    return values


def _numbers(values: list[float | None]) -> NDArray[np.float64]:
    return np.array([np.inf if value is None else value for value in values], dtype=np.float64)
