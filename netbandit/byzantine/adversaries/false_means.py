"""What liars say of the means of arms.

A liar may know everything: the true means, and what honest agents say in the same round. So no claim about a defence
rests on what it does not know.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attacks import Attack, Target

Values = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """What a liar sees of a round.

    Attributes:
        arms: The arms it is to speak of, ascending, shape (a,).
        truth: What it would say if it were honest, shape (a,).
        means: The true mean of each of these arms, shape (a,).
        target: The arm that it wants others to pull, by its place in *arms*; None: that arm is not among them.
        before: What it would have said in the round before, by arm; nothing in the first.
        honest: What each honest agent says in this round, shape (h, a); of no row where that is not known.
        liars: How many agents lie.
        most: What it says of the best there is: 1, or more where it may say anything.
    """

    arms: NDArray[np.int64]
    truth: Values
    means: Values
    target: int | None
    before: Mapping[int, float]
    honest: Values
    liars: int
    most: float = 1.0

    @property
    def best(self) -> int:
        """The place of the best arm."""
        return int(self.means.argmax())

    @property
    def second(self) -> int:
        """The place of the best arm but one; of a single arm that one."""
        order = np.argsort(-self.means, kind="stable")
        return int(order[min(1, len(order) - 1)])


def place_of(target: Target, arms: NDArray[np.int64], means: Values) -> int | None:
    """Return the place of the target in *arms*: the worst of them by their *means*, the second, or an arm."""
    if target == "worst":
        return len(means) - 1 - int(means[::-1].argmin())
    if target == "second":
        return int(np.argsort(-means, kind="stable")[min(1, len(means) - 1)])
    found = np.flatnonzero(arms == target)
    return int(found[0]) if len(found) else None


def false_means(attack: Attack, view: View, rng: np.random.Generator) -> Values:
    """Return what a liar says, shape (a,); the view stays as it is.

    Args:
        attack: How it lies.
        view: What it sees.
        rng: Its own stream.
    """
    return _ATTACKS[attack](view, rng)


def _truth(view: View, rng: np.random.Generator) -> Values:
    return view.truth.copy()


def _flip(view: View, rng: np.random.Generator) -> Values:
    return 1 - view.truth


def _inflate(view: View, rng: np.random.Generator) -> Values:
    return _with(view.truth, view.target, view.most)


def _collude(view: View, rng: np.random.Generator) -> Values:
    return _with(np.zeros_like(view.truth), view.target, view.most)


def _swap(view: View, rng: np.random.Generator) -> Values:
    return _with(_with(view.truth, view.second, view.most), view.best, 0.0)


def _topple(view: View, rng: np.random.Generator) -> Values:
    return _with(np.full_like(view.truth, view.most), view.best, 0.0)


def _hidden(view: View, rng: np.random.Generator) -> Values:
    mean, deviation = view.honest.mean(axis=0), view.honest.std(axis=0)
    z = hidden_deviations(len(view.honest) + view.liars, view.liars)
    lie = mean.copy()
    lie[view.best] -= z * deviation[view.best]
    lie[view.second] += z * deviation[view.second]
    return np.asarray(lie)


def hidden_deviations(agents: int, liars: int) -> float:
    """Return by how many standard deviations of the honest a lie may be off and still have a majority beside it.

    ``z = Phi^-1((N - f - s) / (N - f))`` with ``s = floor(N / 2) + 1 - f`` honest agents that must be as far away
    (Baruch, Baruch & Goldberg 2019, Algorithm 3). Where liars are the majority it is as far as the farthest honest one.
    """
    honest = agents - liars
    needed = agents // 2 + 1 - liars
    part = min((honest - needed) / honest, 1 - 1 / (2 * honest))
    return max(NormalDist().inv_cdf(part), 0.0) if part > 0 else 0.0


def _noise(view: View, rng: np.random.Generator) -> Values:
    return np.asarray(view.truth + rng.standard_normal(len(view.truth)))


def _constant(view: View, rng: np.random.Generator) -> Values:
    return np.full_like(view.truth, 0.5)


def _stale(view: View, rng: np.random.Generator) -> Values:
    places = zip(view.arms.tolist(), view.truth.tolist(), strict=True)
    return np.array([view.before.get(arm, truth) for arm, truth in places])


def _with(values: Values, place: int | None, value: float) -> Values:
    changed = values.copy()
    if place is not None:
        changed[place] = value
    return changed


_ATTACKS: Mapping[Attack, Callable[[View, np.random.Generator], Values]] = {
    "none": _truth,
    "flip": _flip,
    "inflate": _inflate,
    "collude": _collude,
    "swap": _swap,
    "topple": _topple,
    "hidden": _hidden,
    "noise": _noise,
    "constant": _constant,
    "stale": _stale,
}
