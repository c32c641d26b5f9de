"""Heatmap of two numeric keys: regret as the colour of a cell for each pair of values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.answers import range_of
from netbandit.plots.bands import Band
from netbandit.plots.estimates import Estimates
from netbandit.plots.facets import Part, facets
from netbandit.plots.grouping import Arrangement, described, titled, value_of
from netbandit.plots.marks import label_more
from netbandit.plots.style import drawing, head, readable, wrapped
from netbandit.plots.subtitles import (
    left_out_note,
    missing_note,
    privacy_note,
    replications_note,
    shortfall_note,
    without_note,
)
from netbandit.plots.values import identity, name, shown, words
from netbandit.results.failures import MARK
from netbandit.results.metrics import axis_label
from netbandit.results.numbers import rounded, scaled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEAST = 3
_WRITTEN = 60
_DARK = 0.55
_FAR_APART = 10.0

Cells = dict[tuple[int, int], Band]
"""The estimate in each cell, by row and column."""


def axis_keys(arrangement: Arrangement) -> tuple[str, str] | None:
    """Return the two numbers with the most values, that with more of them first; None if fewer have three values."""
    numeric = [
        key for key in arrangement.keys if arrangement.scale(key) is not None and len(arrangement.values[key]) >= _LEAST
    ]
    if len(numeric) < 2:
        return None
    first, second = sorted(numeric, key=lambda key: -len(arrangement.values[key]))[:2]
    return first, second


def is_map(arrangement: Arrangement, across: str, upward: str, metric: str) -> bool:
    """Return whether *metric* is known at most pairs of two or more values of each key, and is not constant."""
    table = _means(arrangement, across, upward, metric)[0]
    known = np.isfinite(table)
    rows, columns = known.any(axis=1).sum(), known.any(axis=0).sum()
    return bool(min(rows, columns) > 1 and 2 * known.sum() > rows * columns and np.ptp(table[known]) > 0)


@drawing()
def draw_heatmap(
    whole: Arrangement,
    across: str,
    upward: str,
    metric: str = "regret",
    parts: Sequence[Part] = (),
) -> "Figure":
    """Draw *metric* as the colour of a cell for each pair of values; a pair that was not run is left white.

    Args:
        whole: All points.
        across: The key along the horizontal axis.
        upward: The key along the vertical one.
        metric: The metric shown by the colours.
        parts: The points of each map, in which only *across* and *upward* vary, with the values they hold fixed; all
            points, if there are none. At most six are drawn (see `facets`), which share one scale of colours.
    """
    from netbandit.util.extras.plots import LogNorm, Normalize

    layout = facets(whole, list(parts) or [({}, whole)])
    maps = layout.parts
    tables = [_means(part, across, upward, metric) for _, part in maps]
    known = np.concatenate([table[np.isfinite(table)] for table, _ in tables])
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    logarithmic = low > 0 and high >= _FAR_APART * low
    norm = LogNorm(low, high) if logarithmic else Normalize(low, high if high > low else low + 1)
    points = [point for _, part in maps for point in part.points]
    most = max(len(point.finished) for point in points)
    idle = [name(key) for key, turn in ((across, False), (upward, True)) if _idle([one for one, _ in tables], turn)]
    one_map = len(maps) == 1
    width = "± half-width of the 95 % interval" if whole.statistic.is_mean else "and the ends of its 95 % interval"
    notes = (
        f"{whole.statistic.name}s of {most:,} replications{f' {width}' if one_map else ''}"
        if most > 1
        else replications_note(points),
        shortfall_note([one for _, cells in tables for one in cells.values()]),
        described(maps[0][0]) if len(maps) == 1 else "one scale of colours for all maps",
        layout.left_out,
        f"{' and '.join(idle)} made no difference" if idle else "",
        left_out_note(points, metric, whole.keys),
        without_note(whole, points) if len(maps) > 1 and not layout.left_out else "",
        missing_note(whole),
        privacy_note(points),
    )
    over = f"{axis_label(metric).split(' (')[0]} over {name(across)} and {name(upward)}"
    title = f"{whole.name}: {range_of(whole, metric, points) or over}"
    drawn, panels = layout.figure(title, notes, sharex=len(maps) > 1, sharey=len(maps) > 1)
    for place, (fixed, part), (table, cells) in zip(layout.places, maps, tables, strict=True):
        panel = panels[place]
        mesh = _map(panel, table, cells, norm, len(maps), whole.statistic.is_mean)
        panel.tick_params(length=0)
        if len(maps) > 1:
            head(panel, titled(fixed), layout.columns)
        if layout.is_lowest(place):
            _name_axis(panel.xaxis, part, across, layout.columns)
            panel.tick_params(labelbottom=True)
        if layout.is_leftmost(place):
            _name_axis(panel.yaxis, part, upward, layout.rows)
            panel.tick_params(labelleft=True)
    bar = drawn.colorbar(mesh, ax=[panels[place] for place in layout.places], aspect=28, pad=0.02)
    bar.set_label(axis_label(metric))
    bar.outline.set_visible(False)
    if logarithmic:
        label_more(bar.ax.yaxis)
    readable(bar.ax, x=False)
    return drawn


def _map(panel: "Axes", table: NDArray[np.float64], cells: Cells, norm: Any, maps: int, around: bool) -> Any:
    """Draw one map, its numbers in its cells where these are few, and return it.

    Args:
        panel: Where to draw.
        table: The values shown by colours.
        cells: The estimate in each cell.
        norm: The scale of the colours.
        maps: The number of maps.
        around: Whether values lie in the middle of their intervals.
    """
    mesh = panel.pcolormesh(np.ma.masked_invalid(table), cmap="viridis", norm=norm, edgecolors="white", linewidth=1.0)
    panel.grid(False)
    written = maps * table.size <= 2 * _WRITTEN and table.size <= _WRITTEN
    for (row, column), one in cells.items():
        value = float(one.mean)
        texts = [scaled(rounded(value, 3))] if written else []
        if one.shortfalls:
            texts = [" ".join([*texts, MARK])]
        if written and maps == 1 and one.known and float(one.widest[1]) > float(one.widest[0]):
            ends = [scaled(rounded(float(end), 2)) for end in one.widest]
            texts.append(
                f"± {scaled(rounded(float(one.widest[1]) - value, 2))}" if around else f"[{ends[0]}, {ends[1]}]"
            )
        colour = "white" if norm(value) < _DARK else "black"
        size = 7.0 if maps == 1 else 6.0
        panel.text(column + 0.5, row + 0.5, "\n".join(texts), ha="center", va="center", fontsize=size, color=colour)
    return mesh


def _name_axis(axis: Any, part: Arrangement, key: str, side_by_side: int) -> None:
    values, scale = part.values[key], part.scale(key)
    texts = [scaled(value) for value in scale.numbers] if scale else [shown(value) for value in values]
    every = -(-len(values) // (12 // side_by_side))
    axis.set_ticks([index + 0.5 for index in range(0, len(values), every)], texts[::every])
    axis.set_label_text(wrapped(scale.label if scale else words(key), 60 // side_by_side))
    axis.set_tick_params(length=0)


def _means(arrangement: Arrangement, across: str, upward: str, metric: str) -> tuple[NDArray[np.float64], Cells]:
    """Return a row for each value of *upward*, a column for each of *across*, NaN where unknown, and all cells."""
    columns, rows = arrangement.values[across], arrangement.values[upward]
    table = np.full((len(rows), len(columns)), np.nan)
    row_of, column_of = ({identity(value): index for index, value in enumerate(some)} for some in (rows, columns))
    estimates = Estimates(arrangement, metric)
    cells: Cells = {}
    for point in arrangement.points:
        found = estimates.of(point)
        if found is not None:
            where = row_of[identity(value_of(point, upward))], column_of[identity(value_of(point, across))]
            table[where], cells[where] = float(found.mean), found
    return table, cells


def _idle(tables: Sequence[NDArray[np.float64]], turn: bool) -> bool:
    """Return whether each row (or column) of all *tables* has one value alone, and some several times."""
    rows = [row[np.isfinite(row)] for table in tables for row in (table.T if turn else table)]
    return all(len(set(row)) <= 1 for row in rows) and any(len(row) > 1 for row in rows)
