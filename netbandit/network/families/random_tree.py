"""``random-tree``: a uniformly random labelled tree."""

from heapq import heapify, heappop, heappush

import numpy as np

from netbandit.network.families.family import Edges, Shape


class RandomTree(Shape):
    """A tree drawn uniformly from all trees of numbered agents, by its Prüfer sequence (1918)."""

    def links(self, rng: np.random.Generator) -> Edges:
        """Return one draw; it is connected."""
        agents = self.agents
        if agents < 2:
            return np.empty((0, 2), dtype=np.int64)
        sequence = rng.integers(agents, size=agents - 2)
        degrees = np.bincount(sequence, minlength=agents) + 1
        leaves = np.flatnonzero(degrees == 1).tolist()
        heapify(leaves)
        found = []
        for parent in sequence.tolist():
            found.append((heappop(leaves), parent))
            degrees[parent] -= 1
            if degrees[parent] == 1:
                heappush(leaves, parent)
        found.append((heappop(leaves), heappop(leaves)))
        return np.array(found, dtype=np.int64)
