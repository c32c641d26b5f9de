"""What a learner of one's own tells, looked at before others hear it: numpy would repeat, cut and pass on much."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.own_code import is_ours
from netbandit.simulation.choices import described

Rows = NDArray[np.float64]
Share = Callable[[int, NDArray[np.int64]], Rows | None]
"""`netbandit.learners.slots.Learner.share`."""


def share_of(learner: Learner, *, or_none: bool = True) -> Share:
    """Return how agents of *learner* tell; of a learner of one's own, what is no row for each agent is an error.

    Args:
        learner: The learner.
        or_none: Whether nobody need tell anything, as in a round everybody must.
    """
    return learner.share if is_ours(type(learner)) else _checked(learner, "share", learner.share, or_none=or_none)


def answer_of(learner: Learner) -> Callable[[int, NDArray[np.int64]], Rows]:
    """Return how agents of *learner* answer, looked at as what they share is."""
    if is_ours(type(learner)):
        return learner.answer
    rows_of = _checked(learner, "answer", learner.answer, or_none=False)

    def answer(slot: int, agents: NDArray[np.int64]) -> Rows:
        rows = rows_of(slot, agents)
        assert rows is not None, "refused above"
        return rows

    return answer


def combined(learner: Learner, slot: int, shared: Sequence[Rows], weights: Sequence[int] | None) -> Rows:
    """Return what *learner* makes of the rows of a round; of one of one's own, what is no number is an error."""
    row = learner.combine(shared, weights)
    if not is_ours(type(learner)):
        wrong = _no_numbers(row)
        if wrong:
            name = type(learner).__qualname__
            raise ValueError(f"{name}.combine must return a row of numbers, not {wrong} (slot {slot})")
    return row


def _checked(learner: Learner, method: str, told: Share, *, or_none: bool = True) -> Share:
    """Return *told*, a *method* of *learner*, that raises a ValueError where it returns no row of numbers an agent."""
    width: int | None = None

    def rows_of(slot: int, agents: NDArray[np.int64]) -> Rows | None:
        nonlocal width
        rows = told(slot, agents)
        if rows is None and or_none:
            return None
        wrong = _wrong(rows, agents, width)
        if wrong:
            shape = f"({len(agents)}, {'k' if width is None else width})"
            wanted = f"a row of numbers for each of its {len(agents)} agents, shape {shape}"
            name = f"{type(learner).__qualname__}.{method}"
            raise ValueError(f"{name} must return {wanted}{', or None' if or_none else ''}, not {wrong} (slot {slot})")
        assert rows is not None
        width = rows.shape[1]
        return rows

    return rows_of


def _wrong(rows: Any, agents: NDArray[np.int64], width: int | None) -> str:
    """Return what *rows* are instead of *width* numbers (None: any) for each of *agents*; nothing if they are that."""
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and len(rows) == len(agents) and width in (None, rows.shape[1]):
        return _no_numbers(rows, agents)
    return described(rows)


def _no_numbers(rows: Any, agents: NDArray[np.int64] | None = None) -> str:
    if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "biuf":
        return described(rows)
    unknown = np.isnan(rows)
    if not unknown.any():
        return ""
    return "NaN" if agents is None else f"NaN for agent {agents[unknown.any(axis=1).argmax()]}"
