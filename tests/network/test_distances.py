"""Distances against networkx, an independent implementation, over random graphs."""

from unittest.mock import patch

import networkx
import numpy as np
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network import distances


def adjacency(graph):
    edges = np.array(sorted(tuple(sorted(edge)) for edge in graph.edges), dtype=np.int64).reshape(-1, 2)
    return distances.adjacency(len(graph), edges)


@st.composite
def graphs(draw, connected=False):
    """A random graph, often disconnected, with nodes 0..n-1."""
    agents = draw(st.integers(1, 24))
    seed = draw(st.integers(0, 10_000))
    graph = networkx.gnp_random_graph(agents, draw(st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.5, 1.0])), seed=seed)
    if connected:
        tree = networkx.path_graph(agents)
        graph.add_edges_from(tree.edges if draw(st.booleans()) else [(0, node) for node in range(1, agents)])
    return graph


def expected_eccentricities(graph):
    result = {}
    for nodes in networkx.connected_components(graph):
        result.update(networkx.eccentricity(graph.subgraph(nodes)))
    return [result[node] for node in range(len(graph))]


# The ways to the same figures: together, by bounds, in batches of bits, source by source.
WAYS = {
    "together": {"SMALL": 512},
    "bounds": {"SMALL": 0},
    "few searches": {"SMALL": 0, "SEARCHES": 3},
    "bits": {"SMALL": 0, "SEARCHES": 0},
    "sources": {"SMALL": 0, "SEARCHES": 0, "LONG": 0},
    "small batches": {"BATCH": 3},
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", WAYS)
@given(graph=graphs())
@examples(60)
def test_eccentricities(graph, way):
    with patch.multiple(distances, **WAYS[way]):
        assert distances.eccentricities(adjacency(graph)).tolist() == expected_eccentricities(graph)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", WAYS)
@given(graph=graphs())
@examples(60)
def test_extremes(graph, way):
    eccentricity = expected_eccentricities(graph)
    with patch.multiple(distances, **WAYS[way]):
        found = distances.extremes(adjacency(graph))
    parts = sorted(networkx.connected_components(graph), key=min)
    assert len(found) == len(parts)
    for extremes, nodes in zip(found, parts, strict=True):
        mine = graph.subgraph(nodes)
        assert extremes.diameter == networkx.diameter(mine)
        assert extremes.radius == networkx.radius(mine)
        assert extremes.centre == min(networkx.center(mine))
        assert eccentricity[extremes.centre] == extremes.radius


@given(graph=graphs(), data=st.data())
@examples(150)
def test_hops_and_tree(graph, data):
    root = data.draw(st.integers(0, len(graph) - 1))
    lengths = networkx.single_source_shortest_path_length(graph, root)
    assert distances.hops(adjacency(graph), root).tolist() == [lengths.get(node, -1) for node in range(len(graph))]
    parents = [
        min(near for near in graph[node] if lengths[near] == lengths[node] - 1) if lengths.get(node, 0) else -1
        for node in range(len(graph))
    ]
    assert distances.bfs_tree(adjacency(graph), root).tolist() == parents


@given(graph=graphs())
@examples(60)
def test_components(graph):
    labels = [0] * len(graph)
    for label, nodes in enumerate(sorted(networkx.connected_components(graph), key=min)):
        for node in nodes:
            labels[node] = label
    assert distances.components(adjacency(graph)).tolist() == labels


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (networkx.path_graph(3001), (3000, 1500, 1500)),
        (networkx.cycle_graph(3001), (1500, 1500, 0)),
        (networkx.star_graph(3000), (2, 1, 0)),
        (networkx.complete_graph(600), (1, 1, 0)),
        (networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(41, 51)), (90, 45, 1045)),
        (networkx.circulant_graph(1000, [1, 2]), (250, 250, 0)),
        (networkx.barbell_graph(300, 1), (4, 2, 300)),
    ],
    ids=["path", "ring", "star", "complete", "grid", "lattice", "barbell"],
)
def test_large_graphs_whose_figures_are_known(graph, expected):
    (found,) = distances.extremes(adjacency(graph))
    assert (found.diameter, found.radius, found.centre) == expected


@pytest.mark.ci
@pytest.mark.parametrize("degree", [3, 12])
def test_large_random_graphs(degree):
    graph = networkx.gnm_random_graph(530, 265 * degree, seed=degree)  # more than are looked at together
    eccentricity = expected_eccentricities(graph)
    assert distances.eccentricities(adjacency(graph)).tolist() == eccentricity
    for extremes, nodes in zip(
        distances.extremes(adjacency(graph)), sorted(networkx.connected_components(graph), key=min), strict=True
    ):
        mine = [eccentricity[node] for node in sorted(nodes)]
        assert (extremes.diameter, extremes.radius) == (max(mine), min(mine))
        assert extremes.centre == sorted(nodes)[mine.index(min(mine))]


@given(agents=st.integers(1, 12), links=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=14))
def test_components_of_few_links_are_those_of_scipy(agents, links):
    pairs = sorted({(min(pair), max(pair)) for pair in links if max(pair) < agents and pair[0] != pair[1]})
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    expected = distances.components(distances.adjacency(agents, edges))
    found = distances.components_of(agents, edges)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


def test_components_of_many_links_are_the_same(monkeypatch):
    edges = np.random.default_rng(1).integers(0, 300, size=(200, 2))
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    few = distances.components_of(300, edges)
    monkeypatch.setattr(distances, "_FEW", 0)
    assert distances.components_of(300, edges).tolist() == few.tolist()


def test_what_cannot_be_reached_is_not_near():
    graph = distances.adjacency(6, np.array([[0, 1], [1, 2], [3, 4]]))
    assert distances.within(graph, 0, 1).tolist() == [0, 1]
    assert distances.within(graph, 1, 9).tolist() == [0, 1, 2]
    assert distances.within(graph, 5, 9).tolist() == [5]
