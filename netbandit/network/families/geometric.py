"""``geometric``: agents at random positions, linked within a radius."""

import math

import numpy as np
from pydantic import Field

from netbandit.network.families.family import Edges, Shape, all_pairs

_ALL = 2.0
"""A length beyond that of any link in the unit square."""


class Geometric(Shape):
    """Agents at random points of the unit square, linked where they are at most *reach* apart.

    Redrawn until it is connected.
    """

    reach: float | None = Field(default=None, gt=0)
    """Longest link in the unit square; absent: just above the connectivity threshold."""

    redraw = "reach"

    @property
    def longest(self) -> float:
        """The longest link; by default just above the threshold of connectivity."""
        if self.reach is not None:
            return min(float(self.reach), _ALL)
        return math.sqrt(2 * math.log(self.agents) / (math.pi * self.agents))

    def expected(self) -> float:
        """Return the number of links to expect."""
        return all_pairs(self.agents) * min(1.0, math.pi * self.longest**2)

    def links(self, rng: np.random.Generator) -> Edges:
        """Return one draw."""
        from scipy.spatial import KDTree

        places = rng.random((self.agents, 2))
        return KDTree(places).query_pairs(self.longest, output_type="ndarray").astype(np.int64).reshape(-1, 2)
