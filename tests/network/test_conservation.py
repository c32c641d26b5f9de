import json
from collections import Counter
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import pytest
from helpers.examples import examples
from helpers.graphs import connected
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.clock import SENDS, Clock, Environment
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.network import Network
from netbandit.network.trace_writer import Trace
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.master_worker import MasterWorker
from netbandit.protocols.protocol import Item
from netbandit.protocols.sink import Sink

SLOT = 1_000


class Echo:
    """An aggregation that makes nothing of anything."""

    def __init__(self, agents):
        self.agents = agents

    def participants(self, round):
        return range(self.agents)

    turn = SENDS
    per_agent = False

    def aggregate(self, items, weights=None):
        return items[0]

    def conclude(self, round, group, aggregate):
        return Item(12, None)


def run(case, trace):
    """Run two rounds; return the network, the number of deliveries by kind, and the fingerprint."""
    graph, latency, uplink, link, kind, horizon, timing = case
    environment = Environment()
    fingerprint = Fingerprint()
    clock = Clock(environment, SLOT, horizon)
    neighbours = [sorted(graph[node]) for node in sorted(graph)]
    network = Network(clock, neighbours, link, latency, link, uplink, fingerprint, trace)
    protocol = kind(timing=timing)
    protocol.start(network, Echo(len(graph)))
    delivered = Counter()
    handle = protocol.handler

    def receive(node, arrivals):
        for _, _, message in arrivals:
            delivered[message.kind.name] += 1
            delivered[message.kind.name, "bytes"] += message.size
        handle(node, arrivals)

    network.attach(receive)

    def agent(node):
        for number in (1, 2):
            yield protocol.contribute(number, node, Item(8 * node, node))
            yield clock.wait_until(clock.boundary(environment.now) + 1)

    for node in sorted(graph):
        environment.process(agent(node))
    environment.run()
    return network, delivered, fingerprint.hexdigest()


@st.composite
def cases(draw):
    graph = draw(connected(9))
    times = st.integers(0, 3 * SLOT)
    latency = {tuple(link): draw(times) for link in sorted(map(sorted, graph.edges))}
    uplink = [draw(times) for _ in range(len(graph))]
    link = LinkClass(draw(st.sampled_from([None, 10**8, 10**9, 10**11])), 3.0, 0.5, 0.25, 0.375, 0.0625)
    kind = draw(st.sampled_from([Gis, Flooding, MasterWorker, Sink]))
    timing = draw(st.sampled_from(["slotted", "asynchronous"]))
    return graph, latency, uplink, link, kind, draw(st.sampled_from([2, 5, 10**6])), timing


@examples(150)
@given(cases())
def test_every_message_is_delivered_once_and_everything_adds_up(case):
    network, delivered, fingerprint = run(case, None)
    kinds = network.ledger.kinds
    broadcast = delivered["ANSWER"] - kinds.get("ANSWER", (0, 0))[0]
    assert (broadcast > 0) == (network.ledger.broadcasts > 0)
    for name, (messages, size) in kinds.items():
        free = broadcast if name == "ANSWER" else 0
        assert delivered[name] == messages + free
        assert delivered[name, "bytes"] == size + free * 32
    peer, uplink = network.peer_totals(), network.uplink_totals()
    assert peer.messages + uplink.messages == sum(messages for messages, _ in kinds.values())
    assert peer.bytes + uplink.bytes == sum(size for _, size in kinds.values())
    for totals in (peer, uplink):
        coming, size = totals.fates["in_flight"]
        spent = 0.5 * totals.messages + 0.25 * totals.bytes
        assert totals.energy == spent - (0.375 * coming + 0.0625 * size)
        assert totals.cost == 3.0 * totals.activations
    check_trace(case, network, fingerprint)


def check_trace(case, network, fingerprint):
    """The trace says the same, and writing it changes nothing."""
    graph, _, _, link, _, horizon, _ = case
    with TemporaryDirectory() as folder:
        file = Path(folder) / "trace.jsonl"
        with Trace(file, len(graph)) as trace:
            traced, _, same = run(case, trace)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert same == fingerprint
    outcomes = traced.close()
    never = [line for line in lines if "fate" in line]
    assert (len(never), sum(line["bytes"] for line in never)) == (outcomes.unsent, outcomes.unsent_bytes)
    assert {line["fate"] for line in never} <= {"unsent"}
    lines = [line for line in lines if "kind" in line]
    late = [line["bytes"] for line in lines if line["arrival"] >= horizon * SLOT and "broadcast" not in line]
    assert (len(late), sum(late)) == (outcomes.in_flight, outcomes.in_flight_bytes)
    assert outcomes.lost == outcomes.dropped == outcomes.duplicates == 0
    assert traced.ledger.kinds == network.ledger.kinds
    assert traced.peer_totals() == network.peer_totals()
    sent = [line for line in lines if "broadcast" not in line]
    counts = Counter(line["kind"] for line in sent)
    assert counts == {name: messages for name, (messages, _) in network.ledger.kinds.items()}
    peers = [line for line in sent if "server" not in (line["from"], line["to"])]
    used = {(*sorted((line["from"], line["to"])), line["start"] // SLOT) for line in peers}
    assert len(used) == network.peer_totals().activations
    uplinks = {(line["from"], line["to"])[line["from"] == "server"] for line in sent if line not in peers}
    assert len(uplinks) <= network.uplink_totals().activations
    for line in sent:
        assert line["sent"] <= line["start"] < horizon * SLOT
        assert line["arrival"] >= line["start"] + link.transmission(line["bytes"])
    if link.bandwidth is not None:
        check_queues(network, sent, lambda size: link.transmission(size), horizon * SLOT)


def check_queues(network, sent, transmission, end):
    """How long each channel was busy and its messages waited is what the trace says of them, one by one."""
    found = {}
    for line in sent:
        busy, waited, longest = found.get((line["from"], line["to"]), (0, 0, 0))
        wait = line["start"] - line["sent"]
        busy += min(line["start"] + transmission(line["bytes"]), end) - line["start"]
        found[line["from"], line["to"]] = busy, waited + wait, max(longest, wait)
    counted = {}
    for channel in chain.from_iterable([*network.links.pairs(), *network.links.uplink_pairs()]):
        if channel.messages:
            names = ("server" if node == network.server else node for node in (channel.sender, channel.receiver))
            counted[tuple(names)] = channel.queue.busy, channel.queue.waited, channel.queue.longest_wait
    assert counted == found


@pytest.mark.parametrize("kind", [Gis, Flooding])
def test_messages_of_one_direction_leave_one_after_the_other(kind, tmp_path):
    graph = nx.cycle_graph(5)
    latency = {(min(link), max(link)): 700 for link in graph.edges}
    link = LinkClass(10**9)
    with Trace(tmp_path / "trace.jsonl", 5) as trace:
        run((graph, latency, [0] * 5, link, kind, 10**6, "asynchronous"), trace)
    free = {}
    for line in map(json.loads, (tmp_path / "trace.jsonl").read_text().splitlines()):
        way = line["from"], line["to"]
        assert line["start"] == max(line["sent"], free.get(way, 0))
        free[way] = line["start"] + link.transmission(line["bytes"])
        assert line["arrival"] == free[way] + 700
