"""``multi-star``: several stars whose centres are linked."""

import numpy as np
from pydantic import Field

from netbandit.network.families.family import Edges, Shape, pairs
from netbandit.parts.component import Checks, Mistake


class MultiStar(Shape):
    """Centres that are all joined to each other, and leaves that are each joined to one of them, drawn uniformly.

    The graph of Madhushani, Dubey, Leonard, Pentland (2021), who do not state which leaf belongs to which centre.
    """

    centres: int = Field(default=5, ge=1)
    """Agents 0, 1, ... that are joined to each other; all others are leaves."""

    def check_shape(self) -> Checks:
        """Yield more centres than agents."""
        if self.centres > self.agents:
            text = f"must be at most the number of agents ({self.agents}), not {self.centres}"
            yield Mistake("centres", text)

    def expected(self) -> float:
        """Return the number of links."""
        return self.centres * (self.centres - 1) / 2 + self.agents - self.centres

    def links(self, rng: np.random.Generator) -> Edges:
        """Return one draw; it is connected."""
        leaves = np.arange(self.centres, self.agents)
        centres = pairs(*np.triu_indices(self.centres, 1))
        return np.concatenate([centres, pairs(rng.integers(self.centres, size=len(leaves)), leaves)])
