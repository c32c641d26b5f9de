import networkx as nx
import numpy as np
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.topology import Topology
from netbandit.protocols.mixing import mixing, second_eigenvalue


def matrix_of(graph, rule, step=None):
    """Return P from its definition, and as it is kept, both dense."""
    agents = len(graph)
    degrees = np.array([graph.degree[node] for node in range(agents)])
    expected = np.zeros((agents, agents))
    if rule == "max-degree":
        largest = max(1, degrees.max())
        kappa = largest / (largest + 1) if step is None else step
        expected = np.eye(agents) - kappa / largest * nx.laplacian_matrix(graph, range(agents)).toarray()
    elif rule == "metropolis":
        for one, other in graph.edges:
            expected[one, other] = expected[other, one] = 1 / max(degrees[one] + 1, degrees[other] + 1)
        expected += np.diag(1 - expected.sum(axis=1))
    else:
        expected = (np.eye(agents) + nx.to_numpy_array(graph, range(agents))) / (degrees[:, None] + 1)
    kept = mixing(agents, Topology(graph).edges, rule, step)
    dense = np.diag(kept.own)
    dense[kept.receivers, kept.senders] = kept.weights
    return expected, dense, kept


@examples(60)
@given(connected_graphs(), st.sampled_from(["max-degree", "metropolis", "uniform"]))
def test_the_matrix_is_that_of_its_definition(graph, rule):
    expected, dense, kept = matrix_of(graph, rule)
    np.testing.assert_allclose(dense, expected, atol=1e-14)
    np.testing.assert_allclose(dense.sum(axis=1), 1, rtol=1e-14)
    if rule != "uniform":
        np.testing.assert_allclose(dense.sum(axis=0), 1, rtol=1e-14)
    moduli = np.sort(np.abs(np.linalg.eigvals(expected)))
    assert second_eigenvalue(kept) == pytest.approx(moduli[-2] if len(graph) > 1 else 0.0, abs=1e-7)
    assert second_eigenvalue(kept) < 1


@pytest.mark.parametrize(("graph", "second"), [
    (nx.cycle_graph(50), 0.994743), (nx.cycle_graph(100), 0.998684), (nx.cycle_graph(200), 0.999671),
    (nx.grid_2d_graph(10, 10), 0.980423), (nx.grid_2d_graph(15, 15), 0.991259), (nx.star_graph(49), 0.98),
    (nx.path_graph(50), 0.998684), (nx.complete_graph(7), 0.0),
])  # fmt: skip
def test_the_second_eigenvalues_of_well_known_graphs(graph, second):
    graph = nx.convert_node_labels_to_integers(graph)
    assert round(second_eigenvalue(matrix_of(graph, "max-degree")[2]), 6) == pytest.approx(second, abs=1e-12)


def test_a_step_of_more_than_one_can_diverge():
    for graph in (nx.cycle_graph(5), nx.path_graph(5)):
        expected, _, kept = matrix_of(graph, "max-degree", step=2.0)
        assert second_eigenvalue(kept) == pytest.approx(np.abs(np.linalg.eigvalsh(expected)).max())
        assert second_eigenvalue(kept) == pytest.approx(2.6, abs=0.05)


@pytest.mark.ci
def test_the_eigenvalues_of_a_large_graph_are_found_without_all_of_them():
    """Of a cycle they are known: 1 - 4/3 sin^2(pi k / M)."""
    graph = nx.circulant_graph(1_600, range(1, 200))
    turns = np.cos(2 * np.pi * np.outer(np.arange(1_600), np.arange(1, 200)) / 1_600).sum(axis=1)
    values = 1 - (398 - 2 * turns) / 399
    assert second_eigenvalue(matrix_of(graph, "max-degree")[2]) == pytest.approx(np.sort(np.abs(values))[-2], abs=1e-9)
