"""Marks with error bars, and axes that fit all of them: wide ranges, zeros and outliers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.bands import Band, exact
from netbandit.plots.style import NEUTRAL, Look, from_zero
from netbandit.results.failures import MARK
from netbandit.results.numbers import rounded, scaled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.lines import Line2D

DECADES = 100.0
"""The default ratio of largest to smallest value from which an axis is logarithmic."""

_FAR_OFF = 3.0
"""A mark without cost is drawn at the edge of the picture if its regret exceeds all others by this factor."""

Zeros = tuple[float | None, float | None]
"""The positions of zero across and upward; None on an axis where zero has no position of its own."""

_SIDE_BY_SIDE = 0.014
"""So far from one another groups stand that share the places of an axis, as a share of it."""

_THIN, _THICK = 0.6, 1.5
_ASIDE = 4.0
"""So far from the bar of their interval runs stand that are all in one place, in typographic points."""
_LETTER = 0.62
"""The width of a letter, as a share of the size of its type."""


@dataclass(frozen=True, eq=False)
class Mark:
    """A point of a study in a scatter plot of two metrics.

    Attributes:
        x: Its horizontal estimate.
        y: Its vertical estimate.
        look: Its colour, marker and dashes.
        name: Its name if it is drawn at the edge.
        beside: The horizontal offset of its runs, in units of the axis.
    """

    x: Band
    y: Band
    look: Look
    name: str = ""
    beside: float = 0.0


def far_off(marks: Sequence[Mark]) -> list[Mark]:
    """Return the outliers that would compress the rest: marks without cost that are far worse than all others.

    `draw_far_off` draws them at the upper edge with their values. The best mark is never among them.
    """
    rest = [float(mark.y.mean) for mark in marks if float(mark.x.mean) > 0]
    if not rest or max(rest) <= 0 or (min(rest) > 0 and max(rest) >= DECADES * min(rest)):
        return []
    return [mark for mark in marks if float(mark.x.mean) == 0 and float(mark.y.mean) > _FAR_OFF * max(rest)]


def draw_far_off(panel: "Axes", marks: Sequence[Mark], zero: float | None) -> None:
    """Draw *marks* at the upper edge of *panel*, each with an arrow and its value.

    Args:
        panel: Axes whose limits are final.
        marks: The marks, none of which is within them.
        zero: The position of zero on the horizontal axis, if it is a special one.
    """
    for index, mark in enumerate(marks):
        height = 0.965 - 0.055 * index
        x = float(at_zero_place(mark.x, zero).mean)
        panel.plot(
            [x],
            [height],
            transform=panel.get_xaxis_transform(),
            color=mark.look.colour,
            marker=mark.look.marker,
            markerfacecolor="white",
            markeredgewidth=1.5,
            linestyle="none",
            zorder=3.5,
            clip_on=False,
            label="_far off",
        )
        left = panel.transAxes.inverted().transform(panel.transData.transform((x, panel.get_ylim()[1])))[0] > 0.6
        panel.annotate(
            f"{mark.name}{f' {MARK}' if mark.y.shortfalls else ''} ↑ {scaled(rounded(float(mark.y.mean), 4))}".strip(),
            (x, height),
            xycoords=panel.get_xaxis_transform(),
            xytext=(-7 if left else 7, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center_baseline",
            fontsize=7.5,
            color=NEUTRAL,
            zorder=4,
            label="_far off",
        )


def bend(panel: "Axes", drawn: Sequence[Band], *, across: bool = False, apart: float = DECADES) -> bool:
    """Make an axis of *panel* logarithmic if the means on it are far apart, by default two decades, and none negative.

    It begins a little below the lowest mean and run; a bar that reaches down to almost nothing does not stretch it.
    Zero stands one step before the smallest positive value, where `zero_place` says; a mean may be zero only *across*.

    Args:
        panel: The axes.
        drawn: The estimates drawn along the axis.
        across: Whether it is the horizontal one.
        apart: The ratio of largest to smallest positive mean from which the axis is logarithmic.

    Returns:
        Whether the axis is logarithmic now.
    """
    if not is_bent(drawn, across=across, apart=apart):
        return False
    zero, values = zero_place(drawn), _values(drawn)
    low = 0.6 * (min(value for value in values if value > 0) if zero is None else zero)
    limits = (low, 1.5 * max(*(float(one.widest[1]) for one in drawn), *values))
    panel.set(**({"xscale": "log", "xlim": limits} if across else {"yscale": "log", "ylim": limits}))
    label_more(panel.xaxis if across else panel.yaxis, zero=zero)
    return True


def is_bent(drawn: Sequence[Band], *, across: bool = False, apart: float = DECADES) -> bool:
    """Return whether `bend` makes the axis of *drawn* logarithmic."""
    values = [float(one.mean) for one in drawn]
    positive = [value for value in values if value > 0]
    if len(positive) < 2 or max(positive) < apart * min(positive) or min(_values(drawn)) < 0:
        return False
    return min(values) > 0 or (min(values) == 0 and across)


def zero_place(drawn: Sequence[Band]) -> float | None:
    """Return the position of zero on a logarithmic axis of *drawn*; None if no mean and no run is zero."""
    values = _values(drawn)
    positive = [value for value in values if value > 0]
    return zero_below(min(positive), max(positive)) if positive and 0.0 in values else None


def _values(drawn: Sequence[Band]) -> list[float]:
    return [value for one in drawn for value in (float(one.mean), *one.runs.values())]


def zero_below(low: float, high: float) -> float:
    """Return the position of zero on a logarithmic axis of positive values from *low* to *high*."""
    return float(low / max((high / low) ** (1 / 8), 2.0))


def at_zero_place(one: Band, zero: float | None) -> Band:
    """Return *one* on a logarithmic axis: zero, and a bar that reaches below, at the position of *zero*, if any."""
    if zero is None:
        return one
    ends = {name: np.maximum(getattr(one, name), zero) for name in ("mean", "low", "high")}
    return replace(one, **ends, runs={name: max(value, zero) for name, value in one.runs.items()})


def label_more(axis: "XAxis | YAxis", *between: int, zero: float | None = None) -> None:
    """Put ticks between powers of ten where a logarithmic axis has room for their labels, and one at zero."""
    axis.set_major_locator(_roomy()(between or (2, 5), zero))


@cache
def _roomy() -> Any:
    """Return the class of locators that keep ticks apart; it is made when matplotlib is there."""
    from netbandit.util.extras.plots import LogLocator

    class Roomy(LogLocator):
        """Ticks at powers of ten, and between them as many as do not touch one another.

        Attributes:
            zero: Where zero stands; None if it does not.
        """

        def __init__(self, between: Sequence[int], zero: float | None) -> None:
            super().__init__(subs=(1.0,), numticks=50)  # as many as there are: those without room go
            self.zero = zero
            self._choices: list[tuple[float, ...]] = [(1.0, *map(float, between)), (1.0, 3.0), (1.0,)]

        def tick_values(self, vmin: float, vmax: float) -> Any:
            if self.zero is not None:
                vmin = min(1.5 * self.zero, vmax)
            ticks: NDArray[np.float64] = np.array([])
            for choice in self._choices:
                self._subs = np.array(choice)
                found = np.asarray(super().tick_values(vmin, vmax), dtype=np.float64)
                ticks = found[(found >= vmin) & (found <= vmax)]
                if self._fit(ticks):
                    break
            else:
                while len(ticks) > 2 and not self._fit(ticks):
                    ticks = ticks[::2]
            if self.zero is None:
                return ticks
            while len(ticks) and not self._fit(np.append(self.zero, ticks[:1])):
                ticks = ticks[1:]
            return np.append(self.zero, ticks)

        def _fit(self, ticks: NDArray[np.float64]) -> bool:
            axis: Any = self.axis
            texts = ["0" if tick == self.zero else scaled(tick) for tick in ticks]
            size = 8.0 * axis.figure.dpi / 72
            low, high = axis.get_view_interval()
            upward = axis.axis_name == "y"
            room = axis.axes.bbox.height if upward else axis.axes.bbox.width
            places = room * np.log(ticks / low) / np.log(high / low)
            widths = np.array([size * (1.3 if upward else _LETTER * (len(text) + 1)) for text in texts])
            return bool((np.diff(places) >= (widths[:-1] + widths[1:]) / 2).all())

    return Roomy


def aside(turn: int, count: int) -> float:
    """Return how far aside one of *count* groups stands, as a share of the axis they have in common.

    Side by side, or equal values would hide one another. Marks that a line joins stay where they are, with their bars:
    on a steep line those beside their place would seem to be higher or lower than others; their dots stand aside.
    """
    step = min(_SIDE_BY_SIDE, 3 * _SIDE_BY_SIDE / max(count - 1, 1))
    return step * (turn - (count - 1) / 2)


def finish_heights(panel: "Axes", heights: Sequence[Band], *, apart: float = DECADES) -> None:
    """Make the vertical axis of *panel* logarithmic where `bend` does, else let it begin at 0 if nothing is below."""
    if not bend(panel, heights, apart=apart) and all(float(one.mean) >= 0 for one in heights):
        from_zero(panel)


def begin_across(panel: "Axes", across: Sequence[Band]) -> None:
    """Let the linear horizontal axis of *panel* begin no lower than just below 0 if nothing on it is negative."""
    low, high = panel.get_xlim()
    values = [value for one in across for value in (float(one.mean), *one.runs.values())]
    if panel.get_xscale() != "log" and low < 0 <= min(values, default=-1.0):
        panel.set_xlim(left=-0.02 * high if min(values) == 0 else 0.0)


def draw_marks(panel: "Axes", marks: Sequence[Mark], zeros: Zeros, label: str, *, joined: bool) -> "Line2D":
    """Draw *marks* of one look by `draw_points`; *zeros* are where zero stands, where that is a place of its own."""
    across = [at_zero_place(mark.x, zeros[0]) for mark in marks]
    upward = [at_zero_place(mark.y, zeros[1]) for mark in marks]
    return draw_points(panel, across, upward, marks[0].look, label, joined=joined, beside=marks[0].beside)


def draw_points(
    panel: "Axes",
    across: Sequence[Band],
    upward: Sequence[Band],
    look: Look,
    label: str,
    *,
    joined: bool,
    beside: float = 0.0,
) -> "Line2D":
    """Draw means as markers with the bars of their intervals.

    Where an interval is one for comparing points, the interval of the mean itself is drawn thinly behind it. Of few
    replications each is a dot.

    Args:
        panel: Where to draw.
        across: The horizontal estimates; an interval of no width gets no bar.
        upward: The vertical ones, as many.
        look: Colour, marker and dashes.
        label: The name of the series in the legend.
        joined: Whether a thin line joins the points, which are steps of one number.
        beside: The horizontal offset of dots from the markers, in units of the axis.

    Returns:
        The markers and their line, for the legend.
    """
    x, y = (np.array([float(one.mean) for one in some]) for some in (across, upward))
    bars = panel.errorbar(
        x,
        y,
        xerr=_bars(across),
        yerr=_bars(upward),
        color=look.colour,
        marker=look.marker,
        markerfacecolor="white",
        markeredgewidth=1.5,
        linestyle=look.dashes if joined else "none",
        linewidth=1.2,
        elinewidth=_THICK,
        capsize=2.5,
        zorder=3,
    )
    line = bars.lines[0]
    for one, other in zip(across, upward, strict=True):
        where = exact(float(one.mean) + beside) if beside else one
        draw_runs(panel, where, other, look, aside=0.0 if one.runs else _ASIDE)
    line.set_clip_on(False)  # a mark at the edge is whole
    line.set_label(label)
    return line


def draw_runs(panel: "Axes", across: Band, upward: Band, look: Look, *, aside: float = 0.0, **how: Any) -> None:
    """Draw the runs of a point as dots, those that failed as crosses, and beside it the mark of runs that fell short.

    Args:
        panel: Where to draw.
        across: Where the point stands across; where its runs do, if it has any.
        upward: Where it stands upward.
        look: Its colour.
        aside: The horizontal offset of the dots, in typographic points.
        how: More of how dots are drawn.
    """
    from netbandit.util.extras.plots import offset_copy

    beside = offset_copy(panel.transData, fig=panel.figure, x=aside, units="points")  # type: ignore[arg-type]
    for failed in (False, True):
        names = [name for name in upward.runs if (name in upward.failed) is failed]
        if not names:  # a line without points takes up room nonetheless
            continue
        places = [(across.runs.get(name, float(across.mean)), upward.runs[name]) for name in names]
        panel.plot(
            *zip(*places, strict=True),
            color=look.colour,
            linestyle="none",
            zorder=2.1,
            label="_run",
            transform=beside,
            **(_CROSS if failed else _DOT),
            **how,
        )
        panel.update_datalim(places)  # offsets do not extend the data limits
    if upward.shortfalls:
        panel.annotate(
            MARK,
            (float(across.mean), float(upward.mean)),
            xytext=(-9.0, 2.0),
            textcoords="offset points",
            color=look.colour,
            fontsize=11,
            fontweight="bold",
            annotation_clip=False,
            zorder=4,
        )


_DOT: dict[str, Any] = {"marker": "o", "markersize": 2.2, "markeredgewidth": 0.0, "alpha": 0.55}
_CROSS: dict[str, Any] = {"marker": "x", "markersize": 2.8, "markeredgewidth": 0.7, "alpha": 0.7}
"""The styles of a run and of a failed run."""


def _bars(bands: Sequence[Band]) -> NDArray[np.float64] | None:
    """Return how far the intervals reach down and up, shape (2, marks); NaN where there is none, None if nowhere.

    Identical values give no variance estimate, and hence no bar.
    """
    reach = np.full((2, len(bands)), np.nan)
    for index, one in enumerate(bands):
        if one.known and float(one.high) > float(one.low):
            reach[:, index] = float(one.mean) - float(one.low), float(one.high) - float(one.mean)
    return None if np.isnan(reach).all() else reach
