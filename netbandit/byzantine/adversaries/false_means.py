"""Byzantine attacks on the means of arms.

A Byzantine agent may be omniscient: it may know the true means and the honest agents' messages of the same round.
Claims about a defence therefore do not depend on the attacker's ignorance.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attack_kinds import Attack, Target

Values = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """The information available to a Byzantine agent in a round.

    Attributes:
        arms: The arms whose means it reports, ascending, shape (a,).
        truth: The honest report, shape (a,).
        means: The true mean of each of these arms, shape (a,).
        target: The index in *arms* of the arm that it promotes; None: that arm is not among them.
        before: The honest report of the previous round, by arm; empty in the first round.
        honest: The reports of the honest agents in this round, shape (h, a); without rows if unknown.
        liars: The number of Byzantine agents.
        most: The largest value that it reports: 1, or more if any value may be reported.
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
        """The index of the best arm."""
        return int(self.means.argmax())

    @property
    def second(self) -> int:
        """The index of the second-best arm; with a single arm, of that arm."""
        order = np.argsort(-self.means, kind="stable")
        return int(order[min(1, len(order) - 1)])


def place_of(target: Target, arms: NDArray[np.int64], means: Values) -> int | None:
    """Return the index of the target in *arms*: the worst by *means*, the second-best, or a given arm."""
    if target == "worst":
        return len(means) - 1 - int(means[::-1].argmin())
    if target == "second":
        return int(np.argsort(-means, kind="stable")[min(1, len(means) - 1)])
    found = np.flatnonzero(arms == target)
    return int(found[0]) if len(found) else None


def false_means(attack: Attack, view: View, rng: np.random.Generator) -> Values:
    """Return the forged means of a Byzantine agent, shape (a,); does not modify the view.

    Args:
        attack: The attack.
        view: The information available to the agent.
        rng: The agent's stream.
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
    """Return the largest deviation, in honest standard deviations, at which the attackers still have majority support.

    ``z = Phi^-1((N - f - s) / (N - f))`` with ``s = floor(N / 2) + 1 - f`` honest agents that must deviate as much
    (Baruch, Baruch & Goldberg 2019, Algorithm 3). If Byzantine agents are the majority, z is that of the farthest
    honest agent.
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
