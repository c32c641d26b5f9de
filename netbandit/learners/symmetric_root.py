"""The symmetric inverse root of a matrix that grows by one outer product at a time, at the price of a few products.

To draw from ``N(theta_hat, V^-1)`` so that rotated contexts give the rotated draw, ``V^(-1/2) z`` is needed with the
symmetric root. Its eigenvectors all turn with every new context; to find them afresh each time costs ten times what the
rest of a decision does. Instead, on the interval that holds all eigenvalues,

    V^(-1/2) = sum_j w_j (V + s_j I)^-1

to the last digits, with some twenty shifts s_j and weights w_j (Hale, Higham & Trefethen 2008, method 3). With
``V_0 = U D U'`` the last V whose eigenvectors were found and ``V = V_0 + X' X``, by Woodbury's formula,

    (V + s I)^-1 = U (E - E W' (I + W E W')^-1 W E) U',    E = (D + s I)^-1,  W = X U,

where X has as many rows as there were contexts since. All matrices that are inverted are the identity plus something
positive, so nothing is lost to rounding; after `ROOM` contexts the eigenvectors are found again, from V itself.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOM = 24
"""How many contexts are taken in before eigenvectors are found afresh."""

_NEPERS = 36.0
"""The logarithm of how much smaller than the root its error is to be: 2e-16."""


class Expansion(NamedTuple):
    """The arrays with which :func:`netbandit.learners.linear_kernels.play_lints` works.

    Attributes:
        vectors: U, shape (m, m).
        inverses: The diagonals E, that of shift 0 first, shape (J + 1, m).
        weights: Of the sum of all these, shape (J + 1,): the first is 0.
        rotated: ``U' u``, shape (m,).
        images: W, shape (ROOM, m); rows in use first.
        factors: For each shift the Cholesky factor of ``I + W E W'``, lower triangles, shape (J + 1, ROOM, ROOM).
        used: How many rows are in use, shape (1,).
    """

    vectors: NDArray[np.float64]
    inverses: NDArray[np.float64]
    weights: NDArray[np.float64]
    rotated: NDArray[np.float64]
    images: NDArray[np.float64]
    factors: NDArray[np.float64]
    used: NDArray[np.int64]


def inverse_root(lowest: float, highest: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return shifts and weights with ``a^(-1/2) = sum_j w_j / (a + s_j)`` for all a from *lowest* to *highest*.

    Args:
        lowest: Above 0.
        highest: At least *lowest*.

    Returns:
        Shifts and weights, all positive, shape (J,) each; J grows with the logarithm of ``highest / lowest``.
    """
    from scipy.special import ellipkm1

    ratio = lowest / highest
    period = float(ellipkm1(ratio))
    # The error shrinks by exp(-2 pi^2 / (log(highest / lowest) + 3)) with each term.
    count = int(np.ceil(_NEPERS * (3.0 - np.log(ratio)) / (2 * np.pi**2)))
    places = (np.arange(count) + 0.5) * period / count
    # Where the cosine is all but zero it is taken from the other end of the period, where it is a sine.
    far = places > period / 2
    sine, cosine, delta = _jacobi(np.where(far, period - places, places), ratio)
    shifts = np.where(far, highest * (cosine / sine) ** 2, lowest * (sine / cosine) ** 2)
    slopes = np.where(far, delta / (np.sqrt(ratio) * sine**2), delta / cosine**2)
    return shifts, 2.0 * np.sqrt(lowest) * period / (np.pi * count) * slopes


def _jacobi(places: NDArray[np.float64], complement: float) -> tuple[NDArray[np.float64], ...]:
    """Return Jacobi's sn, cn and dn of parameter ``1 - complement`` (Abramowitz & Stegun 16.4).

    Those of scipy take the parameter itself, in which a small complement has drowned.
    """
    larger, smaller = 1.0, float(np.sqrt(complement))
    ratios = [np.inf]
    while ratios[-1] > 1e-9:  # the next would be its square
        ratios.append((larger - smaller) / (larger + smaller))
        larger, smaller = (larger + smaller) / 2, float(np.sqrt(larger * smaller))
    del ratios[0]
    angle = 2.0 ** len(ratios) * larger * places
    for ratio in reversed(ratios):
        angle = (angle + np.arcsin(ratio * np.sin(angle))) / 2
    sine, cosine = np.sin(angle), np.cos(angle)
    return sine, cosine, np.sqrt(cosine**2 + complement * sine**2)


def expand(gram: NDArray[np.float64], response: NDArray[np.float64], regularizer: float, largest: float) -> Expansion:
    """Return an expansion about V with no row in use.

    Args:
        gram: V, shape (m, m), symmetric.
        response: u, shape (m,).
        regularizer: What no eigenvalue of V is below.
        largest: What no squared norm of the contexts to come is above.
    """
    from scipy.linalg import eigh

    values, vectors = eigh(gram, driver="evd", check_finite=False)
    values = np.maximum(values, regularizer)
    shifts, weights = inverse_root(float(values[0]), float(values[-1]) + ROOM * largest)
    dimension, nodes = len(gram), len(shifts) + 1
    return Expansion(
        vectors=np.ascontiguousarray(vectors),
        inverses=1.0 / (values + np.append(0.0, shifts)[:, np.newaxis]),
        weights=np.append(0.0, weights),
        rotated=response @ vectors,
        images=np.zeros((ROOM, dimension)),
        factors=np.zeros((nodes, ROOM, ROOM)),
        used=np.zeros(1, dtype=np.int64),
    )
