"""The time of a round through a server with one link added or removed: sink and master-worker."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from netbandit.studies.advice.gis_time import gis_with_link
from netbandit.studies.advice.measure import Measure
from netbandit.studies.advice.round_times import HANDSHAKE, distances
from netbandit.studies.advice.timed_graph import TimedGraph

_SHOWN = 3


class SinkTime(Measure):
    """The time of a round of sink: items go along trees, or by gis, to sinks, and over their uplinks to the server.

    Adding or removing a link can change the sink, and the path of each agent to it.

    Args:
        gis: Whether components collect by gis.
    """

    def __init__(self, gis: bool) -> None:
        self._gis, self._trips = gis, HANDSHAKE if gis else 1
        self.subject = "time of a round of sink" + (", collected by gis" if gis else "")

    def value(self, graph: TimedGraph) -> float | None:
        """See `Measure.value`."""
        from netbandit.studies.advice.kernels import hops_of, sink_round

        found = sink_round(hops_of(graph, self._trips), graph.topology.eccentricities, graph.uplinks, self._gis)
        return float(found)

    def with_link(
        self, graph: TimedGraph, candidates: NDArray[np.int64], latencies: NDArray[np.int64], shown: int
    ) -> NDArray[np.float64]:
        """See `Measure.with_link`."""
        from netbandit.studies.advice.kernels import changed, eccentricities_with_link, hops_of, sink_round

        uplinks = graph.uplinks
        table = distances(graph, np.ones(graph.topology.links, dtype=np.int64))
        eccentricities = [eccentricities_with_link(table, one, other) for one, other in candidates]
        if self._gis and len(graph.topology.components) == 1:
            server = uplinks[[eccentricity.argmin() for eccentricity in eccentricities]] + uplinks.max()
            return gis_with_link(graph, candidates, latencies, self.value(graph), shown, server)
        times = graph.times_over(latencies, self._trips)
        hops = hops_of(graph, self._trips)
        values = np.empty(len(candidates))
        for index, (one, other) in enumerate(candidates):
            more = changed(hops, one, other, latencies[index], times[index])
            values[index] = sink_round(more, eccentricities[index], uplinks, self._gis)
        return values


class UplinkTime(Measure):
    """The time of a round of master-worker, in which all take part: no link between agents carries anything of it."""

    subject = "time of a round of master-worker"
    of_links = False

    def value(self, graph: TimedGraph) -> float | None:
        """See `Measure.value`."""
        return 2.0 * float(graph.uplinks.max())

    def remarks(self, graph: TimedGraph) -> Iterator[str]:
        """Yield which uplinks it takes its time on."""
        yield "it uses only uplinks, so no link between agents changes it"
        slowest = np.argsort(-graph.uplinks, kind="stable")[:_SHOWN]
        ends = ", ".join(f"{graph.topology.names[agent]} ({graph.uplinks[agent] / 1e6:g} ms)" for agent in slowest)
        alike = (graph.uplinks == graph.uplinks[0]).all()
        yield "all uplinks take the same time" if alike else f"the slowest uplinks are those of {ends}"
