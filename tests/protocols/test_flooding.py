from collections import Counter

import networkx as nx
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from helpers.one_round import ITEM, SLOT, one_round
from hypothesis import given
from hypothesis import strategies as st

from netbandit.protocols.flooding import Flooding


class Watched(Flooding):
    """Writes down every copy: when it arrives, over which link, and whose item it is."""

    def start(self, network, aggregation):
        super().start(network, aggregation)
        self.copies = []

    def receive(self, node, arrivals):
        self.copies += [(time, sender, node, message.labels.bit_length() - 1) for time, sender, message in arrivals]
        super().receive(node, arrivals)


@examples(60)
@given(connected_graphs(), st.sampled_from(["slotted", "asynchronous"]), st.integers(1, 3 * SLOT))
def test_with_equal_latencies_items_travel_by_distance_and_never_back(graph, timing, latency):
    result = one_round(Watched, graph, timing=timing, latency=latency)
    hop = latency if timing == "asynchronous" else -(-latency // SLOT) * SLOT
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    assert set(result.informed.values()) == {hop * nx.diameter(graph)}
    copies = Counter((sender, node, label) for _, sender, node, label in result.protocol.copies)
    assert set(copies.values()) <= {1}  # one message per item and link
    for time, sender, node, label in result.protocol.copies:
        assert time == distance[sender][label] * hop + latency
        assert distance[sender][label] <= distance[node][label]  # none back to where it came from
    assert all(size == 24 + ITEM for *_, size in result.arrivals)


def test_on_a_ring_both_copies_meet_and_stop():
    result = one_round(Watched, nx.cycle_graph(4))
    assert len(result.arrivals) == 4 * 4  # each item: two copies, two more to the opposite node
    assert set(result.informed.values()) == {2 * SLOT}


@examples(60)
@given(
    connected_graphs(),
    st.sampled_from(["slotted", "asynchronous"]),
    st.sampled_from([None, 10**9]),
    st.randoms(use_true_random=False),
)
def test_everybody_gets_everything_over_any_links(graph, timing, bandwidth, random):
    latency = {(min(link), max(link)): random.randint(0, 3 * SLOT) for link in graph.edges}
    result = one_round(Watched, graph, timing=timing, bandwidth=bandwidth, latency=latency)
    got = {(node, label) for _, _, node, label in result.protocol.copies}
    assert {(node, label) for node in graph for label in graph if node != label} <= got
    assert len(result.informed) == len(graph)
    copies = Counter((sender, node, label) for _, sender, node, label in result.protocol.copies)
    assert set(copies.values()) <= {1}


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_one_agent_has_everything_at_once(timing):
    result = one_round(Flooding, nx.empty_graph(1), timing=timing)
    assert result.informed == {0: 0}
    assert result.arrivals == []
