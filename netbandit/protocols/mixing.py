"""Consensus weights: the mixing matrix of a graph, and its rate of convergence."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Rule = Literal["max-degree", "metropolis", "uniform"]

_DENSE = 1_500
"""Up to so many agents all eigenvalues are found; beyond, only the largest two."""


@dataclass(frozen=True)
class Mixing:
    """The matrix P of a graph, by rows: agent i mixes ``own[i] x_i + sum over its neighbours j of weights x_j``.

    Directed links are sorted by receiver, then by sender.

    Attributes:
        own: P_ii, shape (M,).
        senders: The sender of each directed link, shape (2E,).
        receivers: Its receiver, shape (2E,).
        weights: P_ij of receiver i and sender j, shape (2E,).
        first: Where the links of each receiver begin, and the end, shape (M + 1,).
    """

    own: NDArray[np.float64]
    senders: NDArray[np.int64]
    receivers: NDArray[np.int64]
    weights: NDArray[np.float64]
    first: NDArray[np.int64]

    @property
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each agent, shape (M,)."""
        return np.diff(self.first)

    def links_to(self, agents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of all directed links to *agents*, agent after agent, ascending."""
        degrees = self.degrees[agents]
        starts = np.repeat(self.first[agents] - np.cumsum(degrees) + degrees, degrees)
        return np.asarray(starts + np.arange(len(starts)))

    def dense(self) -> NDArray[np.float64]:
        """Return P, shape (M, M)."""
        whole = np.diag(self.own)
        whole[self.receivers, self.senders] = self.weights
        return whole


def mixing(agents: int, edges: NDArray[np.int64], rule: Rule, step: float | None = None) -> Mixing:
    """Return the matrix of a graph.

    Args:
        agents: M.
        edges: The links, each once, shape (E, 2).
        rule: ``max-degree``: ``P = I - (step / d_max) L``; ``metropolis``: ``P_ij = 1 / max(d_i + 1, d_j + 1)``;
            ``uniform``: ``P_ij = P_ii = 1 / (d_i + 1)``, whose columns do not add up to 1.
        step: kappa of ``max-degree``; by default ``d_max / (d_max + 1)``.
    """
    receivers, senders = edges[:, ::-1].T.ravel(), edges.T.ravel()
    order = np.lexsort((senders, receivers))
    receivers, senders = receivers[order], senders[order]
    degrees = np.bincount(receivers, minlength=agents)
    largest = max(1, int(degrees.max(initial=0)))
    weights: NDArray[np.float64]
    own: NDArray[np.float64]
    if rule == "max-degree":
        kappa = largest / (largest + 1) if step is None else step
        weights = np.full(len(receivers), kappa / largest)
        own = np.asarray(1 - degrees * (kappa / largest), dtype=np.float64)
    elif rule == "metropolis":
        weights = 1.0 / (np.maximum(degrees[receivers], degrees[senders]) + 1).astype(np.float64)
        own = 1.0 - np.bincount(receivers, weights, minlength=agents).astype(np.float64)
    else:
        weights = 1.0 / (degrees[receivers] + 1).astype(np.float64)
        own = 1.0 / (degrees + 1).astype(np.float64)
    first = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(degrees)])
    return Mixing(own, senders, receivers, weights, first)


def mixed_rows(
    matrix: Mixing,
    agents: NDArray[np.int64],
    own: NDArray[np.float64],
    table: NDArray[np.float64],
    places: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weighted sums of agents' own rows and their neighbours', and the elementwise maximum of these rows.

    Own term first, then neighbours ascending: so rounding does not depend on which other agents step.

    Args:
        matrix: P.
        agents: The agents that mix, shape (n,).
        own: Their rows, shape (n, k).
        table: Rows received over links, in any order, shape (r, k).
        places: The index in *table* of the row of each link to these agents, in the order of `Mixing.links_to`; -1: the
            agent's own row replaces it.
    """
    from netbandit.protocols.mixing_steps import mix

    mixed, largest = np.empty_like(own), np.empty_like(own)
    mix(matrix.own, matrix.weights, matrix.first, agents, own, table, places, mixed, largest)
    return mixed, largest


def symmetric_weights(matrix: Mixing) -> NDArray[np.float64]:
    """Return ``sqrt(P_ij P_ji)`` of each directed link, shape (2E,).

    P need not be symmetric, but ``uniform`` is similar to a matrix that is, with these beside its diagonal.
    """
    back = np.lexsort((matrix.receivers, matrix.senders))  # the other direction of each link
    return np.asarray(np.sqrt(matrix.weights * matrix.weights[back]))


def second_eigenvalue(matrix: Mixing) -> float:
    """Return the second largest modulus of the eigenvalues of P: at most this share of a difference survives a step."""
    agents = len(matrix.own)
    if agents == 1:
        return 0.0
    values = symmetric_weights(matrix)
    if agents <= _DENSE:
        dense = np.diag(matrix.own)
        dense[matrix.receivers, matrix.senders] = values
        found = np.linalg.eigvalsh(dense)
    else:
        from scipy.sparse import csr_array, diags_array
        from scipy.sparse.linalg import eigsh

        links = csr_array((values, (matrix.receivers, matrix.senders)), shape=(agents, agents))
        found = eigsh(links + diags_array(matrix.own), k=2, which="LM", return_eigenvectors=False)
    one = int(np.argmin(np.abs(found - 1)))  # that of the vector of ones, unless others are so large that it is missing
    return float(np.abs(np.delete(found, one) if abs(found[one] - 1) < 1e-6 else found).max())
