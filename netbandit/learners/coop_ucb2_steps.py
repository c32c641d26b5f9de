"""The steps of coop-UCB2, compiled; see `netbandit.learners.coop_ucb2`.

States are of shape (M, 2, K): of each agent the numbers of pulls of its arms, and the sums of their rewards.
"""

from math import inf, log, sqrt

import numpy as np

from netbandit.util.jit import Floats, Integers, njit


@njit(cache=True, error_model="numpy")
def choose(
    agents: Integers, arms: Integers, counts: Integers, mixed: Floats, told: Floats, fresh: Floats, group: Floats,
    time: int, spread: float, extra: Floats, shared: bool,
) -> Integers:  # fmt: skip
    """Return the arm of each of *agents*, -1 where an index is no number, shape (n,).

    Args:
        agents: Who decides, shape (n,).
        arms: The own arms of each agent, ascending, shape (M, K).
        counts: How many they are, shape (M,).
        mixed: What each agent has mixed last.
        told: What it has told since, not mixed yet.
        fresh: What it has pulled since that.
        group: M, of each agent, shape (M,).
        time: tau, the slots played; -1: the sum of what an agent counts stands for it.
        spread: ``sigma sqrt(2 gamma / G)``.
        extra: f of each agent, shape (M,), if *shared* is false.
        shared: Whether f is ``sqrt(ln tau)``.
    """
    found = np.empty(agents.size, dtype=np.int64)
    level = log(max(time, 1))
    for row in range(agents.size):
        agent = agents[row]
        share = 1.0 / group[agent]
        if time < 0:
            total = 0.0
            for arm in range(mixed.shape[2]):
                total += mixed[agent, 0, arm] + share * (told[agent, 0, arm] + fresh[agent, 0, arm])
            level = log(max(total, 1.0))
        more = sqrt(level) if shared else extra[agent]
        best = -1
        highest = -inf
        for place in range(counts[agent]):
            arm = arms[agent, place]
            pulls = mixed[agent, 0, arm] + share * (told[agent, 0, arm] + fresh[agent, 0, arm])
            index = inf
            if pulls > 0.0:
                sums = mixed[agent, 1, arm] + share * (told[agent, 1, arm] + fresh[agent, 1, arm])
                index = sums / pulls + spread * sqrt((pulls + more) / (pulls * group[agent]) * (level / pulls))
            if index != index:
                best = -1
                break
            if index > highest or best < 0:
                highest = index
                best = arm
        found[row] = best
    return found


@njit(cache=True)
def learn(agents: Integers, arms: Integers, rewards: Floats, weights: Floats, own: Floats, fresh: Floats) -> None:
    """Count own pulls of *arms* and their *rewards* with *weights*, each shape (n,)."""
    for row in range(agents.size):
        own[agents[row], arms[row]] += weights[row]
        fresh[agents[row], 0, arms[row]] += weights[row]
        fresh[agents[row], 1, arms[row]] += weights[row] * rewards[row]


@njit(cache=True)
def counted(agents: Integers, mixed: Floats, fresh: Floats, own: Floats) -> Floats:
    """Return what *agents* tell next of the pulls of each arm, added up, and how often they have pulled it, (2, K)."""
    arms = own.shape[1]
    totals = np.zeros((2, arms))
    for agent in agents:
        for arm in range(arms):
            totals[0, arm] += mixed[agent, 0, arm] + fresh[agent, 0, arm]
            totals[1, arm] += own[agent, arm]
    return totals


@njit(cache=True)
def share(agents: Integers, mixed: Floats, told: Floats, fresh: Floats, rows: Floats) -> None:
    """Fill in the *rows* that *agents* tell, shape (n, 2 K)."""
    arms = mixed.shape[2]
    for row in range(agents.size):
        agent = agents[row]
        for which in range(2):
            for arm in range(arms):
                rows[row, which * arms + arm] = mixed[agent, which, arm] + fresh[agent, which, arm]
                told[agent, which, arm] = fresh[agent, which, arm]
                fresh[agent, which, arm] = 0.0


@njit(cache=True)
def take(agents: Integers, rows: Floats, factors: Floats, mixed: Floats, told: Floats) -> None:
    """Let *agents* go on from the *rows* that they have mixed, shape (n, 2 K), times *factors*, shape (n,)."""
    arms = mixed.shape[2]
    for row in range(agents.size):
        agent = agents[row]
        for which in range(2):
            for arm in range(arms):
                mixed[agent, which, arm] = factors[row] * rows[row, which * arms + arm]
                told[agent, which, arm] = 0.0
