"""``grid``: a rectangular grid."""

import math

import numpy as np

from netbandit.network.families.family import Edges, Shape, pairs


class Grid(Shape):
    """The grid nearest to a square that has exactly this many agents, numbered row by row."""

    random = False

    def expected(self) -> float:
        """Return an upper bound on the number of links: two for each agent."""
        return 2 * self.agents

    def links(self, rng: np.random.Generator) -> Edges:
        """Return the links to the right, then those down."""
        agents = self.agents
        rows = max(rows for rows in range(1, math.isqrt(agents) + 1) if agents % rows == 0)
        numbers = np.arange(agents).reshape(rows, -1)
        across = pairs(numbers[:, :-1].ravel(), numbers[:, 1:].ravel())
        down = pairs(numbers[:-1].ravel(), numbers[1:].ravel())
        return np.concatenate([across, down])
