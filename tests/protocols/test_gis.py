from collections import Counter
from math import ceil

import networkx as nx
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from helpers.one_round import ITEM, SLOT, numbered, one_round
from hypothesis import given
from hypothesis import strategies as st

from netbandit.protocols.gis import Gis


@pytest.mark.parametrize(
    ("graph", "slots", "activations", "messages"),
    [
        (nx.complete_graph(50), 1, 1225, {"ADV": 2450, "REQ": 2450, "DATA": 2450}),
        (nx.star_graph(49), 2, 98, {"ADV": 196, "REQ": 147, "DATA": 147}),
        (nx.cycle_graph(50), 25, 1250, {"ADV": 2500, "REQ": 2450, "DATA": 2450}),
    ],
    ids=["complete", "star", "ring"],
)
def test_facts_of_a_round(graph, slots, activations, messages):
    result = one_round(Gis, graph)
    assert result.informed == dict.fromkeys(range(50), slots * SLOT)
    assert result.network.peer_totals().activations == activations
    assert {kind: count for kind, (count, _) in result.network.ledger.kinds.items()} == messages
    assert result.aggregation.concluded == [(1, 0, list(range(50)), None)]


def lock_step(graph):
    """Run slotted GIS without latency the slow way: return what each node has when, and messages by slot and kind."""
    neighbours = {node: sorted(graph[node]) for node in graph}
    have = {node: {node} for node in graph}
    news = {node: {node} for node in graph}
    arrived = {(node, node): 0 for node in graph}
    sent = Counter()
    slot = 0
    while any(len(items) < len(graph) for items in have.values()):
        asked = {node: {} for node in graph}
        for advertiser in sorted(graph):
            if news[advertiser]:
                for node in neighbours[advertiser]:
                    sent[slot, "ADV"] += 1
                    sent["bytes"] += 20 + 4 * len(news[advertiser])
                    for item in sorted(news[advertiser]):
                        if item not in have[node] and item not in asked[node]:
                            asked[node][item] = advertiser
        slot += 1
        news = {node: set(asked[node]) for node in graph}
        for node, sources in asked.items():
            for advertiser in set(sources.values()):
                items = sum(source == advertiser for source in sources.values())
                sent[slot - 1, "REQ"] += 1
                sent[slot - 1, "DATA"] += 1
                sent["bytes"] += 20 + 4 * items + 20 + (4 + ITEM) * items
            for item in sources:
                assert item not in have[node]
                have[node].add(item)
                arrived[node, item] = slot
    return slot, arrived, sent


