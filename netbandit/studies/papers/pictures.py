"""Draws the figures of a paper as their data specify: curves over the slots, scatter plots of two formulas, or bars."""

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.plots.bands import Band, band, exact
from netbandit.plots.estimates import failed_of, with_runs
from netbandit.plots.marks import draw_points, draw_runs, label_more
from netbandit.plots.regret import common_grid, draw_ends
from netbandit.plots.style import (
    NEUTRAL,
    PLAIN,
    Look,
    drawing,
    figure,
    from_zero,
    legend_below,
    looks,
    readable,
    wrapped,
)
from netbandit.plots.subtitles import mark_notes
from netbandit.results.intervals import MEAN, MEDIAN, Statistic
from netbandit.results.numbers import scaled
from netbandit.studies.papers.cells import Cells, draw_cells
from netbandit.studies.papers.expressions import Expression
from netbandit.studies.papers.figure_runs import values_of
from netbandit.util.key_paths import lookup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from netbandit.results.study_result import PointResult
    from netbandit.studies.papers.figure_runs import FigureRuns
    from netbandit.studies.papers.figures import Panel


_TICKS = 6
"""The most numbers on an axis with a tick each, if there is room."""

_MAGNITUDES = 10.0
"""Of panels whose heights differ by more, the lower ones would be flat on one linear scale."""

_LETTERS = 7
"""No tick of its own has more."""


@drawing()
def draw_figure(runs: "FigureRuns") -> "Drawing":
    """Draw the panels of a figure side by side, with one legend below.

    Args:
        runs: The figure and its runs; each of its points has one at least.
    """
    from netbandit.util.extras.plots import Line2D

    model = runs.figure
    statistic = _statistic(runs)
    look_of = dict(zip([one.name for one in model.series], looks(len(model.series)), strict=True))
    replications = sorted({len(point.finished) for point in runs.points})
    instances = len({repr(lookup(point.resolved, model.average)) for point in runs.points}) if model.average else 1
    many = f"{replications[0]}" if len(replications) == 1 else f"{replications[0]} to {replications[-1]}"
    tables = any(panel.kind == "cells" for panel in model.panels)
    with_intervals = "" if tables else " with 95 % intervals"
    subtitle = (
        f"{model.statistic}s of {many} replications{with_intervals}" if replications[-1] > 1 else "one replication"
    )
    subtitle += f", each of {instances} fixed instances" if instances > 1 else ""
    subtitle = "; ".join(filter(None, (subtitle, *([] if tables else _marks(runs)), model.note)))
    title = f"{model.id}: {model.title}"
    rows, columns = (len(model.panels), 1) if tables else (1, len(model.panels))
    drawn, panels = figure(title, subtitle, rows=rows, columns=columns, sharey=_one_scale(model.panels))
    if tables:
        drawn.set_figheight(drawn.get_figheight() * 0.8 * rows)
    _tables(drawn, panels, runs)
    for panel, axes in zip(model.panels, panels, strict=True):
        names = panel.series or list(look_of)
        if panel.kind == "cells":
            continue
        if panel.kind == "bars":
            _bars(axes, runs, panel, names, look_of)
        else:
            lines = []
            for name in names:
                points = runs.select({**panel.where, "series": name})
                if points and panel.kind == "curves":
                    lines.append((*_curve(axes, points[0], panel, look_of[name], statistic), look_of[name]))
                elif points:
                    _points(axes, points, panel, look_of[name], _base(runs, panel, name), statistic)
            draw_ends(axes, lines)
            if panel.kind == "points":
                _references(axes, runs, panel, {name: look_of[name].colour for name in names})
        _finish(axes, panel, len(model.panels))
    if _one_height(model.panels):
        _level(panels, bars=_one_scale(model.panels))
    if any(panel.kind not in ("bars", "cells") for panel in model.panels) and look_of:
        marked = any(panel.kind == "points" for panel in model.panels)
        handles = [
            Line2D([], [], color=look.colour, linestyle=look.dashes, marker=look.marker if marked else "", mfc="white")
            for look in look_of.values()
        ]
        names = [*look_of, *(reference.name for reference in model.references)]
        handles += [
            Line2D([], [], color=NEUTRAL, linestyle=dashes, linewidth=1.0)
            for _, dashes in zip(model.references, _DASHES, strict=False)
        ]
        legend_below(drawn, handles, names, "")
    return drawn


def _tables(drawn: "Drawing", panels: "list[Axes]", runs: "FigureRuns") -> None:
    """Draw the panels that are tables, on one scale of colours for all of them."""
    from netbandit.util.extras.plots import LogNorm

    tables = [
        (panel, axes, Cells(runs, panel))
        for panel, axes in zip(runs.figure.panels, panels, strict=True)
        if panel.kind == "cells"
    ]
    if not tables:
        return
    known = np.concatenate([cells.numbers[np.isfinite(cells.numbers)] for _, _, cells in tables])
    least = max(float(known.min()), 1e-9)
    norm = LogNorm(least, max(float(known.max()), 2 * least), clip=True)
    for panel, axes, cells in tables:
        mesh = draw_cells(axes, cells, panel, norm)
        axes.set_title(wrapped(panel.title, 84), fontsize=8, pad=14 if len(panel.across) == 2 else None)
        bar = drawn.colorbar(mesh, ax=axes, aspect=20, pad=0.02)
        bar.set_label(wrapped(panel.y_label, 34), fontsize=7)
        bar.outline.set_visible(False)
        readable(bar.ax, x=False)


