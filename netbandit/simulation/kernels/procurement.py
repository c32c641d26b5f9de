"""The compiled loop in which agents of P-FCB procure in a market: the learner's step, then the world's pull."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.procurement_draws import quantile
from netbandit.jit import njit
from netbandit.learners.greedy import choose
from netbandit.learners.pfcb_steps import trust

GUIDE = 64
"""Parts of [0, 1) for each of which the table says where the search for a quantile begins."""

_SURPLUS_TOLERANCE = -1e-9

if TYPE_CHECKING:
    from netbandit.learners.pfcb import Pfcb
    from netbandit.simulation.slot_worlds import MarketWorld


class Market(NamedTuple):
    """What the loop needs of the world; n agents, m producers.

    Attributes:
        rho, threshold: What a good unit is worth; how good units must be on average.
        costs, capacities: Shape (n, m).
        qualities, revenues: The true ones, shapes (m,) and (n, m).
        best, least: Revenue of the optimum and the least one of each agent, shape (n,).
        tables, table_starts: The binomial distribution of a full capacity, one row after the other, and where the
            row of each agent and producer starts, shape (n, m).
        guides: For each agent and producer where in its row the search begins, shape (n, m, GUIDE).
        violations: Of each agent so far, shape (n,); updated.
    """

    rho: float
    threshold: float
    costs: NDArray[np.float64]
    capacities: NDArray[np.int64]
    qualities: NDArray[np.float64]
    revenues: NDArray[np.float64]
    best: NDArray[np.float64]
    least: NDArray[np.float64]
    tables: NDArray[np.float64]
    table_starts: NDArray[np.int64]
    guides: NDArray[np.int64]
    violations: NDArray[np.int64]


class Statistics(NamedTuple):
    """What the loop needs of the learner.

    Attributes:
        units, good, fresh_units, fresh_good: W, Y, w and y, shape (n, m); updated.
        explored: Decisions in which each agent explores at first, shape (n,).
        decided: Decisions of each agent in its present life, shape (n,); updated.
        since: The slot in which this life began, shape (n,).
        factors: What t is multiplied with in the logarithm, shape (n,).
        aim: The threshold that agents keep to.
    """

    units: NDArray[np.float64]
    good: NDArray[np.float64]
    fresh_units: NDArray[np.float64]
    fresh_good: NDArray[np.float64]
    explored: NDArray[np.int64]
    decided: NDArray[np.int64]
    since: NDArray[np.int64]
    factors: NDArray[np.int64]
    aim: float


def market(world: "MarketWorld") -> Market:
    """Return what the loop needs of *world*."""
    from scipy.special import bdtr

    bandit = world.bandit
    lengths = bandit.capacities.ravel() + 1
    starts = np.cumsum(lengths) - lengths
    rows = np.repeat(np.arange(len(lengths)), lengths)
    good = np.arange(len(rows)) - starts[rows]
    qualities = np.broadcast_to(bandit.qualities, bandit.capacities.shape).ravel()
    table = np.asarray(bdtr(good.astype(np.float64), lengths[rows] - 1, qualities[rows]), dtype=np.float64)
    table[starts + lengths - 1] = 1.0
    levels = np.arange(GUIDE) / GUIDE
    guides = np.array(
        [np.searchsorted(table[start : start + length], levels) for start, length in zip(starts, lengths, strict=True)]
    )
    shape = bandit.capacities.shape
    return Market(
        rho=bandit.rho,
        threshold=bandit.threshold,
        costs=bandit.costs,
        capacities=bandit.capacities,
        qualities=bandit.qualities,
        revenues=bandit.revenues,
        best=world.best,
        least=bandit.least_revenue,
        tables=table,
        table_starts=starts.reshape(shape),
        guides=guides.reshape(*shape, GUIDE),
        violations=world.violations,
    )


def statistics(learner: "Pfcb") -> Statistics:
    """Return what the loop needs of *learner*."""
    return Statistics(
        learner.units,
        learner.good,
        learner.fresh_units,
        learner.fresh_good,
        learner.explored,
        learner.decided,
        learner.since,
        learner.factors,
        learner.aim,
    )


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
def play(first, last, playing, uniforms, market, learner, account):  # type: ignore[no-untyped-def]
    """Let agents play the slots from *first* to before *last*; they do not hear of each other meanwhile.

    Args:
        first: The first slot.
        last: The slot after the last one.
        playing: The agents that are up, ascending.
        uniforms: Numbers from [0, 1) that decide how many units are good, shape (n, slots, m).
        market: `Market`.
        learner: `Statistics`.
        account: `netbandit.simulation.slot_account.Account`, a row an agent.
    """
    # Unpacked once: to reach into a tuple for an array costs as much as to read a number of it.
    rho, threshold, all_costs, all_capacities, qualities, all_revenues = market[:6]
    best, least, tables, table_starts, all_guides, violations = market[6:]
    all_units, all_good, all_fresh_units, all_fresh_good, explored, decided, since, factors, aim = learner
    regrets, knots, next_knot, curve, digests, _ = account
    producers = all_units.shape[1]
    optimistic = np.empty(producers)
    believed = np.empty(producers)
    quantities = np.empty(producers)
    order = np.empty(producers, dtype=np.int64)
    for agent in playing:
        units, good = all_units[agent], all_good[agent]
        fresh_units, fresh_good = all_fresh_units[agent], all_fresh_good[agent]
        costs, capacities, revenues = all_costs[agent], all_capacities[agent], all_revenues[agent]
        starts, guides = table_starts[agent], all_guides[agent]
        for slot in range(first, last):
            decided[agent] += 1
            if decided[agent] <= explored[agent]:
                quantities[:] = 1.0
            else:
                spread = np.sqrt(1.5 * np.log(factors[agent] * max(slot - since[agent], 1)))
                trust(units, good, spread, rho, costs, optimistic, believed)
                choose(optimistic, believed, capacities, aim, order, quantities)
            surplus = 0.0
            earned = 0.0
            digest = digests[agent]
            for producer in range(producers):
                bought = int(quantities[producer])
                if bought == 0:
                    continue
                drawn = draw(
                    uniforms[agent, slot - first, producer],
                    bought,
                    capacities[producer],
                    qualities[producer],
                    tables,
                    starts[producer],
                    guides[producer],
                )
                units[producer] += bought
                good[producer] += drawn
                fresh_units[producer] += bought
                fresh_good[producer] += drawn
                surplus += bought * (qualities[producer] - threshold)
                earned += bought * revenues[producer]
                seen = np.uint64((producer * 1024 + bought) * 1024 + drawn)
                digest = (digest ^ seen) * np.uint64(0x100000001B3)
            digests[agent] = digest
            if surplus < _SURPLUS_TOLERANCE:
                violations[agent] += 1
                earned = least[agent]
            regrets[agent] += best[agent] - earned
            knot = next_knot[agent]
            if knots[knot] == slot + 1:
                curve[agent, knot] = regrets[agent]
                next_knot[agent] = knot + 1
