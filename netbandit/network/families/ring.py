"""``ring``: every agent is linked to the next, the last to the first."""

import numpy as np

from netbandit.network.families.family import Edges, Shape
from netbandit.network.families.path import path
from netbandit.parts.component import Checks, Mistake


class Ring(Shape):
    """A ring in the order of the agents, at least 3."""

    random = False

    def check_shape(self) -> Checks:
        """Yield too few agents."""
        if self.agents < 3:
            yield Mistake("agents", f"a ring has at least 3 agents, not {self.agents}")

    def expected(self) -> float:
        """Return the number of links: one for each agent."""
        return self.agents

    def links(self, rng: np.random.Generator) -> Edges:
        """Return a path, and the link that closes it."""
        return np.concatenate([path(self.agents), np.array([[0, self.agents - 1]], dtype=np.int64)])
