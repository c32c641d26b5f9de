"""Families whose graph is derived from contacts: the links are the pairs of agents that meet in a run."""

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from netbandit.network.contact_files import Meetings
from netbandit.network.families.family import Family
from netbandit.network.topology import Topology
from netbandit.parts.component import Checks, Mistake
from netbandit.util.streams import Streams

if TYPE_CHECKING:
    import networkx

HOUR = 3600 * 10**9
"""How long (ns) agents are watched where no run says so."""


class Meeting(Family):
    """A family whose graph is made of contacts.

    One of these needs `meetings`.
    """

    @abstractmethod
    def meetings(self, streams: Streams, slot: int, end: int) -> Meetings:
        """Return who meets whom, and when.

        Args:
            streams: The streams of the graph.
            slot: The length of a slot (ns).
            end: When the run ends (ns).

        Raises:
            TopologyError: That is not known.
        """

    def met(self, streams: Streams, slot: int, end: int) -> Topology:
        """Return the graph of all pairs that meet, with their contacts; see `meetings`."""
        import networkx

        found = self.meetings(streams, slot, end)
        graph: networkx.Graph[int] = networkx.Graph()
        for agent, name in enumerate(found.names):
            graph.add_node(agent, **({} if name == str(agent) else {"name": name}))
        graph.add_edges_from(found.edges.tolist())
        for (first, second), latency in found.latencies.items():
            if graph.has_edge(first, second):
                graph.edges[first, second]["latency"] = latency
        graph.graph["notes"] = found.notes
        return Topology(graph, found.contacts)

    def build(self, rng: np.random.Generator) -> "networkx.Graph[int]":
        """Return the graph of a run of one hour."""
        return self.met(Streams(self.seed or 0, 0), HOUR, HOUR).graph

    def check_changes(self) -> Checks:
        """Yield a law by which links come and go, beside contacts."""
        if self.changes is not None:
            yield Mistake("changes", "must be left out: links of this family are up while their agents meet")
