"""The compiled loop in which agents of P-FCB procure in a market: the learner's step, then the world's pull."""

import numpy as np
from numba import njit

from netbandit.learners.greedy import choose
from netbandit.learners.pfcb_steps import trust

GUIDE = 64
"""Parts of [0, 1) for each of which the table says where the search for a quantile begins."""

_SURPLUS_TOLERANCE = -1e-9


@njit(cache=True)
def quantile(luck, units, quality):  # type: ignore[no-untyped-def]
    """Return the binomial quantile at *luck* of *units* that are each good with probability *quality*."""
    if luck <= 0.0:
        return 0
    flipped = quality > 0.5  # from the likelier end the first probability cannot underflow
    chance = 1.0 - quality if flipped else quality
    level = 1.0 - luck if flipped else luck
    mass = (1.0 - chance) ** units
    odds = chance / (1.0 - chance)
    total = mass
    drawn = 0
    while total < level and drawn < units:
        mass *= odds * (units - drawn) / (drawn + 1)
        drawn += 1
        total += mass
    return units - drawn if flipped else drawn


@njit(inline="always")
def draw(chance, bought, capacity, quality, tables, start, guides):  # type: ignore[no-untyped-def]
    """Return how many of the units *bought* are good: the binomial quantile at *chance*.

    Mostly all that a producer has is bought, and then a table knows: *tables* from *start* on is the distribution for
    *capacity*, and *guides* tells where in it to begin.
    """
    if bought != capacity:
        return quantile(chance, bought, quality)
    drawn = guides[int(chance * GUIDE)]
    while tables[start + drawn] < chance:
        drawn += 1
    return drawn


@njit(cache=True)
def play(  # type: ignore[no-untyped-def]  # noqa: D417 (shown together what belongs together)
    first,
    last,
    luck,
    explore,
    sharers,
    rho,
    costs,
    capacities,
    aim,
    units,
    good,
    fresh_units,
    fresh_good,
    qualities,
    revenues,
    threshold,
    best,
    least,
    tables,
    table_starts,
    guides,
    regrets,
    violations,
    knots,
    next_knot,
    curve,
    digests,
):
    """Play the slots from *first* to before *last*; agents do not hear of each other meanwhile.

    Args:
        first, last: Slots.
        luck: Uniform numbers, shape (n, slots, m).
        explore: Slots each agent explores, shape (n,).
        sharers: What t is multiplied with in the logarithm, shape (n,).
        rho, costs, capacities: Of the market; shapes (), (n, m), (n, m).
        aim: The threshold that agents keep to.
        units, good, fresh_units, fresh_good: W, Y, w and y, shape (n, m); updated.
        qualities, revenues, threshold: The true ones; shapes (m,), (n, m), ().
        best, least: Revenue of the optimum and the least one of each agent, shape (n,).
        tables, table_starts: The binomial distribution of a full capacity, one row after the other, and where the
            row of each agent and producer starts, shape (n, m).
        guides: For each agent and producer where the search begins, shape (n, m, GUIDE).
        regrets, violations: Of each agent so far, shape (n,); updated.
        knots, next_knot, curve: Slots of the curve, shape (k,), the next one of each agent, and regrets, shape (n, k).
        digests: A hash of all that each agent procured and saw, shape (n,), uint64; updated.
    """
    agents, producers = units.shape
    optimistic = np.empty(producers)
    believed = np.empty(producers)
    quantities = np.empty(producers)
    order = np.empty(producers, dtype=np.int64)
    for agent in range(agents):
        for slot in range(first, last):
            if slot < explore[agent]:
                quantities[:] = 1.0
            else:
                spread = np.sqrt(1.5 * np.log(sharers[agent] * max(slot, 1)))
                trust(units[agent], good[agent], spread, rho, costs[agent], optimistic, believed)
                choose(optimistic, believed, capacities[agent], aim, order, quantities)
            surplus = 0.0
            earned = 0.0
            digest = digests[agent]
            for producer in range(producers):
                bought = int(quantities[producer])
                if bought == 0:
                    continue
                drawn = draw(
                    luck[agent, slot - first, producer],
                    bought,
                    capacities[agent, producer],
                    qualities[producer],
                    tables,
                    table_starts[agent, producer],
                    guides[agent, producer],
                )
                units[agent, producer] += bought
                good[agent, producer] += drawn
                fresh_units[agent, producer] += bought
                fresh_good[agent, producer] += drawn
                surplus += bought * (qualities[producer] - threshold)
                earned += bought * revenues[agent, producer]
                seen = np.uint64((producer * 1024 + bought) * 1024 + drawn)
                digest = (digest ^ seen) * np.uint64(0x100000001B3)
            digests[agent] = digest
            if surplus < _SURPLUS_TOLERANCE:
                violations[agent] += 1
                earned = least[agent]
            regrets[agent] += best[agent] - earned
            if knots[next_knot[agent]] == slot + 1:
                curve[agent, next_knot[agent]] = regrets[agent]
                next_knot[agent] += 1
