"""The convergence rate of consensus with one link added or removed, from the eigenvalues of its matrix."""

import numpy as np
from numpy.typing import NDArray

from netbandit.protocols.mixing import Mixing, Rule, mixing, second_eigenvalue, symmetric_weights
from netbandit.studies.advice.measure import Measure, MeasureName, exact_for_best
from netbandit.studies.advice.timed_graph import TimedGraph

_DIGITS = 12
"""Eigenvalues that agree to this many digits count as equal."""

_VECTORS = 8
"""Eigenvectors by which it is seen that a link does not help."""


class Gap(Measure):
    """The largest factor of a difference that remains after a step of consensus: 1 minus the spectral gap.

    It is the second largest modulus of the eigenvalues of P. The duration of steps is not included.

    Args:
        rule: The weights.
        step: kappa of ``max-degree``, or None.
    """

    name: MeasureName = "gap"
    subject = "spectral gap of consensus"

    def __init__(self, rule: Rule, step: float | None) -> None:
        self._rule, self._step = rule, step

    def value(self, graph: TimedGraph) -> float | None:
        """See `Measure.value`."""
        if len(graph.topology.components) > 1:
            return None
        left = _left(self._matrix(graph.topology.agents, graph.topology.edges))
        return left if left < 1 else None

    def with_link(
        self, graph: TimedGraph, candidates: NDArray[np.int64], latencies: NDArray[np.int64], shown: int
    ) -> NDArray[np.float64]:
        """See `Measure.with_link`.

        On vectors orthogonal to the one of eigenvalue 1 a symmetric matrix lengthens none by more than its second
        eigenvalue: if vectors that decay slowest without the link decay as slowly with it, it does not help.
        """
        topology = graph.topology
        agents, edges = topology.agents, topology.edges
        if len(topology.components) > 1:
            return super().with_link(graph, candidates, latencies, shown)

        def more(link: NDArray[np.int64]) -> Mixing:
            return self._matrix(agents, np.vstack([edges, link]))

        slow = _slow(self._matrix(agents, edges))
        bounds = np.array([self._kept(more(link), slow) for link in candidates]) - 10.0**-_DIGITS
        least = 10.0**-_DIGITS / 2
        return exact_for_best(bounds, self.value(graph), shown, lambda index, _: _left(more(candidates[index])), least)

    def _matrix(self, agents: int, edges: NDArray[np.int64]) -> Mixing:
        return mixing(agents, edges, self._rule, self._step)

    def _kept(self, matrix: Mixing, vectors: NDArray[np.float64]) -> float:
        """Return a lower bound on the second eigenvalue: the largest within the span of *vectors*, shape (M, k)."""
        from scipy.sparse import csr_array

        agents = len(matrix.own)
        constant = np.sqrt(matrix.degrees + 1.0) if self._rule == "uniform" else np.ones(agents)  # of eigenvalue 1
        constant /= np.linalg.norm(constant)
        basis, _ = np.linalg.qr(vectors - np.outer(constant, constant @ vectors))
        links = csr_array((symmetric_weights(matrix), matrix.senders, matrix.first), shape=(agents, agents))
        mixed = links @ basis + matrix.own[:, None] * basis
        return float(np.abs(np.linalg.eigvalsh(basis.T @ mixed)).max())


def _left(matrix: Mixing) -> float:
    return round(second_eigenvalue(matrix), _DIGITS)


def _slow(matrix: Mixing) -> NDArray[np.float64]:
    """Return the eigenvectors of the slowest modes, of the symmetric form of P, shape (M, k)."""
    dense = np.diag(matrix.own)
    dense[matrix.receivers, matrix.senders] = symmetric_weights(matrix)
    found, vectors = np.linalg.eigh(dense)
    order = np.argsort(-np.abs(found), kind="stable")
    return vectors[:, order[order != np.argmin(np.abs(found - 1))][:_VECTORS]]
