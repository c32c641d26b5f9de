"""Advice on links against brute force: each link is really added or taken away, and the graph measured anew."""

import networkx as nx
import numpy as np
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.topology import Topology
from netbandit.studies.advice.flooding_time import FloodingTime
from netbandit.studies.advice.gis_time import GisTime
from netbandit.studies.advice.measure import exact_for_best
from netbandit.studies.advice.resilience import bridges, cut_nodes, separable_pairs, separable_with_link
from netbandit.studies.advice.served_times import SinkTime, UplinkTime
from netbandit.studies.advice.spectral_gap import Gap
from netbandit.studies.advice.structure_measures import Activations, Resilience
from netbandit.studies.advice.timed_graph import TimedGraph
from netbandit.studies.advice.tree_times import LocalTime, RelayTime
from netbandit.studies.advice.what_if import what_if

SLOT = 1_000
MEASURES = [
    FloodingTime(),
    GisTime(),
    RelayTime(),
    LocalTime(2, flood=False),
    LocalTime(3, flood=True),
    SinkTime(gis=False),
    SinkTime(gis=True),
    Gap("max-degree", None),
    Gap("metropolis", None),
    Gap("uniform", None),
    Activations(),
    Resilience(),
]


def timed(graph, seed=0, longest=3 * SLOT, slotted=True):
    topology = Topology(graph)
    rng = np.random.default_rng(seed)
    latencies = rng.integers(0, longest, topology.links, endpoint=True)
    return TimedGraph(topology, latencies, SLOT, slotted, rng.integers(0, longest, topology.agents, endpoint=True))


def lengths(links):
    """A latency for each link that does not exist, by its ends."""
    return (links[:, 0] * 37 + links[:, 1] * 101) % 1_700


@st.composite
def graphs(draw):
    """Draw a connected graph, or one of two components."""
    graph = draw(connected_graphs(8))
    if draw(st.booleans()):
        graph = nx.disjoint_union(graph, draw(connected_graphs(4)))
    return graph


@examples(40)
@given(graphs(), st.sampled_from(MEASURES), st.booleans(), st.sampled_from([1, 3, 1000]), st.integers(0, 99))
def test_each_link_that_could_be_added_is_measured_exactly(graph, measure, slotted, shown, seed):
    network = timed(graph, seed, slotted=slotted)
    found = what_if(network, 1, measure, lengths, shown=shown)
    missing = sorted(tuple(sorted(link)) for link in nx.non_edges(graph))
    if not missing:
        assert found == []
        return
    (advice,) = found
    assert advice.tried == len(missing)
    assert advice.before == measure.value(network)
    expected = []
    for link in missing:
        latency = int(lengths(np.array([link]))[0])
        value = measure.value(network.with_link(*link, latency))
        if value is not None and (advice.before is None or value < advice.before):
            expected.append((value, latency, link))
    assert [(change.value, change.latency, change.link) for change in advice.best] == sorted(expected)[:shown]


@examples(25)
@given(graphs(), st.sampled_from(MEASURES), st.booleans(), st.integers(0, 99))
def test_each_link_that_could_be_lost_is_measured_exactly(graph, measure, slotted, seed):
    network = timed(graph, seed, slotted=slotted)
    found = what_if(network, 1, measure, lengths, lose=True, shown=1000)
    if not graph.number_of_edges():
        assert found == []
        return
    (advice,) = found
    assert {change.link for change in advice.best} == {tuple(sorted(link)) for link in graph.edges}
    for change in advice.best:
        assert change.value == measure.value(network.without_link(*change.link))
    values = [np.inf if change.value is None else change.value for change in advice.best]
    assert values == sorted(values, reverse=True)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=12), st.integers(1, 4), st.integers(1, 30))
def test_only_the_best_need_be_exact_and_bounds_spare_the_rest(pairs, shown, before):
    values = [value for value, _ in pairs]
    bounds = np.array([max(0, value - slack) for value, slack in pairs], dtype=float)
    looked_at = []

    def value_of(place, limit):
        looked_at.append(place)
        return values[place] if values[place] <= limit else limit + 1

    found = exact_for_best(bounds, before, shown, value_of)
    better = sorted(value for value in values if value < before)
    assert sorted(found[np.isfinite(found)])[:shown] == better[:shown]
    assert all(found[place] == values[place] for place in np.flatnonzero(np.isfinite(found)))
    assert len(looked_at) == len(set(looked_at))


@examples(60)
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
    first, second, *_ = what_if(network, 2, FloodingTime(), lambda links: np.zeros(len(links), dtype=np.int64))
    assert (first.before, first.best[0].value) == (7 * SLOT, 4 * SLOT)
    assert second.before == first.best[0].value
    assert second.best[0].value <= first.best[0].value


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.subject)
def test_a_complete_graph_can_have_no_more_links(measure):
    assert what_if(timed(nx.complete_graph(4)), 1, measure, lengths) == []


def test_no_link_changes_what_goes_over_uplinks_alone():
    network = timed(nx.path_graph(4), seed=1)
    for lose in (False, True):
        (advice,) = what_if(network, 2, UplinkTime(), lengths, lose=lose)
        assert (advice.before, advice.best, advice.tried) == (2 * network.uplinks.max(), [], 0)
        assert f"those of {network.uplinks.argmax()} (" in " ".join(advice.remarks)


def test_links_of_unknown_length_are_not_advised():
    network = timed(nx.path_graph(5), longest=0)
    (advice,) = what_if(network, 1, FloodingTime(), lambda links: np.where(links[:, 0] == 0, -1, 0))
    assert advice.tried == 3
    assert all(change.link[0] != 0 for change in advice.best)
