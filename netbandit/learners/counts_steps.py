"""Compiled steps of counting learners: adding received observations, and the indices of arms.

The index of an arm follows from its mean p = S/N and N; see `netbandit.learners.ucb` and `netbandit.learners.klucb`.
"""

from math import inf, log, sqrt

from netbandit.byzantine.aggregation import one_arm
from netbandit.util.jit import Floats, Integers, njit

HALVINGS = 40
"""Halvings of the interval that holds KL-UCB's index; its lower end is taken."""


@njit(cache=True)
def count(pulls: Floats, sums: Floats, agents: Integers, told: Floats) -> None:
    """Add the observations *told*, rows of (arm, reward), to the counts of the *agents* that hear them."""
    for row in range(agents.size):
        arm = int(told[row, 0])
        pulls[agents[row], arm] += 1.0
        sums[agents[row], arm] += told[row, 1]


@njit(cache=True)
def count_totals(
    pulls: Floats, sums: Floats, totals: Floats, newest: Integers, agents: Integers, sources: Integers,
    told: Floats, said: Integers,
) -> None:  # fmt: skip
    """Replace the totals previously received from *sources* by the totals *told*, where these are newer.

    Args:
        pulls: N, shape (M, K).
        sums: S, shape (M, K).
        totals: What each agent knows of each source: numbers and sums, shape (M, M, 2, K).
        newest: As of which slot, shape (M, M); -1: nothing.
        agents: Who hears each row, shape (n,).
        sources: Of whom, shape (n,).
        told: Numbers and sums, shape (n, 2 K).
        said: As of which slot, shape (n,).
    """
    arms = pulls.shape[1]
    for row in range(agents.size):
        agent, source = agents[row], sources[row]
        if said[row] <= newest[agent, source]:
            continue
        newest[agent, source] = said[row]
        before = totals[agent, source]
        for arm in range(arms):
            pulls[agent, arm] += told[row, arm] - before[0, arm]
            sums[agent, arm] += told[row, arms + arm] - before[1, arm]
            before[0, arm] = told[row, arm]
            before[1, arm] = told[row, arms + arm]


median_of = njit(cache=True)(one_arm.median_of)
trimmed_of = njit(cache=True)(one_arm.trimmed_of)
resilient_of = njit(cache=True)(one_arm.resilient_of)

RULES = ("mean", "median", "trimmed", "resilient")
"""The rules by which an agent combines its own and received means of an arm, in the order of `combine_totals`."""


@njit(cache=True)
def combine_totals(
    rule: int, tolerate: int, kappa: float, agent: int, own: Floats, totals: Floats, pulls: Floats, sums: Floats,
    means: Floats, counts: Floats,
) -> None:  # fmt: skip
    """Write what an agent takes each arm's pulls and sum to be where it does not trust the totals of others.

    The sum over the pulls is the robust mean. The pulls are those of all that are heard, which the width of the index
    goes by; with ``resilient`` they are its own over g, so that the width is ``sqrt(2 g ln(t) / n_i)``.

    Args:
        rule: The number of the rule in `RULES`, not that of the mean.
        tolerate: f', how many liars it is to withstand.
        kappa: See `resilient_of`.
        agent: The agent.
        own: Its own numbers and sums, shape (2, K).
        totals: What it knows of each source, shape (M, 2, K).
        pulls: Written, shape (K,).
        sums: Written, shape (K,).
        means: Room, shape (M,).
        counts: Room, shape (M,).
    """
    for arm in range(pulls.shape[0]):
        own_pulls = own[0, arm]
        heard = 0
        total = 0.0
        if own_pulls > 0.0 and rule != 3:
            means[0] = own[1, arm] / own_pulls
            total = own_pulls
            heard = 1
        for source in range(totals.shape[0]):
            if source != agent and totals[source, 0, arm] > 0.0:
                means[heard] = totals[source, 1, arm] / totals[source, 0, arm]
                counts[heard] = totals[source, 0, arm]
                total += totals[source, 0, arm]
                heard += 1
        if rule == 3:
            pulls[arm] = 0.0
            if own_pulls > 0.0:
                mean, factor = resilient_of(own[1, arm] / own_pulls, own_pulls, means, counts, heard, tolerate, kappa)
                pulls[arm] = own_pulls / factor
                sums[arm] = mean * pulls[arm]
            continue
        pulls[arm] = total
        if heard > 0:
            means[:heard].sort()
            mean = median_of(means, heard) if rule == 1 else trimmed_of(means, heard, tolerate)
            sums[arm] = mean * total


