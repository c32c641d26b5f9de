"""The sharing schedule of P-FCB and the privacy budget of each round."""

from collections.abc import Sequence
from math import ceil, log, log2
from typing import Literal

Rule = Literal["doubling", "every", "literal"]


def sharing_slots(rule: Rule, start: int, stop: int, horizon: int) -> Sequence[int]:
    """Return the slots in which every agent shares, ascending; numbered from 0.

    ``doubling``: in the first slot t in [start, stop] with t >= tau, tau = 1 at first; then tau doubles until it
    exceeds t (Solanki et al. 2022, Section 5.1). ``literal``: tau doubles once a round, as Algorithm 2 is printed,
    so the first rounds follow slot upon slot until tau has caught up. ``every``: all slots (Algorithm 1).

    Args:
        rule: Which.
        start: The first slot in which agents may share.
        stop: The last one.
        horizon: T, in slots.
    """
    if rule == "every":
        return range(horizon)
    slots: list[int] = []
    slot, threshold = start, 1
    while True:
        slot = max(slot, threshold)
        if slot > stop or slot >= horizon:
            return slots
        slots.append(slot)
        threshold *= 2
        while rule == "doubling" and threshold <= slot:
            threshold *= 2
        slot += 1


def round_epsilon(epsilon: float, horizon: int, rounds: int, number: int) -> float:
    """Return epsilon_z of round z.

    ``epsilon / (2 log2 T) + epsilon / 2^(z+1)`` (Section 5.3). The sum over the rounds stays below epsilon as long as
    there are no more than log2 T of them; where a schedule has more, their number stands for log2 T.

    Args:
        epsilon: The budget.
        horizon: T, in slots.
        rounds: How many rounds the schedule has.
        number: z, from 1.
    """
    return epsilon / (2 * max(log2(horizon), rounds)) + epsilon * 0.5 ** (number + 1)


def exploration_rounds(agents: int, horizon: int, zeta: float) -> int:
    """Return ``ceil(3 ln(n T) / (2 n zeta^2))``, the paper's exploration (Algorithm 2, line 5), at least 1.

    Args:
        agents: The number n of agents that share; 1 for an agent alone.
        horizon: T, in slots.
        zeta: The precision of qualities that is asked for.
    """
    return max(1, ceil(3 * log(agents * horizon) / (2 * agents * zeta**2)))
