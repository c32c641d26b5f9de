"""Selectors for the points of a figure, as keys and in words."""

from collections.abc import Mapping
from typing import Any

from netbandit.results.numbers import shortest

Selector = dict[str, Any]
"""Which points: dotted key of the scenario -> value; ``series`` and ``scenario`` name one of the figure.

`NOT_GIVEN` stands for a key that is left out and has no value then, which TOML cannot write.
"""

NOT_GIVEN = "none"

SCENARIO = "scenario"
"""The key that names a scenario of a figure: its file, without its ending."""


def selector_text(
    point: Mapping[str, Any], against: Mapping[str, Any] | None = None, less: Mapping[str, Any] | None = None
) -> str:
    """Return which points a comparison is of: ``star against ring, horizon 10,000``.

    Args:
        point: The keys of the point.
        against: Those of the point it is compared to, if it is.
        less: Those of the point whose figure is taken off both.
    """
    if against is None:
        return ", ".join(_named(key, value) for key, value in point.items()) or "all runs"
    differ = [key for key in dict.fromkeys([*point, *against]) if point.get(key) != against.get(key)]
    sides = [" ".join(_named(key, side[key]) for key in differ if key in side) or "all" for side in (point, against)]
    alike = [_named(key, value) for key, value in point.items() if key not in differ]
    if less:
        off = " ".join(_named(key, value) for key, value in less.items())
        sides = [f"{side} less {off}" for side in sides]
    return ", ".join([" against ".join(sides) if differ else "", *alike]).removeprefix(", ")


def _named(key: str, value: Any) -> str:
    text = shortest(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
    return text if key in ("series", SCENARIO) else f"{key.split('.')[-1]} {text}"