def _curve(axes: "Axes", point: "PointResult", panel: "Panel", look: Look, statistic: Statistic) -> tuple[int, Band]:
    """Draw the curve of *point* and return its last slot and its values."""
    horizon = int(point.finished[0].curves[panel.y].slots[-1])
    slots = common_grid(horizon, "x" in panel.log)
    if "x" in panel.log:
        slots = slots[slots > 0]
    per = Expression("1" if panel.per is None else panel.per)
    samples = [
        np.mean([run.curves[panel.y].at(slots) / (per.of(run) or 1.0) for run in runs], axis=0)
        for runs in point.by_replication.values()
    ]
    ends = {number: float(each[-1]) for number, each in zip(point.by_replication, samples, strict=True)}
    estimate = _with_runs(band(samples, statistic), point, ends)
    if estimate.known:
        axes.fill_between(slots, estimate.low, estimate.high, color=look.colour, alpha=0.18, linewidth=0, zorder=2)
    axes.plot(slots, estimate.mean, color=look.colour, linestyle=look.dashes, zorder=3)
    axes.set_xlim(1 if "x" in panel.log else 0, horizon)
    return horizon, estimate


def _points(
    axes: "Axes",
    points: "list[PointResult]",
    panel: "Panel",
    look: Look,
    base: "_Base | None",
    statistic: Statistic,
) -> None:
    pairs = [(_estimate(point, panel.x, statistic), _estimate(point, panel.y, statistic, base)) for point in points]
    pairs.sort(key=lambda pair: float(pair[0].mean))
    draw_points(axes, [x for x, _ in pairs], [y for _, y in pairs], look, "", joined=panel.joined)


def _one_scale(panels: "Sequence[Panel]") -> bool:
    """Return whether bars stand side by side with the same kind of height, which only the first labels."""
    return all(panel.kind == "bars" and bool(panel.y_label) == (index == 0) for index, panel in enumerate(panels))


def _one_height(panels: "Sequence[Panel]") -> bool:
    """Return whether panels side by side have the same height, on axes of one kind, which only the first labels."""
    first, *others = panels
    alike = all(_height(one) == _height(first) for one in others)
    return bool(others) and first.kind != "cells" and alike and not any(one.y_label for one in others)


def _height(panel: "Panel") -> tuple[object, ...]:
    return panel.y, panel.minus, panel.ratio_to, panel.per, "y" in panel.log


def _level(panels: "Sequence[Axes]", *, bars: bool) -> None:
    """Give *panels* the same vertical limits, unless their heights are of other magnitudes on linear axes."""
    lows, highs = zip(*(axes.get_ylim() for axes in panels), strict=True)
    if not bars and (panels[0].get_yscale() == "log" or max(highs) <= _MAGNITUDES * min(highs)):
        for axes in panels:
            axes.set_ylim(min(lows), max(highs))


def _references(axes: "Axes", runs: "FigureRuns", panel: "Panel", colours: dict[str, str]) -> None:
    """Draw the references of the points: in the colour of each series, or once where they are common."""
    for reference, dashes in zip(runs.figure.references, _DASHES, strict=False):
        of_each = [(colour, {"series": name}) for name, colour in colours.items()]
        for colour, series in of_each if reference.each else [(NEUTRAL, {})]:
            points = runs.select({**panel.where, **series, **reference.where})
            heights = [_estimate(point, panel.y, _statistic(runs)) for point in points]
            if len(points) == 1:
                axes.axhline(float(heights[0].mean), color=colour, linestyle=dashes, linewidth=1.0, gid=_GID)
                if heights[0].known:
                    axes.axhspan(float(heights[0].low), float(heights[0].high), color=colour, alpha=0.08, linewidth=0)
            elif points:
                pairs = sorted(
                    (float(_estimate(point, panel.x, _statistic(runs)).mean), float(height.mean))
                    for point, height in zip(points, heights, strict=True)
                )
                across, upward = zip(*pairs, strict=True)
                axes.plot(across, upward, color=colour, linestyle=dashes, linewidth=1.0, gid=_GID)


def _bars(axes: "Axes", runs: "FigureRuns", panel: "Panel", names: list[str], look_of: dict[str, Look]) -> None:
    shown = [(name, runs.select({**panel.where, "series": name})) for name in names]
    shown = [(name, points) for name, points in shown if points]
    for index, (name, points) in enumerate(shown):
        one = _estimate(points[0], panel.y, _statistic(runs), _base(runs, panel, name))
        error = [[float(one.mean - one.low)], [float(one.high - one.mean)]]
        draw_runs(axes, exact(index), one, PLAIN, aside=6.0)
        axes.bar(index, float(one.mean), width=0.7, color=look_of[name].colour, alpha=0.85, yerr=error, capsize=2.5)
    short = [name.split(":")[0] for name, _ in shown]
    axes.set_xticks(range(len(shown)), short, fontsize=7, rotation=40, ha="right", rotation_mode="anchor")
    axes.grid(visible=False, axis="x")


