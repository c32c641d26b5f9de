"""Regret over the slots, with a band over the replications."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.answers import last_answers, range_of
from netbandit.plots.bands import Band, bands_of, exact
from netbandit.plots.estimates import (
    end_with_answers,
    last_answer,
    measured,
    partly_absent,
    partly_served,
    performance,
    with_runs,
)
from netbandit.plots.events import draw_events, events_note, outages, recovered, world_changes
from netbandit.plots.facets import MOST_COLUMNS, Facets, Part, facets
from netbandit.plots.grouping import KINDS, Arrangement, evenly, titled, value_of
from netbandit.plots.marks import draw_runs, label_more, zero_below
from netbandit.plots.shapes import Shapes
from netbandit.plots.style import (
    PLAIN,
    Look,
    Section,
    drawing,
    from_zero,
    head,
    legend_beside,
    readable,
    wrapped,
)
from netbandit.plots.subtitles import batteries_note, mark_notes, missing_note, privacy_note
from netbandit.plots.values import heading, identity, shown, with_unit
from netbandit.results.metrics import axis_label, title_name
from netbandit.results.numbers import scaled
from netbandit.results.study_result import PointResult
from netbandit.simulation.result import RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GRID = 600
_ENTRIES = 14
_BANDS = 5
_SIMILAR = 4.0
_BETWEEN = 0.045
"""The least distance between lines of text beside a panel, as a share of its height."""
_FAR = 100
_ABOVE = 10.0
_BEGIN = 10.0
"""An axis of regrets far apart, over linear slots, begins at the least end divided by this."""
_BESIDE = ("_change", "_recovered", "_run")
"""Labels of lines that are no mean; labels with an underscore are in no legend."""
_BESIDE_STEP, _BESIDE_ROOM = 4.0, 14.0
"""The largest distance between the dots of neighbouring lines, and of all lines, in typographic points."""
_LINES = 12


@dataclass(frozen=True)
class Line:
    """The regret of one point.

    Attributes:
        label: Its value of the series' key, as text; empty without series.
        look: Its colour and dashes.
        slots: Where it is known, shape (k,).
        estimate: Mean and interval there, arrays of shape (k,).
        recovered: The mean slot at which all agents waiting at the end of the outage have resumed; None without outage.
    """

    label: str
    look: Look
    slots: NDArray[np.int64]
    estimate: Band
    recovered: float | None = None


@dataclass(frozen=True)
class Panel:
    """The regret of the points that share the values of all keys but the series'.

    Attributes:
        fixed: The values they share.
        part: The points.
        lines: A line for each point.
    """

    fixed: dict[str, Any]
    part: Arrangement
    lines: list[Line]


def panels_of(arrangement: Arrangement, curve: str | None = None) -> list[Panel]:
    """Return the content of the picture of regret, or of another *curve*: panels, row by row (see `facets`)."""
    arrangement = _side_by_side(arrangement)
    curve = _curve(arrangement) if curve is None else curve
    logarithmic = reads_better_logarithmic([run for point in arrangement.points for run in point.finished], curve)
    shapes = _shapes(arrangement)
    return [
        Panel(fixed, part, _lines(part, logarithmic, curve, shapes))
        for fixed, part in _facets(arrangement, shapes).parts
    ]


def _side_by_side(arrangement: Arrangement) -> Arrangement:
    """Return *arrangement* with a column of panels for each value of a key, where most panels would have one line.

    The key is one with which all others are combined, so that the panels have the same lines.
    """
    points, panels = len(arrangement.points), len(list(arrangement.slices(arrangement.keys[1:])))
    if arrangement.facing or points <= _LINES or 2 * panels <= points:
        return arrangement
    for key in sorted(arrangement.keys, key=lambda one: -len(arrangement.values[one])):
        sizes = {len(alike) for _, alike in arrangement.along(key)}
        if len(sizes) == 1 and 1 < max(sizes) <= _LINES and len(arrangement.values[key]) <= MOST_COLUMNS:
            keys = (*(other for other in arrangement.keys if other != key), key)
            told = arrangement.color or next((other for other in KINDS if other in keys[:-1]), None)
            return replace(arrangement, keys=keys, columns=key, color=told).looking_like(arrangement)
    return arrangement


def _facets(arrangement: Arrangement, shapes: Shapes | None) -> Facets:
    """Return a panel for each combination of all keys but the series'; one if *shapes* distinguish lines."""
    if arrangement.facing:
        return facets(arrangement, list(arrangement.slices(arrangement.facing)))
    one: list[Part] = [({}, arrangement)]
    return facets(arrangement, list(arrangement.slices(arrangement.keys[1:])) if shapes is None else one)


