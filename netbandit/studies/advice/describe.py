"""The figures and the picture of a topology, which a family or a graph file may give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.network.families.family import Family
from netbandit.network.topology import Topology, TopologyError, describe
from netbandit.parts.registry import BUILT_IN, own_module
from netbandit.parts.settings import Problem
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.merge import FIRST_OVERRIDE
from netbandit.scenario.overrides import read_overrides
from netbandit.scenario.topology import read_topology
from netbandit.util.streams import Streams
from netbandit.util.text import pluralize
from netbandit.util.wording import key_text

if TYPE_CHECKING:
    from netbandit.plots.network import Drawing

_SINKS_SHOWN = 8


@dataclass(frozen=True)
class Graph:
    """A topology and its origin.

    Attributes:
        topology: The topology.
        family: The family of each of its components; ``file`` if it comes from a file.
    """

    topology: Topology
    family: str


def graph_of(source: str, agents: str | None = None, changes: Sequence[str] = ()) -> Graph:
    """Return the topology named by *source*.

    Args:
        source: The name of a family, or ``module:Class``, found from the working directory; or a graph file.
        agents: The number of agents, as it was written.
        changes: Each the ``KEY=VALUE`` of a ``--set``: keys of the topology.

    Raises:
        ScenarioError: There is no such topology.
    """
    number = [f"topology.agents={agents}"] if agents is not None else []
    named = names_family(source)
    if not named and not Path(source).exists():
        names = ", ".join(BUILT_IN["topology"])
        own = "or one of your own, module:Class"
        raise ScenarioError([f"{source}: neither a file nor a family; the families are {names}, {own}"])
    table: dict[str, Any] = {} if named else {"file": source}
    family = source if named else "file"
    places = {}
    for change in read_overrides([*changes, *number], FIRST_OVERRIDE):
        path = change.path[1:] if change.path[0] == "topology" else change.path
        where = "--agents" if path == ("agents",) and agents is not None else f"--set {key_text(path)}"
        if len(path) == 1:
            table[path[0]], places[path[0]] = change.value, where
        else:
            raise ScenarioError([f"{where}: {key_text(path)}: the topology has no such key"])
    graph, problems, _ = read_topology({"family": family, **table}, Path())
    problems = [(path[1:], text) for path, text in problems]
    if isinstance(graph, Family):
        try:
            drawn = graph.build(Streams(graph.seed or 0, 0).generator("topology"))
            return Graph(Topology(drawn), own_family({"family": family, **table}))
        except TopologyError as error:
            problems = error.problems
    raise ScenarioError(_line(problem, places, source) for problem in problems)


def names_family(source: str) -> bool:
    """Return whether *source* is the name of a family or of a class, ``module:Class``, and not of a file."""
    return source in BUILT_IN["topology"] or (not Path(source).exists() and own_module("topology", source) is not None)


def figures(topology: Topology) -> list[tuple[str, str]]:
    """Return the figures of *topology* from `describe`, as names and texts."""
    found = describe(topology)
    sinks = [_node(topology, sink) for sink in found["sinks"][:_SINKS_SHOWN]]
    if len(found["sinks"]) > _SINKS_SHOWN:
        sinks.append(f"and {len(found['sinks']) - _SINKS_SHOWN} more")
    lines = [("nodes", f"{found['agents']}"), ("links", f"{found['links']}")]
    if found["components"] > 1:
        lines.append(("components", f"{found['components']}"))
    return [
        *lines,
        ("diameter", f"{found['diameter']}"),
        ("radius", f"{found['radius']}"),
        ("sink" if len(found["sinks"]) == 1 else "sinks", ", ".join(sinks)),
        ("hops of a round of gis", f"{found['gis_slots']}"),
        ("links of a round of gis", f"{found['links_per_round']}"),
    ]


def draw(title: str, graph: Graph, file: Path) -> None:
    """Draw *graph* into *file*, a ``.png`` or an ``.svg``.

    Raises:
        OSError: The file cannot be written.
    """
    from netbandit.plots.network import draw as draw_network
    from netbandit.plots.style import drawing, encoded

    topology = graph.topology
    with drawing():
        agents, links = pluralize(topology.agents, "agent"), pluralize(topology.links, "link")
        picture = draw_network(title, placed(graph), f"{agents}, {links}, diameter {topology.diameter}")
    file.write_bytes(encoded(picture, file.suffix.lower().removeprefix(".")))


def placed(graph: Graph) -> "Drawing":
    """Return *graph* with a position for each node: geographic if the nodes have coordinates."""
    from netbandit.plots.network import Drawing
    from netbandit.plots.node_positions import geographic, laid_out

    topology = graph.topology
    coordinates = topology.coordinates
    if coordinates is not None:
        places = geographic(coordinates, topology.edges)
    else:
        places = laid_out(topology.agents, topology.edges, graph.family)
    names = topology.names if any("name" in topology.graph.nodes[node] for node in topology.graph) else None
    return Drawing(places, topology.edges, None, names, map=coordinates is not None)


def own_family(table: Mapping[str, Any]) -> str:
    """Return the family of each component of a resolved topology's *table*."""
    family = str(table["family"])
    return str(table.get("inside") or "complete") if family == "hybrid" else family


def _line(problem: Problem, places: dict[str, str], source: str) -> str:
    path, text = problem
    key = str(path[0]) if path else "file"
    if key in ("family", "file") and key not in places:
        return f"{source}: {text}"
    place = places.get(key, "--agents" if key == "agents" else f"--set {key}")
    return f"{place}: {key_text(path)}: {text}"


def _node(topology: Topology, node: int) -> str:
    name = topology.names[node]
    return str(node) if name == str(node) else f"{node} ({name})"
