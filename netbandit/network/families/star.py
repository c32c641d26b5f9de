"""``star``: one agent is linked to all others."""

import numpy as np

from netbandit.network.families.family import Edges, Shape, pairs


class Star(Shape):
    """A star whose centre is agent 0."""

    random = False

    def links(self, rng: np.random.Generator) -> Edges:
        """Return a link from agent 0 to each other."""
        return star(self.agents)


def star(agents: int) -> Edges:
    """Return the links of a star."""
    return pairs(np.zeros(agents - 1, dtype=np.int64), np.arange(1, agents))
