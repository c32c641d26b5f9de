"""``scale-free``: a graph grown by preferential attachment."""

import numpy as np
from pydantic import Field

from netbandit.network.families.family import Edges, Shape
from netbandit.network.families.star import star
from netbandit.parts.component import Checks, Mistake


class ScaleFree(Shape):
    """A graph grown agent by agent, each linked to *attach* earlier ones in proportion to their links.

    It starts from a star of attach + 1 agents (Barabasi and Albert, Emergence of scaling in random networks, 1999).
    """

    attach: int = Field(default=2, ge=1)
    """Links of each new agent."""

    def check_shape(self) -> Checks:
        """Yield more links of a new agent than there are others."""
        if not 1 <= self.attach < self.agents:
            text = f"must be at least 1 and less than the number of agents ({self.agents}), not {self.attach}"
            yield Mistake("attach", text)

    def expected(self) -> float:
        """Return an upper bound on the number of links."""
        return self.agents * self.attach

    def links(self, rng: np.random.Generator) -> Edges:
        """Return one draw; it is connected."""
        attach = self.attach
        ends = [end for link in star(attach + 1).tolist() for end in link]
        for agent in range(attach + 1, self.agents):
            targets: list[int] = []
            while len(targets) < attach:
                # An end of a link drawn uniformly is an agent drawn in proportion to its links.
                target = ends[int(rng.integers(len(ends)))]
                if target not in targets:
                    targets.append(target)
            for target in targets:
                ends += (target, agent)
        return np.array(ends, dtype=np.int64).reshape(-1, 2)
