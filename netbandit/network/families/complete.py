"""``complete``: every pair of agents is linked."""

import numpy as np

from netbandit.network.families.family import Edges, Shape, all_pairs, pairs


class Complete(Shape):
    """The complete graph: a link between every two agents."""

    random = False

    def expected(self) -> float:
        """Return the number of links."""
        return all_pairs(self.agents)

    def links(self, rng: np.random.Generator) -> Edges:
        """Return all links."""
        return pairs(*np.triu_indices(self.agents, 1))
