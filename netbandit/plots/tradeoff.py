"""One metric against another: cost, delay and regret against the diameter, regret against cost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netbandit.plots.bands import Band
from netbandit.plots.grouping import Arrangement, Point, described
from netbandit.plots.metrics import (
    DECADES,
    bend,
    called,
    compared,
    draw_points,
    estimate,
    label,
    label_more,
    lateness,
    means,
)
from netbandit.plots.style import (
    PLAIN,
    Look,
    drawing,
    figure,
    from_zero,
    legend_below,
    legend_beside,
    readable,
    wrapped,
)
from netbandit.plots.values import name, shown, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_LEAST = 3
_FAR_APART = 20.0
"""Diameters so many times as large stand on a logarithmic axis, and so does what grows with them."""


def diameter_varies(arrangement: Arrangement) -> bool:
    """Tell whether the sweep varies the topology in a way that changes the diameter."""
    if not any(key.startswith("topology.") for key in arrangement.keys):
        return False
    return len(_distinct(arrangement, "diameter")) > 1


def cost_varies(arrangement: Arrangement) -> bool:
    """Tell whether there are three points or more with costs that differ."""
    return len(_distinct(arrangement, "cost")) >= _LEAST


def beside_topology(arrangement: Arrangement) -> list[str]:
    """Return the keys that do not belong to the topology: a picture against the diameter holds them fixed."""
    return [key for key in arrangement.keys if not key.startswith("topology.")]


@drawing()
def draw_against_diameter(arrangement: Arrangement, fixed: dict[str, Any] | None = None) -> "Figure":
    """Draw cost, waiting and regret against the diameter; families are told apart by colour and marker.

    Where nobody waits the second panel is the delay of what is heard.

    Args:
        arrangement: The points, in which only the topology varies.
        fixed: What the title says is held fixed.
    """
    key = _family_key(arrangement)
    subtitle = _subtitle(arrangement, key, fixed)
    third = compared(arrangement.points)
    title = f"{arrangement.name}: cost, delay and {called(third)} against the diameter"
    drawn, panels = figure(title, subtitle, columns=3)
    for panel, metric in zip(panels, ("cost", lateness(arrangement.points) or "round_slots", third), strict=True):
        handles = _draw(panel, arrangement, key, "diameter", metric)
    if key is not None:
        legend_below(drawn, handles, [str(handle.get_label()) for handle in handles], words(key))
    return drawn


@drawing()
def draw_regret_against_cost(arrangement: Arrangement, fixed: dict[str, Any] | None = None) -> "Figure":
    """Draw what regret a cost buys: a marker per point, a colour per value of the series' key."""
    key = arrangement.series
    upward = compared(arrangement.points)
    drawn, panels = figure(f"{arrangement.name}: {called(upward)} against cost", _subtitle(arrangement, key, fixed))
    handles = _draw(panels[0], arrangement, key, "cost", upward)
    if key is not None:
        legend_beside(drawn, handles, [str(handle.get_label()) for handle in handles], words(key))
    return drawn


def _family_key(arrangement: Arrangement) -> str | None:
    """Return the key that names a topology: the family, else what is no number among the topology's keys."""
    candidates = [key for key in arrangement.keys if key.startswith("topology.") and arrangement.scale(key) is None]
    return "topology.family" if "topology.family" in candidates else next(iter(candidates), None)


def _distinct(arrangement: Arrangement, metric: str) -> set[float]:
    found = [estimate(point, metric) for point in arrangement.points]
    return {float(one.mean) for one in found if one is not None}


def _subtitle(arrangement: Arrangement, key: str | None, fixed: dict[str, Any] | None) -> str:
    step = _step(arrangement, key)
    ends = [shown(value) for value in _present(arrangement, step)] if step else []
    line = f"along a line: {name(step)} from {ends[0]} to {ends[-1]}" if step else ""
    return "; ".join(filter(None, (means(arrangement.points), line, described(fixed or {}))))


def _step(arrangement: Arrangement, key: str | None) -> str | None:
    """Return the number whose steps a line joins: the only thing that varies beside *key*."""
    others = [other for other in arrangement.keys if other != key and len(_present(arrangement, other)) > 1]
    return others[0] if len(others) == 1 and arrangement.scale(others[0]) is not None else None


def _draw(panel: "Axes", arrangement: Arrangement, key: str | None, across: str, upward: str) -> "list[Line2D]":
    joined = _step(arrangement, key) is not None
    everything: list[tuple[Band, Band]] = []
    handles = []
    for value, points in arrangement.along(key):
        look: Look = PLAIN if key is None else arrangement.look(key, value)
        pairs = _pairs(points, across, upward)
        if pairs:
            text = "" if key is None else wrapped(shown(value), 22)
            handles.append(draw_points(panel, [x for x, _ in pairs], [y for _, y in pairs], look, text, joined=joined))
        everything += pairs
    _axes(panel, everything, across, upward)
    return handles


def _present(arrangement: Arrangement, key: str) -> list[Any]:
    return [value for value, _ in arrangement.along(key)]


def _pairs(points: Sequence[Point], across: str, upward: str) -> list[tuple[Band, Band]]:
    both = [(estimate(point, across), estimate(point, upward)) for point in points]
    return [(x, y) for x, y in both if x is not None and y is not None]


def _axes(panel: "Axes", drawn: Sequence[tuple[Band, Band]], across: str, upward: str) -> None:
    from matplotlib.ticker import MaxNLocator

    panel.margins(0.08)
    means_across = [float(x.mean) for x, _ in drawn]
    if across == "diameter" and means_across and max(means_across) >= _FAR_APART * min(means_across) > 0:
        panel.set(xscale="log", xlim=(0.7 * min(means_across), 1.4 * max(means_across)))
        label_more(panel.xaxis, 3)  # three panels stand side by side
    elif not bend(panel, [x for x, _ in drawn], across=True) and across == "diameter":
        panel.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        panel.set_xlim(left=max(0.0, panel.get_xlim()[0]))
    apart = _FAR_APART if across == "diameter" else DECADES
    if not bend(panel, [y for _, y in drawn], apart=apart) and all(float(y.mean) >= 0 for _, y in drawn):
        from_zero(panel)
    panel.set_xlabel(label(across))
    panel.set_ylabel(label(upward))
    readable(panel)