def _shapes(arrangement: Arrangement) -> Shapes | None:
    """Return the looks of the lines of a few cases, in one panel; None if the cases form a grid.

    Side by side in panels of their own they would be lines without a neighbour.
    """
    if arrangement.facing:
        rest = [key for key in arrangement.keys[1:] if key not in arrangement.facing]
        return Shapes.of(arrangement, arrangement.color or arrangement.series, arrangement.facing) if rest else None
    points, panels = len(arrangement.points), len(list(arrangement.slices(arrangement.keys[1:])))
    if len(arrangement.keys) < 2 or points > _LINES or 2 * panels <= points:
        return None
    color = arrangement.color or next((key for key in KINDS if key in arrangement.keys), arrangement.series)
    return Shapes.of(arrangement, color)


def _curve(arrangement: Arrangement) -> str:
    found = measured(arrangement.points)
    if found is None:
        raise ValueError(f"the runs of {arrangement.name} have no curve in common")
    return found


def _lines(part: Arrangement, logarithmic: bool, curve: str, shapes: Shapes | None = None) -> list[Line]:
    key = part.series if shapes is None else shapes.color
    found = [(value, point) for value, points in part.along(key) for point in points]
    horizons = [_end(point.finished) for _, point in found]
    slots_of = {horizon: common_grid(horizon, logarithmic) for horizon in set(horizons)}
    if logarithmic:
        slots_of = {horizon: slots[slots > 0] for horizon, slots in slots_of.items()}
    bands: dict[int, Band] = {}
    for horizon, slots in slots_of.items():  # curves that end at the same slot are compared slot by slot
        alike = [place for place, one in enumerate(horizons) if one == horizon]
        bands.update(zip(alike, _bands([found[place][1] for place in alike], slots, curve, part), strict=True))
    down = outages(part.points)
    lines = []
    for place, (value, point) in enumerate(found):
        look = PLAIN if key is None else part.look(key, value) if shapes is None else shapes.line(point)
        text = "" if key is None else shown(value) if shapes is None else shapes.text(point)
        back = recovered(point, down)
        lines.append(Line(text, look, slots_of[horizons[place]], bands[place], back))
    return lines


def common_grid(horizon: int, logarithmic: bool) -> NDArray[np.int64]:
    """Return the slots at which curves are compared: at most 601, even on the axis, 0 and *horizon* among them."""
    count = min(horizon, _GRID) + 1
    if logarithmic:
        steps = np.geomspace(1, max(horizon, 1), count)
        return np.unique(np.concatenate([[0], np.round(steps), [horizon]]).astype(np.int64))
    return np.unique(np.round(np.linspace(0, horizon, count)).astype(np.int64))


def _bands(points: Sequence[PointResult], slots: NDArray[np.int64], curve: str, part: Arrangement) -> list[Band]:
    """Return mean and intervals of a curve of *points* at *slots*, arrays of the shape of *slots*.

    Of few replications the end of each run's curve is kept.
    """
    found = bands_of(
        [{(run.seed, run.replication): run.curves[curve].at(slots) for run in point.finished} for point in points],
        part.statistic,
        part.bands,
    )
    ends = [
        {(run.seed, run.replication): float(run.curves[curve].at(slots[-1:])[0]) for run in point.finished}
        for point in points
    ]
    return [with_runs(one, values, point) for one, values, point in zip(found, ends, points, strict=True)]


