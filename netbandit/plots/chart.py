"""The chart of a metric against a key or another metric: one drawing path for every `Chart`, its specification.

A line joins the points that differ in one number only; it breaks before infinity.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.plots.axis import Axis
from netbandit.plots.bands import Band, exact
from netbandit.plots.estimates import EPSILONS, UNBOUNDED, Estimates, distinct, mean_of
from netbandit.plots.facets import Facets
from netbandit.plots.grouping import Arrangement, described, titled, value_of
from netbandit.plots.marks import (
    DECADES,
    Mark,
    aside,
    at_zero_place,
    begin_across,
    bend,
    draw_far_off,
    draw_marks,
    far_off,
    finish_heights,
    is_bent,
    label_more,
    zero_place,
)
from netbandit.plots.shapes import Shapes
from netbandit.plots.style import FAINT, drawing, head, legend_below, legend_beside, readable, wrapped
from netbandit.plots.subtitles import (
    left_out_note,
    missing_note,
    of_arrived_note,
    privacy_note,
    replications_note,
    shortfall_note,
    title_of,
    without_note,
)
from netbandit.plots.values import Scale, identity, name, shown, words
from netbandit.results.metrics import axis_label
from netbandit.results.numbers import rounded, scaled
from netbandit.results.study_result import PointResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOPS = "diameter"
"""The metric of few whole numbers, whose horizontal axis is logarithmic sooner than others."""
HOPS_APART = 20.0
"""The ratio of diameters from which their axis is logarithmic, and the axis of a metric that grows with them."""
_APART = 10.0
"""The same of any other metric across: marks of the least values are not drawn on one another."""
WAITING = "round_slots"
_LABELLED = 6
_SMALLEST, _LARGEST = 25.0, 320.0
"""The areas of the marks of no delay and of the longest, in square points."""
_COINCIDE = 0.008
"""Lines coincide if corresponding points differ by no more than this share of the vertical axis."""
_COINCIDENT = 2
"""The most groups of such lines that a subtitle names."""


@dataclass(frozen=True)
class Chart:
    """The specification of a chart.

    Attributes:
        whole: All points, with their keys and looks.
        title: The title, without the scenario's name.
        layout: The panels: the values that each holds fixed, and its points.
        pairs: For each panel its horizontal axis, a key that varies or a metric, and its vertical axis, a metric.
        color: The key whose values are distinguished by colour, marker and dashes; None for one series.
        step: The number whose steps a line joins; None for no lines.
        labelled: Whether the values of *step* stand beside the points.
        frontier: Whether to draw the least y that any x or less attains.
        waiting: Whether the area of a mark shows the slots waited per round.
        apart: The ratio of largest to smallest value from which the vertical axis is logarithmic.
        note: What the subtitle says of a metric that is not drawn.
    """

    whole: Arrangement
    title: str
    layout: Facets
    pairs: Sequence[tuple[str, str]]
    color: str | None = None
    step: str | None = None
    labelled: bool = False
    frontier: bool = False
    waiting: bool = False
    apart: float = DECADES
    note: str = ""

    @property
    def fixed(self) -> list[str]:
        """The keys that each panel holds fixed."""
        return list(self.layout.parts[0][0])

    @property
    def points(self) -> list[PointResult]:
        """The points of all panels, each once."""
        return list({id(point): point for _, part in self.layout.parts for point in part.points}.values())

    @property
    def is_faceted(self) -> bool:
        """Whether panels differ in the values they hold fixed."""
        return len({identity(fixed) for fixed, _ in self.layout.parts}) > 1


@dataclass(frozen=True, eq=False)
class Placed:
    """A point of a study with its mark; no line leads to a mark at infinity."""

    mark: Mark
    point: PointResult
    at_infinity: bool


@dataclass(frozen=True)
class Across:
    """The horizontal axis: places of a key's values, or a metric itself.

    Attributes:
        name: The key or metric.
        text: The label of the axis.
        axis: The places of a key's values, or of a metric that is infinite somewhere; None for any other metric.
        places: The place of each value of the key, by its identity, or of each mean of the metric.
        metric: The metric, if it is nowhere infinite.
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
        self, points: Sequence[PointResult], y: Estimates, shapes: Shapes, step: str | None, away: float
    ) -> list[Placed]:
        """Return the marks of *points*, in their order, without those that lack a value.

        Args:
            points: The points of a line.
            y: Their heights.
            shapes: The looks that distinguish points.
            step: The number whose steps a line joins, by which a point is named too.
            away: The offset of a mark, or, where a line joins marks, of the dots of its runs; a share of the axis.
        """
        span = self.axis.span if self.axis is not None else 0.0
        named = self.axis is not None and (self.axis.named or self._upright(points))
        away *= named or self.name not in UNBOUNDED
        found = []
        for point in points:
            upward = y.of(point)
            across = self.metric.of(point) if self.metric is not None else exact(self._on_axis(point))
            if upward is None or across is None:
                continue
            far = self.axis is not None and self.axis.last < float(across.mean)
            if named:
                across = exact(float(across.mean) + away * span)
            text = shapes.text(point) if step is None else title_of(point, shapes.arrangement.keys)
            mark = Mark(across, upward, shapes.look(point), text, 0.0 if named else away * span)
            found.append(Placed(mark, point, far))
        return found

    def _upright(self, points: Sequence[PointResult]) -> bool:
        """Return whether a line of *points* goes straight up, as all spend the same, so that others would hide it."""
        return self.name in UNBOUNDED and len(points) > 1 and len(set(map(self._on_axis, points))) == 1

    def _on_axis(self, point: PointResult) -> float:
        if self.name not in UNBOUNDED:
            return self.places[identity(value_of(point, self.name))]
        mean = mean_of(point, self.name)
        return self.places[repr(math.inf if mean is None else mean)]


