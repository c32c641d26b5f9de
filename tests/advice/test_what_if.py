"""Advice on links against brute force: each link is really added or taken away, and the graph measured anew."""

import networkx as nx
import numpy as np
import pytest
from helpers.drawn_graphs import connected_graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from netbandit.advice.resilience import bridges, cut_nodes, separable_pairs, separable_with_link
from netbandit.advice.timed_graph import TimedGraph
from netbandit.advice.what_if import MEASURES, measured, what_if
from netbandit.network.topology import Topology

SLOT = 1_000


def timed(graph, seed=0, longest=3 * SLOT, slotted=True):
    topology = Topology(graph)
    latencies = np.random.default_rng(seed).integers(0, longest, topology.links, endpoint=True)
    return TimedGraph(topology, latencies, SLOT, slotted, np.zeros(topology.agents, dtype=np.int64))


def lengths(links):
    """A latency for each link that does not exist, by its ends."""
    return (links[:, 0] * 37 + links[:, 1] * 101) % 1_700


@settings(max_examples=40)
@given(connected_graphs(9), st.sampled_from(MEASURES), st.booleans(), st.sampled_from([1, 3]), st.integers(0, 99))
def test_each_link_that_could_be_added_is_measured_exactly(graph, measure, slotted, trips, seed):
    network = timed(graph, seed, slotted=slotted)
    found = what_if(network, 1, measure, lengths, trips=trips, shown=1000)
    missing = sorted(tuple(sorted(link)) for link in nx.non_edges(graph))
    if not missing:
        assert found == []
        return
    (advice,) = found
    assert advice.tried == len(missing)
    assert advice.before == measured(network, measure, trips)
    links = {change.link for change in advice.best}
    for link in missing:  # those that are not listed make it no better
        value = measured(network.with_link(*link, int(lengths(np.array([link]))[0])), measure, trips)
        assert (link in links) == (value < advice.before)
    for change in advice.best:
        latency = int(lengths(np.array([change.link]))[0])
        assert change.latency == latency
        assert change.value == measured(network.with_link(*change.link, latency), measure, trips)
    values = [change.value for change in advice.best]
    assert values == sorted(values)


@settings(max_examples=40)
@given(connected_graphs(9), st.sampled_from(MEASURES), st.booleans(), st.sampled_from([1, 3]), st.integers(0, 99))
def test_each_link_that_could_be_lost_is_measured_exactly(graph, measure, slotted, trips, seed):
    network = timed(graph, seed, slotted=slotted)
    found = what_if(network, 1, measure, lengths, lose=True, trips=trips, shown=1000)
    if not graph.number_of_edges():
        assert found == []
        return
    (advice,) = found
    for change in advice.best:
        less = graph.copy()
        less.remove_edge(*change.link)
        assert change.value == measured(network.without_link(*change.link), measure, trips)
        if measure == "resilience":
            continue
        assert (change.value is None) == (not nx.is_connected(less))
    values = [np.inf if change.value is None else change.value for change in advice.best]
    assert values == sorted(values, reverse=True)


@settings(max_examples=60)
@given(connected_graphs(10), connected_graphs(4))
def test_pairs_that_one_failure_separates(one, other):
    graph = nx.disjoint_union(one, other)
    topology = Topology(graph)

    def brute(graph):
        pairs = 0
        reach = {node: nx.node_connected_component(graph, node) for node in graph}
        for link in list(graph.edges):
            less = graph.copy()
            less.remove_edge(*link)
            for node in graph:
                reach[node] = reach[node] & nx.node_connected_component(less, node)
        for node in graph:
            pairs += len(nx.node_connected_component(graph, node)) - len(reach[node])
        return pairs // 2

    assert separable_pairs(topology) == brute(graph)
    missing = np.array(sorted(nx.non_edges(graph)))[:12]
    if len(missing):
        missing.sort(axis=1)
        for link, value in zip(missing.tolist(), separable_with_link(topology, missing).tolist(), strict=True):
            more = graph.copy()
            more.add_edge(*link)
            assert value == brute(more)


def test_a_barbell_hangs_on_its_bridge():
    topology = Topology(nx.barbell_graph(4, 1))
    assert [(point.nodes, point.separated) for point in bridges(topology)] == [((3, 4), 20), ((4, 5), 20)]
    assert [(point.nodes, point.separated) for point in cut_nodes(topology)] == [((4,), 16), ((3,), 15), ((5,), 15)]


def test_a_second_link_is_looked_for_from_where_the_first_has_led():
    network = timed(nx.path_graph(8), longest=0)
    first, second, *_ = what_if(network, 2, "time", lambda links: np.zeros(len(links), dtype=np.int64))
    assert (first.before, first.best[0].value) == (7 * SLOT, 4 * SLOT)
    assert second.before == first.best[0].value
    assert second.best[0].value <= first.best[0].value


@pytest.mark.parametrize("measure", MEASURES)
def test_a_complete_graph_can_have_no_more_links(measure):
    assert what_if(timed(nx.complete_graph(4)), 1, measure, lengths) == []


def test_only_the_best_are_followed_to_the_end_where_hands_are_shaken():
    network = timed(nx.path_graph(9), seed=3, slotted=False)
    (few,) = what_if(network, 1, "time", lengths, trips=3, shown=3)
    (many,) = what_if(network, 1, "time", lengths, trips=3, shown=1000)
    assert few.best == many.best[:3]


def test_links_of_unknown_length_are_not_advised():
    network = timed(nx.path_graph(5), longest=0)
    (advice,) = what_if(network, 1, "time", lambda links: np.where(links[:, 0] == 0, -1, 0))
    assert advice.tried == 3
    assert all(change.link[0] != 0 for change in advice.best)
