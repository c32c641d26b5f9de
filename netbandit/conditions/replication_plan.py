"""What is the case in a replication: conditions say so, before its network is built."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from netbandit.bandits.bandit import Bandit
from netbandit.conditions.faults_plan import Changing
from netbandit.conditions.feedback_plan import FeedbackPlan
from netbandit.conditions.latencies import peer_latencies, uplink_latencies
from netbandit.conditions.lies_plan import LiesPlan
from netbandit.conditions.links import link_class
from netbandit.network.batteries import EnergyPlan
from netbandit.network.clock import Clock
from netbandit.network.computing import ComputePlan
from netbandit.network.faults import Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.network import Network
from netbandit.network.outages import Outage
from netbandit.network.topology import Topology
from netbandit.network.trace_writer import Trace
from netbandit.scenario.links import LinksSettings
from netbandit.util.streams import Streams


@dataclass(kw_only=True)
class ReplicationPlan:
    """What is the case in a replication; see `netbandit.conditions.condition.Condition.prepare`.

    Attributes:
        links: ``[links]``.
        topology: The graph.
        clock: The clock.
        bandit: The bandit, started.
        streams: The streams of the replication.
        graph_streams: The streams of the graph and its latencies.
        peers: Whether links between agents are used; if not, they are left out.
        changing: How the graph changes, if it does.
        attack: The class of a user-defined attack; None without an attack or with a built-in one.
        faults: What can go wrong on links, and when links, agents and the server are down.
        energy: What agents consume, and their batteries; None: nothing is consumed but by messages.
        compute: What nodes compute, and how fast; None: nothing takes them any time.
        feedback: How late rewards are; None: all are learned at once.
        lies: Who lies, and how.
    """

    links: LinksSettings
    topology: Topology
    clock: Clock
    bandit: Bandit
    streams: Streams
    graph_streams: Streams
    peers: bool
    changing: Changing | None
    attack: type | None
    faults: Faults = field(default_factory=Faults)
    energy: EnergyPlan | None = None
    compute: ComputePlan | None = None
    feedback: FeedbackPlan | None = None
    lies: LiesPlan = field(default_factory=LiesPlan)

    def add_outages(self, *outages: Outage) -> None:
        """Let links, agents or the server be down at more times, all known ahead."""
        plan = self.faults.plan
        self.faults = replace(self.faults, plan=replace(plan, outages=(*plan.outages, *outages)))

    def network(self, fingerprint: Fingerprint, trace: Trace | None) -> Network:
        """Return the network.

        Args:
            fingerprint: Hashes every delivery.
            trace: The trace that every message is written to, or None.

        Raises:
            TopologyError: ``"geographic"`` lacks coordinates.
        """
        links, topology, slot = self.links, self.topology, self.clock.slot
        neighbours: Sequence[Sequence[int]] = [()] * topology.agents
        latencies: dict[tuple[int, int], int] = {}
        if self.peers:
            neighbours = topology.neighbours
            drawn = peer_latencies(links.peer, topology, slot, self.graph_streams)
            nodes = list(range(topology.agents))  # one shared int object per node, instead of new ones for each link
            latencies = {
                (nodes[first], nodes[second]): latency
                for (first, second), latency in zip(topology.edges.tolist(), drawn.tolist(), strict=True)
            }
        uplinks = uplink_latencies(links.uplink, topology.agents, slot, self.graph_streams)
        return Network(
            self.clock,
            neighbours,
            link_class(links.peer),
            latencies,
            link_class(links.uplink),
            uplinks.tolist(),
            fingerprint,
            trace,
            topology=topology,
            streams=self.streams,
            faults=self.faults,
            energy=self.energy,
            compute=self.compute,
        )