class _Content:
    """The marks of a chart, panel by panel, on its axes."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        whole, points = chart.whole, chart.points
        self.shapes = Shapes.of(whole, chart.color, [chart.step, *(x for x, _ in chart.pairs), *chart.fixed])
        self.axes = {x: Across.of(whole, x) for x, _ in chart.pairs}
        self.heights = {y: Estimates(whole, y, points) for _, y in chart.pairs}
        self.lines = [
            self._lines(x, y, part) for (x, y), (_, part) in zip(chart.pairs, chart.layout.parts, strict=True)
        ]
        self.away = {
            mark
            for x, y in dict.fromkeys(chart.pairs)
            if self.axes[x].axis is None
            for mark in far_off([one.mark for one in self.marks(x, y)])
        }
        self.areas = _areas(self.near()) if chart.waiting else {}

    def _lines(self, x: str, y: str, part: Arrangement) -> list[list[Placed]]:
        """Return the marks of each line of a panel; marks or dots stand side by side around the values of an axis."""
        keys, groups = self.chart.whole.keys, _lines_of(part, self.shapes, self.chart.step)
        away = [aside(turn, len(groups)) if x in (*keys, *UNBOUNDED) else 0.0 for turn in range(len(groups))]
        pairs = zip(groups, away, strict=True)
        return [
            self.axes[x].marks(line, self.heights[y], self.shapes, self.chart.step, beside) for line, beside in pairs
        ]

    def marks(self, x: str | None = None, y: str | None = None) -> list[Placed]:
        """Return the marks of all panels with these axes."""
        panels = zip(self.chart.pairs, self.lines, strict=True)
        alike = [lines for pair, lines in panels if x in (None, pair[0]) and y in (None, pair[1])]
        return [mark for lines in alike for line in lines for mark in line]

    def near(self, x: str | None = None, y: str | None = None) -> list[Placed]:
        """Return those of `marks` that do not stand at the edge."""
        return [one for one in self.marks(x, y) if one.mark not in self.away]

    def notes(self) -> list[str]:
        """Return the notes of the subtitle."""
        chart, points, keys = self.chart, self.chart.points, self.chart.whole.keys
        near = [one.point for one in self.near()]
        estimates = [*self.heights.values(), *(axis.metric for axis in self.axes.values() if axis.metric)]
        measured = replications_note(points, *(one.only(near) for one in estimates))
        far = shortfall_note([mark.y for mark in self.away])
        notes = [measured, "" if far in measured else far]
        notes.append(of_arrived_note(points, [metric for pair in chart.pairs for metric in pair], keys))
        values = [shown(value) for value, _ in chart.whole.along(chart.step)] if chart.step else []
        joined = any(len(line) > 1 for lines in self.lines for line in lines)
        if chart.step not in self.axes and len(values) > 1 and joined:
            beside = ", beside the points" if chart.labelled else ""
            notes.append(f"along a line: {name(str(chart.step))} from {values[0]} to {values[-1]}{beside}")
        notes += self._coincident()
        if chart.frontier:
            notes.append("grey: the least regret at that or less")
        if self.areas:
            longest = scaled(rounded(max(wait or 0.0 for wait in self.areas.values()), 3))
            unknown = left_out_note(near, WAITING, keys)
            notes.append(f"marker area: slots waited per round, up to {longest}")
            notes.append(unknown.replace("left out", "not drawn as size (dotted)"))
        metrics = [metric for pair in chart.pairs for metric in pair if metric not in (*keys, *UNBOUNDED)]
        on_axis = {*self.axes, *self.heights} & {*EPSILONS, *UNBOUNDED}
        return [
            *notes,
            "" if chart.is_faceted else described(chart.layout.parts[0][0]),
            chart.layout.left_out,
            chart.note,
            *(left_out_note(points, metric, keys) for metric in dict.fromkeys(metrics)),
            without_note(chart.whole, points) if chart.is_faceted and not chart.layout.left_out else "",
            missing_note(chart.whole),
            self.shapes.note,
            "" if on_axis else privacy_note(points),
        ]

    def _coincident(self) -> list[str]:
        """Return the subtitle's notes on lines that coincide in all panels of a metric."""
        notes = []
        for y in self.heights if self.chart.step else ():
            bands = [one.mark.y for one in self.near(y=y)]
            bent = is_bent(bands, apart=self.chart.apart)
            panels = [
                {self.shapes.text(line[0].point): line for line in lines if len(line) > 1}
                for (_, metric), lines in zip(self.chart.pairs, self.lines, strict=True)
                if metric == y
            ]
            names = list(dict.fromkeys(name for panel in panels for name in panel))
            rest = names
            while rest:
                pairs = {
                    name: [
                        _coincide(panel[rest[0]], panel[name], bands, bent)
                        for panel in panels
                        if {rest[0], name} <= panel.keys()
                    ]
                    for name in rest
                }
                alike = [name for name, found in pairs.items() if found and all(found)]
                rest = [name for name in rest[1:] if name not in alike]
                if len(alike) > 1:
                    of = f" in {axis_label(y).split(' (')[0]}" if len(self.heights) > 1 else ""
                    which = f": {', '.join(alike[:-1])} and {alike[-1]}" if len(alike) < len(names) else ""
                    notes.append(f"{'' if which else 'all '}lines coincide{of}{which}")
        return notes[:_COINCIDENT]


