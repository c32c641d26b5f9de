"""The steps of P-FCB that run in every slot or for every message, compiled."""

import numpy as np

from netbandit.learners.greedy import choose as choose
from netbandit.util.jit import Floats, Integers, njit


@njit(cache=True)
def trust(
    units: Floats, good: Floats, spread: float, rho: float, costs: Floats, qualities: Floats, revenues: Floats
) -> None:
    """Write the optimistic qualities and what a unit of each producer would then earn.

    ``q+ = min(1, Y/W + sqrt(3 ln t / (2 W)))`` (Solanki et al. 2022, Algorithm 2 line 23), ``r = rho q+ - c``.

    Args:
        units: W, own and accepted, shape (m,).
        good: Y, shape (m,).
        spread: ``sqrt(1.5 ln t)``, or with ln(n t) where all observations of all agents are pooled.
        rho: What a good unit is worth.
        costs: c, shape (m,).
        qualities: Where q+ is written, shape (m,).
        revenues: Where r is written, shape (m,).
    """
    for producer in range(units.shape[0]):
        quality = good[producer] / units[producer] + spread / np.sqrt(units[producer])
        qualities[producer] = min(1.0, quality)
        revenues[producer] = rho * qualities[producer] - costs[producer]


@njit(cache=True)
def weigh(
    units: Floats, good: Floats, agents: Integers, heard: Floats, spreads: Floats, band: float, weight: float
) -> int:
    """Take in what fits of some agents' statistics, one after the other; return how many of them did.

    Procedure 1 of Solanki et al.: accepted if the quality heard lies within *band* confidence widths of one's own.

    Args:
        units: W of all agents, own and accepted, shape (M, m); updated.
        good: Y, shape (M, m); updated.
        agents: Who hears each message, in order of arrival, shape (messages,).
        heard: w~ and y~ of each message, shape (messages, 2, m).
        spreads: ``sqrt(1.5 ln(n t))`` of all agents, shape (M,).
        band: Half-width of the band, in confidence widths; ``inf`` accepts all, also w~ = 0.
        weight: What a unit heard of counts, compared with an own one.
    """
    accepted = 0
    for message in range(heard.shape[0]):
        agent = agents[message]
        for producer in range(units.shape[1]):
            heard_units, heard_good = heard[message, 0, producer], heard[message, 1, producer]
            if band < np.inf:
                if not heard_units > 0.0 or not units[agent, producer] > 0.0:
                    continue  # there is nothing to compare
                distance = abs(heard_good / heard_units - good[agent, producer] / units[agent, producer])
                if distance > band * spreads[agent] / np.sqrt(units[agent, producer]):
                    continue
            units[agent, producer] += weight * heard_units
            good[agent, producer] += weight * heard_good
            accepted += 1
    return accepted
