"""Builds a graph with link times from a family, a scenario or a graph file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netbandit.conditions.contacts import build_contacts
from netbandit.conditions.graph import topology_streams
from netbandit.conditions.latencies import peer_latencies, uplink_latencies
from netbandit.network.contacts import UpTimes, contacts_until
from netbandit.network.edge_latencies import NOT_TAKEN, any_given
from netbandit.network.families.meeting import Meeting
from netbandit.network.files import unused
from netbandit.network.geography import latency_nanoseconds
from netbandit.network.topology import TopologyError
from netbandit.scenario.links import UniformLatency
from netbandit.scenario.load import Document, load
from netbandit.scenario.merge import FIRST_OVERRIDE
from netbandit.scenario.overrides import read_overrides
from netbandit.scenario.toml_text import toml_text
from netbandit.studies.advice.describe import Graph, graph_of, names_family, own_family
from netbandit.studies.advice.measure import Measure, MeasureName
from netbandit.studies.advice.protocol_measures import left_out, measure_of, measure_of_any
from netbandit.studies.advice.timed_graph import TimedGraph

if TYPE_CHECKING:
    from netbandit.simulation.replication import RunnablePoint

_TIMING = ("links", "run", "protocol")


@dataclass(frozen=True)
class Source:
    """A network to be analysed.

    Attributes:
        graph: The graph and its family.
        timed: The graph with the times of its links.
        point: The point of the scenario it comes from; of a family or a file one that says nothing but the network.
        scenario: Whether it comes from a scenario, which can be run with a link more or less.
        named: Whether the protocol is known.
    """

    graph: Graph
    timed: TimedGraph
    point: "RunnablePoint"
    scenario: bool
    named: bool

    def measure(self, name: MeasureName) -> Measure:
        """Return the measure of links; without a named protocol, a round of flooding, or its cost of gis.

        Raises:
            ScenarioError: There is no such measure of the protocol; see `measure_of`.
        """
        return measure_of(self.point, name) if self.named else measure_of_any(name)

    @property
    def left_out(self) -> list[str]:
        """Influences on the time of a round in runs that the evaluation of links ignores.

        Where no protocol is named, rounds of several are shown, over links of both kinds.
        """
        return [*left_out(self.point, None if self.named else ("peer", "uplink"))]

    @property
    def unused(self) -> list[str]:
        """The parts of a file that are ignored here, a sentence each."""
        topology = self.timed.topology
        own = any_given(topology) and self.point.scenario.links.peer.latency != "edges"
        notes = [
            ": ".join([".".join(("topology", *path)), text]) for path, text in topology.graph.graph.get("notes", ())
        ]
        return [*filter(None, [f"links.peer.latency: {NOT_TAKEN}" if own else "", unused(topology.graph), *notes])]

    @property
    def new_links(self) -> str:
        """The latency assumed for a link that does not exist yet, in words; empty where all are equal."""
        latency = self.point.scenario.links.peer.latency
        if latency == "geographic":
            return "the latency of its length"
        differ = latency == "edges" or isinstance(latency, UniformLatency)
        return "the mean latency of the links there are" if differ else ""

    def contacts(self) -> UpTimes | None:
        """Return the contacts of its links that begin before the horizon; None: they are always up."""
        run, topology = self.point.scenario.run, self.timed.topology
        streams = topology_streams(self.point.family, run.seed, 0)
        contacts = build_contacts(self.point.family, topology, streams, run.slot_nanoseconds, self.end)
        return None if contacts is None else contacts_until(contacts, topology.links, self.end, clipped=False)

    @property
    def end(self) -> int:
        """The horizon (ns)."""
        return self.point.scenario.run.slot_nanoseconds * self.point.scenario.run.horizon

    def latency_of(self, links: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the latency of links that do not exist yet, shape (k,): -1 if unknown.

        By distance if latencies are geographic; the mean if they are drawn; otherwise the common latency.

        Args:
            links: Ends, shape (k, 2).
        """
        peer = self.point.scenario.links.peer
        topology, slot = self.timed.topology, self.timed.slot
        if peer.latency != "geographic":
            drawn = peer_latencies(peer, topology, slot, topology_streams(self.point.family, 0, 0))
            typical = round(float(drawn.mean())) if len(drawn) else 0
            return np.full(len(links), typical, dtype=np.int64)
        places = topology.coordinates
        assert places is not None  # the links that exist have latencies of their distances
        found = np.full(len(links), -1, dtype=np.int64)
        known = ~np.isnan(places[links]).any(axis=(1, 2))
        if known.any():
            found[known] = latency_nanoseconds(places, links[known])
        return found


def source_of(source: str, agents: str | None = None, changes: Sequence[str] = ()) -> Source:
    """Return the network that *source* names, with the links of its scenario, or those that *changes* say.

    Args:
        source: The name of a family (or ``module:Class``), a scenario (``.toml``) or a graph file.
        agents: The number of agents, as it was written.
        changes: Each the ``KEY=VALUE`` of a ``--set``: keys of the scenario; of a family or a file also those of the
            topology without its name, and ``links.*``, ``run.slot`` and ``protocol.*``.

    Raises:
        ScenarioError: There is no such network.
    """
    from netbandit.checks.check import check

    number = [f"topology.agents={agents}"] if agents is not None else []
    if Path(source).suffix.lower() == ".toml":
        return source_of_scenario(load(source, [*changes, *number]))
    of_topology = [change for change in changes if change.partition(".")[0].strip() not in _TIMING]
    graph = graph_of(source, agents, of_topology)  # reports mistakes in the topology in its own words
    family = {"family": source} if names_family(source) else {"family": "file", "file": source}
    rest = [change for change in changes if change not in of_topology]
    kinds = [change.value for change in read_overrides(rest, FIRST_OVERRIDE) if change.path == ("protocol", "kind")]
    stand_in = {
        "run": {"horizon": 1_000},
        "topology": family,
        "bandit": {"kind": "bernoulli", "arms": 2},
        "learner": {"kind": "coop-ucb2" if "consensus" in kinds else "elimination"},
        "protocol": {"kind": "silent"},
    }
    whole = [each if each.startswith("topology.") else f"topology.{each}" for each in of_topology]
    point = check(load("scenario", [*whole, *number, *rest], text=toml_text(stand_in))).points[0]
    if isinstance(point.family, Meeting):
        graph = Graph(point.topology(0), graph.family)
    return _timed(graph, point, scenario=False, named=bool(kinds))


def source_of_scenario(document: Document) -> Source:
    """Return the network of a scenario's first point.

    Raises:
        ScenarioError: The scenario has mistakes.
    """
    from netbandit.checks.check import check

    point = check(document).points[0]
    return _timed(Graph(point.topology(0), own_family(point.resolved["topology"])), point, scenario=True, named=True)


def _timed(graph: Graph, point: "RunnablePoint", *, scenario: bool, named: bool) -> Source:
    settings, topology = point.scenario, graph.topology
    slot = settings.run.slot_nanoseconds
    streams = topology_streams(point.family, settings.run.seed, 0)
    try:
        latencies = peer_latencies(settings.links.peer, topology, slot, streams)
    except TopologyError as error:
        from netbandit.scenario.errors import ScenarioError

        raise ScenarioError([f"links.peer.latency: {text}" for _, text in error.problems]) from None
    uplinks = uplink_latencies(settings.links.uplink, topology.agents, slot, streams)
    slotted = point.resolved["protocol"].get("timing", "slotted") == "slotted"
    return Source(graph, TimedGraph(topology, latencies, slot, slotted, uplinks), point, scenario, named)
