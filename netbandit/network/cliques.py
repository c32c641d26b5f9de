"""A partition of the agents into cliques of a power of the graph."""

from collections import Counter

from netbandit.network.topology import Topology


def cliques(topology: Topology, hops: int) -> list[int]:
    """Partition the nodes into cliques of the *hops*-th power of the graph: any two are within *hops* hops.

    A greedy colouring of the complement, nodes with the fewest near ones last, as in networkx's ``greedy_color`` with
    ``largest_first``; the complement itself, which is huge, is never built.

    Args:
        topology: The graph.
        hops: The largest distance within a clique; 0: every node is a clique by itself.

    Returns:
        For each node the number of its clique, from 0 in order of the lowest node in it, shape (M,).
    """
    import networkx

    near = [
        sorted(networkx.single_source_shortest_path_length(topology.graph, node, cutoff=hops).keys() - {node})
        for node in range(topology.agents)
    ]
    found = [-1] * topology.agents
    sizes: list[int] = []
    # The fewest near nodes first: these have the most neighbours in the complement.
    for node in sorted(range(topology.agents), key=lambda node: len(near[node])):
        known = Counter(found[other] for other in near[node] if found[other] >= 0)
        clique = min((number for number, count in known.items() if count == sizes[number]), default=len(sizes))
        if clique == len(sizes):
            sizes.append(0)
        found[node] = clique
        sizes[clique] += 1
    renamed: dict[int, int] = {}
    return [renamed.setdefault(clique, len(renamed)) for clique in found]
