"""Single points of failure: bridges, cut nodes, and the pairs of agents that one failure can separate."""

from dataclasses import dataclass
from typing import Any

import networkx
import numpy as np
from numpy.typing import NDArray

from netbandit.network.topology import Topology


@dataclass(frozen=True)
class SinglePoint:
    """A link or a node without which some agents cannot reach others.

    Attributes:
        nodes: The node, or the two ends of the link.
        separated: Pairs of agents that cannot reach each other without it; the node itself is in none of them.
    """

    nodes: tuple[int, ...]
    separated: int


def bridges(topology: Topology) -> list[SinglePoint]:
    """Return the links whose failure separates agents, the most important first."""
    found = []
    for one, other in _bridges(topology):
        first, second = min(one, other), max(one, other)
        found.append(SinglePoint((first, second), _separated(topology, without_link=(first, second))))
    return sorted(found, key=lambda point: (-point.separated, point.nodes))


def cut_nodes(topology: Topology) -> list[SinglePoint]:
    """Return the nodes whose failure separates others, the most important first."""
    found = [
        SinglePoint((node,), _separated(topology, without_node=node))
        for node in networkx.articulation_points(topology.graph)
    ]
    return sorted(found, key=lambda point: (-point.separated, point.nodes))


def separable_pairs(topology: Topology) -> int:
    """Return how many pairs of connected agents the failure of a single link can separate."""
    connected = sum(_pairs(len(part)) for part in topology.components)
    kept = sum(_pairs(len(part)) for part in networkx.k_edge_components(topology.graph, 2))
    return connected - kept


def separable_with_link(topology: Topology, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `separable_pairs` with one link added, for each of *candidates*, shape (k, 2), exactly.

    Nodes that no single link can separate are contracted, so that a forest of bridges is left; a new link makes one
    such part of all parts on the way between its ends. One that joins two components separates more pairs: all that
    reach each other only over it.
    """
    parts = list(networkx.k_edge_components(topology.graph, 2))
    part_of = np.empty(topology.agents, dtype=np.int64)
    for number, part in enumerate(parts):
        part_of[list(part)] = number
    sizes = [len(part) for part in parts]
    forest: networkx.Graph[int] = networkx.Graph()
    forest.add_nodes_from(range(len(parts)))
    for one, other in _bridges(topology):
        forest.add_edge(int(part_of[one]), int(part_of[other]))
    before = separable_pairs(topology)
    members = np.bincount(topology.component)
    # For each root: agents on the way to each other part, and pairs that are inseparable there already.
    gains = np.full((len(parts), len(parts)), -1, dtype=np.int64)
    for root in range(len(parts)):
        stack = [(root, -1, sizes[root], _pairs(sizes[root]))]
        while stack:
            node, parent, agents, inside = stack.pop()
            gains[root, node] = _pairs(agents) - inside
            farther = [near for near in forest[node] if near != parent]
            stack += [(near, node, agents + sizes[near], inside + _pairs(sizes[near])) for near in farther]
    first, second = candidates[:, 0], candidates[:, 1]
    gain = gains[part_of[first], part_of[second]]
    here, there = topology.component[first], topology.component[second]
    return np.where(here == there, before - gain, before + members[here] * members[there])


def _bridges(topology: Topology) -> list[tuple[int, int]]:
    links: list[Any] = list(networkx.bridges(topology.graph))  # its stub says nodes, not links
    return [(int(one), int(other)) for one, other in links]


def _separated(topology: Topology, without_link: tuple[int, int] | None = None, without_node: int | None = None) -> int:
    """Return the number of pairs that are connected, but not without a link or a node."""
    graph = networkx.Graph(topology.graph)
    if without_link is not None:
        graph.remove_edge(*without_link)
    lost = 0
    if without_node is not None:
        lost = len(topology.components[int(topology.component[without_node])]) - 1  # pairs with the node itself
        graph.remove_node(without_node)
    before = sum(_pairs(len(part)) for part in topology.components) - lost
    return before - sum(_pairs(len(part)) for part in networkx.connected_components(graph))


def _pairs(agents: int) -> int:
    return agents * (agents - 1) // 2
