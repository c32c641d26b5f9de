"""A metric against a key or another metric: trade-offs of delay, privacy, communication, and user requests.

A line joins the points that differ in one number only: the one on the horizontal axis, or, if that is a metric, the
number with the most values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.plots.axis import Axis
from netbandit.plots.bands import Band, exact
from netbandit.plots.estimates import (
    EPSILONS,
    UNBOUNDED,
    Estimates,
    compared,
    distinct,
    mean_of,
    privacy_key,
)
from netbandit.plots.facets import Part, facets
from netbandit.plots.grouping import Arrangement, titled, value_of
from netbandit.plots.marks import (
    Mark,
    aside,
    at_zero_place,
    begin_across,
    bend,
    draw_far_off,
    draw_marks,
    far_off,
    finish_heights,
    zero_place,
)
from netbandit.plots.shapes import Shapes
from netbandit.plots.structure import PROTOCOL
from netbandit.plots.style import FAINT, drawing, figure, head, legend_beside, readable, wrapped
from netbandit.plots.subtitles import left_out_note, missing_note, privacy_note, replications_note, title_of
from netbandit.plots.values import Scale, identity, name, shown, words
from netbandit.results.metrics import axis_label, title_name
from netbandit.results.store import PointResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEAST = 3
_LABELLED = 6
BUDGETS = ("learner.rounds", "learner.every", "learner.threshold", "learner.band")
"""Keys of a budget of communication."""
LIFETIME = "lifetime_slots"
_DESIGN = ("topology.", "links.", "learner.", "protocol.")


@dataclass(frozen=True)
class View:
    """The axes and options of a picture.

    Attributes:
        x: A key that varies, or a metric.
        y: A metric.
        color: The key whose values are told apart by colour, marker and dashes; None for one series.
        title: The title; taken from the names of the axes if empty.
        frontier: Whether to draw the least y that any x or less attains.
        step: The number whose steps a line joins; if None, that on the axis, or the one with the most values.
        labelled: Whether the values of *step* stand beside the points.
    """

    x: str
    y: str = "regret"
    color: str | None = None
    title: str = ""
    frontier: bool = False
    step: str | None = None
    labelled: bool = False


def delay_view(arrangement: Arrangement) -> View | None:
    """Return regret against the slots waited per round, if three points or more differ in these."""
    if len(distinct(arrangement.points, "round_slots")) < _LEAST or not _is_design(arrangement):
        return None
    return _regret(arrangement, "round_slots", "delay", color=_color(arrangement), frontier=True)


def privacy_view(arrangement: Arrangement) -> View | None:
    """Return regret against the privacy spent, or, where no result knows that, against the budget; if these vary."""
    budget = privacy_key([key for key in arrangement.keys if arrangement.scale(key) is not None])
    color = _color(arrangement, budget)
    if len(distinct(_talking(arrangement), "epsilon")) > 1:
        return _regret(arrangement, "epsilon", "privacy", color=color, frontier=_is_design(arrangement), step=budget)
    return _regret(arrangement, budget, "privacy", color=color) if budget is not None else None


def communication_view(arrangement: Arrangement) -> View | None:
    """Return regret against the data sent, with the budget along the line, if a budget of communication varies."""
    budget = next((key for key in BUDGETS if key in arrangement.keys and arrangement.scale(key) is not None), None)
    if budget is None or len(distinct(_talking(arrangement), "bytes")) < 2:
        return None
    color = _color(arrangement, budget)
    return _regret(arrangement, "bytes", "communication", color=color, step=budget, labelled=True)


def lifetime_view(arrangement: Arrangement) -> View | None:
    """Return how long batteries last against a number of ``[energy]`` that varies, else regret against how long."""
    if len(distinct(arrangement.points, LIFETIME)) < _LEAST:
        return None
    key = next((key for key in arrangement.keys if key.startswith("energy.") and arrangement.scale(key)), None)
    if key is None:
        return _regret(arrangement, LIFETIME, "lifetime", color=_color(arrangement))
    return View(key, LIFETIME, _color(arrangement, key))


def _regret(arrangement: Arrangement, x: str, what: str, **how: Any) -> View:
    """Return the view of what points are compared by against *x*, which is called *what*."""
    y = compared(arrangement.points)
    return View(x, y, title=f"{title_name(y)} against {what}", **how)


def _color(arrangement: Arrangement, other: str | None = None) -> str | None:
    """Return the key that colours tell apart, not *other*: the protocol if that varies, else the key of the series."""
    keys = [key for key in (PROTOCOL, *arrangement.keys) if key in arrangement.keys and key != other]
    return next(iter(keys), None)


def _talking(arrangement: Arrangement) -> list[PointResult]:
    """Return the points that cost something, or all where none does."""
    return [point for point in arrangement.points if mean_of(point, "cost")] or list(arrangement.points)


@drawing()
def draw_against(arrangement: Arrangement, view: View) -> "Figure":
    """Draw *view* of the points of *arrangement*: a marker with the bars of its intervals for each."""
    across = words(view.x) if view.x in arrangement.keys else axis_label(view.x)
    title = view.title or f"{axis_label(view.y).split(' (')[0]} against {across.split(' (')[0]}"
    step = _step(arrangement, view)
    shapes = Shapes.of(arrangement, view.color, [step, view.x, *arrangement.facing])
    layout = facets(arrangement, list(arrangement.slices(arrangement.facing))) if arrangement.facing else None
    axis, vertical = (
        Across.of(arrangement, view.x),
        Estimates(arrangement, view.y),
    )
    parts: list[Part] = layout.parts if layout is not None else [({}, arrangement)]
    notes = (
        _subtitle(arrangement, view, step, vertical),
        shapes.note,
        layout.left_out if layout is not None else "",
        *_remarks(arrangement, view),
    )
    heading = f"{arrangement.name}: {title}"
    if layout is None:
        drawn, panels = figure(heading, "; ".join(filter(None, notes)))
    else:
        drawn, every = layout.figure(heading, notes, shared=True)
        panels = [every[place] for place in layout.places]
    placed: list[list[list[Placed]]] = []
    for _, part in parts:
        groups = lines_of(part, view.color, shapes, step)
        on_key = view.x in arrangement.keys
        placed.append(
            [
                axis.marks(group, vertical, shapes, arrangement.keys, aside(turn, len(groups)) if on_key else 0.0)
                for turn, group in enumerate(groups)
            ]
        )
    everything = [mark for lines in placed for marks in lines for mark in marks]
    away = far_off([mark.mark for mark in everything]) if axis.axis is None else []
    near = [mark for mark in everything if mark.mark not in away]
    zero = None
    across_all = [mark.mark.x for mark in everything]
    bent = axis.axis is None and any([bend(panel, across_all, across=True) for panel in panels])  # noqa: C419  # each
    if bent:
        zero = zero_place([mark.mark.x for mark in everything])
    for panel, lines in zip(panels, placed, strict=True):
        for marks in lines:
            here = [mark for mark in marks if mark.mark not in away]
            draw_line(panel, here, zero, shapes, joined=step is not None)
            if view.labelled and step is not None and len(lines) <= _LABELLED:
                _write(panel, here, step, zero)
    for number, (panel, (fixed, _), lines) in enumerate(zip(panels, parts, placed, strict=True)):
        of_panel = {id(mark.mark) for marks in lines for mark in marks}
        _finish(panel, axis, near, view, zero, 1 if layout is None else layout.columns)
        draw_far_off(panel, [mark for mark in away if id(mark) in of_panel], zero)
        if layout is not None:
            place = layout.places[number]
            head(panel, titled(fixed), layout.columns)
            panel.set_xlabel(wrapped(axis.text, 80 // layout.columns) if layout.is_lowest(place) else "")
            panel.set_ylabel(axis_label(view.y) if layout.is_leftmost(place) else "")
            panel.tick_params(labelbottom=layout.is_lowest(place), labelleft=layout.is_leftmost(place))
    legend_beside(drawn, *shapes.legend([mark.point for mark in everything], joined=step is not None))
    return drawn


@dataclass(frozen=True, eq=False)
class Placed:
    """A point of a study where it is drawn; at infinity no line leads there."""

    mark: Mark
    point: PointResult
    at_infinity: bool


@dataclass(frozen=True)
class Across:
    """The horizontal axis: places of a key's values, or a metric itself.

    Attributes:
        name: The key or metric.
        text: What the axis says.
        axis: The places of a key's values, or of a metric that is infinite somewhere; None for any other metric.
        places: The place of each value of the key, by its identity, or of each mean of the metric.
        metric: The metric, if it is one that is nowhere infinite.
    """

    name: str
    text: str
    axis: Axis | None
    places: dict[str, float] = field(default_factory=dict)
    metric: Estimates | None = None

    @classmethod
    def of(cls, arrangement: Arrangement, x: str) -> "Across":
        """Return the axis of *x*, a key that varies or a metric."""
        if x in arrangement.keys:
            values, scale = arrangement.values[x], arrangement.scale(x)
            axis = (
                Axis.of(scale, ratios=x in EPSILONS)
                if scale
                else Axis.categories([wrapped(shown(value), 14) for value in values])
            )
            places = dict(zip(map(identity, values), axis.places, strict=True))
            return cls(x, scale.label if scale else words(x), axis, places)
        if x in UNBOUNDED:
            numbers = sorted(distinct(arrangement.points, x))
            axis = Axis.of(Scale(tuple(numbers), axis_label(x)), ratios=True)
            return cls(x, axis_label(x), axis, dict(zip(map(repr, numbers), axis.places, strict=True)))
        return cls(x, axis_label(x), None, metric=Estimates(arrangement, x))

    def marks(
        self, points: Sequence[PointResult], y: Estimates, shapes: Shapes, keys: Sequence[str], away: float = 0.0
    ) -> list[Placed]:
        """Return where *points* are drawn, from left to right or in their own order; those without a value are not."""
        found = []
        for point in points:
            joined = self.axis is not None and not self.axis.named
            upward, across = y.of(point), self._place(point, 0.0 if joined else away)
            if upward is not None and across is not None:
                far = self.axis is not None and self.axis.last < self._on_axis(point)
                beside = away * self.axis.span if joined and self.axis is not None else 0.0
                mark = Mark(across, upward, shapes.look(point), title_of(point, keys), beside)
                found.append(Placed(mark, point, far))
        return found

    def _on_axis(self, point: PointResult) -> float:
        if self.name not in UNBOUNDED:
            return self.places[identity(value_of(point, self.name))]
        mean = mean_of(point, self.name)
        return self.places[repr(math.inf if mean is None else mean)]

    def _place(self, point: PointResult, away: float) -> Band | None:
        if self.axis is None:
            assert self.metric is not None
            return self.metric.of(point)
        return exact(self._on_axis(point) + away * self.axis.span)


def _is_design(arrangement: Arrangement) -> bool:
    """Tell whether only choices of whoever builds the system vary: then the best of them is a frontier.

    How many agents there are is no choice: the regret of more agents is that of more pulls.
    """
    return all(key.startswith(_DESIGN) and key != "topology.agents" for key in arrangement.keys)


def _step(arrangement: Arrangement, view: View) -> str | None:
    """Return the number whose steps a line joins: that on the axis, else the one with the most values."""
    if view.x in arrangement.keys:
        return view.x if arrangement.scale(view.x) is not None else None
    if view.step is not None:
        return view.step
    taken = (view.color, *arrangement.facing)
    numbers = [key for key in arrangement.keys if key not in taken and arrangement.scale(key) is not None]
    return max(numbers, key=lambda key: len(arrangement.values[key]), default=None)


def lines_of(arrangement: Arrangement, color: str | None, shapes: Shapes, step: str | None) -> list[list[PointResult]]:
    """Return the points of each line, in the order of *step*; those of each look, where no line joins them."""
    found = []
    for _, points in arrangement.along(color):
        keys = [key for key in arrangement.keys if key not in (color, step)] if step else list(shapes.others)
        lines: dict[str, list[PointResult]] = {}
        for point in points:
            lines.setdefault(identity([value_of(point, key) for key in keys]), []).append(point)
        if step is not None:
            order = [identity(one) for one in arrangement.values[step]]
            for line in lines.values():
                line.sort(key=lambda point: order.index(identity(value_of(point, step))))
        found += list(lines.values())
    return found


def draw_line(panel: "Axes", marks: Sequence[Placed], zero: float | None, shapes: Shapes, *, joined: bool) -> None:
    """Draw the marks of one line, which breaks before infinity.

    Args:
        panel: Where to draw.
        marks: The marks, in the order in which a line joins them.
        zero: Where zero stands across, if that is a place of its own.
        shapes: How points are told apart.
        joined: Whether a line joins them.
    """
    for far in (False, True):
        some = [one for one in marks if one.at_infinity is far]
        if some:
            draw_marks(panel, [one.mark for one in some], zero, shapes.text(some[0].point), joined=joined)


def _write(panel: "Axes", marks: Sequence[Placed], key: str, zero: float | None) -> None:
    for one in marks:
        panel.annotate(
            shown(value_of(one.point, key)),
            (float(at_zero_place(one.mark.x, zero).mean), float(one.mark.y.mean)),
            xytext=(5, 5),
            textcoords="offset points",
            fontsize=7.5,
            color=one.mark.look.colour,
            zorder=4,
        )


def _finish(
    panel: "Axes", axis: Across, marks: Sequence[Placed], view: View, zero: float | None, side_by_side: int
) -> None:
    if panel.get_xscale() != "log":
        panel.margins(x=0.08)
    finish_heights(panel, [mark.mark.y for mark in marks])
    if axis.axis is None:
        begin_across(panel, [mark.mark.x for mark in marks])
    if view.frontier:
        _draw_frontier(panel, marks, zero)
    readable(panel, x=axis.axis is None)
    if axis.axis is not None:
        axis.axis.apply(panel, side_by_side)
    panel.set_xlabel(wrapped(axis.text, 80))
    panel.set_ylabel(axis_label(view.y))


def _draw_frontier(panel: "Axes", marks: Sequence[Placed], zero: float | None) -> None:
    """Draw the least y of all points with that x or less, as a step below the points."""
    means = sorted((float(at_zero_place(mark.mark.x, zero).mean), float(mark.mark.y.mean)) for mark in marks)
    if not means:
        return
    heights = np.minimum.accumulate([height for _, height in means])
    low, high = panel.get_xlim()
    x = [means[0][0], *(place for place, _ in means), high]
    y = [float(heights[0]), *map(float, heights), float(heights[-1])]
    panel.plot(x, y, color=FAINT, linewidth=3.0, solid_capstyle="butt", drawstyle="steps-post", zorder=1.5)
    panel.set_xlim(low, high)


def _subtitle(arrangement: Arrangement, view: View, step: str | None, vertical: Estimates) -> str:
    parts = [replications_note(arrangement.points, vertical)]
    if step is not None and step != view.x and len(arrangement.values[step]) > 1:
        ends = [shown(arrangement.values[step][place]) for place in (0, -1)]
        beside = ", beside the points" if view.labelled else ""
        parts.append(f"along a line: {name(step)} from {ends[0]} to {ends[1]}{beside}")
    if view.frontier:
        parts.append("grey: the least regret at that or less")
    return "; ".join(parts)


def _remarks(arrangement: Arrangement, view: View) -> list[str]:
    """Return what a subtitle says of points that are left out, and of privacy that is on no axis."""
    points = arrangement.points
    metrics = [view.y] if view.x in (*arrangement.keys, *UNBOUNDED) else [view.x, view.y]
    private = "" if {view.x, view.y} & {*EPSILONS, *UNBOUNDED} else privacy_note(points)
    left_out = [left_out_note(points, metric, arrangement.keys) for metric in metrics]
    return [*left_out, missing_note(arrangement), private]
