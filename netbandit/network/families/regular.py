"""``regular``: a random graph in which all agents have the same degree."""

import numpy as np
from pydantic import Field

from netbandit.network.families.family import Edges, Shape, pairs
from netbandit.parts.component import Checks, Mistake


class Regular(Shape):
    """A random graph in which every agent has *degree* links (Steger and Wormald, 1999), redrawn until connected.

    With degree 2 it is a ring through all agents in random order, as any other would be disconnected.
    """

    degree: int | None = Field(default=None, ge=0)
    """Number of neighbours of each agent."""

    redraw = "degree"

    def check_shape(self) -> Checks:
        """Yield a degree that no graph has, or no connected one."""
        agents, degree = self.agents, self.degree
        if degree is None:
            yield Mistake("degree", 'missing; the family "regular" needs the number of links of each agent')
        elif not 0 <= degree < agents:
            yield Mistake("degree", f"must be from 0 to {agents - 1}, one less than the agents, not {degree}")
        elif agents * degree % 2:
            yield Mistake("degree", f"must be even, as the number of agents ({agents}) is odd, not {degree}")
        elif degree < min(2, agents - 1):
            text = f"must be at least {min(2, agents - 1)} for {agents} agents to be connected, not {degree}"
            yield Mistake("degree", text)

    def expected(self) -> float:
        """Return the number of links."""
        return self.agents * (self.degree or 0) / 2

    def links(self, rng: np.random.Generator) -> Edges:
        """Return one draw."""
        import networkx

        agents, degree = self.agents, self.degree
        assert degree is not None
        if degree == 2:
            order = rng.permutation(agents).astype(np.int64)
            return pairs(order, np.roll(order, -1))
        # Where most links exist it is quicker to draw those that do not: they are a random regular graph, too.
        drawn = min(degree, agents - 1 - degree)
        graph = networkx.random_regular_graph(drawn, agents, seed=int(rng.integers(2**32)))
        edges = np.array(list(graph.edges()), dtype=np.int64).reshape(-1, 2)
        if drawn == degree:
            return edges
        present = ~np.eye(agents, dtype=bool)
        present[edges[:, 0], edges[:, 1]] = present[edges[:, 1], edges[:, 0]] = False
        return np.argwhere(np.triu(present)).astype(np.int64)
