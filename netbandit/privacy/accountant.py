"""How much privacy has been spent by the end of a run, and for what.

What an account says: for any two data sets that differ in one *unit*, no event has a probability under the one that is
larger than ``exp(epsilon)`` times that under the other, plus ``delta``. Delta is thus no probability with which epsilon
is exceeded: the privacy loss may exceed this epsilon more often, as what exceeds it counts only by how much.

An agent that loses its memory begins a new *life*. Where a unit is part of one life only, and each life draws noise of
its own, lives compose in parallel, as disjoint blocks of data do (McSherry 2009, Theorem 4): in other lives the unit is
seen only through what was released of it, which is post-processing. The whole run then spends what its worst life does,
exactly if that is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isinf, sqrt
from typing import Literal

from netbandit.privacy.gaussian import CLASSICAL_LIMIT, exact_epsilon, noise_multiplier

MADE = "epsilon counts the releases that were made in this run: an agent that released nothing has spent nothing"
"""What an account after the fact leaves out."""

HELD_FIXED = (
    "the agent's other data are held fixed: what it does otherwise later on because of this unit is not covered"
)
"""What an account of fixed data leaves out where choices depend on what the agent itself has seen."""


@dataclass(frozen=True)
class PrivacySpent:
    """An (epsilon, delta) guarantee for the agent that is worst off, beside the paper's own statement.

    Attributes:
        epsilon: What the accountant finds; ``inf`` where something left an agent without noise, 0 where nothing did.
        delta: Goes with epsilon; 0 for pure differential privacy.
        epsilon_claimed: What the paper states for the same run.
        unit: What is hidden: the change between two neighbouring data sets.
        accountant: How epsilon was found: the noise, and how releases compose.
        caveats: What epsilon does not cover, a line each.
        basic: Epsilon and delta by basic composition, which adds up all releases; None where nobody asks for it. It is
            an upper bound only, and refutes nothing.
        bound: Whether epsilon is exact for the unit, or an upper bound of what was spent, which refutes nothing.
        within_a_life: Whether a unit is part of one life of an agent only, as a reward is, and the noise of each life
            is its own. Where that is not said, epsilon of agents that lose their memory is an upper bound.
    """

    epsilon: float
    delta: float
    epsilon_claimed: float
    unit: str
    accountant: str = ""
    caveats: tuple[str, ...] = ()
    basic: tuple[float, float] | None = None
    bound: Literal["exact", "upper"] = "exact"
    within_a_life: bool = False

    def after_lost_memory(self) -> "PrivacySpent":
        """Return what was spent by agents that shared in several lives, from an account of all that they shared."""
        if self.within_a_life or isinf(self.epsilon):
            return self
        several = "as if a unit were part of all lives of an agent"
        return replace(self, bound="upper", accountant="; ".join(filter(None, [self.accountant, several])))


def account_block_means(epsilon: float, *, participants: int, members: int, releases: int) -> PrivacySpent:
    """Account for means of disjoint blocks of rewards, each released with Laplace noise (elimination).

    One reward lies in one block, whose noisy mean is ``N epsilon``-private for it: the densities of Laplace noise at
    two points have a ratio of at most exp of their distance in scales. The blocks are disjoint, so by parallel
    composition the whole run is too. Running means of earlier blocks, and which arms are left for the next, are
    post-processing of what was released, and what an agent pulls between the blocks is never released. So a first
    release spends N epsilon, later ones nothing more. Li & Song 2022 (Theorems 1 and 2) state M epsilon.

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
        epsilon=participants * epsilon if releases > 0 else 0.0,
        delta=0.0,
        epsilon_claimed=members * epsilon,
        unit="one reward of one agent",
        accountant="Laplace noise on means of disjoint blocks of rewards: exact for one, in parallel over all rounds",
        caveats=(MADE,),
        within_a_life=True,
    )


def account_openly(releases: int) -> PrivacySpent:
    """Account for what is shared as it is: nothing is private once anything was released (*releases* times)."""
    spent = inf if releases else 0.0
    return PrivacySpent(spent, 0.0, spent, "one reward of one agent", accountant="no noise", caveats=(MADE,))


def account_statistics(epsilons: Sequence[float], delta: float, *, claimed: float) -> PrivacySpent:
    """Account for rounds in which two sums over a block are released, both with Gaussian noise (P-FCB).

    Sums begin anew in each round, so one slot's quantity enters those of a single round: w, by at most the capacity k,
    and y, by no more. Both together are one Gaussian release with sqrt(2) times the sensitivity of one, whose epsilon
    is exact; rounds are disjoint, and the one with the least noise counts.

    Basic composition over all rounds stands beside it. That is how Solanki et al. 2022 (Section 5.5) have it, but for
    one release a round where there are two, and one delta where there is one a release. The classical bound of a
    release holds up to epsilon_z = 1; beyond, the exact epsilon of that noise stands in its place.

    Args:
        epsilons: epsilon_z of each round; ``inf``: no noise.
        delta: Of one release; also the delta at which the exact epsilon is told.
        claimed: The paper's own statement.
    """
    nothing = PrivacySpent(
        epsilon=0.0,
        delta=0.0,
        epsilon_claimed=claimed,
        unit="one slot's quantity of one producer, of one agent",
        accountant="Gaussian noise on the two sums of the one round that a quantity enters: exact, both together",
        caveats=(MADE, HELD_FIXED),
        within_a_life=True,
    )
    if not epsilons:
        return nothing
    if isinf(max(epsilons)):
        return replace(nothing, epsilon=inf)
    total = 0.0
    for epsilon in epsilons:
        exceeds = epsilon > CLASSICAL_LIMIT
        total += max(epsilon, exact_epsilon(delta, noise_multiplier(epsilon, delta))) if exceeds else epsilon
    return replace(
        nothing,
        epsilon=exact_epsilon(delta, noise_multiplier(max(epsilons), delta) / sqrt(2)),
        delta=delta,
        basic=(2 * total, min(1.0, 2 * len(epsilons) * delta)),
    )
