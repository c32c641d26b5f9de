"""``blocks``: groups of agents with many links within a group and few between groups."""

import numpy as np
from pydantic import Field

from netbandit.network.families.family import Edges, Shape, all_pairs
from netbandit.network.families.random import gilbert
from netbandit.parts.component import Checks, Mistake


class Blocks(Shape):
    """The stochastic block model (Holland, Laskey, Leinhardt 1983), redrawn until it is connected.

    Agents are divided, in order of their numbers, into blocks of equal size, or of sizes that differ by one agent.
    """

    blocks: int = Field(default=4, ge=1)
    """Number of blocks."""
    inside: float = Field(ge=0, le=1)
    """Probability of a link inside a block."""
    between: float = Field(ge=0, le=1)
    """Probability of a link between two blocks."""

    redraw = "between"

    def check_shape(self) -> Checks:
        """Yield more blocks than agents, and probabilities with which no draw can be connected."""
        if self.blocks > self.agents:
            yield Mistake("blocks", f"must be at most the number of agents ({self.agents}), not {self.blocks}")
        elif self.blocks > 1 and self.between == 0:
            yield Mistake("between", "must be above 0: without a link between blocks the graph is never connected")
        elif self.inside == self.between == 0 and self.agents > 1:
            yield Mistake("inside", "must be above 0: without a link the graph is never connected")

    def expected(self) -> float:
        """Return an upper bound on the expected number of links."""
        return all_pairs(self.agents) * max(self.inside, self.between)

    def links(self, rng: np.random.Generator) -> Edges:
        """Return one draw: links with the larger probability, of which some are left out again."""
        largest = max(self.inside, self.between)
        found = gilbert(rng, self.agents, largest)
        if not len(found):
            return found
        block = np.arange(self.agents) * self.blocks // self.agents
        alike = block[found[:, 0]] == block[found[:, 1]]
        kept = rng.random(len(found)) * largest < np.where(alike, self.inside, self.between)
        return found[kept]
