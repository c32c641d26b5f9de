"""The topology: an immutable graph of agents and the quantities derived from it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.network import distances
from netbandit.parts.settings import Problem

if TYPE_CHECKING:
    import networkx

    from netbandit.network.contacts import ContactList


class TopologyError(Exception):
    """A graph that cannot be read or generated.

    Attributes:
        problems: What is wrong, each at a key path relative to the topology's table.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(": ".join([".".join(map(str, path)), text]) for path, text in self.problems))


class BareGraph(NamedTuple):
    """A graph of which nothing is known but its links; networkx, whose import takes longer than a check, is not needed.

    Attributes:
        agents: The number n of agents, which are 0..n-1.
        ends: The undirected links, shape (links, 2).
    """

    agents: int
    ends: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Topology:
    """A graph of agents; the server, where there is one, is not part of it.

    Nothing here depends on the order in which the graph was built: nodes, links and neighbours are sorted.

    Args:
        made_of: An undirected graph without self loops whose nodes are 0..n-1. A node may have a ``name``, a
            ``latitude`` and a ``longitude`` (degrees), a link a ``speed`` (bits a second). Not to be changed later.
        contacts: When links are up, where the graph is made of contacts; None: always, or by ``topology.changes``.

    Raises:
        TopologyError: If the graph is another one, or has no nodes.
    """

    made_of: "networkx.Graph[int] | BareGraph"
    contacts: "ContactList | None" = None

    def __post_init__(self) -> None:
        graph = self.made_of
        if isinstance(graph, BareGraph):
            _check_bare(graph)
            return
        if graph.is_directed() or graph.is_multigraph():
            raise TopologyError([((), "a topology has undirected links, one between two agents at most")])
        if not len(graph):
            raise TopologyError([((), "a topology has at least one agent")])
        if any(node not in graph for node in range(len(graph))):
            raise TopologyError([((), f"the agents of a topology are numbered from 0 to {len(graph) - 1}")])
        if any(graph.has_edge(node, node) for node in range(len(graph))):
            raise TopologyError([((), "an agent has no link to itself")])

    @cached_property
    def graph(self) -> "networkx.Graph[int]":
        """It as a graph of networkx."""
        if not isinstance(self.made_of, BareGraph):
            return self.made_of
        import networkx

        graph: networkx.Graph[int] = networkx.Graph()
        nodes = list(range(self.agents))  # one object for each number: a link does not bring its own
        graph.add_nodes_from(nodes)
        graph.add_edges_from((nodes[one], nodes[other]) for one, other in self.edges.tolist())
        return graph

    @property
    def bare(self) -> bool:
        """Whether neither agents nor links say anything of themselves, such as names or places."""
        return isinstance(self.made_of, BareGraph)

    @property
    def agents(self) -> int:
        """The number of agents n."""
        return self.made_of.agents if isinstance(self.made_of, BareGraph) else len(self.made_of)

    @property
    def links(self) -> int:
        """The number of undirected links L."""
        return len(self.edges)

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """The undirected links, shape (L, 2), the lower number first, in lexicographic order."""
        made_of = self.made_of
        ends = made_of.ends if isinstance(made_of, BareGraph) else list(made_of.edges())
        pairs: NDArray[np.int64] = np.array(ends, dtype=np.int64).reshape(-1, 2)
        pairs.sort(axis=1)
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        again = (np.diff(pairs, axis=0) == 0).all(axis=1)
        return np.delete(pairs, np.flatnonzero(again), axis=0) if again.any() else pairs

    @cached_property
    def adjacency(self) -> "distances.Adjacency":
        """The graph as `netbandit.network.distances` takes it, shape (n, n)."""
        return distances.adjacency(self.agents, self.edges)

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """The neighbours of each agent, ascending."""
        nodes = list(range(self.agents))  # one object for each number, however many neighbours it has
        starts = self.adjacency.indptr.tolist()
        indices = [nodes[node] for node in self.adjacency.indices.tolist()]
        return [indices[starts[node] : starts[node + 1]] for node in nodes]

    @cached_property
    def component(self) -> NDArray[np.int64]:
        """The component of each agent, shape (n,), numbered in the order of their lowest agents."""
        return distances.components_of(self.agents, self.edges)

    @cached_property
    def components(self) -> list[NDArray[np.int64]]:
        """The agents of each component, ascending."""
        members = np.argsort(self.component, kind="stable")
        return np.split(members, np.cumsum(np.bincount(self.component))[:-1])

    @cached_property
    def extremes(self) -> list[distances.Extremes]:
        """Diameter, radius and centre of each component."""
        return distances.extremes(self.adjacency)

    @property
    def diameter(self) -> int:
        """The largest distance between two agents of one component, in hops."""
        return max(component.diameter for component in self.extremes)

    @property
    def radius(self) -> int:
        """The smallest eccentricity, in hops; over all components."""
        return min(component.radius for component in self.extremes)

    @cached_property
    def sinks(self) -> list[int]:
        """The sink of each component: its agent with the smallest eccentricity, lowest number among equals."""
        return [component.centre for component in self.extremes]

    @cached_property
    def eccentricities(self) -> NDArray[np.int64]:
        """Each agent's largest distance within its component, shape (n,), in hops."""
        return distances.eccentricities(self.adjacency)

    def eccentricity(self, component: int) -> NDArray[np.int64]:
        """Return the eccentricity of each agent of *component*, in the order of ``components[component]``."""
        return self.eccentricities[self.components[component]]

    def hops(self, source: int) -> NDArray[np.int64]:
        """Return each agent's distance from *source* in hops, shape (n,), -1 in other components."""
        return distances.hops(self.adjacency, source)

    def bfs_tree(self, root: int) -> NDArray[np.int64]:
        """Return each agent's parent on its way to *root*, shape (n,); -1 for the root and in other components.

        The parent is the lowest-numbered of the neighbours that are nearer to the root.
        """
        return distances.bfs_tree(self.adjacency, root)

    @cached_property
    def sink_parents(self) -> NDArray[np.int64]:
        """Each agent's parent on its way to the sink of its component, shape (n,); -1 for the sinks."""
        return distances.bfs_forest(self.adjacency, self.sinks)

    @cached_property
    def names(self) -> list[str]:
        """The name of each agent; its number where the graph gives none."""
        if self.bare:
            return list(map(str, range(self.agents)))
        return [str(self.graph.nodes[node].get("name", node)) for node in range(self.agents)]

    @cached_property
    def coordinates(self) -> NDArray[np.float64] | None:
        """Latitude and longitude of each agent in degrees, shape (n, 2), NaN where unknown; None if all are."""
        if self.bare:
            return None
        found = ((node, (data.get("latitude"), data.get("longitude"))) for node, data in self.graph.nodes(data=True))
        known = {node: pair for node, pair in found if None not in pair}
        if not known:
            return None
        places = np.full((self.agents, 2), np.nan)
        places[list(known)] = list(known.values())
        return None if np.isnan(places).all() else places