def _coincide(one: Sequence[Placed], other: Sequence[Placed], bands: Sequence[Band], bent: bool) -> bool:
    """Return whether two lines have the same horizontal positions and visually equal heights."""
    heights = np.array([[float(mark.mark.y.mean) for mark in line] for line in (one, other) if len(line) == len(one)])
    if len(heights) < 2 or any(float(a.mark.x.mean) != float(b.mark.x.mean) for a, b in zip(one, other, strict=True)):
        return False
    means = np.array([float(band.mean) for band in bands])
    if bent:
        heights, means = np.log(heights), np.log(means)
    length = np.ptp(means) if bent else means.max() - min(means.min(), 0.0)
    return bool(np.abs(heights[0] - heights[1]).max() <= _COINCIDE * length)


def _areas(marks: Sequence[Placed]) -> dict[int, float | None]:
    """Return the slots waited per round at each point, by its id; empty where no agent waits."""
    waits = {id(one.point): mean_of(one.point, WAITING) for one in marks}
    return waits if any(waits.values()) else {}


def _without_empty(chart: Chart, content: _Content) -> Chart:
    """Return *chart* without the panels that have no mark beside others of the same points."""
    fixed = [identity(values) for values, _ in chart.layout.parts]
    drawn = {one for one, lines in zip(fixed, content.lines, strict=True) if any(lines)}
    kept = [number for number, lines in enumerate(content.lines) if any(lines) or fixed[number] not in drawn]
    places = [chart.layout.places[number] for number in kept]
    layout = replace(chart.layout, parts=[chart.layout.parts[number] for number in kept], places=places)
    return replace(chart, layout=layout, pairs=[chart.pairs[number] for number in kept])


