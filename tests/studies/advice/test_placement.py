from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.studies.advice.placement import servers, sinks


def table(graph):
    return np.array(nx.floyd_warshall_numpy(graph, nodelist=sorted(graph)), dtype=np.int64)


def test_the_middle_of_a_path_hosts_the_server_and_two_sinks_share_it():
    distances = table(nx.path_graph(9))
    best = servers(distances)[0]
    assert (best.nodes, best.farthest) == ((4,), 4)
    pair = sinks(distances, 2)
    assert pair.farthest == 2
    assert max(min(abs(node - sink) for sink in pair.nodes) for node in range(9)) == 2


@examples(25)
@given(connected_graphs(9), st.integers(1, 3))
def test_no_set_is_better_up_to_two_and_three_are_no_worse_than_two(graph, count):
    distances = table(graph)
    if count > len(distances):
        with pytest.raises(ValueError, match="cannot be placed"):
            sinks(distances, count)
        return
    found = sinks(distances, count)
    best = min(distances[:, list(nodes)].min(axis=1).max() for nodes in combinations(range(len(distances)), count))
    if count <= 2:
        assert found.farthest == best
    else:
        assert best <= found.farthest <= sinks(distances, 2).farthest
    assert found.farthest == distances[:, list(found.nodes)].min(axis=1).max()
