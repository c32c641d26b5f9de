"""Attacks defined by the user: which forms of messages they can forge, their input, and checks of their output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.byzantine.adversaries.attack_kinds import Form
from netbandit.user_code.errors import ReturnedError

Values = NDArray[np.float64]

PARTS: Mapping[Form, Sequence[str]] = {"means": ("means",), "sums": ("U", "u", "n"), "totals": ("pulls", "rewards")}
"""The message forms that a user-defined attack can forge, by the method of the same name, and their arrays."""


@dataclass(frozen=True)
class LiarsView:
    """The information that a user-defined attack receives besides the honest message.

    Attributes:
        agent: The Byzantine agent.
        arms: The arms that the message covers, ascending, shape (a,); for sums all arms if fixed, else none.
        means: The true mean of each of these, shape (a,).
        honest: For means: the honest agents' messages of the same round, shape (h, a); without rows if unknown.
        theta: For sums: the unknown parameter vector, shape (d,); None if not known.
        actions: For sums: the action of each arm, shape (K, d); None if actions change.
    """

    agent: int
    arms: NDArray[np.int64]
    means: Values
    honest: Values
    theta: Values | None = None
    actions: Values | None = None


def forms_of(attack: type) -> list[Form]:
    """Return the message forms that a user-defined attack can forge."""
    return [form for form in PARTS if callable(getattr(attack, form, None))]


def own_lie(
    attack: object, form: Form, truth: Sequence[Values], view: LiarsView, rng: np.random.Generator
) -> list[Values]:
    """Return the message forged by a user-defined attack, as arrays with the shapes of the *truth*.

    Args:
        attack: The attack.
        form: The message form: the method of this name takes the truth (an array of means, else a tuple of the
            `PARTS`), the view and the stream, and returns the forged values in the same form.
        truth: The honest message; the attack receives copies.
        view: The other information available to the attack.
        rng: The Byzantine agent's stream.

    Raises:
        ReturnedError: The attack returns another type or shape; receivers detect implausible values.
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
