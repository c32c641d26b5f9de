"""``tree``: a complete tree, filled level by level, with the same number of children per agent."""

import numpy as np
from pydantic import Field

from netbandit.network.families.family import Edges, Shape, pairs


class Tree(Shape):
    """The tree with *branching* children a node, filled level by level from its root 0."""

    branching: int = Field(default=2, ge=1)
    """Children of each agent."""

    random = False

    def links(self, rng: np.random.Generator) -> Edges:
        """Return a link from each agent but the root to its parent."""
        children = np.arange(1, self.agents)
        return pairs((children - 1) // self.branching, children)
