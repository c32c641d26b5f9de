"""Placement of a server or sinks that minimizes the distance of the farthest agent."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

EXACT = 2
"""Up to this size all sets are tried; beyond, sinks are placed one by one and then moved while that helps."""


@dataclass(frozen=True)
class Placement:
    """Nodes that host a server, or sinks.

    Attributes:
        nodes: The nodes, ascending.
        farthest: The time of an item from the farthest agent to the nearest of them, in nanoseconds.
        mean: The same, mean over the agents.
    """

    nodes: tuple[int, ...]
    farthest: int
    mean: float


def servers(table: NDArray[np.int64], shown: int = 5) -> list[Placement]:
    """Return the best nodes for one server, the best first: by the farthest agent, then the mean, then the number.

    Args:
        table: The time of an item between nodes, in nanoseconds, shape (n, n).
        shown: The number of results.
    """
    farthest, means = table.max(axis=0), table.mean(axis=0)
    order = np.lexsort((np.arange(len(table)), means, farthest))[:shown]
    return [Placement((int(node),), int(farthest[node]), float(means[node])) for node in order]


def sinks(table: NDArray[np.int64], count: int) -> Placement:
    """Return *count* nodes such that the farthest agent is as near as possible to one of them (the k-centre problem).

    Exact for up to `EXACT` nodes. Beyond, greedy with exchanges: each next one is where it helps most, then single
    ones are moved as long as that helps.

    Raises:
        ValueError: There are fewer nodes than that.
    """
    agents = len(table)
    if not 1 <= count <= agents:
        raise ValueError(f"{count} sinks cannot be placed on {agents} nodes")
    if count <= EXACT:
        best = min(combinations(range(agents), count), key=lambda nodes: _reach(table, nodes))
        return _placement(table, best)
    chosen: list[int] = []
    for _ in range(count):
        free = [node for node in range(agents) if node not in chosen]
        chosen.append(min(free, key=lambda node: _reach(table, (*chosen, node))))
    improved = True
    while improved:
        improved = False
        for index in range(count):
            others = chosen[:index] + chosen[index + 1 :]
            free = [node for node in range(agents) if node not in others]
            better = min(free, key=lambda node: _reach(table, (*others, node)))
            if _reach(table, (*others, better))[:2] < _reach(table, tuple(chosen))[:2]:
                chosen[index] = better
                improved = True
    return _placement(table, tuple(sorted(chosen)))


def _reach(table: NDArray[np.int64], nodes: tuple[int, ...]) -> tuple[int, float, tuple[int, ...]]:
    nearest = table[:, list(nodes)].min(axis=1)
    return int(nearest.max()), float(nearest.mean()), nodes


def _placement(table: NDArray[np.int64], nodes: tuple[int, ...]) -> Placement:
    farthest, mean, _ = _reach(table, nodes)
    return Placement(tuple(sorted(nodes)), farthest, mean)
