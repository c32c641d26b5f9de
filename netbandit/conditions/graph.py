"""The graph of a replication."""

from netbandit.network.families.family import Family, Shape
from netbandit.network.families.meeting import Meeting
from netbandit.network.topology import Topology, TopologyError
from netbandit.util.streams import Streams


def topology_streams(family: Family, seed: int, replication: int) -> Streams:
    """Return the streams of the graph and its latencies: the replication's, or fixed ones by ``topology.seed``."""
    return Streams(seed, replication) if family.seed is None else Streams(family.seed, 0)


def drawn_topology(family: Family, streams: Streams, slot: int, end: int) -> Topology:
    """Return a graph of *family*.

    Args:
        family: The family.
        streams: The streams of the graph.
        slot: The length of a slot (ns).
        end: The end of the run (ns): agents whose first contact is later are not linked.

    Raises:
        TopologyError: No such graph can be drawn.
    """
    if isinstance(family, Meeting):
        return family.met(streams, slot, end)
    if isinstance(family, Shape) and type(family).build is Shape.build:
        return Topology(family.drawn(streams.generator("topology")))
    import networkx

    graph = family.build(streams.generator("topology"))
    if not isinstance(graph, networkx.Graph):  # from a user-defined family
        text = f"{type(family).__qualname__}.build must return a graph of networkx, not {type(graph).__name__}"
        raise TopologyError([((), text)])
    return Topology(graph)