@njit(cache=True)
def begin_lives(
    totals: Floats, newest: Integers, known: Integers, agents: Integers, sources: Integers, lives: Floats,
    said: Integers,
) -> None:  # fmt: skip
    """Keep what was counted of a source's earlier life for good where it tells of a new one.

    Args:
        totals: What each agent knows of the present life of each source, shape (M, M, 2, K); updated.
        newest: As of which slot, shape (M, M).
        known: The life of each source that each agent has heard of, shape (M, M); updated.
        agents: Who hears each row, shape (n,), in order of arrival.
        sources: Of whom, shape (n,).
        lives: Of which life, shape (n,).
        said: As of which slot, shape (n,).
    """
    for row in range(agents.size):
        agent, source = agents[row], sources[row]
        if said[row] > newest[agent, source] and lives[row] > known[agent, source]:
            known[agent, source] = int(lives[row])
            totals[agent, source] = 0.0


@njit(cache=True, error_model="numpy")
def best_upper(pulls: Floats, sums: Floats, arms: Integers, count: int, width: float) -> int:
    """Return the own arm with the largest ``S/N + width / sqrt(N)``, the lowest index among equals.

    Args:
        pulls: N of one agent, shape (K,).
        sums: S, shape (K,).
        arms: Its own arms, ascending, shape (K,).
        count: How many they are.
        width: ``sigma sqrt(2 alpha ln tau)``.
    """
    best: int = arms[0]
    highest = -inf
    for place in range(count):
        arm = arms[place]
        index = inf
        if pulls[arm] > 0.0:
            index = sums[arm] / pulls[arm] + width / sqrt(pulls[arm])
        if index > highest:
            highest = index
            best = arm
    return best


@njit(cache=True, error_model="numpy")
def divergence(p: float, q: float) -> float:
    """Return the Kullback-Leibler divergence of Bernoulli laws of means *p* and *q*, 0 < q < 1 unless equal to p."""
    found = 0.0
    if p > 0.0:
        found += p * log(p / q)
    if p < 1.0:
        found += (1.0 - p) * log((1.0 - p) / (1.0 - q))
    return found


@njit(cache=True, error_model="numpy")
def upper_mean(p: float, level: float) -> float:
    """Return the largest q in [p, 1] with ``kl(p, q) <= level``: the lower end after `HALVINGS` halvings."""
    low = min(max(p, 0.0), 1.0)
    mean = low
    high = 1.0
    if mean >= 1.0:
        return 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if divergence(mean, middle) <= level:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, error_model="numpy")
def best_divergence(pulls: Floats, sums: Floats, arms: Integers, count: int, level: float) -> int:
    """Return the own arm with the largest `upper_mean` of ``S/N`` at *level* / N; arguments as of `best_upper`."""
    best: int = arms[0]
    highest = -inf
    for place in range(count):
        arm = arms[place]
        index = inf
        if pulls[arm] > 0.0:
            mean = sums[arm] / pulls[arm]
            # Not even the highest index so far is near enough to this mean: no need to find how near is.
            if mean < highest < 1.0 and divergence(mean, highest) > level / pulls[arm]:
                continue
            index = upper_mean(mean, level / pulls[arm])
        if index > highest:
            highest = index
            best = arm
    return best
