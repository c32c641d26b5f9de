"""Regret over the slots, with a band over the replications."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.bands import Band, band
from netbandit.plots.grouping import Arrangement, Point, described, evenly
from netbandit.plots.metrics import called, label, measured, partly_served
from netbandit.plots.style import (
    PLAIN,
    Look,
    drawing,
    figure,
    from_zero,
    legend_beside,
    readable,
    wrapped,
)
from netbandit.plots.values import shown, words
from netbandit.results.numbers import scaled
from netbandit.simulation.result import RunResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GRID = 600
_PANELS = 6
_ENTRIES = 14
_BANDS = 12
_SIMILAR = 4.0
_FAR = 100


@dataclass(frozen=True)
class Line:
    """The regret of one point.

    Attributes:
        label: Its value of the series' key, as text; empty without series.
        look: How it is drawn.
        slots: Where it is known, shape (k,).
        estimate: Mean and interval there, arrays of shape (k,).
    """

    label: str
    look: Look
    slots: NDArray[np.int64]
    estimate: Band


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


def panels_of(arrangement: Arrangement) -> list[Panel]:
    """Return what the picture of regret shows: at most six panels, evenly spread over the combinations."""
    curve = _curve(arrangement)
    logarithmic = reads_better_logarithmic([run for point in arrangement.points for run in point.runs], curve)
    chosen = evenly(list(arrangement.slices(arrangement.keys[1:])), _PANELS)
    return [Panel(fixed, part, _lines(part, logarithmic, curve)) for fixed, part in chosen]


def _curve(arrangement: Arrangement) -> str:
    found = measured(arrangement.points)
    if found is None:
        raise ValueError(f"the runs of {arrangement.name} have no curve in common")
    return found


def _lines(part: Arrangement, logarithmic: bool, curve: str) -> list[Line]:
    key = part.series
    lines = []
    for value, points in part.along(key):
        for point in points:
            slots = common_grid(min(_horizon(run) for run in point.runs), logarithmic)
            slots = slots[slots > 0] if logarithmic else slots
            look = PLAIN if key is None else part.look(key, value)
            lines.append(Line("" if key is None else shown(value), look, slots, _band(point.runs, slots, curve)))
    return lines


def common_grid(horizon: int, logarithmic: bool) -> NDArray[np.int64]:
    """Return the slots at which curves are compared: at most 601, even on the axis, 0 and *horizon* among them."""
    count = min(horizon, _GRID) + 1
    if logarithmic:
        steps = np.geomspace(1, max(horizon, 1), count)
        return np.unique(np.concatenate([[0], np.round(steps), [horizon]]).astype(np.int64))
    return np.unique(np.round(np.linspace(0, horizon, count)).astype(np.int64))


def _band(runs: Sequence[RunResult], slots: NDArray[np.int64], curve: str) -> Band:
    """Return mean and t-interval of a curve of *runs* at *slots*, arrays of the shape of *slots*."""
    return band([run.curves[curve].at(slots) for run in runs])


def reads_better_logarithmic(runs: Sequence[RunResult], curve: str = "regret") -> bool:
    """Tell whether the slots belong on a logarithmic axis.

    They do if the horizons lie two decades or more apart, or if, in most runs, most of the regret (80 %) is there
    after a fiftieth of at least 1,000 slots: on a linear axis such a curve is a corner.
    """
    horizons = [_horizon(run) for run in runs]
    if max(horizons) < 1_000:
        return False
    if max(horizons) >= _FAR * min(horizons):
        return True
    early = 0
    for run in runs:
        drawn = run.curves[curve]
        soon = drawn.at(np.array([_horizon(run) // 50]))[0]
        early += bool(drawn.values[-1] > 0 and soon >= 0.8 * drawn.values[-1])
    return 2 * early > len(runs)


@drawing()
def draw_regret(arrangement: Arrangement) -> "Figure":
    """Draw regret over the slots: a series per value of the series' key, a panel per combination of the other keys.

    With more than six combinations, six of them evenly spread are drawn, and the title says so. Where nobody knows the
    regret it is what is measured in its place, such as the relative click-through rate.

    Raises:
        ValueError: The runs have no curve in common.
    """
    curve = _curve(arrangement)
    chosen = panels_of(arrangement)
    parts = len(list(arrangement.slices(arrangement.keys[1:])))
    logarithmic = reads_better_logarithmic([run for point in arrangement.points for run in point.runs], curve)
    columns = 1 if len(chosen) == 1 else 2 if len(chosen) in (2, 4) else 3
    rows = -(-len(chosen) // columns)
    replications = max(len(point.runs) for point in arrangement.points)
    subtitle = (
        f"mean of {replications:,} replications, shaded: its 95 % interval" if replications > 1 else "one replication"
    )
    if curve == "regret" and partly_served(arrangement.points):
        subtitle += "; who is not served adds none"
    if parts > len(chosen):
        subtitle += f"; {len(chosen)} of {parts} combinations"
    steep = logarithmic and _decades_apart(arrangement.points, curve)
    together = _alike([_highest(one.part, curve) for one in chosen])
    drawn, panels = figure(
        f"{arrangement.name}: {called(curve)} over time",
        subtitle,
        rows=rows,
        columns=columns,
        sharex=together,
        sharey=together,
    )
    for panel in panels[len(chosen) :]:
        panel.set_visible(False)
    for panel, one in zip(panels, chosen, strict=False):
        _panel(panel, one, logarithmic, (7, 4, 3)[columns - 1])
        if steep:
            _bend_upward(panel)
        if len(chosen) > 1:
            panel.set_title(wrapped(described(one.fixed), 66 // columns), fontsize=8)
    for place, panel in enumerate(panels[: len(chosen)]):
        if place + columns >= len(chosen):
            panel.set_xlabel("time (slots)")
            panel.tick_params(labelbottom=True)
        if place % columns == 0:
            panel.set_ylabel(label(curve).replace(" (", "\n(") if rows > 1 else label(curve))
    if arrangement.series is not None:
        _legend(drawn, arrangement)
    return drawn


def _decades_apart(points: Sequence[Point], curve: str) -> bool:
    """Tell whether horizons and final regrets both lie two decades or more apart: only two logarithms show all."""
    horizons = [_horizon(run) for point in points for run in point.runs]
    finals = [float(np.mean([run.curves[curve].values[-1] for run in point.runs])) for point in points]
    return max(horizons) >= _FAR * min(horizons) and min(finals) > 0 and max(finals) >= _FAR * min(finals)


def _bend_upward(panel: "Axes") -> None:
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=np.float64) for line in panel.lines])
    panel.set_yscale("log")
    panel.set_ylim(0.8 * heights[heights > 0].min(), 1.6 * panel.dataLim.y1)
    readable(panel)


def _highest(part: Arrangement, curve: str) -> tuple[int, float]:
    runs = [run for point in part.points for run in point.runs]
    return max(_horizon(run) for run in runs), max(float(run.curves[curve].values[-1]) for run in runs)


def _alike(panels: Sequence[tuple[int, float]]) -> bool:
    """Tell whether curves of all panels can be read on common axes: equal horizons and similar regrets."""
    horizons, regrets = zip(*panels, strict=True)
    return len(panels) > 1 and len(set(horizons)) == 1 and max(regrets) <= _SIMILAR * min(regrets)


def _horizon(run: RunResult) -> int:
    return int(next(iter(run.curves.values())).slots[-1])  # all end there


def _panel(panel: "Axes", what: Panel, logarithmic: bool, ticks: int) -> None:
    from matplotlib.ticker import MaxNLocator

    lowest = 0.0
    for line in what.lines:
        lowest = min(lowest, _draw_line(panel, line, len(what.lines) <= _BANDS))
    if logarithmic:
        panel.set_xscale("log")
    else:
        panel.xaxis.set_major_locator(MaxNLocator(nbins=ticks, integer=True, steps=[1, 2, 2.5, 5, 10]))
    ends = [_horizon(run) for point in what.part.points for run in point.runs]
    panel.set_xlim(1 if logarithmic else 0, max(*ends, 1))
    if lowest >= 0:
        from_zero(panel)
    readable(panel)


def _draw_line(panel: "Axes", line: Line, band: bool) -> float:
    """Draw one line and return its lowest mean, or 0 where that is above."""
    estimate, colour = line.estimate, line.look.colour
    if estimate.known and band:
        panel.fill_between(line.slots, estimate.low, estimate.high, color=colour, alpha=0.2, linewidth=0, zorder=2)
    panel.plot(line.slots, estimate.mean, color=colour, linestyle=line.look.dashes, label=line.label, zorder=3)
    return float(estimate.mean.min(initial=0.0))


def _legend(drawn: "Figure", arrangement: Arrangement) -> None:
    from matplotlib.lines import Line2D

    key = arrangement.series
    assert key is not None
    values = evenly(arrangement.choices[key], _ENTRIES)
    handles, labels = [], []
    for value in values:
        look = arrangement.look(key, value)
        handles.append(Line2D([], [], color=look.colour, linestyle=look.dashes))
        labels.append(wrapped(shown(value), 22))
    title = words(key)
    if len(values) < len(arrangement.choices[key]):
        title += f" ({len(values)} of {scaled(len(arrangement.choices[key]))} shown)"
    legend_beside(drawn, handles, labels, title)
