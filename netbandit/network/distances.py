"""Hop distances: searches, trees, and exact eccentricities of graphs of any size.

A graph here is a symmetric `scipy.sparse.csr_array` of shape (n, n) with sorted indices, a 1 for each direction of
each link, as `adjacency` builds it. Searches are those of `scipy.sparse.csgraph`. Where many sources are searched
from, 64 of them share one pass, a bit each, so no all-pairs table is ever stored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Adjacency: TypeAlias = csr_array[np.float64, tuple[int, int]]

Integers = NDArray[np.int64]

SEARCHES = 128
"""Single searches spent on narrowing bounds before the rest is searched in batches."""

BATCH = 64
"""Sources of a batch: the bits of a word."""

LONG = 128
"""From this diameter on, a batch costs less source by source than level by level."""

SMALL = 512
"""Components up to this size have all their eccentricities computed, together with all other small ones."""


def adjacency(agents: int, edges: Integers) -> "Adjacency":
    """Return the adjacency of *agents* nodes and undirected *edges*, shape (links, 2), each link given once."""
    from scipy.sparse import csr_array

    first, second = edges[:, 0], edges[:, 1]
    rows, columns = np.concatenate([first, second]), np.concatenate([second, first])
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(agents, agents))
    graph.sort_indices()
    return graph


def components(graph: "Adjacency") -> Integers:
    """Return the component of each node, shape (n,), numbered in the order of their lowest nodes."""
    agents = graph.shape[0]
    if agents + len(graph.indices) // 2 <= _FEW:
        return _few_components(agents, np.repeat(np.arange(agents), np.diff(graph.indptr)), graph.indices)
    from scipy.sparse.csgraph import connected_components

    labels = np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def components_of(agents: int, edges: Integers) -> Integers:
    """Return the component of each node as `components` does, shape (agents,), for links of shape (links, 2)."""
    if agents + len(edges) > _FEW:
        return components(adjacency(agents, edges))
    return _few_components(agents, edges[:, 0], edges[:, 1])


def _few_components(agents: int, firsts: NDArray[np.integer], seconds: NDArray[np.integer]) -> Integers:
    """Return the component of each node where there are few links, each with two ends.

    It needs no scipy, whose import takes longer than the rest of a small scenario's check.
    """
    lowest = list(range(agents))  # union-find: leads to the lowest node of the component

    def root(node: int) -> int:
        while lowest[node] != node:
            lowest[node] = lowest[lowest[node]]
            node = lowest[node]
        return node

    for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True):
        one, other = root(first), root(second)
        lowest[max(one, other)] = min(one, other)
    return np.unique([root(node) for node in range(agents)], return_inverse=True)[1].astype(np.int64)


_FEW = 20_000
"""Nodes and links up to which they are processed in plain Python."""


def hops(graph: "Adjacency", source: int) -> Integers:
    """Return the distance of each node from *source* in hops, shape (n,), -1 where there is no way."""
    from scipy.sparse.csgraph import breadth_first_order

    order, predecessors = breadth_first_order(graph, source, directed=True, return_predecessors=True)
    position = np.empty(graph.shape[0], dtype=np.int64)
    position[order] = np.arange(len(order))
    # In the order of the search the predecessors' positions never fall, so each level is a block of it.
    parents = position[predecessors[order[1:]]]
    starts = [0, 1]
    while starts[-1] < len(order):
        starts.append(1 + int(np.searchsorted(parents, starts[-1])))
    distance = np.full(graph.shape[0], -1, dtype=np.int64)
    distance[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return distance


def within(graph: "Adjacency", source: int, most: int) -> Integers:
    """Return the nodes that are at most so many hops from *source*, itself included, ascending."""
    distance = hops(graph, source)
    return np.flatnonzero((distance >= 0) & (distance <= most))


def bfs_tree(graph: "Adjacency", root: int) -> Integers:
    """Return each node's parent in the breadth-first tree of *root*, shape (n,).

    The parent is the lowest-numbered neighbour that is one hop nearer to the root; -1 for the root itself and for
    unreachable nodes.
    """
    return _parents(graph, hops(graph, root))


def bfs_forest(graph: "Adjacency", roots: Sequence[int]) -> Integers:
    """Return each node's parent in the breadth-first trees of *roots*, one in each component, shape (n,).

    As `bfs_tree`, but in one search for all components together.
    """
    from scipy.sparse import csr_array, vstack

    agents = graph.shape[0]
    # From one more node, with links to all roots, every node is one hop farther away.
    above = csr_array((np.ones(len(roots)), np.sort(roots), [0, len(roots)]), shape=(1, agents))
    joined = vstack([graph, above], format="csr")
    joined.resize(agents + 1, agents + 1)
    return _parents(graph, hops(joined, agents)[:-1] - 1)


def _parents(graph: "Adjacency", distance: Integers) -> Integers:
    """Return for each node its lowest-numbered neighbour that is one hop nearer, shape (n,), -1 where there is none.

    Args:
        graph: The graph.
        distance: The hops of each node from the root, shape (n,), negative where there is no way.
    """
    nodes = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    nearer = distance[graph.indices] == distance[nodes] - 1
    nearer &= distance[nodes] > 0
    children, first = np.unique(nodes[nearer], return_index=True)
    parents = np.full(graph.shape[0], -1, dtype=np.int64)
    parents[children] = graph.indices[nearer][first]
    return parents


def eccentricities(graph: "Adjacency") -> Integers:
    """Return each node's largest distance within its component, shape (n,), exact; any number of components."""
    labels = components(graph)
    sizes = np.bincount(labels)
    result = np.zeros(len(labels), dtype=np.int64)
    small = sizes[labels] <= SMALL
    if small.any():
        result[small] = _of_small(_part(graph, small), labels[small])
    for label in np.flatnonzero(sizes > SMALL):
        mine = labels == label
        bounds = _Bounds(_part(graph, mine))
        bounds.close(lambda bounds: bounds.lower < bounds.upper)
        result[mine] = bounds.lower
    return result


