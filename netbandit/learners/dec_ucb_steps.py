"""The steps of Dec_UCB, compiled; see `netbandit.learners.dec_ucb`."""

from math import inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.util.jit import Floats, Integers, njit


@njit(cache=True, error_model="numpy")
def choose(
    agents: Integers, slot: int, estimates: Floats, pulls: Floats, most: Floats, near: NDArray[np.floating[Any]],
    spread: float, uniforms: Floats,
) -> Integers:  # fmt: skip
    """Return the arm of each of *agents*, -1 where an index is no number, shape (n,).

    Args:
        agents: Who decides, shape (n,).
        slot: tau, the slots played.
        estimates: z, shape (M, K).
        pulls: n, shape (M, K).
        most: m, shape (M, K).
        near: What n is multiplied by in the bonus, of each agent, shape (M,).
        spread: The bonus is ``spread sqrt(ln tau / (near n))``.
        uniforms: Of each agent a number in [0, 1), which decides among arms that must catch up, shape (M,); empty: the
            lowest does.
    """
    found = np.empty(agents.size, dtype=np.int64)
    arms = estimates.shape[1]
    level = log(max(slot, 1))
    for row in range(agents.size):
        agent = agents[row]
        behind = 0
        best = -1
        for arm in range(arms):
            if pulls[agent, arm] <= most[agent, arm] - arms:
                behind += 1
                if behind == 1:
                    best = arm
        if behind:
            if uniforms.size:
                left = int(uniforms[agent] * behind)
                for arm in range(arms):
                    if pulls[agent, arm] <= most[agent, arm] - arms:
                        if left == 0:
                            best = arm
                            break
                        left -= 1
            found[row] = best
            continue
        highest = -inf
        for arm in range(arms):
            index = estimates[agent, arm] + spread * sqrt(level / (near[agent] * pulls[agent, arm]))
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
    agents: Integers, arms: Integers, rewards: Floats, pulls: Floats, sums: Floats, estimates: Floats,
    since: Floats, latest: Floats,
) -> None:  # fmt: skip
    """Count own pulls of *arms* and their *rewards*, each shape (n,), and follow the change of x.

    Args:
        agents: Who pulled, shape (n,).
        arms: What, shape (n,).
        rewards: What it paid, shape (n,).
        pulls: n, shape (M, K); updated, as the following.
        sums: The rewards of these, shape (M, K).
        estimates: z, shape (M, K).
        since: The change of x since the row that was told last, shape (M, K).
        latest: Of the latest pull of each agent: by how much it has changed x, and z before it, shape (M, 2).
    """
    for row in range(agents.size):
        agent, arm = agents[row], arms[row]
        mean = sums[agent, arm] / pulls[agent, arm] if pulls[agent, arm] > 0.0 else 0.0
        pulls[agent, arm] += 1.0
        sums[agent, arm] += rewards[row]
        change = sums[agent, arm] / pulls[agent, arm] - mean
        latest[agent, 0] = change
        latest[agent, 1] = estimates[agent, arm]
        estimates[agent, arm] += change
        since[agent, arm] += change


@njit(cache=True)
def share(
    agents: Integers, arms: Integers, estimates: Floats, most: Floats, since: Floats, latest: Floats, rows: Floats
) -> None:
    """Fill in the *rows* that *agents* tell, shape (n, 2 K): z and m as before their latest pulls, of *arms*."""
    count = estimates.shape[1]
    for row in range(agents.size):
        agent = agents[row]
        for arm in range(count):
            rows[row, arm] = estimates[agent, arm]
            rows[row, count + arm] = most[agent, arm]
            since[agent, arm] = 0.0
        rows[row, arms[agent]] = latest[agent, 1]
        since[agent, arms[agent]] = latest[agent, 0]


@njit(cache=True)
def take(
    agents: Integers, rows: Floats, largest: Floats, pulls: Floats, estimates: Floats, most: Floats, since: Floats
) -> None:
    """Let *agents* go on from the *rows* that they have mixed, and from the *largest* of each, shape (n, 2 K)."""
    count = estimates.shape[1]
    for row in range(agents.size):
        agent = agents[row]
        for arm in range(count):
            estimates[agent, arm] = rows[row, arm] + since[agent, arm]
            most[agent, arm] = max(pulls[agent, arm], most[agent, arm], largest[row, count + arm])
