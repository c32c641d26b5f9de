"""The steps of DDUCB, compiled; see `netbandit.learners.dducb`.

Pairs are of shape (M, 2, K): of each agent the pulls of its arms, and the sums of their rewards.
"""

from math import inf, log, sqrt

import numpy as np

from netbandit.util.jit import Floats, Integers, njit


@njit(cache=True, error_model="numpy")
def choose(
    agents: Integers, arms: Integers, counts: Integers, alpha: Floats, group: Floats, times: Floats, spread: float
) -> Integers:
    """Return the arm of each of *agents*, -1 where an index is no number, shape (n,).

    Args:
        agents: Who decides, shape (n,).
        arms: The own arms of each agent, ascending, shape (M, K).
        counts: How many they are, shape (M,).
        alpha: What indices are made of.
        group: M, of each agent, shape (M,).
        times: s, of each agent, shape (M,).
        spread: ``sigma sqrt(2 eta)``.
    """
    found = np.empty(agents.size, dtype=np.int64)
    for row in range(agents.size):
        agent = agents[row]
        level = log(max(times[agent], 1.0)) / group[agent]
        best = -1
        highest = -inf
        for place in range(counts[agent]):
            arm = arms[agent, place]
            pulls = alpha[agent, 0, arm]
            index = inf
            if pulls > 0.0:
                index = alpha[agent, 1, arm] / pulls + spread * sqrt(level / pulls)
            if index != index:
                best = -1
                break
            if index > highest or best < 0:
                highest = index
                best = arm
        found[row] = best
    return found


@njit(cache=True)
def learn(
    agents: Integers, arms: Integers, rewards: Floats, own: Floats, alpha: Floats, fresh: Floats, times: Floats,
    group: Floats,
) -> None:  # fmt: skip
    """Count own pulls of *arms* and their *rewards*, each shape (n,): in *alpha* with weight 1/M, in *fresh* whole."""
    for row in range(agents.size):
        agent, arm = agents[row], arms[row]
        own[agent, arm] += 1.0
        fresh[agent, 0, arm] += 1.0
        fresh[agent, 1, arm] += rewards[row]
        alpha[agent, 0, arm] += 1.0 / group[agent]
        alpha[agent, 1, arm] += rewards[row] / group[agent]
        times[agent] += 1.0


@njit(cache=True)
def counted(agents: Integers, beta: Floats, gamma: Floats, delta: Floats, own: Floats) -> Floats:
    """Return what *agents* have mixed of the pulls of each arm, added up, and how many that stands for, (2, K)."""
    arms = own.shape[1]
    totals = np.zeros((2, arms))
    for agent in agents:
        for arm in range(arms):
            totals[0, arm] += beta[agent, 0, arm] + delta[agent, 0, arm]
            totals[1, arm] += own[agent, arm] - gamma[agent, 0, arm]
    return totals


@njit(cache=True)
def take(
    slot: int, agents: Integers, rows: Floats, factors: Floats, keeps: bool, step: Integers, alpha: Floats,
    beta: Floats, before: Floats, gamma: Floats, delta: Floats, group: Floats, times: Floats, begun: Floats,
) -> None:  # fmt: skip
    """Let *agents* go on from the *rows* that they have mixed; at the end of a stage, begin the next.

    Args:
        slot: The slot, which is also how many slots were played.
        agents: Who steps, shape (n,).
        rows: ``P q_r``, shape (n, 2 K).
        factors: What ``P q_r`` and ``-q_{r-1}`` are multiplied by in each step of a stage, shape (C, 2).
        keeps: Whether what a stage has mixed goes on being mixed.
        step: r, of each agent, shape (M,); updated.
        alpha: What indices are made of; updated, as the following.
        beta: What is being mixed, q_r.
        before: q_{r-1}.
        gamma: Own pulls since the stage began.
        delta: What stages have mixed.
        group: M, of each agent, shape (M,).
        times: s, of each agent, shape (M,).
        begun: How many slots each agent had played when its stage began, shape (M,).
    """
    arms = beta.shape[2]
    for row in range(agents.size):
        agent = agents[row]
        now, then = factors[step[agent]]
        step[agent] += 1
        ends = step[agent] == len(factors)
        for which in range(2):
            for arm in range(arms):
                mixed = now * rows[row, which * arms + arm] - then * before[agent, which, arm]
                before[agent, which, arm] = beta[agent, which, arm]
                beta[agent, which, arm] = mixed
                if not ends:
                    continue
                if keeps:
                    alpha[agent, which, arm] = mixed
                    beta[agent, which, arm] = mixed + gamma[agent, which, arm]
                else:
                    delta[agent, which, arm] += mixed
                    alpha[agent, which, arm] = delta[agent, which, arm]
                    beta[agent, which, arm] = gamma[agent, which, arm]
                gamma[agent, which, arm] = 0.0
        if ends:
            step[agent] = 0
            times[agent] = group[agent] * begun[agent]
            begun[agent] = slot
