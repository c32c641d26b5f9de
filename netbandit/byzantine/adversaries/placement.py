"""Which agents lie."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor

import numpy as np


def count_liars(share: float, agents: int) -> int:
    """Return f = floor(share M) for the share that was written: 0.3 of 10 agents are 3, though the float is below."""
    return floor(Fraction(repr(float(share))) * agents)


def drawn(rng: np.random.Generator, agents: int, liars: int) -> frozenset[int]:
    """Return so many of the *agents*, drawn uniformly."""
    return frozenset(rng.choice(agents, liars, replace=False).tolist())


def of_highest_degree(degrees: Sequence[int], liars: int) -> frozenset[int]:
    """Return the agents with most neighbours; of equal ones those with the lowest numbers."""
    ranked = sorted(range(len(degrees)), key=lambda agent: (-degrees[agent], agent))
    return frozenset(ranked[:liars])
