"""Names of attacks, their targets, and the selection of Byzantine agents."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Literal, TypeGuard

import numpy as np

Attack = Literal[
    "none", "flip", "inflate", "collude", "swap", "topple", "hidden", "noise", "constant", "stale", "mute", "naive",
    "smart",
]  # fmt: skip
"""The attack of a Byzantine agent; the module of each message form implements it."""


def is_own(attack: object) -> TypeGuard[str | type]:
    """Return whether an attack is a user-defined class, or its name, ``"package.module:Class"``."""
    return isinstance(attack, type) or (isinstance(attack, str) and ":" in attack)


Target = Literal["worst", "second"] | int
"""The arm that a Byzantine agent promotes: the worst or the second-best of the remaining arms, or an arm's number."""

Form = Literal["means", "sums", "totals", "statistics", "mixed counts", "mixed means", "recommendations"]
"""The form of the messages that agents send, which determines how they can be forged.

``means``: means of arms, in rounds; ``sums``: U and u of a linear learner; ``totals``: pull counts and reward sums of
arms; ``statistics``: the increments of these for producers; ``mixed counts``, ``mixed means``: numbers that are
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
"""The attacks available for each form."""

NEEDS_MEANS: Mapping[Form, tuple[Attack, ...]] = {
    **dict.fromkeys(ATTACKS, ("inflate", "collude", "swap", "topple", "hidden", "smart", "naive")),
    "sums": ("collude", "swap"),
}
"""The attacks that require the true means of arms."""


def count_liars(share: float, agents: int) -> int:
    """Return f = floor(share M) for the decimal share as written: 0.3 of 10 agents are 3, though the float is below."""
    return floor(Fraction(repr(float(share))) * agents)


def drawn(rng: np.random.Generator, agents: int, liars: int) -> frozenset[int]:
    """Return *liars* of the *agents*, drawn uniformly."""
    return frozenset(rng.choice(agents, liars, replace=False).tolist())


def of_highest_degree(degrees: Sequence[int], liars: int) -> frozenset[int]:
    """Return the *liars* agents of highest degree; the lowest numbers win ties."""
    ranked = sorted(range(len(degrees)), key=lambda agent: (-degrees[agent], agent))
    return frozenset(ranked[:liars])
