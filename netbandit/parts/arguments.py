"""Validation of arguments of public Python functions."""

from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

from netbandit.util.wording import one_of, show

_Text = TypeVar("_Text", bound=str)


def whole(name: str, value: Any, least: int) -> int:
    """Return *value* as an integer of at least *least*.

    Raises:
        ValueError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, not {show(value)}")
    return int(value)


def inside(name: str, value: Any, low: float, high: float) -> float:
    """Return *value* as a number between *low* and *high*.

    Raises:
        ValueError: It is none, or one of both.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not low < float(value) < high:
        raise ValueError(f"{name} must be a number between {low} and {high}, not {show(value)}")
    return float(value)


def among(name: str, value: _Text, known: Collection[_Text]) -> _Text:
    """Return *value*, one of the *known* texts.

    Raises:
        ValueError: It is none of them.
    """
    if value not in known:
        raise ValueError(f"{name} must be {one_of(known)}, not {show(value)}")
    return value


def by_name(name: str, value: Any, what: str) -> dict[str, Any]:
    """Return *value* as a dictionary whose keys are texts; *what* these are.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be a dictionary of {what}, not {show(value)}")
    for key in value:
        if not isinstance(key, str):
            raise ValueError(f"{name} must be a dictionary of {what}, and a key is a text, not {show(key)}")
    return dict(value)
