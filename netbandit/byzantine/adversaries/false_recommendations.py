"""Byzantine attacks on arm recommendations.

Source: Vial, Shakkottai & Srikant 2021, Section VI ("naive") and 2022 ("smart"), as reported in digests of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attack_kinds import Attack


@dataclass(frozen=True)
class RecommendationView:
    """The information available to a Byzantine agent that receives a request.

    Attributes:
        truth: The honest recommendation.
        means: The true mean of each arm, shape (K,).
        held: The arms that the requesting agent holds.
        pulls: The requesting agent's pulls of each arm, shape (K,).
    """

    truth: int
    means: NDArray[np.float64]
    held: NDArray[np.int64]
    pulls: NDArray[np.float64]


def false_recommendation(attack: Attack, view: RecommendationView, rng: np.random.Generator) -> int:
    """Return the arm that a Byzantine agent recommends; the honest one if no arm is worse than the best.

    Args:
        attack: The attack.
        view: The information available to the agent.
        rng: The agent's stream.
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