@dataclass(frozen=True)
class Extremes:
    """The extreme eccentricities of a connected graph.

    Attributes:
        diameter: The largest eccentricity, in hops.
        radius: The smallest eccentricity, in hops.
        centre: The node with the smallest eccentricity, the lowest number among equals.
    """

    diameter: int
    radius: int
    centre: int


def extremes(graph: "Adjacency") -> list[Extremes]:
    """Return the exact diameter, radius and centre of each component, in the order of `components`.

    Bounds on the eccentricities (Takes and Kosters, Determining the diameter of small world networks, CIKM 2011)
    spare most searches of a large component; memory grows with its nodes and links only.
    """
    labels = components(graph)
    sizes = np.bincount(labels)
    nodes = np.argsort(labels, kind="stable")
    members = np.split(nodes, np.cumsum(sizes)[:-1])
    small = sizes[labels] <= SMALL
    eccentricity = np.zeros(len(labels), dtype=np.int64)
    if small.any():
        eccentricity[small] = _of_small(_part(graph, small), labels[small])
    result = []
    for mine in members:
        if len(mine) > SMALL:
            bounds = _Bounds(_part(graph, mine))
            bounds.close(_may_be_extreme)
            lower, upper = bounds.lower, bounds.upper
        else:
            lower = upper = eccentricity[mine]
        # argmin takes the first among equals, which is the lowest number as members are in ascending order.
        result.append(Extremes(int(lower.max()), int(upper.min()), int(mine[upper.argmin()])))
    return result


def _part(graph: "Adjacency", nodes: NDArray[np.bool_] | Integers) -> "Adjacency":
    """Return the graph of *nodes* (a mask or ascending numbers) alone, renumbered in their order."""
    part = graph[nodes][:, nodes]
    part.sort_indices()
    return part


def _of_small(graph: "Adjacency", labels: Integers) -> Integers:
    """Return all eccentricities of a graph whose components, numbered by *labels*, are small.

    Searches in different components never meet, so the j-th nodes of all components share a bit.
    """
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(labels, kind="stable")
    rank = np.empty(len(labels), dtype=np.int64)
    rank[order] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    result = np.zeros(len(labels), dtype=np.int64)
    for first in range(0, int(sizes.max()), BATCH):
        kept = np.flatnonzero(sizes[labels] > first)
        sources = np.flatnonzero((rank[kept] >= first) & (rank[kept] < first + BATCH))
        bits = rank[kept][sources] - first
        result[kept[sources]] = _batch(_part(graph, kept), sources, bits, labels[kept])
    return result


