"""Graphs that hypothesis draws."""

import networkx as nx
from hypothesis import strategies as st


@st.composite
def connected(draw, most):
    """A connected graph of one to *most* nodes, numbered from 0: a random tree, and up to eight links more."""
    agents = draw(st.integers(1, most))
    graph = nx.empty_graph(agents)
    for node in range(1, agents):
        graph.add_edge(node, draw(st.integers(0, node - 1)))
    for first, second in draw(st.lists(st.tuples(*[st.integers(0, agents - 1)] * 2), max_size=8)):
        if first != second:
            graph.add_edge(first, second)
    return graph
