"""A metric against a key or another metric: frontiers of delay, privacy, communication, and what a user asks for.

A line joins the points that differ in one number alone: that on the horizontal axis, or, where a metric is there, the
number that varies most.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.plots.axis import Axis
from netbandit.plots.bands import Band
from netbandit.plots.grouping import Arrangement, Point
from netbandit.plots.metrics import (
    EPSILON,
    UNBOUNDED,
    bend,
    called,
    compared,
    draw_points,
    estimate,
    label,
    means,
)
from netbandit.plots.silence import PROTOCOL, silence, talking
from netbandit.plots.style import (
    FAINT,
    PLAIN,
    Look,
    drawing,
    figure,
    from_zero,
    legend_beside,
    readable,
    wrapped,
)
from netbandit.plots.values import Scale, identity, name, shown, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_ASIDE = 0.014
_LEAST = 3
_LABELLED = 6
_BUDGETS = ("learner.rounds", "learner.every", "learner.threshold", "learner.band")
_DESIGN = ("topology.", "links.", "learner.", "protocol.")
_ENTRIES = 14


@dataclass(frozen=True)
class View:
    """What is drawn against what.

    Attributes:
        x: A key that varies, or a metric.
        y: A metric.
        color: The key whose values are told apart by colour, marker and dashes; None for one series.
        title: What is to be seen; said by the names of the axes if empty.
        frontier: Whether to draw the least y that any x or less attains.
            step: The number whose steps a line joins; if None, that on the axis, or the one with the most values.
        labelled: Whether the values of *step* stand beside the points.
        priced: Whether points at which nobody talks are left out, and only named.
    """

    x: str
    y: str = "regret"
    color: str | None = None
    title: str = ""
    frontier: bool = False
    step: str | None = None
    labelled: bool = False
    priced: bool = False


def delay_view(arrangement: Arrangement) -> View | None:
    """Return regret against the slots waited per round, if three points or more differ in these."""
    if len(_values(_talking(arrangement), "round_slots")) < _LEAST or not _is_design(arrangement):
        return None
    return _regret(arrangement, "round_slots", "delay", color=_color(arrangement), frontier=True)


def privacy_view(arrangement: Arrangement) -> View | None:
    """Return regret against the privacy spent, or, where no result knows that, against the budget; if these vary."""
    numeric = EPSILON in arrangement.keys and arrangement.scale(EPSILON) is not None
    color = _color(arrangement, EPSILON if numeric else None)
    if len(_values(_talking(arrangement), "epsilon")) > 1:
        step = EPSILON if numeric else None
        return _regret(arrangement, "epsilon", "privacy", color=color, frontier=_is_design(arrangement), step=step)
    return _regret(arrangement, EPSILON, "privacy", color=color) if numeric else None


def communication_view(arrangement: Arrangement) -> View | None:
    """Return regret against the data sent, with the budget along the line, if a budget of communication varies."""
    budget = next((key for key in _BUDGETS if key in arrangement.keys and arrangement.scale(key) is not None), None)
    if budget is None or len(_values(_talking(arrangement), "bytes")) < 2:
        return None
    color = _color(arrangement, budget)
    return _regret(arrangement, "bytes", "communication", color=color, step=budget, labelled=True)


def _regret(arrangement: Arrangement, x: str, what: str, **how: Any) -> View:
    """Return the view of what points are compared by against *x*, which is called *what*."""
    y = compared(arrangement.points)
    return View(x, y, title=f"{called(y)} against {what}", priced=True, **how)


def _color(arrangement: Arrangement, other: str | None = None) -> str | None:
    """Return the key that colours tell apart, not *other*: the protocol if that varies, else the key of the series."""
    keys = [key for key in (PROTOCOL, *arrangement.keys) if key in arrangement.keys and key != other]
    return next(iter(keys), None)


def _talking(arrangement: Arrangement) -> Arrangement:
    return replace(arrangement, points=tuple(talking(arrangement)))


@drawing()
def draw_against(arrangement: Arrangement, view: View) -> "Figure":
    """Draw *view* of the points of *arrangement*: a marker with the bars of its intervals for each."""
    unspoken = silence(arrangement) if view.priced else ""
    arrangement = _talking(arrangement) if view.priced else arrangement
    across = words(view.x) if view.x in arrangement.keys else label(view.x)
    title = view.title or f"{label(view.y).split(' (')[0]} against {across.split(' (')[0]}"
    step = _step(arrangement, view)
    groups = _groups(arrangement, view, step)
    axis = _Across.of(arrangement, view.x)
    drawn, (panel,) = figure(f"{arrangement.name}: {title}", _subtitle(arrangement, view, step, unspoken))
    handles: dict[str, Line2D] = {}
    everything: list[_Mark] = []
    for turn, group in enumerate(groups):
        marks = axis.marks(group.points, view.y, _aside(turn, groups, view.x in arrangement.keys))
        look = PLAIN if view.color is None else arrangement.look(view.color, group.value)
        text = "" if view.color is None else wrapped(shown(group.value), 22)
        for some in _unbroken(marks):
            line = draw_points(
                panel, [mark.x for mark in some], [mark.y for mark in some], look, text, joined=group.joined
            )
            handles.setdefault(text, line)
        if view.labelled and step is not None and len(groups) <= _LABELLED:
            _write(panel, marks, step, look)
        everything += marks
    _finish(panel, axis, everything, view)
    if view.color is not None and handles:
        few = dict(list(handles.items())[:_ENTRIES])
        heading = words(view.color) + (f" ({len(few)} of {len(handles)} shown)" if len(few) < len(handles) else "")
        legend_beside(drawn, list(few.values()), list(few), heading)
    return drawn


@dataclass(frozen=True)
class _Mark:
    """A point of a sweep where it is drawn; at infinity no line leads there."""

    x: Band
    y: Band
    point: Point
    at_infinity: bool


@dataclass(frozen=True)
class _Group:
    """Points of one series, joined by a line if they differ in one number alone."""

    value: Any
    points: list[Point]
    joined: bool


@dataclass(frozen=True)
class _Across:
    """The horizontal axis: places of a key's values, or a metric itself.

    Attributes:
        name: The key or metric.
        text: What the axis says.
        axis: The places of a key's values, or of a metric that is infinite somewhere; None for any other metric.
        places: The place of each value of the key, by its identity, or of each mean of the metric.
    """

    name: str
    text: str
    axis: Axis | None
    places: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, arrangement: Arrangement, x: str) -> "_Across":
        if x in arrangement.keys:
            values, scale = arrangement.choices[x], arrangement.scale(x)
            axis = (
                Axis.of(scale, ratios=x == EPSILON)
                if scale
                else Axis.categories([wrapped(shown(value), 14) for value in values])
            )
            places = dict(zip(map(identity, values), axis.places, strict=True))
            return cls(x, scale.label if scale else words(x), axis, places)
        if x in UNBOUNDED:
            numbers = sorted(_values(arrangement, x))
            axis = Axis.of(Scale(tuple(numbers), label(x)), ratios=True)
            return cls(x, label(x), axis, dict(zip(map(repr, numbers), axis.places, strict=True)))
        return cls(x, label(x), None)

    def marks(self, points: Sequence[Point], y: str, aside: float) -> list[_Mark]:
        """Return where *points* are drawn, from left to right or in their own order; those without a value are not."""
        found = []
        for point in points:
            upward, across = estimate(point, y), self._place(point, aside)
            if upward is not None and across is not None:
                far = self.axis is not None and self.axis.last < self._on_axis(point)
                found.append(_Mark(across, upward, point, far))
        return found

    def _on_axis(self, point: Point) -> float:
        value = identity(point.values[self.name]) if self.name in point.values else repr(_mean(point, self.name))
        return self.places[value]

    def _place(self, point: Point, aside: float) -> Band | None:
        if self.axis is None:
            return estimate(point, self.name)
        where = np.float64(self._on_axis(point) + aside * self.axis.span)
        return Band(where, where, where, 1)  # type: ignore[arg-type]


def _mean(point: Point, metric: str) -> float:
    found = point.samples(metric)
    return float(found.mean()) if len(found) == len(point.runs) else math.inf


def _values(arrangement: Arrangement, metric: str) -> set[float]:
    """Return the means of *metric* that differ, infinity among them where that is what a missing value means."""
    if metric in UNBOUNDED and any(metric in run.metrics for point in arrangement.points for run in point.runs):
        return {_mean(point, metric) for point in arrangement.points}
    found = [estimate(point, metric) for point in arrangement.points]
    return {float(one.mean) for one in found if one is not None}


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
    numbers = [key for key in arrangement.keys if key != view.color and arrangement.scale(key) is not None]
    return max(numbers, key=lambda key: len(arrangement.choices[key]), default=None)


def _groups(arrangement: Arrangement, view: View, step: str | None) -> list[_Group]:
    found = []
    for value, points in arrangement.along(view.color):
        others = [key for key in arrangement.keys if key not in (view.color, step)]
        lines: dict[str, list[Point]] = {}
        for point in points:
            lines.setdefault(identity([point.values[key] for key in others]) if step else "", []).append(point)
        if step is not None:
            order = [identity(one) for one in arrangement.choices[step]]
            for line in lines.values():
                line.sort(key=lambda point: order.index(identity(point.values[step])))
        found += [_Group(value, line, joined=step is not None) for line in lines.values()]
    return found


def _aside(turn: int, groups: Sequence[_Group], on_key: bool) -> float:
    """Return how far aside the marks of a group stand: side by side, or the bars of equal values hide one another."""
    step = min(_ASIDE, 3 * _ASIDE / max(len(groups) - 1, 1))
    return step * (turn - (len(groups) - 1) / 2) if on_key else 0.0


def _unbroken(marks: Sequence[_Mark]) -> list[list[_Mark]]:
    """Return the marks before infinity and those at it, without what is empty."""
    parts = [[mark for mark in marks if mark.at_infinity is far] for far in (False, True)]
    return [part for part in parts if part]


def _write(panel: "Axes", marks: Sequence[_Mark], key: str, look: Look) -> None:
    for mark in marks:
        panel.annotate(
            shown(mark.point.values[key]),
            (float(mark.x.mean), float(mark.y.mean)),
            xytext=(5, 5),
            textcoords="offset points",
            fontsize=7.5,
            color=look.colour,
            zorder=4,
        )


def _finish(panel: "Axes", axis: _Across, marks: Sequence[_Mark], view: View) -> None:
    panel.margins(0.08)
    if axis.axis is None:
        bend(panel, [mark.x for mark in marks], across=True)
    if not bend(panel, [mark.y for mark in marks]) and all(float(mark.y.mean) >= 0 for mark in marks):
        from_zero(panel)
    if view.frontier:
        _draw_frontier(panel, marks)
    readable(panel, x=axis.axis is None)
    if axis.axis is not None:
        axis.axis.apply(panel)
    panel.set_xlabel(wrapped(axis.text, 80))
    panel.set_ylabel(label(view.y))


def _draw_frontier(panel: "Axes", marks: Sequence[_Mark]) -> None:
    """Draw the least y of all points with that x or less, as a step below the points."""
    means = sorted((float(mark.x.mean), float(mark.y.mean)) for mark in marks)
    if not means:
        return
    heights = np.minimum.accumulate([height for _, height in means])
    low, high = panel.get_xlim()
    x = [means[0][0], *(place for place, _ in means), high]
    y = [float(heights[0]), *map(float, heights), float(heights[-1])]
    panel.plot(x, y, color=FAINT, linewidth=3.0, solid_capstyle="butt", drawstyle="steps-post", zorder=1.5)
    panel.set_xlim(low, high)


def _subtitle(arrangement: Arrangement, view: View, step: str | None, unspoken: str) -> str:
    parts = [means(arrangement.points)]
    if step is not None and step != view.x and len(arrangement.choices[step]) > 1:
        ends = [shown(arrangement.choices[step][place]) for place in (0, -1)]
        beside = ", beside the points" if view.labelled else ""
        parts.append(f"along a line: {name(step)} from {ends[0]} to {ends[1]}{beside}")
    if view.frontier:
        parts.append("grey: the least regret at that or less")
    others = [key for key in arrangement.keys if key not in (view.x, view.color, step)]
    if others:
        parts.append(f"all values of {', '.join(map(name, others))}")
    return "; ".join(filter(None, [*parts, unspoken]))
