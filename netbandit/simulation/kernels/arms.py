"""The compiled loops in which agents pull arms that pay 0 or 1, and learn alone."""

from math import log, sqrt

import numpy as np

from netbandit.jit import njit
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


@njit(cache=True, error_model="numpy")
def play_thompson(  # type: ignore[no-untyped-def]
    first, last, decided, numbers, means, gaps, pulls, sums, rng, regrets, digest
):
    """Let one agent of Thompson sampling play the slots from *first* to before *last*.

    numba draws from a generator what numpy does, number for number.

    Args:
        first: The first slot.
        last: The slot after the last one.
        decided: How often the agent has decided before.
        numbers: What decides the agent's rewards, uniform in [0, 1), shape (slots,).
        means: The mean of each of its arms, shape (K,).
        gaps: How much worse than the best arm each arm is, shape (K,).
        pulls: N of the agent, shape (K,); updated.
        sums: S, shape (K,); updated.
        rng: Its stream.
        regrets: What is missed in each slot, shape (slots,); added to.
        digest: The hash of all that it chose.

    Returns:
        The hash, and the regret of the agent.
    """
    arms = len(pulls)
    missed = 0.0
    for slot in range(first, last):
        arm = decided + slot - first
        if arm >= arms:
            highest = -1.0
            for each in range(arms):
                drawn = rng.beta(1.0 + sums[each], 1.0 + max(pulls[each] - sums[each], 0.0))
                if drawn > highest:
                    highest = drawn
                    arm = each
        pulls[arm] += 1.0
        if numbers[slot - first] < means[arm]:
            sums[arm] += 1.0
        regrets[slot - first] += gaps[arm]
        missed += gaps[arm]
        digest = (digest ^ np.uint64(arm + 1)) * np.uint64(0x100000001B3)
    return digest, missed


@njit(cache=True)
def note(first, regrets, account):  # type: ignore[no-untyped-def]
    """Add the regret of all agents in each slot from *first* on to the account, which has one row.

    Args:
        first: The first slot.
        regrets: What all agents missed in each slot, shape (slots,).
        account: `netbandit.simulation.slot_account.Account`.
    """
    for place in range(len(regrets)):
        account.regret[0] += regrets[place]
        knot = account.next_knot[0]
        if account.knots[knot] == first + place + 1:
            account.curve[0, knot] = account.regret[0]
            account.next_knot[0] = knot + 1