@drawing()
def draw_chart(chart: Chart) -> "Figure":
    """Draw *chart*: a mark for each point, with the bars of its intervals.

    Outliers without cost stand at the upper edge with their values (see `marks.far_off`).
    """
    content = _Content(chart)
    if len((fewer := _without_empty(chart, content)).pairs) < len(chart.pairs):
        chart, content = fewer, _Content(fewer)
    layout, pairs = chart.layout, chart.pairs
    one_x, one_y = (len({pair[axis] for pair in pairs}) == 1 for axis in (0, 1))
    drawn, every = layout.figure(
        f"{chart.whole.name}: {chart.title}",
        content.notes(),
        sharex=one_x and one_y,
        sharey="all" if one_y else "row" if layout.rows > 1 else "none",
    )
    panels = [every[place] for place in layout.places]
    zeros = [_draw_panel(panel, content, number) for number, panel in enumerate(panels)]
    headed = set()
    for number, (panel, place, (x, y)) in enumerate(zip(panels, layout.places, pairs, strict=True)):
        _finish(panel, content, number, zeros[number])
        fixed = layout.parts[number][0]
        if chart.is_faceted and identity(fixed) not in headed:
            head(panel, titled(fixed), layout.columns)
            headed.add(identity(fixed))
        lowest, first = layout.is_lowest(place), layout.is_leftmost(place) or pairs[number - 1][1] != y
        panel.set_xlabel(wrapped(content.axes[x].text, max(44, 80 // layout.columns)) if lowest else "")
        panel.set_ylabel(axis_label(y) if first else "")
        panel.tick_params(labelbottom=lowest or not one_y, labelleft=first)
    sections = content.shapes.legend([one.point for one in content.marks()], joined=chart.step is not None)
    if one_x and one_y:
        legend_beside(drawn, *sections)
    elif sections:
        handles, labels = ([one for section in sections for one in section[part]] for part in (1, 2))
        legend_below(drawn, handles, labels, "; ".join(section[0] for section in sections))
    return drawn


def _lines_of(arrangement: Arrangement, shapes: Shapes, step: str | None) -> list[list[PointResult]]:
    """Return the points of each line, in the order of *step*; those of each look, where no line joins them."""
    found = []
    for _, points in arrangement.along(shapes.color):
        keys = [key for key in arrangement.keys if key not in (shapes.color, step)] if step else list(shapes.others)
        lines: dict[str, list[PointResult]] = {}
        for point in points:
            lines.setdefault(identity([value_of(point, key) for key in keys]), []).append(point)
        if step is not None:
            order = [identity(one) for one in arrangement.values[step]]
            for line in lines.values():
                line.sort(key=lambda point: order.index(identity(value_of(point, step))))
        found += list(lines.values())
    return found


def _draw_panel(panel: "Axes", content: _Content, number: int) -> float | None:
    """Draw the lines of a panel and return where zero stands across, if it has its own position."""
    chart, (x, y), zero = content.chart, content.chart.pairs[number], None
    across = [one.mark.x for one in content.marks(x)]
    if content.axes[x].axis is None:
        zero = _begin(panel, x, across)
    heights = [one.mark.y for one in content.near(y=y)]
    zeros = zero, zero_place(heights) if is_bent(heights, apart=chart.apart) else None
    lines = [[one for one in line if one.mark not in content.away] for line in content.lines[number]]
    for line in lines:
        for far in (False, True):
            some = [one for one in line if one.at_infinity is far]
            if some:
                marks, text = [one.mark for one in some], content.shapes.text(some[0].point)
                artist = draw_marks(panel, marks, zeros, text, joined=chart.step is not None)
                if content.areas:
                    artist.set_marker("none")
        for one in line:
            place = float(at_zero_place(one.mark.x, zero).mean), float(one.mark.y.mean)
            if content.areas:
                _draw_area(panel, one, place, content.areas)
            if chart.labelled and chart.step is not None and len(lines) <= _LABELLED:
                text = shown(value_of(one.point, chart.step))
                how: dict[str, Any] = {"xytext": (5, 5), "textcoords": "offset points", "fontsize": 7.5, "zorder": 4}
                panel.annotate(text, place, color=one.mark.look.colour, **how)
    return zero


def _begin(panel: "Axes", x: str, across: Sequence[Band]) -> float | None:
    """Give *panel* its horizontal scale and return where zero stands on it, if it has its own position."""
    from netbandit.util.extras.plots import MaxNLocator

    means = [float(one.mean) for one in across]
    if x == HOPS and means and max(means) >= HOPS_APART * min(means) > 0:
        panel.set(xscale="log", xlim=(0.7 * min(means), 1.4 * max(means)))
        label_more(panel.xaxis, 3)  # three panels stand side by side
    elif x != HOPS and bend(panel, across, across=True, apart=_APART):
        return zero_place(across)
    else:
        panel.margins(x=0.08)
        if x == HOPS:
            panel.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
    return None


def _draw_area(panel: "Axes", one: Placed, place: tuple[float, float], waits: Mapping[int, float | None]) -> None:
    """Draw a mark whose area shows the slots waited per round; dotted where these are unknown."""
    from netbandit.util.extras.plots import to_rgb

    wait, longest = waits.get(id(one.point)), max((wait or 0.0 for wait in waits.values()), default=0.0)
    unknown = wait is None and longest > 0
    share = 0.25 if unknown else (wait or 0.0) / longest if longest else 0.0  # what is dotted must have room for dots
    panel.scatter(
        *place,
        s=_SMALLEST + (_LARGEST - _SMALLEST) * share,
        marker=one.mark.look.marker,
        facecolor=[(*to_rgb(one.mark.look.colour), 0.25)],
        edgecolor=one.mark.look.colour,
        linewidth=1.4,
        linestyle=(0, (1, 1)) if unknown else "-",
        zorder=3.5,
    )


def _finish(panel: "Axes", content: _Content, number: int, zero: float | None) -> None:
    """Set the limits and ticks of *panel* once all lines are drawn, and draw elements that depend on them."""
    chart, (x, y) = content.chart, content.chart.pairs[number]
    axis, across = content.axes[x].axis, [one.mark.x for one in content.near(x)]
    upward = [one.mark.y for one in content.near(y=y)]
    if chart.waiting:  # large marks take room
        if panel.get_xscale() != "log":
            panel.set_xlim(_ends([one.mark.x for one in content.marks(x)]))
        if not bend(panel, upward):
            panel.set_ylim(_ends(upward))
    else:
        finish_heights(panel, upward, apart=chart.apart)
        if axis is None:
            begin_across(panel, across)
    readable(panel, x=axis is None)
    if axis is not None:
        axis.apply(panel, chart.layout.columns)
    if chart.frontier:
        _draw_frontier(panel, content.near(x, y), zero)
    here = [one.mark for line in content.lines[number] for one in line]
    draw_far_off(panel, [mark for mark in here if mark in content.away], zero)


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


def _ends(bands: Sequence[Band]) -> tuple[float, float]:
    """Return where an axis begins and ends on which all *bands* have room; not below 0 where nothing can be."""
    runs = [value for band in bands for value in band.runs.values()]
    low = min([*(float(band.widest[0]) for band in bands), *runs])
    high = max([*(float(band.widest[1]) for band in bands), *runs])
    room = 0.12 * ((high - low) or abs(high) or 1.0)
    least = min([*(float(band.mean) for band in bands), *runs])
    return max(low - room, -0.03 * high) if least >= 0 else low - room, high + room
