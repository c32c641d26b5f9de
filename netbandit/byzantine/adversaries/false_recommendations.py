"""Which arm a liar recommends to an agent that asks it for a good one.

Source: Vial, Shakkottai & Srikant 2021, Section VI ("naive") and 2022 ("smart"), as told in digests of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attacks import Attack


@dataclass(frozen=True)
class RecommendationView:
    """What a liar sees when it is asked.

    Attributes:
        truth: The arm that it would recommend if it were honest.
        means: The true mean of each arm, shape (K,).
        held: The arms that the asker holds.
        pulls: How often the asker has pulled each arm, shape (K,).
    """

    truth: int
    means: NDArray[np.float64]
    held: NDArray[np.int64]
    pulls: NDArray[np.float64]


def false_recommendation(attack: Attack, view: RecommendationView, rng: np.random.Generator) -> int:
    """Return the arm that a liar recommends; the truth where no arm is worse than the best.

    Args:
        attack: How it lies.
        view: What it sees.
        rng: Its own stream.
    """
    return _ATTACKS[attack](view, rng)


def _truth(view: RecommendationView, rng: np.random.Generator) -> int:
    return view.truth


def _worse(view: RecommendationView) -> NDArray[np.int64]:
    return np.flatnonzero(view.means < view.means.max())


def _naive(view: RecommendationView, rng: np.random.Generator) -> int:
    worse = _worse(view)
    return int(rng.choice(worse)) if len(worse) else view.truth


def _smart(view: RecommendationView, rng: np.random.Generator) -> int:
    worse = _worse(view)
    fresh = worse[~np.isin(worse, view.held)]
    if not len(fresh):
        return _naive(view, rng)
    return int(fresh[view.pulls[fresh].argmin()])


_ATTACKS: Mapping[Attack, Callable[[RecommendationView, np.random.Generator], int]] = {
    "none": _truth,
    "naive": _naive,
    "smart": _smart,
}