_DASHES = ((0, (1, 1.5)), (0, (7, 2)), (0, (5, 2, 1, 2, 1, 2)))
"""The dashes of references, in their order."""

_GID = "reference"


_Base = tuple[Callable[[float, float], float], dict[int, float]]
"""How heights are compared to a baseline, and the baseline by replication."""


def _estimate(point: "PointResult", text: str, statistic: Statistic, base: _Base | None = None) -> Band:
    found = _values(point, text)
    if base is not None:
        compare, others = base
        found = {number: compare(value, others[number]) for number, value in found.items() if number in others}
    one = band(np.array(list(found.values()) or [float("nan")]), statistic)
    return _with_runs(one, point, found)


def _with_runs(one: Band, point: "PointResult", values: dict[int, float]) -> Band:
    """Return *one* with the values of few replications, the failed ones, and the shortfalls."""
    failed = {(0, number): how for number, runs in point.by_replication.items() for how in failed_of(runs).values()}
    named = {(0, number): value for number, value in values.items()}
    return with_runs(one, named, point, failed)


def _marks(runs: "FigureRuns") -> list[str]:
    """Return the subtitle's notes on dots, crosses and marks in a figure of *runs*."""
    numbers = [{number: float(number) for number in point.by_replication} for point in runs.points]
    return mark_notes([
        _with_runs(exact(0.0), point, found) for point, found in zip(runs.points, numbers, strict=True)
    ])  # fmt: skip


def _base(runs: "FigureRuns", panel: "Panel", name: str) -> _Base | None:
    """Return the baseline of the heights of the series *name* in *panel*, if there is one."""
    if panel.minus is not None:
        return operator.sub, _values(runs.one({**panel.where, **panel.minus}), panel.y)
    if panel.ratio_to is not None:
        return _ratio, _values(runs.one({**panel.where, "series": name, **panel.ratio_to}), panel.y)
    return None


def _ratio(value: float, other: float) -> float:
    return value / other if other else float("nan")


def _statistic(runs: "FigureRuns") -> Statistic:
    return MEDIAN if runs.figure.statistic == "median" else MEAN


def _values(point: "PointResult", text: str) -> dict[int, float]:
    found = values_of(Expression(text), point)
    return {number: value for number, value in found.items() if value is not None}


def _have_room(places: list[float], logarithmic: bool, panels: int) -> bool:
    """Return whether each of *places*, ascending, has room for a tick of its own on one of so many *panels*."""
    if max(len(scaled(place)) for place in places) > _LETTERS:
        return False  # measured numbers have more digits than are readable
    on_axis = np.log10(places) if logarithmic else np.array(places)
    gaps = np.diff(on_axis) / np.ptp(on_axis)
    return bool(gaps.min() >= 0.05 * panels)


def _marked(axes: "Axes") -> list[tuple[float, float]]:
    """Return where the markers stand that `errorbar` has drawn; bars have none."""
    drawn: list[Any] = [bars.lines[0] for bars in axes.containers if hasattr(bars, "lines")]
    return [(float(x), float(y)) for line in drawn if line is not None for x, y in line.get_xydata()]


def _finish(axes: "Axes", panel: "Panel", panels: int) -> None:
    from netbandit.util.extras.plots import MaxNLocator

    if panel.title:
        axes.set_title(wrapped(panel.title, 84 // panels), fontsize=8)
    scales: dict[str, Any] = {f"{axis}scale": "log" for axis in panel.log}
    axes.set(**scales)
    if "x" not in panel.log and panel.kind != "bars":
        axes.xaxis.set_major_locator(MaxNLocator(nbins=(7, 4, 2)[min(panels, 3) - 1], steps=[1, 2, 2.5, 5, 10]))
    marked = _marked(axes)
    means = [y for _, y in marked if y > 0]
    for line in axes.lines:
        if line.get_gid() == _GID:
            means += [value for value in np.asarray(line.get_ydata(), dtype=float).tolist() if value > 0]
    if "y" not in panel.log:
        from_zero(axes)
    else:
        if panel.kind == "points" and means:  # an interval that reaches down to zero does not stretch the axis
            axes.set_ylim(0.5 * min(means), 2.5 * max(means))
        if np.ptp(np.log10(axes.get_ylim())) < 2.2:
            label_more(axes.yaxis)
    places = sorted({x for x, _ in marked})
    if panel.kind == "points" and 1 < len(places) <= _TICKS and _have_room(places, "x" in panel.log, panels):
        axes.set_xticks(places)
        axes.set_xticks([], minor=True)
    readable(axes, x=panel.kind != "bars")
    axes.set_xlabel(panel.x_label if panel.kind != "bars" else "")
    axes.set_ylabel(wrapped(panel.y_label, 46))
