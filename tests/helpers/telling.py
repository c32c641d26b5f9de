"""Agents that tell each other what they know, with everything that is heard written down."""

from functools import partial

from netbandit.network.clock import SENDS, Clock, Environment, ScheduledEvent
from netbandit.network.faults import Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.protocols.adapters import broadcast_protocol
from netbandit.protocols.protocol import Item
from netbandit.util.streams import Streams

SLOT = 1_000
ITEM = 80


def told(kind, graph, latency=0, *, uplink=0, bandwidth=None, times=(0,), faults=Faults(), **keys):  # noqa: B008 - it is never changed
    """Let every agent tell its number in each of *times* (ns).

    Returns:
        What is heard, as (time, listener, source, round); the protocol.
    """
    topology = Topology(graph)
    environment = Environment()
    clock = Clock(environment, SLOT, 1_000)
    latencies = {
        (first, second): latency[first, second] if isinstance(latency, dict) else latency
        for first, second in topology.edges.tolist()
    }
    link = LinkClass(bandwidth=bandwidth)
    network = Network(
        clock,
        topology.neighbours,
        link,
        latencies,
        link,
        [uplink] * len(graph),
        Fingerprint(),
        topology=topology,
        streams=Streams(0, 0),
        faults=faults,
    )
    log = []

    def hear(agent, heard):
        assert heard == sorted(heard)
        log.extend((environment.now, agent, one.source, one.round) for one in heard)
        assert all(one.item == Item(ITEM, (one.source, one.round)) for one in heard)

    protocol = broadcast_protocol(kind(**keys), network, hear)

    def tell(number, _):
        for agent in range(len(graph)):
            protocol.broadcast(number, agent, Item(ITEM, (agent, number)))

    for number, time in enumerate(times):
        environment.schedule(ScheduledEvent([partial(tell, number)]), SENDS, time)
    environment.run()
    return log, protocol
