"""The steps of learners that count, compiled: counting what others tell, and the indices of arms.

The index of an arm follows from its mean p = S/N and N; see `netbandit.learners.ucb` and `netbandit.learners.klucb`.
"""

from math import inf, log, sqrt

from netbandit.jit import njit

HALVINGS = 40
"""Halvings of the interval that holds KL-UCB's index; its lower end is taken."""


@njit(cache=True)
def count(pulls, sums, agents, told):  # type: ignore[no-untyped-def]
    """Add the observations *told*, rows of (arm, reward), to the counts of the *agents* that hear them."""
    for row in range(agents.size):
        arm = int(told[row, 0])
        pulls[agents[row], arm] += 1.0
        sums[agents[row], arm] += told[row, 1]


@njit(cache=True)
def count_totals(pulls, sums, totals, newest, agents, sources, told, said):  # type: ignore[no-untyped-def]
    """Let what sources *told* of all their own pulls stand in place of what they told before, where it is newer.

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


@njit(cache=True)
def begin_lives(totals, newest, known, agents, sources, lives, said):  # type: ignore[no-untyped-def]
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
def best_upper(pulls, sums, arms, count, width):  # type: ignore[no-untyped-def]
    """Return the own arm with the largest ``S/N + width / sqrt(N)``, the lowest index among equals.

    Args:
        pulls: N of one agent, shape (K,).
        sums: S, shape (K,).
        arms: Its own arms, ascending, shape (K,).
        count: How many they are.
        width: ``sigma sqrt(2 alpha ln tau)``.
    """
    best = arms[0]
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
def divergence(p, q):  # type: ignore[no-untyped-def]
    """Return the Kullback-Leibler divergence of Bernoulli laws of means *p* and *q*, 0 < q < 1 unless equal to p."""
    found = 0.0
    if p > 0.0:
        found += p * log(p / q)
    if p < 1.0:
        found += (1.0 - p) * log((1.0 - p) / (1.0 - q))
    return found


@njit(cache=True, error_model="numpy")
def upper_mean(p, level):  # type: ignore[no-untyped-def]
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
def best_divergence(pulls, sums, arms, count, level):  # type: ignore[no-untyped-def]
    """Return the own arm with the largest `upper_mean` of ``S/N`` at *level* / N; arguments as of `best_upper`."""
    best = arms[0]
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
