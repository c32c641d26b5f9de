"""One round of a protocol on a small network, with everything that arrives written down."""

from dataclasses import dataclass, field

import networkx as nx

from netbandit.network.clock import SENDS, Clock, Environment
from netbandit.network.faults import Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.protocols.protocol import Item
from netbandit.util.streams import Streams

SLOT = 1_000
ITEM = 80


class Parts(list):
    """What went into an aggregate, and how much each part weighs."""

    def __init__(self, parts, weights):
        super().__init__(parts)
        self.weights = weights


@dataclass
class Sum:
    """An aggregation whose results show what went into them."""

    agents: int
    chosen: list = field(default_factory=list)
    concluded: list = field(default_factory=list)

    def participants(self, round):
        return self.chosen or range(self.agents)

    turn = SENDS
    per_agent = False

    def aggregate(self, items, weights=None):
        return Item(items[0].size, Parts([item.value for item in items], weights))

    def conclude(self, round, group, aggregate):
        self.concluded.append((round, group, aggregate.value, aggregate.value.weights))
        return Item(12, "answer")


@dataclass
class Round:
    """What one round left behind.

    Attributes:
        arrivals: (time, sender, receiver, kind, size) of every message, in order.
        informed: When each agent was informed.
    """

    network: Network
    protocol: object
    aggregation: Sum
    arrivals: list = field(default_factory=list)
    informed: dict = field(default_factory=dict)

    def of(self, *kinds):
        return [arrival for arrival in self.arrivals if arrival[3] in kinds]

    @property
    def slots(self):
        return -(-max(self.informed.values()) // SLOT)


def numbered(graph):
    return nx.convert_node_labels_to_integers(graph, ordering="sorted")


def union(*graphs):
    """Put *graphs* side by side, numbered one after the other."""
    return nx.disjoint_union_all(graphs)


def one_round(
    kind,
    graph,
    *,
    latency=0,
    uplink=0,
    bandwidth=None,
    horizon=1_000,
    rounds=1,
    size=ITEM,
    starts=None,
    seed=0,
    faults=Faults(),  # noqa: B008 - it is never changed
    compute=None,
    **keys,
):
    """Run rounds of *kind*, each begun by every agent when it is informed of the one before.

    Args:
        latency: Of each peer link, ns; or a dict by link.
        uplink: Of each uplink, ns; or a list by agent.
        faults: What can go wrong.
        compute: What nodes compute.
        starts: The time at which each agent contributes to the first round; 0 for all if not given.
    """
    topology = Topology(graph)
    environment = Environment()
    clock = Clock(environment, SLOT, horizon)
    latencies = {
        (first, second): latency[first, second] if isinstance(latency, dict) else latency
        for first, second in topology.edges.tolist()
    }
    uplinks = uplink if isinstance(uplink, list) else [uplink] * topology.agents
    network = Network(
        clock,
        topology.neighbours,
        LinkClass(bandwidth=bandwidth),
        latencies,
        LinkClass(cost=50),
        uplinks,
        Fingerprint(),
        topology=topology,
        streams=Streams(seed, 0),
        faults=faults,
        compute=compute,
    )
    aggregation = Sum(topology.agents)
    protocol = kind(**keys)
    protocol.start(network, aggregation)
    result = Round(network, protocol, aggregation)
    receive = protocol.handler

    def write_down(node, arrivals):
        for time, sender, message in arrivals:
            assert time == environment.now
            result.arrivals.append((time, sender, node, message.kind.name, message.size))
        receive(node, arrivals)

    network.attach(write_down)

    def live(agent):
        if starts:
            yield environment.timeout(starts[agent])
        for number in range(1, rounds + 1):
            conclusion = yield protocol.contribute(number, agent, Item(size, agent))
            assert conclusion == Item(12, "answer")
            result.informed[agent] = environment.now
            if number < rounds:
                yield clock.wait_until(clock.boundary(environment.now) + 1)

    for agent in range(topology.agents):
        environment.process(live(agent))
    environment.run()
    return result
