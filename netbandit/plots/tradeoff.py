"""One metric against another: regret against diameter, cost, and data sent."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from netbandit.plots.bands import Band
from netbandit.plots.estimates import EITHER_DELAY, Estimates, compared, distinct, lateness
from netbandit.plots.grouping import Arrangement, described
from netbandit.plots.marks import (
    DECADES,
    begin_across,
    bend,
    draw_far_off,
    far_off,
    finish_heights,
    label_more,
    zero_place,
)
from netbandit.plots.shapes import Shapes
from netbandit.plots.style import drawing, figure, legend_below, legend_beside, readable
from netbandit.plots.subtitles import left_out_note, missing_note, privacy_note, replications_note
from netbandit.plots.values import name, shown
from netbandit.plots.xy import Across, draw_line, lines_of
from netbandit.results.metrics import axis_label, title_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEAST = 3
_FAR_APART = 20.0
"""Diameters so many times as large stand on a logarithmic axis, and so does what grows with them."""
_LEARNERS_APART = 10.0
"""Learners so many times as good stand on a logarithmic axis: the best are those that are looked for."""

LEARNER = "learner.kind"


def diameter_varies(arrangement: Arrangement) -> bool:
    """Tell whether the sweep varies the topology in a way that gives three diameters or more: two make no picture."""
    if not any(key.startswith("topology.") for key in arrangement.keys):
        return False
    return len(distinct(arrangement.points, "diameter")) >= _LEAST


def cost_varies(arrangement: Arrangement) -> bool:
    """Return whether there are three points or more with different costs."""
    return len(distinct(arrangement.points, "cost")) >= _LEAST


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
    third = compared(arrangement.points)
    metrics = ("cost", lateness(arrangement.points) or "round_slots", third)
    title = f"{arrangement.name}: cost, delay and {title_name(third)} against the diameter"
    return draw_panels(arrangement, _family_key(arrangement), [("diameter", one) for one in metrics], title, fixed)


@drawing()
def draw_regret_against_cost(arrangement: Arrangement, fixed: dict[str, Any] | None = None) -> "Figure":
    """Draw what regret a cost buys: a marker per point, a colour per value of the series' key."""
    upward = compared(arrangement.points)
    title = f"{arrangement.name}: {title_name(upward)} against cost"
    return draw_panels(arrangement, arrangement.series, [("cost", upward)], title, fixed)


def draw_panels(
    arrangement: Arrangement,
    key: str | None,
    pairs: Sequence[tuple[str, str]],
    title: str,
    fixed: dict[str, Any] | None = None,
    *,
    apart: float = DECADES,
) -> "Figure":
    """Draw a panel for each pair of metrics: a mark for each point, across the first and upward the second.

    Args:
        arrangement: The points.
        key: The key that colours tell apart, if any; whatever else varies is told apart by shape.
        pairs: The metrics of each panel.
        title: What is to be seen.
        fixed: What the subtitle says is held fixed.
        apart: Heights so many times as large ask for a logarithmic axis; against the diameter it takes less.
    """
    points = arrangement.points
    step = _step(arrangement, key)
    shapes = Shapes.of(arrangement, key, [step, *(fixed or {})])
    ends = [shown(value) for value, _ in arrangement.along(step)] if step else []
    estimates = {upward: Estimates(arrangement, upward) for _, upward in pairs}
    notes = (
        replications_note(points, *(estimates[upward] for _, upward in pairs)),
        f"along a line: {name(step)} from {ends[0]} to {ends[-1]}" if step else "",
        described(fixed or {}),
        *(left_out_note(points, metric, arrangement.keys) for metric in dict.fromkeys(chain.from_iterable(pairs))),
        missing_note(arrangement),
        shapes.note,
        privacy_note(points),
    )
    alike = len({upward for _, upward in pairs}) == 1
    drawn, panels = figure(title, "; ".join(filter(None, notes)), columns=len(pairs), sharey=alike and len(pairs) > 1)
    for place, (panel, (across, upward)) in enumerate(zip(panels, pairs, strict=True)):
        _panel(panel, arrangement, shapes, step, (across, upward), estimates[upward], apart)
        if alike and place:
            panel.set_ylabel("")
    sections = shapes.legend(points, joined=step is not None)
    if len(pairs) == 1:
        legend_beside(drawn, *sections)
    elif sections:
        handles, labels = ([one for section in sections for one in section[part]] for part in (1, 2))
        legend_below(drawn, handles, labels, "; ".join(section[0] for section in sections))
    return drawn