def reads_better_logarithmic(runs: Sequence[RunResult], curve: str = "regret") -> bool:
    """Return whether the slots belong on a logarithmic axis.

    They do if the horizons lie two decades or more apart, or if, in most runs, most of the regret (80 %) is there
    after a fiftieth of at least 1,000 slots: on a linear axis such a curve is a corner.
    """
    horizons = [_end([run]) for run in runs]
    if max(horizons) < 1_000:
        return False
    if max(horizons) >= _FAR * min(horizons):
        return True
    early = 0
    for run in runs:
        drawn = run.curves[curve]
        soon = drawn.at(np.array([_end([run]) // 50]))[0]
        early += bool(drawn.values[-1] > 0 and soon >= 0.8 * drawn.values[-1])
    return 2 * early > len(runs)


@drawing()
def draw_regret(arrangement: Arrangement, curve: str | None = None) -> "Figure":
    """Draw regret over the slots: a series per value of the series' key, a panel per combination of the other keys.

    Panels of two keys or more stand in rows and columns (see `facets`); the title says which have no room. Where nobody
    knows the regret it is what is measured in its place, such as the relative click-through rate.

    Raises:
        ValueError: The runs have no curve in common.
    """
    arrangement = _side_by_side(arrangement)
    curve = _curve(arrangement) if curve is None else curve
    chosen = panels_of(arrangement, curve)
    shapes = _shapes(arrangement)
    layout = _facets(arrangement, shapes)
    logarithmic = reads_better_logarithmic([run for point in arrangement.points for run in point.finished], curve)
    horizons, regrets = zip(*(_highest(one.part, curve) for one in chosen), strict=True)
    alike = len(set(horizons)) == 1
    answered = end_with_answers(arrangement.points)
    steep = _decades_apart(arrangement.points, curve, logarithmic, one_panel=shapes is not None)
    steep |= max(regrets) > _SIMILAR * min(regrets) > 0
    changes, down = world_changes(arrangement.points), outages(arrangement.points)
    notes = (
        _what_is_shaded(arrangement, chosen),
        "unserved users add no regret" if curve == "regret" and partly_served(arrangement.points) else "",
        "absent agents add no regret" if curve == "regret" and partly_absent(arrangement.points) else "",
        layout.left_out,
        "" if alike or answered else "panels end at different slots",
        events_note(changes, down),
        batteries_note(arrangement.points),
        "large dots: all waiting agents have resumed"
        if any(line.recovered is not None for one in chosen for line in one.lines)
        else "",
        missing_note(arrangement),
        privacy_note(arrangement.points),
    )
    upward = axis_label(curve)
    if curve == "regret" and partly_served(arrangement.points):
        upward = "regret of the users served (reward)"
    after = f" after {scaled(horizons[0])} slots" if alike else ""
    if answered:
        after = " at the last answer" if curve == "simple_regret" else " until the last answer"
    metric = performance(arrangement.points) if curve == measured(arrangement.points) else curve
    points = [point for one in chosen for point in one.part.points]
    title = range_of(arrangement, metric, points, after) or f"{title_name(curve)} over time"
    title += last_answers(points) if arrangement.statistic.is_mean else ""
    drawn, panels = layout.figure(f"{arrangement.name}: {title}", notes, sharex=alike, sharey=True)
    direct = len(chosen) == 1 and _labelled_at_ends(chosen[0])
    legend = [] if arrangement.series is None else _legend(arrangement, shapes)
    if not direct:
        dots = any(line.estimate.runs for one in chosen if _few_lines(one) for line in one.lines)
        legend_beside(drawn, *legend, away=_BESIDE_ROOM if dots else 0.0)
    for place, one in zip(layout.places, chosen, strict=True):
        panel = panels[place]
        if _few_lines(one):
            draw_ends(panel, [(int(line.slots[-1]), line.estimate, line.look) for line in one.lines])
        _panel(panel, one, logarithmic, (7, 3, 2, 2)[layout.columns - 1])
    if steep:
        _bend_upward([panels[place] for place in layout.places])
    for place, one in zip(layout.places, chosen, strict=True):
        panel = panels[place]
        if direct:
            _label_ends(panel, one.lines, legend[0][0])
        draw_events(panel, changes, down)
        if len(chosen) > 1:
            head(panel, titled(one.fixed), layout.columns)
        if layout.is_lowest(place):
            panel.set_xlabel("time (slots)")
            panel.tick_params(labelbottom=True)
        if layout.is_leftmost(place):
            panel.set_ylabel(upward.replace(" (", "\n(") if layout.rows > 1 else upward)
            panel.tick_params(labelleft=True)
    return drawn


def _what_is_shaded(arrangement: Arrangement, panels: Sequence[Panel]) -> str:
    replications = max(len(point.finished) for point in arrangement.points)
    drawn = [line.estimate for panel in panels if _few_lines(panel) for line in panel.lines]
    marks = mark_notes(drawn, "dots beside: where each run ends")
    if replications < 2:
        return "; ".join(["one replication", *marks])
    what = f"{arrangement.statistic.name} of {replications:,} replications"
    if any(one.alone is not None and bool((one.low > one.widest[0]).any()) for one in drawn):
        return "; ".join([f"{what}, shaded: 95 % interval for comparing (within replications)", *marks])
    return "; ".join([what if arrangement.bands is None or not drawn else f"{what}, shaded: its 95 % interval", *marks])


def _decades_apart(points: Sequence[PointResult], curve: str, logarithmic: bool, one_panel: bool) -> bool:
    """Return whether regrets need a logarithmic axis: on a *logarithmic* one of slots, where both lie decades apart.

    In one panel it is enough that one line rises above most others by far, whose own differences would not be visible.
    """
    horizons = [_end(point.finished) for point in points]
    finals = sorted(float(np.mean([run.curves[curve].values[-1] for run in point.finished])) for point in points)
    if finals[0] <= 0:
        return False
    if one_panel and finals[-1] >= _ABOVE * finals[len(finals) // 2]:
        return True
    return logarithmic and max(horizons) >= _FAR * min(horizons) and finals[-1] >= _FAR * finals[0]


def _bend_upward(panels: Sequence["Axes"]) -> None:
    """Give *panels* one logarithmic axis of regret, which begins below all ends where that of slots is linear.

    Runs without regret stand at a 0 below the rest.
    """
    runs = [line for panel in panels for line in panel.lines if line.get_label() == "_run"]
    ends = np.array([height for line in runs for height in np.asarray(line.get_ydata(), dtype=np.float64)])
    if (ends < 0).any():
        return
    means = [line for panel in panels for line in panel.lines if line.get_label() not in _BESIDE]
    curves = [np.asarray(line.get_ydata(), dtype=np.float64) for line in means]
    low = min(float(heights[heights > 0].min(initial=np.inf)) for heights in curves)
    if panels[0].get_xscale() == "linear":
        low = max(low, min(float(heights[-1]) for heights in curves if heights[-1] > 0) / _BEGIN)
    low, high = float(ends[ends > 0].min(initial=low)), max(panel.dataLim.y1 for panel in panels)
    zero = zero_below(low, high) if 0 in ends else None
    for line in runs:
        heights = np.asarray(line.get_ydata(), dtype=np.float64)
        line.set_ydata(heights if zero is None else np.where(heights == 0, zero, heights))
    for panel in panels:
        panel.set_yscale("log")
        panel.set_ylim(0.8 * low if zero is None else zero, 1.6 * high)
        label_more(panel.yaxis, zero=zero)
        readable(panel)


def _highest(part: Arrangement, curve: str) -> tuple[int, float]:
    runs = [run for point in part.points for run in point.finished]
    return max(_end(point.finished) for point in part.points), max(float(run.curves[curve].values[-1]) for run in runs)


def _end(runs: Sequence[RunResult]) -> int:
    """Return the slot up to which a point with these *runs* is drawn: where the first ends, or all have answered."""
    if (last := last_answer(runs)) is not None:
        return last
    return min(int(next(iter(run.curves.values())).slots[-1]) for run in runs)  # all curves of a run end there


def _panel(panel: "Axes", what: Panel, logarithmic: bool, ticks: int) -> None:
    from netbandit.util.extras.plots import MaxNLocator

    lowest = 0.0
    for line in what.lines:
        lowest = min(lowest, _draw_line(panel, line, _few_lines(what)))
    if logarithmic:
        panel.set_xscale("log")
    else:
        panel.xaxis.set_major_locator(MaxNLocator(nbins=ticks, integer=True, steps=[1, 2, 2.5, 5, 10]))
    ends = [_end(point.finished) for point in what.part.points]
    panel.set_xlim(1 if logarithmic else 0, max(*ends, 1))
    if lowest >= 0:
        from_zero(panel)
    readable(panel)


def _few_lines(panel: Panel) -> bool:
    """Return whether there are few enough lines to have intervals and dots of their own."""
    return len(panel.lines) <= _BANDS


def _labelled_at_ends(panel: Panel) -> bool:
    """Return whether each line has its label where it ends: a legend of so many lines is searched line by line."""
    return _BANDS < len(panel.lines) <= _ENTRIES and len({int(line.slots[-1]) for line in panel.lines}) == 1


def _label_ends(panel: "Axes", lines: Sequence[Line], heading: str) -> None:
    """Write the label of each of *lines* beside its end, in the order of the ends, below the *heading*."""
    from scipy.optimize import isotonic_regression

    ends = [(float(line.slots[-1]), float(line.estimate.mean[-1])) for line in lines]
    heights = panel.transAxes.inverted().transform(panel.transData.transform(ends))[:, 1]
    order = np.argsort(heights, kind="stable")
    texts = [wrapped(lines[place].label, 24) for place in order]
    rooms = np.array([_BETWEEN * (text.count("\n") + 1) for text in texts])
    above = np.concatenate([[0.0], np.cumsum((rooms[1:] + rooms[:-1]) / 2)])
    places = above + np.clip(isotonic_regression(heights[order] - above).x, 0.0, max(0.0, 1.0 - above[-1]))
    for place, height, text in zip(order, places, texts, strict=True):
        pointer = {"arrowstyle": "-", "color": lines[place].look.colour, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)}
        how: dict[str, Any] = {"textcoords": "axes fraction", "va": "center", "fontsize": 8.0, "arrowprops": pointer}
        panel.annotate(text, ends[place], (1.05, float(height)), annotation_clip=False, **how)
    panel.text(1.05, float(places[-1] + rooms[-1]), wrapped(heading, 24), transform=panel.transAxes, fontsize=8.0)


def draw_ends(panel: "Axes", lines: Sequence[tuple[int, Band, Look]]) -> None:
    """Draw where each of few runs ends, as dots beside the ends of their lines, and the marks of runs that fell short.

    The dots of different lines stand side by side, where they hide neither one another nor the curves.

    Args:
        panel: Where to draw.
        lines: Of each line its last slot, its values with its runs, and how it is drawn.
    """
    spread = sum(bool(estimate.runs) for _, estimate, _ in lines)
    aside = _BESIDE_STEP
    for end, estimate, look in lines:
        draw_runs(panel, exact(end), replace(estimate, mean=estimate.mean[-1]), look, aside=aside, clip_on=False)
        aside += min(_BESIDE_STEP, _BESIDE_ROOM / spread) if estimate.runs else 0.0


def _draw_line(panel: "Axes", line: Line, band: bool) -> float:
    """Draw one line and return its lowest mean, or 0 where that is above."""
    estimate, colour = line.estimate, line.look.colour
    if estimate.known and band:
        panel.fill_between(line.slots, estimate.low, estimate.high, color=colour, alpha=0.25, linewidth=0, zorder=2)
    panel.plot(line.slots, estimate.mean, color=colour, linestyle=line.look.dashes, label=line.label, zorder=3)
    if line.recovered is not None:
        height = np.interp(line.recovered, line.slots, estimate.mean)
        panel.plot([line.recovered], [height], "o", color=colour, markersize=7, label="_recovered", zorder=4)
    return float(estimate.mean.min(initial=0.0))


def _one_of_each(arrangement: Arrangement) -> list[PointResult]:
    """Return a point for each line that there is in some panel."""
    keys = [key for key in arrangement.keys if key not in arrangement.facing]
    found: dict[str, PointResult] = {}
    for point in arrangement.points:
        found.setdefault(identity([value_of(point, key) for key in keys]), point)
    return list(found.values())


def _legend(arrangement: Arrangement, shapes: Shapes | None) -> list[Section]:
    from netbandit.util.extras.plots import Line2D

    if shapes is not None:
        return shapes.lines_legend(_one_of_each(arrangement))
    key = arrangement.series
    assert key is not None
    present = [value for value, _ in arrangement.along(key)]
    # A few of many numbers imply the others; any other value is identified by its name only.
    values = evenly(present, _ENTRIES) if arrangement.scale(key) is not None else present
    looks = [arrangement.look(key, value) for value in values]
    title = heading(key)
    if len(values) < len(present):
        title += f" ({len(values)} of {scaled(len(present))} shown)"
    handles = [Line2D([], [], color=look.colour, linestyle=look.dashes) for look in looks]
    return [(title, handles, [wrapped(with_unit(key, value), 22) for value in values])]
