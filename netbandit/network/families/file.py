"""``file``: a graph from a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from netbandit.network import files
from netbandit.network.families.family import Family

if TYPE_CHECKING:
    import networkx


class File(Family):
    """The graph in a file: GraphML, GML, an edge list or networkx's node-link JSON."""

    file: str = Field(min_length=1)
    """The file, relative to the scenario that names it."""
    component: Literal["largest"] | None = None
    """``largest``: accept a disconnected graph, and take its largest component."""
    columns: list[str] | None = Field(default=None, min_length=2)
    """The names of the columns of an edge list, the first two being the ends of a link, such as ``["from", "to",
    "latency_ms"]``; absent: those of its first line, if that begins with source, target or from, to
    and the like, or has words that are alike where all nodes have numbers."""

    random = False

    def files(self) -> dict[str, str]:
        """Return the file."""
        return {"file": self.file}

    def build(self, rng: np.random.Generator) -> "networkx.Graph[int]":
        """Read the graph; see `netbandit.network.files`."""
        return files.read(Path(self.file), self.component, self.columns)
