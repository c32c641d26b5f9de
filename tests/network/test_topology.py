"""The topology: what follows from a graph, and nothing from how the graph was made."""

import subprocess
import sys

import networkx
import numpy as np
import pytest
from helpers.examples import examples
from helpers.speeds import speeds
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.topology import Topology, TopologyError, describe


def two_parts():
    """A path 0-2-4-6-8, a triangle 1-3-5 and 7 alone."""
    graph = networkx.Graph([(8, 6), (6, 4), (4, 2), (2, 0), (5, 3), (3, 1), (1, 5)])
    graph.add_node(7)
    return graph


def test_plain_facts():
    topology = Topology(two_parts())
    assert topology.agents == 9
    assert topology.links == 7
    assert topology.edges.tolist() == [[0, 2], [1, 3], [1, 5], [2, 4], [3, 5], [4, 6], [6, 8]]
    assert topology.edges.dtype == np.int64
    assert topology.neighbours == [[2], [3, 5], [0, 4], [1, 5], [2, 6], [1, 3], [4, 8], [], [6]]
    assert topology.component.tolist() == [0, 1, 0, 1, 0, 1, 0, 2, 0]
    assert [nodes.tolist() for nodes in topology.components] == [[0, 2, 4, 6, 8], [1, 3, 5], [7]]
    assert topology.names == [str(node) for node in range(9)]
    assert topology.coordinates is None
    assert np.isnan(speeds(topology)).all()


def test_several_components_have_the_largest_diameter_and_the_smallest_radius():
    topology = Topology(two_parts())
    assert (topology.diameter, topology.radius) == (4, 0)
    assert topology.sinks == [4, 1, 7]
    assert topology.eccentricity(0).tolist() == [4, 3, 2, 3, 4]
    assert topology.eccentricity(1).tolist() == [1, 1, 1]
    assert topology.eccentricity(2).tolist() == [0]
    assert topology.hops(0).tolist() == [0, -1, 1, -1, 2, -1, 3, -1, 4]
    assert topology.bfs_tree(4).tolist() == [2, -1, 4, -1, -1, -1, 4, -1, 6]


def test_sink_is_the_lowest_number_among_equals():
    assert Topology(networkx.path_graph(4)).sinks == [1]
    assert Topology(networkx.cycle_graph(5)).sinks == [0]


def test_bfs_tree_takes_the_lowest_parent():
    graph = networkx.Graph([(0, 2), (0, 1), (2, 3), (1, 3)])
    assert Topology(graph).bfs_tree(0).tolist() == [-1, 0, 0, 1]


@given(st.integers(2, 15), st.integers(0, 1000), st.randoms())
@examples(50)
def test_the_order_of_construction_does_not_show(agents, seed, random):
    graph = networkx.gnp_random_graph(agents, 0.3, seed=seed)
    nodes, edges = list(graph), [edge[:: random.choice([1, -1])] for edge in graph.edges]
    random.shuffle(nodes)
    random.shuffle(edges)
    other = networkx.Graph()
    other.add_nodes_from(nodes)
    other.add_edges_from(edges)
    first, second = Topology(graph), Topology(other)
    assert first.edges.tolist() == second.edges.tolist()
    assert first.neighbours == second.neighbours == [sorted(graph[node]) for node in range(agents)]
    assert first.sinks == second.sinks
    assert describe(first) == describe(second)


def test_attributes():
    graph = networkx.path_graph(3)
    graph.nodes[0].update(name="Oslo", latitude=59.9, longitude=10.8)
    graph.nodes[2].update(latitude=1.0)
    graph.edges[1, 2]["speed"] = 1e9
    topology = Topology(graph)
    assert topology.names == ["Oslo", "1", "2"]
    np.testing.assert_array_equal(topology.coordinates, [[59.9, 10.8], [np.nan, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(speeds(topology), [np.nan, 1e9])


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        (networkx.Graph(), "at least one agent"),
        (networkx.DiGraph([(0, 1)]), "undirected"),
        (networkx.MultiGraph([(0, 1)]), "one between two agents"),
        (networkx.Graph([(1, 2)]), "numbered from 0 to 1"),
        (networkx.Graph([("a", "b")]), "numbered from 0 to 1"),
        (networkx.Graph([(0, 1), (1, 1)]), "no link to itself"),
    ],
)
def test_what_is_no_topology(graph, text):
    with pytest.raises(TopologyError, match=text):
        Topology(graph)


def test_error_reads_as_a_sentence():
    error = TopologyError([(("components", 1), "must be at least 1"), (("p",), "missing")])
    assert error.problems == [(("components", 1), "must be at least 1"), (("p",), "missing")]
    assert str(error) == "components.1: must be at least 1; p: missing"


@pytest.mark.parametrize(
    ("graph", "slots", "activations"),
    [
        (networkx.complete_graph(50), 1, 1225),
        (networkx.star_graph(49), 2, 98),
        (networkx.cycle_graph(50), 25, 1250),
    ],
)
def test_describe_has_the_figures_of_gis(graph, slots, activations):
    found = describe(Topology(graph))
    assert found["gis_slots"] == slots
    assert found["links_per_round"] == activations


def test_describe_is_plain_data():
    assert describe(Topology(two_parts())) == {
        "agents": 9,
        "links": 7,
        "components": 3,
        "diameter": 4,
        "radius": 0,
        "sinks": [4, 1, 7],
        "gis_slots": 4,
        "links_per_round": 4 + 4 + 4 + 4 + 1 + 1 + 1,
    }


def activations_by_simulation(graph):
    """Play one round of GIS in slots, nodes telling all neighbours what is new to them."""
    total = 0
    for nodes in networkx.connected_components(graph):
        fresh = {node: {node} for node in nodes}
        known = {node: {node} for node in nodes}
        while any(len(known[node]) < len(nodes) for node in nodes):
            total += len({tuple(sorted((node, near))) for node in nodes if fresh[node] for near in graph[node]})
            heard = {node: set().union(*(fresh[near] for near in graph[node])) - known[node] for node in nodes}
            for node in nodes:
                known[node] |= heard[node]
            fresh = heard
    return total


@given(st.integers(1, 16), st.integers(0, 1000), st.sampled_from([0.05, 0.15, 0.3, 0.6]))
@examples(80)
def test_links_per_round_against_a_simulation(agents, seed, p):
    graph = networkx.gnp_random_graph(agents, p, seed=seed)
    assert describe(Topology(graph))["links_per_round"] == activations_by_simulation(graph)


@pytest.mark.ci
def test_import_is_light():
    code = (
        "import sys; from netbandit.network import topology, families, files, geography, distances;"
        "print([name for name in ('scipy', 'networkx', 'pandas', 'matplotlib', 'numba') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
