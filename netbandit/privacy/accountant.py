"""How much privacy has been spent by the end of a run, and for what."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf, sqrt

from netbandit.privacy.gaussian import CLASSICAL_LIMIT, exact_epsilon, noise_multiplier


@dataclass(frozen=True)
class PrivacySpent:
    """An (epsilon, delta) guarantee for the agent that is worst off, beside the paper's own statement.

    Attributes:
        epsilon: What the accountant finds; ``inf`` where something left an agent without noise, 0 where nothing did.
        delta: Goes with epsilon; 0 for pure differential privacy.
        epsilon_claimed: What the paper states for the same run.
        unit: What is hidden: the change between two neighbouring data sets.
    """

    epsilon: float
    delta: float
    epsilon_claimed: float
    unit: str


def account_block_means(epsilon: float, *, participants: int, members: int, releases: int) -> PrivacySpent:
    """Account for means of disjoint blocks of rewards, each released with Laplace noise (elimination).

    One reward lies in one block, whose noisy mean is ``N epsilon``-private for it; the blocks are disjoint, so
    by parallel composition the whole run is too. Running means of earlier blocks are post-processing, and what
    an agent pulls between the blocks is never released. So a first release spends N epsilon, later ones nothing
    more. Li & Song 2022 (Theorems 1 and 2) state M epsilon.

    Args:
        epsilon: The scenario's; ``inf``: no noise.
        participants: The number N of agents that share in a round.
        members: The number M of agents.
        releases: How often the agent that released most often did.

    Raises:
        ValueError: An epsilon that is not positive, or counts that cannot be.
    """
    if not epsilon > 0 or not 1 <= participants <= members or releases < 0:
        raise ValueError(
            f"no account of {releases} releases with epsilon {epsilon} by {participants} of {members} agents"
        )
    return PrivacySpent(
        epsilon=laplace_epsilon(participants * epsilon) if releases > 0 else 0.0,
        delta=0.0,
        epsilon_claimed=members * epsilon,
        unit="one reward of one agent",
    )


def laplace_epsilon(sensitivity: float) -> float:
    """Return the epsilon of one release with Laplace noise: its largest privacy loss, found by dp-accounting.

    Args:
        sensitivity: How much the released number can change, in units of the noise's scale; ``inf``: no noise.
    """
    if sensitivity == inf:
        return inf
    # It takes a second to import, and only runs with noise need it.
    from dp_accounting.pld.privacy_loss_mechanism import LaplacePrivacyLoss

    return float(LaplacePrivacyLoss(parameter=1.0, sensitivity=sensitivity).connect_dots_bounds().epsilon_upper)


def account_statistics(epsilons: Sequence[float], delta: float, *, claimed: float) -> PrivacySpent:
    """Account for rounds in which two sums over a block are released, both with Gaussian noise (P-FCB).

    In each round w and y are both released, each at (epsilon_z, delta) for one quantity, and rounds compose by basic
    composition, as Solanki et al. 2022 (Section 5.5) have it. They count one release a round, and of delta a single
    one. The classical bound holds up to epsilon_z = 1; beyond, the exact epsilon of that noise stands in its place.

    Args:
        epsilons: epsilon_z of each round; ``inf``: no noise.
        delta: Of one release.
        claimed: The paper's own statement.
    """
    total = 0.0
    for epsilon in epsilons:
        if isinf(epsilon):
            return PrivacySpent(inf, 0.0, claimed, _QUANTITY)
        exceeds = epsilon > CLASSICAL_LIMIT
        total += max(epsilon, exact_epsilon(delta, noise_multiplier(epsilon, delta))) if exceeds else epsilon
    return PrivacySpent(2 * total, min(1.0, 2 * len(epsilons) * delta), claimed, _QUANTITY)


def one_quantity(epsilon: float, delta: float) -> float:
    """Return the exact epsilon at *delta* of one round of P-FCB for one slot's quantity of one producer.

    A quantity enters the sums of a single round: w, and y, which it changes by no more. Both together are one Gaussian
    release with sqrt(2) times the sensitivity. Other quantities are held fixed, as in the paper's Definition 1.
    """
    return exact_epsilon(delta, noise_multiplier(epsilon, delta) / sqrt(2))


_QUANTITY = "one slot's quantity of one producer, of one agent"
