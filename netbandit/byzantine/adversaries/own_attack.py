"""Attacks defined by the user: which forms of messages they can forge, their input, and checks of their output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attacks import Form
from netbandit.user_code.errors import ReturnedError

Values = NDArray[np.float64]

PARTS: Mapping[Form, Sequence[str]] = {"means": ("means",), "sums": ("U", "u", "n"), "totals": ("pulls", "rewards")}
"""The forms that an attack of one's own can forge, each by the method of this name, and of what arrays each is made."""


@dataclass(frozen=True)
class LiarsView:
    """What an attack of the user's own is told beside the truth.

    Attributes:
        agent: The agent that lies.
        arms: The arms of which it tells, ascending, shape (a,); of sums all that are fixed, else none.
        means: The true mean of each of these, shape (a,).
        honest: Of means: what each honest agent tells in the same round, shape (h, a); of no row where that is not
            known.
        theta: Of sums: the unknown vector, shape (d,); None where nobody knows it.
        actions: Of sums: the action of each arm, shape (K, d); None where actions change.
    """

    agent: int
    arms: NDArray[np.int64]
    means: Values
    honest: Values
    theta: Values | None = None
    actions: Values | None = None


def forms_of(attack: type) -> list[Form]:
    """Return the forms that an attack of the user's own can forge."""
    return [form for form in PARTS if callable(getattr(attack, form, None))]


def own_lie(
    attack: object, form: Form, truth: Sequence[Values], view: LiarsView, rng: np.random.Generator
) -> list[Values]:
    """Return what an attack of the user's own tells, as arrays with the shapes of the *truth*.

    Args:
        attack: The attack.
        form: What is told: its method of this name takes the truth (an array of means, else a tuple of the `PARTS`),
            the view and the stream, and returns the same.
        truth: What an honest agent would tell; the attack is given copies.
        view: What else it is told.
        rng: The liar's own stream.

    Raises:
        ReturnedError: It returns something else; values that no honest agent could tell are for receivers to find.
    """
    names = PARTS[form]
    copies = tuple(each.copy() for each in truth)
    said: Any = getattr(attack, form)(copies[0] if len(names) == 1 else copies, view, rng)
    told = [said] if len(names) == 1 else said
    try:
        found = [np.array(each, dtype=np.float64) for each in told]
    except (TypeError, ValueError, OverflowError):
        found = []
    if [each.shape for each in found] != [each.shape for each in truth]:
        shapes = " and ".join(
            f"{name} of shape {each.shape}" if each.ndim else f"{name}, a number"
            for name, each in zip(names, truth, strict=True)
        )
        shown = f"shapes {', '.join(str(each.shape) for each in found)}" if found else type(said).__name__
        raise ReturnedError(f"{type(attack).__qualname__}.{form} must return {shapes}, not {shown}")
    return found
