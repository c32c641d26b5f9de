"""Regret and waiting against a swept number, such as the latency of the links."""

from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.plots.axis import Axis
from netbandit.plots.bands import Band
from netbandit.plots.grouping import Arrangement, described
from netbandit.plots.metrics import (
    EPSILON,
    bend,
    called,
    compared,
    draw_points,
    estimate,
    label,
    lateness,
    means,
    partly_served,
)
from netbandit.plots.style import PLAIN, drawing, figure, from_zero, legend_below, readable, wrapped
from netbandit.plots.values import identity, name, shown, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_ASIDE = 0.014
_SHORT = {"round_slots": "waiting", "delay_slots": "delay", "cost": "cost", "decisions_per_s": "decisions per second"}


def numeric_keys(arrangement: Arrangement) -> list[str]:
    """Return the keys that belong on an axis: numbers, but not those that are the series beside another number."""
    numeric = [key for key in arrangement.keys if arrangement.scale(key) is not None]
    return numeric if len(arrangement.keys) == 1 else [key for key in numeric if key != arrangement.series]


def axis_key(arrangement: Arrangement) -> str | None:
    """Return the number with the most values, the earlier key among equals; None if the sweep varies no number."""
    numeric = numeric_keys(arrangement)
    return max(numeric, key=lambda key: len(arrangement.choices[key])) if numeric else None


def has_a_line(arrangement: Arrangement, key: str) -> bool:
    """Tell whether some series has two values of *key* or more: of one alone there is nothing to see along the axis."""
    series = arrangement.series if arrangement.series != key else None
    return any(len({identity(point.values[key]) for point in points}) > 1 for _, points in arrangement.along(series))


@drawing()
def draw_against_parameter(arrangement: Arrangement, key: str, fixed: dict[str, Any] | None = None) -> "Figure":
    """Draw regret and the slots waited per round against the values of *key*.

    Where nobody waits, the second panel is the delay of what is heard, and without that the cost; where users went away
    unserved it is the decisions in a second, beside the regret of each. Series stand side by side around each value.

    Args:
        arrangement: The points, in which *key* and the series' key vary.
        key: A key whose values are numbers.
        fixed: What the title says is held fixed.
    """
    series = arrangement.series if arrangement.series != key else None
    first, points = compared(arrangement.points), arrangement.points
    second = "decisions_per_s" if partly_served(points) else lateness(points) or "cost"
    what = f"{called(first)} and {_SHORT[second]}"
    subtitle = "; ".join(filter(None, (means(arrangement.points), described(fixed or {}))))
    drawn, panels = figure(f"{arrangement.name}: {what} against {name(key)}", subtitle, columns=2)
    scale = arrangement.scale(key)
    assert scale is not None
    axis = Axis.of(scale, ratios=key == EPSILON)
    for panel, metric in zip(panels, (first, second), strict=True):
        handles = _draw(panel, arrangement, key, series, metric, axis)
        axis.apply(panel)
        panel.set_xlabel(wrapped(scale.label, 44))
        panel.set_ylabel(label(metric))
        readable(panel, x=False)
    if series is not None:
        legend_below(drawn, handles, [str(handle.get_label()) for handle in handles], words(series))
    return drawn


def _draw(
    panel: "Axes", arrangement: Arrangement, key: str, series: str | None, metric: str, axis: Axis
) -> "list[Line2D]":
    places = {identity(value): place for value, place in zip(arrangement.choices[key], axis.places, strict=True)}
    heights: list[Band] = []
    handles = []
    groups = arrangement.along(series)
    for turn, (value, points) in enumerate(groups):
        found = [(places[identity(point.values[key])], estimate(point, metric)) for point in points]
        known = sorted(((place, one) for place, one in found if one is not None), key=lambda pair: pair[0])
        if not known:
            continue
        look = PLAIN if series is None else arrangement.look(series, value)
        text = "" if series is None else wrapped(shown(value), 22)
        # Side by side, or the bars of equal values would hide one another.
        step = min(_ASIDE, 3 * _ASIDE / max(len(groups) - 1, 1))
        aside = step * axis.span * (turn - (len(groups) - 1) / 2)
        # No line leads to infinity.
        finite, beyond = ([pair for pair in known if (pair[0] > axis.last) is far] for far in (False, True))
        lines = [
            draw_points(
                panel, [_exact(place + aside) for place, _ in some], [one for _, one in some], look, text, joined=True
            )
            for some in (finite, beyond)
            if some
        ]
        handles.append(lines[0])
        heights += [one for _, one in known]
    panel.margins(y=0.08)
    if not bend(panel, heights) and all(float(one.mean) >= 0 for one in heights):
        from_zero(panel)
    return handles


def _exact(place: float) -> Band:
    where = np.float64(place)
    return Band(where, where, where, 1)  # type: ignore[arg-type]
