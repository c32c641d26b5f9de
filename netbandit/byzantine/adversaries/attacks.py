"""Names of attacks and of their targets, and the choice of the agents that lie."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Literal, TypeGuard

import numpy as np

Attack = Literal[
    "none", "flip", "inflate", "collude", "swap", "topple", "hidden", "noise", "constant", "stale", "mute", "naive",
    "smart",
]  # fmt: skip
"""How a liar lies; what each says is in the file of the form that is told."""


def is_own(attack: object) -> TypeGuard[str]:
    """Return whether the name of an attack is that of a class of the user's own, ``"package.module:Class"``."""
    return isinstance(attack, str) and ":" in attack


Target = Literal["worst", "second"] | int
"""The arm that a liar praises: of those that are left the worst or the second, or an arm's number."""

Form = Literal["means", "sums", "totals", "statistics", "mixed counts", "mixed means", "recommendations"]
"""What agents tell, which decides what a lie is.

``means``: of arms, in rounds; ``sums``: U and u of a linear learner; ``totals``: how often arms were pulled, and what
that paid; ``statistics``: the same of producers, of what is new; ``mixed counts``, ``mixed means``: numbers that are
averaged with those of neighbours; ``recommendations``: an arm.
"""

_EVERYWHERE: tuple[Attack, ...] = ("none", "mute")
_OF_VALUES: tuple[Attack, ...] = (
    *("flip", "inflate", "collude", "swap", "topple", "noise", "constant", "stale"),
    *_EVERYWHERE,
)

ATTACKS: Mapping[Form, tuple[Attack, ...]] = {
    "means": ("hidden", *_OF_VALUES),
    "sums": _OF_VALUES,
    "totals": _OF_VALUES,
    "statistics": _OF_VALUES,
    "mixed counts": _OF_VALUES,
    "mixed means": _OF_VALUES,
    "recommendations": ("naive", "smart", *_EVERYWHERE),
}
"""The attacks on each form."""

NEEDS_MEANS: Mapping[Form, tuple[Attack, ...]] = {
    **dict.fromkeys(ATTACKS, ("inflate", "collude", "swap", "topple", "hidden", "smart", "naive")),
    "sums": ("collude", "swap"),
}
"""Those for which a liar must know the true means of arms."""


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
