"""The greedy oracle: chooses the quantities to procure for known or estimated qualities.

Source: Deva et al. 2021 (Greedy SSA), with capacities. Maximise ``sum l_i r_i`` over integers ``0 <= l_i <= k_i``
subject to ``sum l_i (q_i - alpha) >= 0``. A linear programme with one constraint is solved exactly by greed, with one
fractional quantity at the most; rounding it in the feasible direction costs less than one unit's ``|r_i|``.
"""

import numpy as np

from netbandit.util.jit import Floats, Integers, njit

TOLERANCE = 1e-9
"""How far from an integer a quantity, or below zero a surplus of quality, may be by rounding errors alone."""

LEVEL = 1e-14
"""How far from the threshold a quality that equals it may be by rounding errors alone, such as those of 0.1 + 0.2."""


@njit(cache=True)
def relaxed(
    qualities: Floats, revenues: Floats, capacities: Floats, threshold: float, order: Integers, quantities: Floats
) -> None:
    """Solve the continuous relaxation.

    Args:
        qualities: q of each producer, shape (m,).
        revenues: r of one unit of each, shape (m,).
        capacities: k, the most units of each, shape (m,).
        threshold: alpha.
        order: Work space, shape (m,), int64: spenders of surplus from the left, sellers of quality from the right.
        quantities: Where l is written, shape (m,), float64.
    """
    producers = qualities.shape[0]
    surplus = 0.0
    demand = 0.0
    spenders = 0
    sellers = 0
    for producer in range(producers):
        excess = qualities[producer] - threshold
        if abs(excess) < LEVEL:
            excess = 0.0
        quantities[producer] = 0.0
        if revenues[producer] >= 0.0:
            if excess >= 0.0:
                quantities[producer] = capacities[producer]
                surplus += capacities[producer] * excess
            elif revenues[producer] > 0.0:
                order[spenders] = producer
                spenders += 1
                demand -= capacities[producer] * excess
        elif excess > 0.0:
            sellers += 1
            order[producers - sellers] = producer
    if demand <= surplus:  # there is enough for all: no sorting needed
        for place in range(spenders):
            quantities[order[place]] = capacities[order[place]]
        return
    for place in range(1, spenders):  # falling gain per unit of quality, ties by number
        producer = order[place]
        gain = revenues[producer] / (threshold - qualities[producer])
        before = place - 1
        while before >= 0 and revenues[order[before]] / (threshold - qualities[order[before]]) < gain:
            order[before + 1] = order[before]
            before -= 1
        order[before + 1] = producer
    sorted_sellers = False
    seller = 0
    spender = 0
    while spender < spenders:
        buying = order[spender]
        price = threshold - qualities[buying]
        wanted = (capacities[buying] - quantities[buying]) * price
        if wanted <= surplus:
            quantities[buying] = capacities[buying]
            surplus -= wanted
            spender += 1
            continue
        quantities[buying] += surplus / price
        surplus = 0.0
        if not sorted_sellers:  # rising cost of a unit of quality, from the right
            sorted_sellers = True
            for place in range(1, sellers):
                producer = order[producers - 1 - place]
                cost = -revenues[producer] / (qualities[producer] - threshold)
                before = place - 1
                while before >= 0:
                    other = order[producers - 1 - before]
                    if -revenues[other] / (qualities[other] - threshold) <= cost:
                        break
                    order[producers - 2 - before] = other
                    before -= 1
                order[producers - 2 - before] = producer
        if seller == sellers:
            return
        selling = order[producers - 1 - seller]
        excess = qualities[selling] - threshold
        # Compared as products: neither ratio has to exist.
        if revenues[buying] * excess <= -revenues[selling] * price:
            return
        wanted = (capacities[buying] - quantities[buying]) * price
        offered = (capacities[selling] - quantities[selling]) * excess
        if offered <= wanted:
            quantities[selling] = capacities[selling]
            surplus = offered
            seller += 1
        else:
            quantities[selling] += wanted / excess
            quantities[buying] = capacities[buying]
            spender += 1


@njit(cache=True)
def choose(
    qualities: Floats, revenues: Floats, capacities: Floats, threshold: float, order: Integers, quantities: Floats
) -> None:
    """Solve the relaxation and round it: what spends quality down, what sells it up, so the threshold holds.

    Arguments are those of `relaxed`; *quantities* ends up integral.
    """
    relaxed(qualities, revenues, capacities, threshold, order, quantities)
    for producer in range(qualities.shape[0]):
        quantity = quantities[producer]
        if 0.0 < quantity < capacities[producer]:
            if qualities[producer] < threshold:
                quantities[producer] = np.floor(quantity + TOLERANCE)
            else:
                quantities[producer] = np.ceil(quantity - TOLERANCE)
