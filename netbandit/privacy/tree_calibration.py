"""Noise calibration and privacy accounting for the tree mechanism on covariance matrices."""

from dataclasses import dataclass
from math import ceil, inf, log, log2, sqrt
from typing import Literal

from netbandit.privacy.accountant import HELD_FIXED, MADE, PrivacySpent
from netbandit.privacy.gaussian import exact_epsilon

Calibration = Literal["paper", "zcdp"]

OBSERVATION = 2.0
"""L^2 + 1: the largest squared length of [x; y] with x no longer than L = 1 and y from -1 to 1."""

DATA_DEPENDENT = "when agents synchronise depends on their data, which epsilon does not cover (Zhou & Chowdhury 2024)"
"""Caveat of an account of the tree when a data-dependent test triggers the releases."""


@dataclass(frozen=True)
class TreeNoise:
    """Noise of FedUCB's Privatizer (Dubey & Pentland 2020, Algorithm 2 and Section 4).

    Attributes:
        depth: m, the maximum number of nodes that cover a release, and that contain an observation.
        deviation: sigma_n, the standard deviation of one entry of a node.
        shift: Lambda; twice this value is added to the diagonal of each release, once.
        log_term: ``ln(2 n M / alpha)``: a union bound over all releases of all agents.
    """

    depth: int
    deviation: float
    shift: float
    log_term: float

    def kappa(self, dimension: int) -> float:
        """Return the bound kappa on the shift of the estimate by noise, in the matrix norm (reconstructed)."""
        noise = sqrt(self.depth) * self.deviation * (sqrt(dimension) + sqrt(2 * self.log_term))
        return noise / sqrt(self.shift)

    def paper_kappa(self, dimension: int, epsilon: float) -> float:
        """Return the paper's bound kappa."""
        return sqrt(self.depth * OBSERVATION * (sqrt(dimension) + 2 * self.log_term) / (sqrt(2) * epsilon))


def depth_of(releases: float) -> int:
    """Return m = 1 + ceil(log2 n) for at most n *releases*, at least 1."""
    return 1 + ceil(log2(max(releases, 1)))


def calibrate(
    calibration: Calibration,
    *,
    epsilon: float,
    delta: float,
    alpha: float,
    dimension: int,
    releases: float,
    trees: float,
) -> TreeNoise:
    """Return the noise for (*epsilon*, *delta*) of one observation, over all releases of an agent together.

    Args:
        calibration: ``paper``, or ``zcdp``: only as much noise as zero-concentrated differential privacy requires.
        epsilon: The privacy parameter epsilon.
        delta: The privacy parameter delta.
        alpha: The confidence of the bounds on the noise.
        dimension: d.
        releases: n, the maximum number of releases of one tree.
        trees: The total number of trees of all agents.

    Raises:
        ValueError: A parameter is out of range.
    """
    if not 0 < epsilon < inf or not 0 < delta < 1 or not 0 < alpha < 1:
        raise ValueError(f"no tree for epsilon {epsilon}, delta {delta} and alpha {alpha}")
    depth = depth_of(releases)
    log_term = log(2 * max(releases, 1) * trees / alpha)
    spread = 4 * sqrt(dimension) + 2 * log_term
    if calibration == "paper":
        deviation = 4 * sqrt(depth) * OBSERVATION * log(2 / delta) / epsilon
        shift = sqrt(32) * depth * OBSERVATION * log(4 / delta) * spread / epsilon
    else:
        # 1 / (sqrt(a + epsilon) - sqrt(a)), in a form that is stable for a tiny epsilon.
        inverse = (sqrt(log(1 / delta) + epsilon) + sqrt(log(1 / delta))) / epsilon
        deviation = OBSERVATION * sqrt(depth / 2) * inverse
        shift = sqrt(2 * depth) * deviation * spread
    return TreeNoise(depth, deviation, shift, log_term)


def account_tree(
    deviation: float, delta: float, *, releases: int, claimed: float, trigger_is_private: bool
) -> PrivacySpent:
    """Return the privacy spent by *releases* of one tree.

    An observation v = [x; y] enters one leaf, and hence at most ``1 + floor(log2 k)`` nodes of k releases. Replacing
    it changes a node by ``v v' - w w'``, whose squared Frobenius norm is at most 2 (L^2 + 1)^2. The noise variance is
    sigma_n^2 off the diagonal and twice that on it. So both triangles together are one Gaussian release with squared
    sensitivity (L^2 + 1)^2 / sigma_n^2, and all nodes together (adaptive or not) are one release with the sum of these.

    Args:
        deviation: sigma_n; 0: no noise.
        delta: The delta at which epsilon is reported.
        releases: k, of the tree with the most releases.
        claimed: The paper's claim.
        trigger_is_private: Whether the release times reveal nothing about the data.
    """
    if releases == 0:
        epsilon = 0.0
    elif deviation == 0:
        epsilon = inf
    else:
        epsilon = exact_epsilon(delta, deviation / (OBSERVATION * sqrt(releases.bit_length())))
    return PrivacySpent(
        epsilon=epsilon,
        delta=delta if releases and deviation else 0.0,
        epsilon_claimed=claimed,
        unit="one observation (context and reward) of one agent",
        accountant="Gaussian noise on all nodes of the tree that an observation enters: exact, all together",
        caveats=(MADE, HELD_FIXED) if trigger_is_private else (DATA_DEPENDENT, MADE, HELD_FIXED),
        within_a_life=True,
    )
