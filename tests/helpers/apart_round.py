"""Rounds of agents that conclude individually, over a network with scripted failures: when each resumed, from what."""

from dataclasses import dataclass, field

from netbandit.network.clock import SENDS, Clock, Environment
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.network import Network
from netbandit.network.outages import Outage, OutagePlan
from netbandit.network.topology import Topology
from netbandit.protocols.adapters import round_protocol
from netbandit.protocols.protocol import SERVER, Item
from netbandit.util.streams import Streams

SLOT = 1_000_000


@dataclass
class Apart:
    """An aggregation in which each agent concludes for itself: an item's value is the set of those it is from."""

    agents: int
    turn = SENDS
    per_agent = True
    concluded: list = field(default_factory=list)

    def participants(self, round):
        return range(self.agents)

    def aggregate(self, items, weights=None):
        assert sum(len(item.value) for item in items) == len(frozenset().union(*(item.value for item in items)))
        return Item(80, frozenset().union(*(item.value for item in items)))

    def conclude(self, round, group, aggregate):
        self.concluded.append((round, group))
        return Item(4, (group == SERVER, aggregate.value))


def down(begin, end, *, links=(), nodes=(), server=False):
    """An outage, in slots."""
    return Outage(int(begin * SLOT), end * SLOT, frozenset(map(tuple, map(sorted, links))), frozenset(nodes), server)


def rounds_apart(
    template, graph, outages=(), *, rounds=1, starts=None, latency=0, uplink=0, horizon=1000, done=(), loss=None,
    memory="kept", begins=(),
):  # fmt: skip
    """Run rounds of a protocol; who goes on in a round begins the next one two slots later.

    Args:
        latency: Of each peer link, ns; or a dict by link.
        starts: The slot at which each agent contributes to the first round.
        done: (agent, slot) of those who take part no more from then on; they contribute to nothing.
        begins: (agent, slot) of those who begin anew there, in round 1, after they have forgotten all.

    Returns:
        {(round, agent): (slot, who is known)}, None for who has heard nothing; and the protocol.
    """
    topology = Topology(graph)
    environment = Environment()
    clock = Clock(environment, SLOT, horizon)
    plan = OutagePlan(outages=outages, memory=memory)
    uplinks = uplink if isinstance(uplink, list) else [uplink] * topology.agents
    links = map(tuple, topology.edges.tolist())
    peers = {link: latency[link] if isinstance(latency, dict) else latency for link in links}
    network = Network(
        clock, topology.neighbours, LinkClass(), peers, LinkClass(), uplinks, Fingerprint(),
        topology=topology, streams=Streams(0, 0),
        faults=Faults(plan=plan, peer=ChannelFaults(loss=loss), uplink=ChannelFaults(loss=loss)),
    )  # fmt: skip
    protocol = round_protocol(template, network, Apart(topology.agents))
    found = {}

    def live(agent, first, number=1):
        if first:
            yield clock.wait_until(first)
        for number in range(1, rounds + 1):
            answer = yield protocol.contribute(number, agent, Item(80, frozenset([agent])))
            slot, rest = divmod(environment.now, SLOT)
            found[number, agent] = (slot if not rest else environment.now / SLOT), answer and set(answer.value[1])
            if number < rounds:
                yield clock.wait_until(clock.boundary(environment.now) + 2)

    def leave(agent, slot):
        yield clock.wait_until(slot)
        protocol.done(agent, 1)

    def begin_anew(agent, slot):
        yield clock.wait_until(slot)
        protocol.forget(agent)
        yield from live(agent, slot + 1)

    silent = {agent for agent, _ in done}
    for agent in range(topology.agents):
        if agent not in silent:
            environment.process(live(agent, starts[agent] if starts else 0))
    for agent, slot in done:
        environment.process(leave(agent, slot))
    for agent, slot in begins:
        environment.process(begin_anew(agent, slot))
    environment.run()
    network.close()
    return found, protocol
