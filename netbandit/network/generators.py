"""The shapes of graphs: each function returns the links of one draw, agents numbered from 0.

All return an array of shape (links, 2), int64, each undirected link once. Whether a random graph is connected is not
looked at here.
"""

import math

import numpy as np
from numpy.typing import NDArray

Edges = NDArray[np.int64]


def _pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> Edges:
    return np.stack([first, second], axis=1).astype(np.int64)


def star(agents: int) -> Edges:
    """Return a star whose centre is agent 0."""
    return _pairs(np.zeros(agents - 1, dtype=np.int64), np.arange(1, agents))


def path(agents: int) -> Edges:
    """Return a path in the order of the agents."""
    return _pairs(np.arange(agents - 1), np.arange(1, agents))


def ring(agents: int) -> Edges:
    """Return a ring in the order of the agents, at least 3."""
    return np.concatenate([path(agents), np.array([[0, agents - 1]], dtype=np.int64)])


def complete(agents: int) -> Edges:
    """Return all links there can be."""
    return _pairs(*np.triu_indices(agents, 1))


def grid(agents: int) -> Edges:
    """Return the grid nearest to a square that has exactly this many agents, numbered row by row."""
    rows = max(rows for rows in range(1, math.isqrt(agents) + 1) if agents % rows == 0)
    numbers = np.arange(agents).reshape(rows, -1)
    across = _pairs(numbers[:, :-1].ravel(), numbers[:, 1:].ravel())
    down = _pairs(numbers[:-1].ravel(), numbers[1:].ravel())
    return np.concatenate([across, down])


def tree(agents: int, branching: int) -> Edges:
    """Return the tree with *branching* children a node, filled level by level from its root 0."""
    children = np.arange(1, agents)
    return _pairs((children - 1) // branching, children)


def random(rng: np.random.Generator, agents: int, p: float) -> Edges:
    """Return G(n, p): each link there can be exists with probability *p*, on its own (Gilbert, 1959).

    The gaps between the links that exist, in the order of all links there can be, are geometric (Batagelj and
    Brandes, 2005), so the work grows with the links that exist.
    """
    possible = agents * (agents - 1) // 2
    if p == 0 or possible == 0:
        return np.empty((0, 2), dtype=np.int64)
    blocks: list[NDArray[np.int64]] = []
    last = -1
    while last < possible:
        expected = (possible - last) * p
        gaps = rng.geometric(p, size=int(expected + 4 * math.sqrt(expected)) + 4)
        # A gap beyond the end is as good as any other; cut short, their sum cannot overflow.
        blocks.append(last + np.cumsum(np.minimum(gaps, possible + 1)))
        last = int(blocks[-1][-1])
    chosen = np.concatenate(blocks)
    chosen = chosen[chosen < possible]
    row_starts = np.concatenate([[0], np.cumsum(np.arange(agents - 1, 0, -1))])
    rows = np.searchsorted(row_starts, chosen, side="right") - 1
    return _pairs(rows, chosen - row_starts[rows] + rows + 1)


def regular(rng: np.random.Generator, agents: int, degree: int) -> Edges:
    """Return a random graph in which every agent has *degree* links (Steger and Wormald, 1999).

    With degree 2 it is a ring through all agents in random order, as any other would be disconnected.
    """
    if degree == 2:
        order = rng.permutation(agents).astype(np.int64)
        return _pairs(order, np.roll(order, -1))
    # Where most links exist it is quicker to draw those that do not: they are a random regular graph, too.
    absent = agents - 1 - degree
    drawn = min(degree, absent)
    import networkx

    graph = networkx.random_regular_graph(drawn, agents, seed=int(rng.integers(2**32)))
    edges = np.array(list(graph.edges()), dtype=np.int64).reshape(-1, 2)
    if drawn == degree:
        return edges
    present = ~np.eye(agents, dtype=bool)
    present[edges[:, 0], edges[:, 1]] = present[edges[:, 1], edges[:, 0]] = False
    return np.argwhere(np.triu(present)).astype(np.int64)


def small_world(rng: np.random.Generator, agents: int, degree: int, p: float) -> Edges:
    """Return a ring in which all are linked to their *degree* nearest, each link rewired with probability *p*.

    Watts and Strogatz, Collective dynamics of small-world networks, 1998.
    """
    import networkx

    graph = networkx.watts_strogatz_graph(agents, degree, p, seed=int(rng.integers(2**32)))
    return np.array(list(graph.edges()), dtype=np.int64).reshape(-1, 2)


def scale_free(rng: np.random.Generator, agents: int, attach: int) -> Edges:
    """Return a graph grown agent by agent, each linked to *attach* earlier ones in proportion to their links.

    It starts from a star of attach + 1 agents (Barabasi and Albert, Emergence of scaling in random networks, 1999).
    """
    ends = [end for link in star(attach + 1).tolist() for end in link]
    for agent in range(attach + 1, agents):
        targets: list[int] = []
        while len(targets) < attach:
            # An end of a link drawn uniformly is an agent drawn in proportion to its links.
            target = ends[int(rng.integers(len(ends)))]
            if target not in targets:
                targets.append(target)
        for target in targets:
            ends += (target, agent)
    return np.array(ends, dtype=np.int64).reshape(-1, 2)


def geometric(rng: np.random.Generator, agents: int, reach: float) -> Edges:
    """Return the links of agents at random places of the unit square that are at most *reach* apart."""
    from scipy.spatial import KDTree

    places = rng.random((agents, 2))
    return KDTree(places).query_pairs(reach, output_type="ndarray").astype(np.int64).reshape(-1, 2)
