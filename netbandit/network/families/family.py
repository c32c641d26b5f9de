"""The base class of graph families: their keys, and how a graph is generated."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.network import distances
from netbandit.network.families.changes import ChangesKey
from netbandit.network.size_limits import too_large
from netbandit.network.topology import BareGraph, Topology, TopologyError
from netbandit.parts.component import Checks, Part, found_by

if TYPE_CHECKING:
    import networkx

Edges = NDArray[np.int64]
"""Undirected links, shape (links, 2), int64, each once."""

MOST_AGENTS = 10**7
"""The most agents of a topology."""

DRAWS = 1_000
"""How often a random graph is drawn in search of a connected one."""

LARGEST_SEED = 2**63 - 1  # the largest integer of TOML

COMMON_KEYS = ("changes", "neighbours", "seed")
"""The keys of all families."""


class Family(Part, ABC):
    """A family of graphs: its keys, and how one is drawn.

    One of your own is a class with the keys it wants::

        class Wheel(Family):
            agents: int = Field(ge=4)

            def build(self, rng):
                return networkx.wheel_graph(self.agents)
    """

    seed: int | None = Field(default=None, ge=0, le=LARGEST_SEED)
    """Fixes the graph, and when its links are up, across replications."""
    changes: ChangesKey = None
    """How links come and go; absent: all links are always up."""
    neighbours: Literal["sensed", "unknown"] = "sensed"
    """Whether agents see which of their links are up (sensed), or not, so that what they send over others is lost
    (unknown)."""

    named_by = "family"
    random: ClassVar[bool] = True
    """Whether each replication has a graph of its own; False where there is only one."""

    @abstractmethod
    def build(self, rng: np.random.Generator) -> "networkx.Graph[int]":
        """Return a graph with nodes 0..n-1, all its randomness drawn from *rng*.

        Raises:
            TopologyError: There is no such graph.
        """

    def demand(self) -> None:
        """Raise TopologyError if there is a mistake between the keys."""
        mistakes, _ = found_by(self.check(), "topology")
        if mistakes:
            raise TopologyError((path[1:], text) for path, text in mistakes)

    def table(self) -> dict[str, Any]:
        """Return the keys with all defaults, those of all families last."""
        found = super().table()
        common = {key: found.pop(key) for key in COMMON_KEYS}
        return {**found, **common}

    def files(self) -> dict[str, str]:
        """Return the files whose content decides the graph, by the key that names each; none by default."""
        return {}


class Shape(Family):
    """A family of connected graphs, of which several can stand side by side in a ``hybrid``.

    One of these needs `links`, and `expected` where there may be many.
    """

    agents: int = Field(ge=1, le=MOST_AGENTS)
    """Number of agents (M)."""

    redraw: ClassVar[str | None] = None
    """The key to blame when no draw is connected; None where every draw is."""

    @abstractmethod
    def links(self, rng: np.random.Generator) -> Edges:
        """Return the links of one draw, agents numbered from 0; it need not be connected."""

    def expected(self) -> float:
        """Return the number of links to expect."""
        return self.agents - 1

    def check_shape(self) -> Checks:
        """Yield invalid combinations of the keys of this family; by default none."""
        yield from ()

    def check(self) -> Checks:
        """Yield invalid keys, and graphs that are too large."""
        found = list(self.check_shape())
        yield from found
        if not found:
            yield from too_large("agents", self.agents, self.expected())

    def build(self, rng: np.random.Generator) -> "networkx.Graph[int]":
        """Return a connected graph; a disconnected draw is drawn again as a whole."""
        return Topology(self.drawn(rng)).graph

    def drawn(self, rng: np.random.Generator) -> BareGraph:
        """Return the same as its links."""
        self.demand()
        return BareGraph(self.agents, self.connected(rng))

    def connected(self, rng: np.random.Generator) -> Edges:
        """Return the links of a connected draw.

        Raises:
            TopologyError: None of `DRAWS` draws was connected.
        """
        if self.redraw is None:
            return self.links(rng)
        agents = self.agents
        for _ in range(DRAWS):
            links = self.links(rng)
            # The two cheap tests settle most of the draws that fail.
            if len(links) < agents - 1 or (agents > 1 and not np.bincount(links.ravel(), minlength=agents).all()):
                continue
            if not distances.components_of(agents, links).any():
                return links
        text = f"none of {DRAWS:,} graphs of {agents} agents drawn with it was connected"
        raise TopologyError([((self.blamed(),), text)])

    def blamed(self) -> str:
        """Return the key to blame when no draw is connected."""
        return self.redraw or "agents"


def graph_of(sizes: list[int], parts: list[Edges]) -> "networkx.Graph[int]":
    """Return a graph of components side by side.

    Args:
        sizes: The number of agents of each.
        parts: The links of each, its agents numbered from 0.
    """
    import networkx

    graph: networkx.Graph[int] = networkx.Graph()
    nodes = list(range(sum(sizes)))  # one object for each number: a link does not bring its own
    graph.add_nodes_from(nodes)
    first = 0
    for size, links in zip(sizes, parts, strict=True):
        graph.add_edges_from((nodes[one], nodes[other]) for one, other in (links + first).tolist())
        first += size
    return graph


def pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> Edges:
    """Return links from one end of each to the other."""
    return np.stack([first, second], axis=1).astype(np.int64)


def all_pairs(agents: int) -> float:
    """Return the number of links there can be."""
    return agents * (agents - 1) / 2
