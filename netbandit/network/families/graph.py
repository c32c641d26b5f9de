"""A graph passed from Python as a networkx graph."""

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netbandit.network import files
from netbandit.network.families.family import COMMON_KEYS, Family
from netbandit.network.topology import TopologyError
from netbandit.parts.component import Checks, Mistake

if TYPE_CHECKING:
    import networkx


class Graph(Family):
    """A graph of networkx, brought to the form of a topology as a file is: see `netbandit.network.files`."""

    graph: Any
    """The graph; agents are numbered by its sorted nodes."""
    component: Literal["largest"] | None = None
    """``largest``: accept a disconnected graph, and take its largest component."""

    random = False

    def check(self) -> Checks:
        """Yield a graph that is no topology."""
        try:
            self.build(np.random.default_rng(0))
        except TopologyError as error:
            yield from (Mistake(path or "graph", text) for path, text in error.problems)

    def build(self, rng: np.random.Generator) -> "networkx.Graph[int]":
        """Return the graph with agents for nodes."""
        return files.of_graph(self.graph, self.component)

    def table(self) -> dict[str, Any]:
        """Return the keys; the graph by a hash of its agents and links with all that a topology takes of them."""
        graph = files.of_graph(self.graph, self.component)
        whole = [
            sorted(graph.nodes(data=True)),
            sorted((*sorted(link[:2]), link[2]) for link in graph.edges(data=True)),
        ]
        digest = blake2b(json.dumps(whole, sort_keys=True).encode(), digest_size=16).hexdigest()
        written = self.model_copy(update={"graph": None}).model_dump(by_alias=True)
        return {"graph": f"blake2b:{digest}", **{key: written[key] for key in ("component", *COMMON_KEYS)}}
