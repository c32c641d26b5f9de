"""At which level something is decided: p-values from intervals, and Holm's correction for a family of them.

A decision at level a is one by intervals of confidence 1 - a. Whoever makes several, each at 5 %, errs in one of them
far more often; after Holm (1979), "A simple sequentially rejective multiple test procedure", all of a family together
err in 5 %. A decision has a direction, which may be wrong too: that these errors are counted in was shown for
independent decisions (Shaffer 1980, "Control of directional errors with stagewise multiple test procedures"). scipy
has no Holm's correction, and none of its tests has our intervals, of which the p-values are.
"""

import math
from collections.abc import Callable, Sequence

from netbandit.results.intervals import Interval

LEAST = 1e-9
"""The smallest level that is told from others."""

_STEPS = 40
"""Halvings of the logarithm of a level: it is then known to more digits than anybody reads."""


def smallest_level(decided: Callable[[float], bool]) -> float:
    """Return the smallest level at which something is decided, by bisection; 1 if it is at none.

    Args:
        decided: Says whether it is decided at a level above 0 and below 1; once it is, it is at all larger ones.
    """
    most = 1 - 1e-9
    if not decided(most):
        return 1.0
    if decided(LEAST):
        return LEAST
    low, high = math.log(LEAST), math.log(most)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if decided(math.exp(middle)) else (middle, high)
        if high - low < 1e-7:
            break
    return math.exp(high)


def p_value(interval: Callable[[float], Interval]) -> float | None:
    """Return the smallest level at which the interval of a difference leaves out zero; None if there is no interval.

    Args:
        interval: The interval of a confidence.
    """
    if interval(0.5).why_none:
        return None

    def decided(level: float) -> bool:
        found = interval(1 - level)
        return not found.low <= 0 <= found.high

    return smallest_level(decided)


def holm_levels(p_values: Sequence[float], level: float) -> list[float]:
    """Return the level at which each of a family is judged so that together they err as often as one at *level*.

    The smallest p is judged at ``level / n``, the next at ``level / (n - 1)``, and so on; the first that is not decided
    and all after it are judged at its level, and are not decided.

    Args:
        p_values: Of each of the family, 1 for what is decided at no level.
        level: Of all together.
    """
    found = [0.0] * len(p_values)
    left, going = len(p_values), True
    for place in sorted(range(len(p_values)), key=p_values.__getitem__):
        found[place] = level / left
        going = going and p_values[place] <= level / left
        left -= going
    return found


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values: at most 0.05 for what is decided where all together err in 5 %.

    Args:
        p_values: Of each of the family; None for what is no decision, and is no part of it.
    """
    known = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    found: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * value))
        found[place] = highest
    return found