def _batch(graph: "Adjacency", sources: Integers, bits: Integers, labels: Integers) -> Integers:
    """Return the eccentricity of each source, all searches in one pass, level by level.

    Args:
        graph: Any number of components.
        sources: The nodes to search from, shape (s,).
        bits: The bit (0 to 63) of each source, shape (s,); two sources share one in different components only.
        labels: The component of each node, shape (n,).
    """
    linked = np.flatnonzero(np.diff(graph.indptr))
    starts, neighbours = graph.indptr[linked], graph.indices
    reached = np.zeros(graph.shape[0], dtype=np.uint64)
    reached[sources] = np.left_shift(np.uint64(1), bits.astype(np.uint64))
    own = reached[sources]
    eccentricity = np.zeros(len(sources), dtype=np.int64)
    level = 0
    while len(linked):
        before = reached[linked]
        after = before | np.bitwise_or.reduceat(reached[neighbours], starts)
        fresh = np.zeros(int(labels.max()) + 1, dtype=np.uint64)
        np.bitwise_or.at(fresh, labels[linked], before ^ after)
        if not fresh.any():
            break
        level += 1
        eccentricity[(fresh[labels[sources]] & own) != 0] = level
        reached[linked] = after
    return eccentricity


class _Bounds:
    """Lower and upper bounds on the eccentricities of a connected graph, narrowed until they suffice."""

    def __init__(self, graph: "Adjacency") -> None:
        self.graph = graph
        self.agents = graph.shape[0]
        degrees = np.diff(graph.indptr)
        everywhere = degrees == self.agents - 1
        self.lower = np.where(everywhere, 1, 2).astype(np.int64)
        self.upper = np.where(everywhere, 1, self.agents - 1).astype(np.int64)
        self.far = np.zeros(self.agents, dtype=np.int64)
        if (degrees == 2).all():
            # A ring is the one common graph whose bounds never meet: all nodes are alike.
            self.lower[:] = self.upper[:] = self.agents // 2
        else:
            self.search(int(degrees.argmax()))

    def search(self, source: int) -> int:
        """Search from *source*, narrow all bounds, and return a node farthest from it."""
        distance = hops(self.graph, source)
        eccentricity = distance.max()
        np.maximum(self.lower, np.maximum(distance, eccentricity - distance), out=self.lower)
        np.minimum(self.upper, eccentricity + distance, out=self.upper)
        self.lower[source] = self.upper[source] = eccentricity
        self.far += distance
        farthest = np.flatnonzero(distance == eccentricity)
        return int(farthest[self.far[farthest].argmax()])

    def close(self, open_nodes: "Callable[[_Bounds], NDArray[np.bool_]]") -> None:
        """Make the bounds of all *open_nodes* exact; the set is computed anew after each step."""
        searches = 0
        while (left := np.flatnonzero(open_nodes(self))).size and searches < SEARCHES:
            # Alternate between the most central candidate, the node farthest from it, and the most remote one.
            central = left[np.lexsort((self.far[left], self.lower[left]))[0]]
            remote = left[np.lexsort((-self.far[left], -self.upper[left]))[0]]
            self.search(self.search(int(central)))
            self.search(int(remote))
            searches += 3
        while (left := np.flatnonzero(open_nodes(self))).size:
            sources = left[:BATCH]
            self.lower[sources] = self.upper[sources] = self._exact(sources)

    def _exact(self, sources: Integers) -> Integers:
        """Return the eccentricities of up to 64 sources."""
        if self.lower.max() < LONG:
            return _batch(self.graph, sources, np.arange(len(sources)), np.zeros(self.agents, dtype=np.int64))
        from scipy.sparse.csgraph import dijkstra

        table: NDArray[np.float64] = dijkstra(self.graph, directed=True, indices=sources, unweighted=True)
        largest: Integers = table.max(axis=1).astype(np.int64)
        return largest


def _may_be_extreme(bounds: _Bounds) -> NDArray[np.bool_]:
    """Return the nodes that may yet change the diameter, the radius or the centre."""
    lower, upper = bounds.lower, bounds.upper
    radius = upper.min()
    before_centre = np.arange(len(lower)) < upper.argmin()
    matters: NDArray[np.bool_] = (upper > lower.max()) | (lower < radius) | ((lower == radius) & before_centre)
    return matters & (lower < upper)
