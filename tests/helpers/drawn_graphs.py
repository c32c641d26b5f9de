"""Graphs that hypothesis draws."""

import networkx as nx
from hypothesis import strategies as st


@st.composite
def connected_graphs(draw, most=12):
    """Draw a random tree and some more links."""
    agents = draw(st.integers(1, most))
    graph = nx.empty_graph(agents)
    for node in range(1, agents):
        graph.add_edge(node, draw(st.integers(0, node - 1)))
    if agents > 2:
        for first, second in draw(st.lists(st.tuples(*[st.integers(0, agents - 1)] * 2), max_size=12)):
            if first != second:
                graph.add_edge(first, second)
    return graph
