"""The speeds that a graph's file gives its links."""

import numpy as np
from numpy.typing import NDArray

from netbandit.network.topology import Topology


def speeds(topology: Topology) -> NDArray[np.float64]:
    """Return the speed of each link of `Topology.edges` in bits a second, shape (L,), NaN where unknown."""
    graph = topology.graph
    return np.array([graph.edges[u, v].get("speed", np.nan) for u, v in topology.edges.tolist()], dtype=np.float64)
