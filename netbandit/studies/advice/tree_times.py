"""The time of a relay or local round with one link added or removed: along the paths of each agent's items."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netbandit.studies.advice.measure import Measure, exact_for_best
from netbandit.studies.advice.round_times import NEVER
from netbandit.studies.advice.timed_graph import TimedGraph

if TYPE_CHECKING:  # it brings numba along, which takes its time
    from netbandit.studies.advice.kernels import Hops


class ItemTime(Measure):
    """The time of a round in which each agent's item goes its own way to all that are to hear it."""

    def value(self, graph: TimedGraph) -> float | None:
        """See `Measure.value`."""
        from netbandit.studies.advice.kernels import hops_of

        last = self._last()
        hops = hops_of(graph)
        longest = max(last(hops, source) for source in range(graph.topology.agents))
        return None if longest >= NEVER else float(longest)

    def with_link(
        self, graph: TimedGraph, candidates: NDArray[np.int64], latencies: NDArray[np.int64], shown: int
    ) -> NDArray[np.float64]:
        """See `Measure.with_link`."""
        from netbandit.studies.advice.kernels import changed, hops_of

        last = self._last()
        hops = hops_of(graph)
        times = graph.times_over(latencies)
        alone = np.array([last(hops, source) for source in range(graph.topology.agents)])
        sources = np.argsort(-alone, kind="stable").tolist()  # the slowest comes first

        def value_of(place: int, limit: float) -> float:
            one, other = candidates[place]
            more = changed(hops, one, other, latencies[place], times[place])
            longest = 0
            for source in sources:
                longest = max(longest, last(more, source))
                if longest > limit:
                    break
            return float(longest)

        before = None if alone.max() >= NEVER else float(alone.max())
        return exact_for_best(np.zeros(len(candidates)), before, shown, value_of)

    def _last(self) -> Callable[["Hops", int], int]:
        """Return the function for when (ns) the item of a source reaches its last recipient; `NEVER`: never."""
        raise NotImplementedError


class RelayTime(ItemTime):
    """The time of a round of relay."""

    subject = "time of a round of relay"

    def _last(self) -> Callable[["Hops", int], int]:
        from netbandit.studies.advice.kernels import last_by_tree

        return lambda hops, source: int(last_by_tree(hops, source, -1))


class LocalTime(ItemTime):
    """The time of a round of local: until all have heard all that are near enough.

    Args:
        ttl: The largest number of hops of an item.
        flood: Whether they go to all neighbours; else along a tree.
    """

    def __init__(self, ttl: int, flood: bool) -> None:
        self._ttl, self._flood = ttl, flood
        self.subject = f"time of a round of local, ttl = {ttl}"

    def _last(self) -> Callable[["Hops", int], int]:
        from netbandit.studies.advice.kernels import last_by_flood, last_by_tree

        compiled = last_by_flood if self._flood else last_by_tree
        return lambda hops, source: int(compiled(hops, source, self._ttl))
