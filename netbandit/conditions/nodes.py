"""The nodes that keys of a scenario name, by their numbers or by the names in a graph's file."""

from collections.abc import Iterable, Iterator, Sequence

from netbandit.network.topology import Topology
from netbandit.parts.settings import Problem
from netbandit.util.wording import show

NodeName = int | str
"""A node, by its number or by the name that the graph's file gives it."""


class NodeNumbers:
    """Maps node names of a scenario to node numbers."""

    def __init__(self, topology: Topology) -> None:
        self._agents = topology.agents
        self._by_name = {name: number for number, name in enumerate(topology.names)}

    def __contains__(self, node: NodeName) -> bool:
        return node in self._by_name if isinstance(node, str) else 0 <= node < self._agents

    def __getitem__(self, node: NodeName) -> int:
        return self._by_name[node] if isinstance(node, str) else node


def node_problems(
    path: tuple[str | int, ...], nodes: Sequence[NodeName], topology: Topology, seen: set[int], twice: str
) -> Iterator[Problem]:
    """Yield the *nodes* of a list that are missing from the graph or have been seen before.

    Args:
        path: The key path of the list.
        nodes: The nodes.
        topology: The graph.
        seen: The numbers of the nodes seen so far; updated.
        twice: The message for a node seen before.
    """
    numbers = NodeNumbers(topology)
    for index, node in enumerate(nodes):
        if node not in numbers:
            yield (*path, index), no_node(node, topology)
        elif numbers[node] in seen:
            yield (*path, index), f"{show(node)} {twice}"
        else:
            seen.add(numbers[node])


def no_node(node: NodeName, topology: Topology) -> str:
    """Return the message that a node is missing from the graph."""
    return f"the graph has no agent {show(node)}: the agents are 0 to {topology.agents - 1}, or have names in its file"


def number_notes(path: tuple[str | int, ...], nodes: Iterable[NodeName], topology: Topology) -> Iterator[Problem]:
    """Yield the first of *nodes* that is a number, from 0, by which another agent is called; see `node_problems`."""
    names = {name: number for number, name in enumerate(topology.names)}
    for node in nodes:
        if isinstance(node, int) and 0 <= node < topology.agents and names.get(str(node), node) != node:
            text = (
                f"{node} is the agent of this number, from 0, which is called {show(topology.names[node])}; in quotes, "
            )
            yield path, f"{text}{show(str(node))}, it is a name"
            return
