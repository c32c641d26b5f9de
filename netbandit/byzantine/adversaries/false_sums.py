"""Byzantine attacks on the sums of a linear learner: ``U = sum x x'`` and ``u = sum r x`` over all observations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attack_kinds import Attack

Values = NDArray[np.float64]


class Sums(NamedTuple):
    """U, shape (d, d), u, shape (d,), and the number of observations in them."""

    gram: Values
    response: Values
    observations: float


@dataclass(frozen=True)
class SumsView:
    """The information available to a Byzantine agent when it releases.

    Attributes:
        truth: The honest release.
        first: Its first release.
        good: The action with the largest mean, or the direction of theta if actions change, shape (d,); None if
            unknown.
        bad: The action that it promotes: its target, by default the worst, or the direction opposite to theta.
        heaviest: The largest trace of U that passes validation.
        strength: With ``any`` range: the factor that inflates U; None: up to the heaviest.
    """

    truth: Sums
    first: Sums
    good: Values | None
    bad: Values | None
    heaviest: float
    strength: float | None = None


def false_sums(attack: Attack, view: SumsView, rng: np.random.Generator) -> Sums:
    """Return the forged release of a Byzantine agent; does not modify the view.

    Args:
        attack: The attack.
        view: The information available to the agent.
        rng: The agent's stream.
    """
    return _ATTACKS[attack](view, rng)


def _truth(view: SumsView, rng: np.random.Generator) -> Sums:
    return view.truth


def _flip(view: SumsView, rng: np.random.Generator) -> Sums:
    return view.truth._replace(response=-view.truth.response)


def _inflate(view: SumsView, rng: np.random.Generator) -> Sums:
    gram, response, count = view.truth
    trace = float(np.trace(gram))
    factor = view.strength if view.strength is not None else view.heaviest / trace if trace else 1.0
    return Sums(factor * gram, -factor * response, max(count, min(factor * count, view.heaviest)))


def _collude(view: SumsView, rng: np.random.Generator) -> Sums:
    assert view.bad is not None, "checked before anything runs"
    count = view.truth.observations
    return Sums(count * np.outer(view.bad, view.bad), count * view.bad, count)


def _swap(view: SumsView, rng: np.random.Generator) -> Sums:
    assert view.good is not None, "checked before anything runs"
    count = view.truth.observations
    return Sums(count * np.outer(view.good, view.good), np.zeros_like(view.good), count)


def _noise(view: SumsView, rng: np.random.Generator) -> Sums:
    response = view.truth.response
    spread = np.abs(response).max(initial=0.0)
    return view.truth._replace(response=response + spread * rng.standard_normal(len(response)))


def _constant(view: SumsView, rng: np.random.Generator) -> Sums:
    return view.truth._replace(response=np.zeros_like(view.truth.response))


def _stale(view: SumsView, rng: np.random.Generator) -> Sums:
    return view.first


_ATTACKS: Mapping[Attack, Callable[[SumsView, np.random.Generator], Sums]] = {
    "none": _truth,
    "flip": _flip,
    "inflate": _inflate,
    "collude": _collude,
    "swap": _swap,
    "topple": _flip,
    "noise": _noise,
    "constant": _constant,
    "stale": _stale,
}
