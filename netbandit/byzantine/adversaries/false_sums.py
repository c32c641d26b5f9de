"""What liars say of the sums of a linear learner: ``U = sum x x'`` and ``u = sum r x`` over all that they have seen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attacks import Attack

Values = NDArray[np.float64]


class Sums(NamedTuple):
    """U, shape (d, d), u, shape (d,), and of how many observations these are."""

    gram: Values
    response: Values
    observations: float


@dataclass(frozen=True)
class SumsView:
    """What a liar sees when it releases.

    Attributes:
        truth: What it would release if it were honest.
        first: What it released first.
        good: The action with the largest mean, or the direction of theta where actions change, shape (d,); None where
            nobody knows it.
        bad: The same of the action that it praises: its target, by default the worst, or against theta.
        heaviest: The largest trace of U that passes for true.
        strength: With any range: what U is multiplied by to inflate it; None: to the heaviest.
    """

    truth: Sums
    first: Sums
    good: Values | None
    bad: Values | None
    heaviest: float
    strength: float | None = None


def false_sums(attack: Attack, view: SumsView, rng: np.random.Generator) -> Sums:
    """Return what a liar releases; the view stays as it is.

    Args:
        attack: How it lies.
        view: What it sees.
        rng: Its own stream.
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
