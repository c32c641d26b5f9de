"""The compiled loop in which agents of UCB1 or KL-UCB pull arms that pay 0 or 1, and learn alone."""

from math import log, sqrt

import numpy as np
from numba import njit

from netbandit.learners.counts_steps import best_divergence, best_upper


@njit(cache=True, error_model="numpy")
def play(  # type: ignore[no-untyped-def]
    first, last, agents, numbers, means, gaps, known, width, log_log, divergence, missed, account
):
    """Let *agents* play the slots from *first* to before *last*, all of them slot by slot.

    Args:
        first: The first slot.
        last: The slot after the last one.
        agents: Those that are up, ascending.
        numbers: What decides the rewards, uniform in [0, 1), shape (M, slots).
        means: The mean of each agent and arm, shape (M, K).
        gaps: How much worse than the best arm each arm is, shape (K,).
        known: `netbandit.learners.counts.Counts`; updated.
        width: ``sigma sqrt(2 alpha)``, of UCB1.
        log_log: c, of KL-UCB.
        divergence: Whether it is KL-UCB.
        missed: The regret of each agent, shape (M,); updated.
        account: `netbandit.simulation.slot_account.Account`, one row.
    """
    pulls, sums, arms, counts, decided, since = known
    digests = account.digests
    level = bonus = 0.0
    for slot in range(first, last):
        begun = -1
        regret = 0.0
        for agent in agents:
            if since[agent] != begun:
                begun = since[agent]
                level = log(max(slot - begun, 1))
                bonus = width * sqrt(level)
                if divergence and log_log > 0.0:
                    level += log_log * log(max(level, 1.0))
            if decided[agent] < counts[agent]:
                arm = arms[agent, decided[agent]]
            elif divergence:
                arm = best_divergence(pulls[agent], sums[agent], arms[agent], counts[agent], level)
            else:
                arm = best_upper(pulls[agent], sums[agent], arms[agent], counts[agent], bonus)
            decided[agent] += 1
            pulls[agent, arm] += 1.0
            if numbers[agent, slot - first] < means[agent, arm]:
                sums[agent, arm] += 1.0
            regret += gaps[arm]
            missed[agent] += gaps[arm]
            digests[agent] = (digests[agent] ^ np.uint64(arm + 1)) * np.uint64(0x100000001B3)
        account.regret[0] += regret
        knot = account.next_knot[0]
        if account.knots[knot] == slot + 1:
            account.curve[0, knot] = account.regret[0]
            account.next_knot[0] = knot + 1
