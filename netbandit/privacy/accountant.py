"""Accounts for the privacy spent over a run.

An (epsilon, delta) guarantee means: for any two data sets that differ in one *unit*, the probability of every event
under one is at most ``exp(epsilon)`` times that under the other, plus ``delta``. Delta is not the probability that the
privacy loss exceeds epsilon: the loss may exceed epsilon more often, because delta weights each excess by its size.

An agent that loses its memory begins a new *life*. If a unit belongs to one life only and each life draws its own
noise, lives compose in parallel, like disjoint blocks of data (McSherry 2009, Theorem 4): other lives see the unit only
through its releases, which is post-processing. The whole run then spends as much as its worst life, and the account of
the run is exact if that of the worst life is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isinf, sqrt
from typing import Literal

from netbandit.privacy.gaussian import CLASSICAL_LIMIT, exact_epsilon, noise_multiplier

MADE = "epsilon counts the releases that were made in this run: an agent that released nothing has spent nothing"
"""Caveat of an account computed after the run."""

HELD_FIXED = (
    "the agent's other data are held fixed: what it does otherwise later on because of this unit is not covered"
)
"""Caveat of an account for fixed data when an agent's choices depend on its own observations."""


@dataclass(frozen=True)
class PrivacySpent:
    """The (epsilon, delta) guarantee of the worst-off agent, together with the paper's claim.

    Attributes:
        epsilon: The computed epsilon; ``inf`` if an agent released anything without noise, 0 if nothing was released.
        delta: The delta that belongs to epsilon; 0 for pure differential privacy.
        epsilon_claimed: The epsilon that the paper states for the same run.
        unit: The unit of privacy: the difference between two neighbouring data sets.
        accountant: The accounting method: the noise and the composition of releases.
        caveats: What epsilon does not cover, one line each.
        basic: Epsilon and delta by basic composition over all releases; None if not computed. It is only an upper
            bound and refutes no claim.
        bound: Whether epsilon is exact for the unit or only an upper bound, which refutes no claim.
        within_a_life: Whether each unit (such as a reward) belongs to one life of an agent only and each life draws
            its own noise. Otherwise epsilon of agents that lose their memory is an upper bound.
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
        """Return the privacy spent by agents that shared in several lives, given the account of all their releases."""
        if self.within_a_life or isinf(self.epsilon):
            return self
        several = "as if a unit were part of all lives of an agent"
        return replace(self, bound="upper", accountant="; ".join(filter(None, [self.accountant, several])))


def account_block_means(epsilon: float, *, participants: int, members: int, releases: int) -> PrivacySpent:
    """Account for means of disjoint blocks of rewards, each released with Laplace noise (elimination).

    Each reward lies in one block. The block's noisy mean is ``N epsilon``-private for that reward: the ratio of the
    Laplace densities at two points is at most exp of their distance in units of the scale. The blocks are disjoint, so
    by parallel composition the same holds for the whole run. Running means of earlier blocks and the set of remaining
    arms are post-processing of releases, and pulls between blocks are never released. The first release therefore
    spends N epsilon and later ones nothing more. Li & Song 2022 (Theorems 1 and 2) state M epsilon.

    Args:
        epsilon: The epsilon of the scenario; ``inf``: no noise.
        participants: The number N of agents that share in a round.
        members: The number M of agents.
        releases: The largest number of releases of any agent.

    Raises:
        ValueError: Epsilon is not positive, or the counts are impossible.
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
    """Account for *releases* without noise: one release is enough to lose all privacy."""
    spent = inf if releases else 0.0
    return PrivacySpent(spent, 0.0, spent, "one reward of one agent", accountant="no noise", caveats=(MADE,))


def account_statistics(epsilons: Sequence[float], delta: float, *, claimed: float) -> PrivacySpent:
    """Account for rounds that each release two sums over a block, both with Gaussian noise (P-FCB).

    The sums restart in each round, so the quantity of one slot enters the sums of a single round: it changes w by at
    most the capacity k, and y by no more. Together they are one Gaussian release with sqrt(2) times the sensitivity of
    one sum, whose epsilon is exact. Rounds are disjoint, so the round with the least noise determines epsilon.

    Basic composition over all rounds is also reported. Solanki et al. 2022 (Section 5.5) use it, but count one release
    per round instead of two, and one delta in total instead of one per release. The classical bound for a release
    holds up to epsilon_z = 1; beyond that the exact epsilon of the same noise replaces it.

    Args:
        epsilons: epsilon_z of each round; ``inf``: no noise.
        delta: The delta of one release, and the delta at which the exact epsilon is reported.
        claimed: The paper's claim.
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