def _panel(
    panel: "Axes",
    arrangement: Arrangement,
    shapes: Shapes,
    step: str | None,
    metrics: tuple[str, str],
    height: Estimates,
    apart: float,
) -> None:
    from netbandit.util.extras.plots import MaxNLocator

    axis, joined = Across.of(arrangement, metrics[0]), step is not None
    groups = lines_of(arrangement, shapes.color, shapes, step) if joined else [[point] for point in arrangement.points]
    lines = [axis.marks(group, height, shapes, arrangement.keys) for group in groups]
    marks = [one.mark for line in lines for one in line]
    away = far_off(marks) if metrics[0] != "diameter" else []
    near = [mark for mark in marks if mark not in away]
    zero = _axes(panel, [mark.x for mark in marks], *metrics)
    for line in lines:
        draw_line(panel, [one for one in line if one.mark not in away], zero, shapes, joined=joined)
    if metrics[0] == "diameter" and panel.get_xscale() != "log":
        panel.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        panel.set_xlim(left=max(0.0, panel.get_xlim()[0]))
    begin_across(panel, [mark.x for mark in near])
    finish_heights(panel, [mark.y for mark in near], apart=_FAR_APART if metrics[0] == "diameter" else apart)
    readable(panel)
    draw_far_off(panel, away, zero)


def _family_key(arrangement: Arrangement) -> str | None:
    """Return the key that names a topology: the family, else what is no number among the topology's keys."""
    candidates = [key for key in arrangement.keys if key.startswith("topology.") and arrangement.scale(key) is None]
    return "topology.family" if "topology.family" in candidates else next(iter(candidates), None)


def _step(arrangement: Arrangement, key: str | None) -> str | None:
    """Return the number whose steps a line joins: the only thing that varies beside *key*."""
    others = [other for other in arrangement.keys if other != key and len(arrangement.along(other)) > 1]
    return others[0] if len(others) == 1 and arrangement.scale(others[0]) is not None else None


def _axes(panel: "Axes", bands: Sequence[Band], across: str, upward: str) -> float | None:
    """Give *panel* its horizontal scale and return where zero stands on it, if that is a place of its own."""
    middles = [float(one.mean) for one in bands]
    zero = None
    if across == "diameter" and middles and max(middles) >= _FAR_APART * min(middles) > 0:
        panel.set(xscale="log", xlim=(0.7 * min(middles), 1.4 * max(middles)))
        label_more(panel.xaxis, 3)  # three panels stand side by side
    elif across != "diameter" and bend(panel, bands, across=True):
        zero = zero_place(bands)
    else:
        panel.margins(x=0.08)
    panel.set_xlabel(axis_label(across))
    panel.set_ylabel(axis_label(upward))
    return zero


def learners_vary(arrangement: Arrangement) -> bool:
    """Return whether the sweep compares three or more learners that differ in data, energy or delay."""
    compares = LEARNER in arrangement.keys and len(arrangement.values[LEARNER]) >= _LEAST
    return compares and bool(_prices(arrangement))


@drawing()
def draw_learners(arrangement: Arrangement) -> "Figure":
    """Draw regret against the data sent, and beside it against energy and delay where these differ.

    Learners are told apart by colour, all else that varies, such as the protocol, by shape.
    """
    upward = compared(arrangement.points)
    prices = _prices(arrangement)
    short = {"bytes": "data", EITHER_DELAY: "delay"}
    what = ", ".join(short.get(price, title_name(price)) for price in prices)
    title = f"{arrangement.name}: {title_name(upward)} of each learner against {what}"
    return draw_panels(arrangement, LEARNER, [(price, upward) for price in prices], title, apart=_LEARNERS_APART)


def _prices(arrangement: Arrangement) -> list[str]:
    """Return what differs of data, energy and delay."""
    return [metric for metric in ("bytes", "energy_j", EITHER_DELAY) if len(distinct(arrangement.points, metric)) > 1]
