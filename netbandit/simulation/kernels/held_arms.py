"""The compiled loop in which agents of GosInE pull arms of their sets, which pay 0 or 1."""

from math import inf, log, sqrt

import numpy as np

from netbandit.jit import njit


@njit(cache=True, error_model="numpy")
def play(  # type: ignore[no-untyped-def]
    first, last, agents, numbers, means, gaps, held, pulls, sums, phase_pulls, since, width, missed, account
):
    """Let *agents* play the slots from *first* to before *last*, all of them slot by slot.

    Args:
        first: The first slot.
        last: The slot after the last one.
        agents: Those that are up, ascending.
        numbers: What decides the rewards, uniform in [0, 1), shape (M, slots).
        means: The mean of each agent and arm, shape (M, K).
        gaps: How much worse than the best arm each arm is, shape (K,).
        held: The arms of each agent, in order, shape (M, s).
        pulls: N, shape (M, K); updated.
        sums: S, shape (M, K); updated.
        phase_pulls: The pulls of the phase, shape (M, K); updated.
        since: The slot in which each agent began, shape (M,).
        width: ``sigma sqrt(2 alpha)``.
        missed: The regret of each agent, shape (M,); updated.
        account: `netbandit.simulation.slot_account.Account`, one row.
    """
    digests = account.digests
    size = held.shape[1]
    bonus = 0.0
    for slot in range(first, last):
        begun = -1
        regret = 0.0
        for agent in agents:
            if since[agent] != begun:
                begun = since[agent]
                bonus = width * sqrt(log(max(slot - begun, 1)))
            arm = held[agent, 0]
            highest = -inf
            for place in range(size):
                each = held[agent, place]
                index = inf
                if pulls[agent, each] > 0.0:
                    index = sums[agent, each] / pulls[agent, each] + bonus / sqrt(pulls[agent, each])
                if index > highest:
                    highest = index
                    arm = each
            pulls[agent, arm] += 1.0
            phase_pulls[agent, arm] += 1.0
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