def _check_bare(graph: BareGraph) -> None:
    if not graph.agents:
        raise TopologyError([((), "a topology has at least one agent")])
    if ((graph.ends < 0) | (graph.ends >= graph.agents)).any():
        raise TopologyError([((), f"the agents of a topology are numbered from 0 to {graph.agents - 1}")])
    if len(graph.ends) and (graph.ends[:, 0] == graph.ends[:, 1]).any():
        raise TopologyError([((), "an agent has no link to itself")])


def describe(topology: Topology) -> dict[str, Any]:
    """Return the figures of *topology* as plain data.

    ``gis_slots`` is how many hops a round of ``gis`` takes, each a slot where links take none: the diameter.
    ``links_per_round`` is the number of its link activations, exactly: an agent advertises in slot t if something new
    reached it then, which is so while t is at most its eccentricity, and not after the end of its component's round.
    """
    diameters = np.array([component.diameter for component in topology.extremes])
    first, second = topology.edges[:, 0], topology.edges[:, 1]
    slots = diameters[topology.component[first]]
    if any(component.radius < component.diameter - 1 for component in topology.extremes):
        # Else every agent advertises to the end, and the search for all eccentricities, which is long, is spared.
        eccentricity = topology.eccentricities
        slots = np.minimum(np.maximum(eccentricity[first], eccentricity[second]) + 1, slots)
    return {
        "agents": topology.agents,
        "links": topology.links,
        "components": len(topology.components),
        "diameter": topology.diameter,
        "radius": topology.radius,
        "sinks": topology.sinks,
        "gis_slots": topology.diameter,
        "links_per_round": int(slots.sum()),
    }
