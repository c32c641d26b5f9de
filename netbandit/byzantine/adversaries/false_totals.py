"""What liars say of pulls and of what they paid: of all of them, as ``ucb`` tells, or of new ones, as ``pfcb`` does.

A lie is about the rewards S of n pulls, with the true n, which others could have counted; with ``any`` range a liar
also makes up the pulls that praise its target. All liars lie at once, a row each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attacks import Attack

Values = NDArray[np.float64]


@dataclass(frozen=True)
class TotalsView:
    """What liars see when they tell.

    Attributes:
        pulls: How often each has pulled each arm, shape (n, K).
        sums: What that paid, shape (n, K).
        best: The best arm of each, shape (n,).
        second: The best but one of each; of a single arm that one.
        target: The arm that each wants others to pull.
        first: The pulls and sums that each told first, shape (2, n, K).
        normals: A standard normal number for each, shape (n, K).
        made_up: With any range: how many pulls of its target each claims; None: the true ones.
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
    """Return the pulls and the sums that liars tell, both of shape (n, K); the view stays as it is."""
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
    """Return that many pulls of the target, all of which paid, and none of others: more than there were would show."""
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
