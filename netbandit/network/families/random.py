"""``random``: each possible link exists independently with the same probability."""

import math

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netbandit.network.families.family import Edges, Shape, all_pairs, pairs
from netbandit.parts.component import Checks, Mistake


class Random(Shape):
    """G(n, p) (Gilbert, 1959), redrawn until it is connected unless *disconnected*."""

    p: float | None = Field(default=None, ge=0, le=1)
    """Probability of a link."""
    mean_degree: float | None = Field(default=None, gt=0)
    """Mean number of neighbours, instead of p."""

    disconnected: bool = False
    """Whether the graph may be disconnected; if not, it is redrawn until it is connected."""

    redraw = "p"

    def check_shape(self) -> Checks:
        """Yield a missing probability, two of them, or one with which no draw can be connected."""
        agents, p, mean_degree = self.agents, self.p, self.mean_degree
        if p is None and mean_degree is None:
            yield Mistake("p", 'missing; the family "random" needs p (of a link) or mean_degree')
        elif p is not None and mean_degree is not None:
            yield Mistake("mean_degree", "excludes p: give one of the two")
        elif p == 0 and agents > 1 and not self.disconnected:
            yield Mistake("p", "must be above 0: without a link the graph is never connected")
        elif mean_degree is not None and 1 < agents < mean_degree + 1:
            text = f"must be at most {agents - 1}, one less than the agents, not {mean_degree:g}"
            yield Mistake("mean_degree", text)

    @property
    def probability(self) -> float:
        """The probability of a link."""
        if self.p is not None:
            return float(self.p)
        assert self.mean_degree is not None
        return min(1.0, float(self.mean_degree) / max(1, self.agents - 1))

    def expected(self) -> float:
        """Return the number of links to expect."""
        return all_pairs(self.agents) * self.probability

    def links(self, rng: np.random.Generator) -> Edges:
        """Return one draw of G(n, p)."""
        return gilbert(rng, self.agents, self.probability)

    def connected(self, rng: np.random.Generator) -> Edges:
        """Return a draw that is connected, or any."""
        return self.links(rng) if self.disconnected else super().connected(rng)

    def blamed(self) -> str:
        """Return the key that was given."""
        return "mean_degree" if self.mean_degree is not None else "p"


def gilbert(rng: np.random.Generator, agents: int, p: float) -> Edges:
    """Return G(n, p): each link there can be exists with probability *p*, on its own.

    The gaps between the links that exist, in the order of all links there can be, are geometric (Batagelj and
    Brandes, 2005), so the work grows with the links that exist.
    """
    possible = agents * (agents - 1) // 2
    if p == 0 or possible == 0:
        return np.empty((0, 2), dtype=np.int64)
    blocks: list[NDArray[np.int64]] = []
    last = -1
    while last < possible:
        expected = (possible - last) * p
        gaps = rng.geometric(p, size=int(expected + 4 * math.sqrt(expected)) + 4)
        # A gap beyond the end is as good as any other; cut short, their sum cannot overflow.
        blocks.append(last + np.cumsum(np.minimum(gaps, possible + 1)))
        last = int(blocks[-1][-1])
    chosen = np.concatenate(blocks)
    chosen = chosen[chosen < possible]
    row_starts = np.concatenate([[0], np.cumsum(np.arange(agents - 1, 0, -1))])
    rows = np.searchsorted(row_starts, chosen, side="right") - 1
    return pairs(rows, chosen - row_starts[rows] + rows + 1)
