"""``small-world``: a ring lattice with some links rewired at random."""

import numpy as np
from pydantic import Field

from netbandit.network.families.family import Edges, Shape
from netbandit.parts.component import Checks, Mistake


class SmallWorld(Shape):
    """A ring lattice of agents linked to their *degree* nearest, each link rewired with probability *p*.

    Watts and Strogatz, Collective dynamics of small-world networks, 1998; redrawn until it is connected.
    """

    degree: int = Field(default=4, ge=0)
    """Number of neighbours in the lattice, even."""
    p: float = Field(default=0.1, ge=0, le=1)
    """Probability of rewiring a link."""

    redraw = "p"

    def check_shape(self) -> Checks:
        """Yield a degree that no lattice of so many agents has."""
        if self.degree < 2 or self.degree % 2:
            yield Mistake("degree", f"must be an even number, at least 2, not {self.degree}")
        elif self.degree >= self.agents:
            yield Mistake("degree", f"must be less than the number of agents ({self.agents}), not {self.degree}")

    def expected(self) -> float:
        """Return the number of links."""
        return self.agents * self.degree / 2

    def links(self, rng: np.random.Generator) -> Edges:
        """Return one draw."""
        import networkx

        graph = networkx.watts_strogatz_graph(self.agents, self.degree, self.p, seed=int(rng.integers(2**32)))
        return np.array(list(graph.edges()), dtype=np.int64).reshape(-1, 2)
