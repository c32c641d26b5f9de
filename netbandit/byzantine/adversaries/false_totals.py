"""Byzantine attacks on pull counts and reward sums: totals, as ``ucb`` sends, or increments, as ``pfcb`` sends.

An attack forges the reward sums S of n pulls and keeps the true n, which others could have counted. With ``any`` range
it also invents pulls of its target. All Byzantine agents are handled at once, one row each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attack_kinds import Attack

Values = NDArray[np.float64]


@dataclass(frozen=True)
class TotalsView:
    """The information available to Byzantine agents when they send.

    Attributes:
        pulls: The pulls of each arm by each agent, shape (n, K).
        sums: The reward sums of these pulls, shape (n, K).
        best: The best arm of each agent, shape (n,).
        second: The second-best arm of each agent; with a single arm, that arm.
        target: The arm that each agent promotes.
        first: The pulls and sums that each agent sent first, shape (2, n, K).
        normals: Standard normal numbers, shape (n, K).
        made_up: With ``any`` range: the number of pulls of its target that each claims; None: the true number.
    """

    pulls: Values
    sums: Values
    best: NDArray[np.int64]
    second: NDArray[np.int64]
    target: NDArray[np.int64]
    first: Values
    normals: Values
    made_up: float | None = None


Told = tuple[Values, Values]


def false_totals(attack: Attack, view: TotalsView) -> Told:
    """Return the forged pulls and sums, both of shape (n, K); does not modify the view."""
    return _ATTACKS[attack](view)


def _truth(view: TotalsView) -> Told:
    return view.pulls, view.sums


def _flip(view: TotalsView) -> Told:
    return view.pulls, view.pulls - view.sums


def _inflate(view: TotalsView) -> Told:
    if view.made_up is not None:
        return _made_up(view, view.made_up)
    return view.pulls, _praised(view.sums, view.pulls, view.target)


def _collude(view: TotalsView) -> Told:
    if view.made_up is not None:
        return _made_up(view, view.made_up)
    return view.pulls, _praised(np.zeros_like(view.sums), view.pulls, view.target)


def _made_up(view: TotalsView, pulls: float) -> Told:
    """Return *pulls* pulls of the target, all with reward 1, and none of other arms; a larger total would show."""
    rows = np.arange(len(view.target))
    told = np.zeros_like(view.pulls)
    told[rows, view.target] = pulls
    return told, told.copy()


def _swap(view: TotalsView) -> Told:
    sums = _praised(view.sums, view.pulls, view.second)
    sums[np.arange(len(sums)), view.best] = 0.0
    return view.pulls, sums


def _topple(view: TotalsView) -> Told:
    sums = view.pulls.copy()
    sums[np.arange(len(sums)), view.best] = 0.0
    return view.pulls, sums


def _noise(view: TotalsView) -> Told:
    return view.pulls, view.sums + view.pulls * view.normals


def _constant(view: TotalsView) -> Told:
    return view.pulls, view.pulls / 2


def _stale(view: TotalsView) -> Told:
    return view.first[0], view.first[1]


def _praised(sums: Values, pulls: Values, arms: NDArray[np.int64]) -> Values:
    rows = np.arange(len(sums))
    changed = sums.copy()
    changed[rows, arms] = pulls[rows, arms]
    return changed


_ATTACKS: Mapping[Attack, Callable[[TotalsView], Told]] = {
    "none": _truth,
    "flip": _flip,
    "inflate": _inflate,
    "collude": _collude,
    "swap": _swap,
    "topple": _topple,
    "noise": _noise,
    "constant": _constant,
    "stale": _stale,
}
