"""The tree mechanism: continual release of a running sum, each release with the noise of few nodes."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray


class Tree:
    """Releases the sum of all leaves so far, plus the noise of the dyadic nodes that cover them.

    Leaf k is the matrix added before release k. Release k covers leaves 1..k with one node per one bit of k, hence at
    most ``1 + floor(log2 k)`` nodes. The noise of a node is ``(N' + N'^T) / sqrt(2)``, ``N'_jk ~ N(0, deviation^2)``,
    drawn once and kept while the node is in use. Source: Chan, Shi & Song 2011; Dubey & Pentland 2020, Algorithm 2
    (Privatizer).

    Args:
        size: The number of rows of a leaf, a symmetric matrix.
        deviation: The standard deviation sigma_n of one number of N'; 0: no noise.
        rng: The stream of this tree's noise.

    Attributes:
        releases: The number of releases so far.
    """

    def __init__(self, size: int, deviation: float, rng: np.random.Generator) -> None:
        self._deviation = deviation
        self._rng = rng
        self._sum: NDArray[np.float64] = np.zeros((size, size))
        self._nodes: list[NDArray[np.float64]] = []  # of the previous release, the largest first
        self.releases = 0

    def release(self, leaf: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add *leaf*, shape (size, size), and return the noisy sum of all leaves, same shape."""
        self.releases += 1
        self._sum += leaf
        if self._deviation == 0:
            return self._sum.copy()
        # Incrementing merges the nodes of the trailing ones of k - 1 into one node, the only new one.
        merged = (self.releases & -self.releases).bit_length() - 1
        del self._nodes[len(self._nodes) - merged :]
        drawn = self._rng.standard_normal(leaf.shape)
        self._nodes.append(self._deviation / sqrt(2) * (drawn + drawn.T))
        noisy = self._sum.copy()
        for node in self._nodes:
            noisy += node
        return noisy

    def successor(self) -> "Tree":
        """Return an empty tree whose noise continues the stream of this one."""
        return Tree(len(self._sum), self._deviation, self._rng)

    @property
    def nodes(self) -> int:
        """The number of nodes whose noise is in the last release."""
        return len(self._nodes)