@examples(60)
@given(connected_graphs())
def test_slotted_without_latency_it_is_the_lock_step_protocol_message_for_message(graph):
    slots, arrived, sent = lock_step(graph)
    distances = dict(nx.all_pairs_shortest_path_length(graph))
    assert slots == nx.diameter(graph)
    assert all(slot == distances[node][item] for (node, item), slot in arrived.items())

    result = one_round(Gis, graph)
    assert result.informed == dict.fromkeys(graph, slots * SLOT)
    found = Counter((time // SLOT, kind) for time, _, _, kind, _ in result.arrivals)
    found["bytes"] = sum(size for *_, size in result.arrivals)
    assert found == +sent or (not sent and not result.arrivals)
    assert result.aggregation.concluded == [(1, 0, sorted(graph), None)]


class Watched(Gis):
    """Writes down which labels each DATA brings to whom, and when."""

    def start(self, network, aggregation):
        super().start(network, aggregation)
        self.data = []

    @property
    def handler(self):
        return self.receive

    def receive(self, node, arrivals):
        for time, sender, message in arrivals:
            if message.kind.name == "DATA":
                labels = [label for label in range(self.network.agents) if message.labels >> label & 1]
                self.data += [(time, sender, node, label) for label in labels]
        super().receive(node, arrivals)


@examples(60)
@given(
    connected_graphs(),
    st.integers(0, 3 * SLOT),
    st.sampled_from(["slotted", "asynchronous"]),
    st.sampled_from([None, 10**9]),
    st.randoms(use_true_random=False),
)
def test_data_never_carries_what_its_receiver_has_whatever_the_links(graph, longest, timing, bandwidth, random):
    latency = {(min(link), max(link)): random.randint(0, longest) for link in graph.edges}
    result = one_round(Watched, graph, latency=latency, timing=timing, bandwidth=bandwidth)
    agents = len(graph)
    brought = Counter((node, label) for _, _, node, label in result.protocol.data)
    assert set(brought.values()) <= {1}
    assert len(brought) == agents * (agents - 1)
    assert all(node != label for node, label in brought)
    assert len(set(result.informed.values())) == 1  # the clock tells everybody at once
    assert len(result.informed) == agents


@pytest.mark.parametrize("latency", [0, SLOT // 3, SLOT // 3 + 1, SLOT // 2, SLOT, 5 * SLOT // 2])
@pytest.mark.parametrize(
    "graph", [nx.path_graph(4), nx.cycle_graph(7), nx.complete_graph(5)], ids=["path", "ring", "complete"]
)
def test_a_handshake_takes_its_three_latencies_in_whole_slots(graph, latency):
    hop = max(1, ceil(3 * latency / SLOT))
    assert one_round(Gis, graph, latency=latency).slots == hop * nx.diameter(graph)


@pytest.mark.parametrize("latency", [0, 1, SLOT // 3, 5 * SLOT // 2])
def test_asynchronous_a_round_takes_the_time_of_its_handshakes(latency):
    graph = nx.path_graph(4)
    result = one_round(Gis, graph, latency=latency, timing="asynchronous")
    assert set(result.informed.values()) == {3 * 3 * latency}


@examples(40)
@given(connected_graphs(8), st.randoms(use_true_random=False))
def test_slotted_with_any_latencies_an_item_moves_in_whole_slots(graph, random):
    """On a tree there is one way only, so each hop can be told in advance."""
    tree = nx.minimum_spanning_tree(graph)
    latency = {(min(link), max(link)): random.randint(0, 2 * SLOT) for link in tree.edges}
    result = one_round(Watched, tree, latency=latency)
    hop = {link: max(1, ceil(3 * time / SLOT)) for link, time in latency.items()}
    weighted = nx.Graph()
    weighted.add_nodes_from(tree)
    weighted.add_weighted_edges_from((*link, slots) for link, slots in hop.items())
    expected = dict(nx.all_pairs_dijkstra_path_length(weighted))
    for time, sender, node, label in result.protocol.data:
        begun = expected[sender][label]
        assert time == begun * SLOT + 3 * latency[min(sender, node), max(sender, node)]
    assert result.slots == max(max(row.values()) for row in expected.values())


def test_the_lowest_numbered_of_simultaneous_advertisers_is_asked():
    result = one_round(Watched, nx.cycle_graph(4))  # the opposite node's item is advertised by both neighbours
    second = {(node, label, sender) for time, sender, node, label in result.protocol.data if time == SLOT}
    assert second == {(0, 2, 1), (1, 3, 0), (2, 0, 1), (3, 1, 0)}


def test_one_agent_has_everything_at_once():
    result = one_round(Gis, nx.empty_graph(1))
    assert result.informed == {0: 0}
    assert result.arrivals == []
    assert result.protocol.ended == {1: 0}


def test_rounds_follow_one_another():
    result = one_round(Gis, numbered(nx.path_graph(3)), rounds=3)
    assert result.network.ledger.kinds["DATA"] == (3 * 6, 3 * 6 * (24 + ITEM))
    assert sorted(result.protocol.ended) == [1, 2, 3]


def test_a_round_cut_by_the_horizon_does_not_end():
    result = one_round(Gis, nx.path_graph(6), horizon=3)
    assert result.protocol.ended == {}
    assert {time // SLOT for time, *_ in result.arrivals} == {0, 1, 2}
