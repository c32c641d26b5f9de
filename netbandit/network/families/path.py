"""``path``: every agent is linked to the next."""

import numpy as np

from netbandit.network.families.family import Edges, Shape, pairs


class Path(Shape):
    """A path in the order of the agents."""

    random = False

    def links(self, rng: np.random.Generator) -> Edges:
        """Return a link from each agent to the next."""
        return path(self.agents)


def path(agents: int) -> Edges:
    """Return the links of a path."""
    return pairs(np.arange(agents - 1), np.arange(1, agents))
