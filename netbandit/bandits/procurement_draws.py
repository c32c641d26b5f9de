"""Compiled draws of the ``procurement`` bandit: how many of some units are good."""

from netbandit.jit import njit


@njit(cache=True)
def quantile(uniform, units, quality):  # type: ignore[no-untyped-def]
    """Return the binomial quantile at *uniform* of *units* that are each good with probability *quality*."""
    if uniform <= 0.0:
        return 0
    flipped = quality > 0.5  # from the likelier end the first probability cannot underflow
    chance = 1.0 - quality if flipped else quality
    level = 1.0 - uniform if flipped else uniform
    mass = (1.0 - chance) ** units
    odds = chance / (1.0 - chance)
    total = mass
    drawn = 0
    while total < level and drawn < units:
        mass *= odds * (units - drawn) / (drawn + 1)
        drawn += 1
        total += mass
    return units - drawn if flipped else drawn
