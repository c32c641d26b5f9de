"""Two numbers that vary together: regret as the colour of a cell for each pair of values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.grouping import Arrangement, described
from netbandit.plots.metrics import estimate, label, label_more, means
from netbandit.plots.style import drawing, figure, readable, wrapped
from netbandit.plots.values import identity, name, shown, words
from netbandit.results.numbers import rounded, scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST = 3
_WRITTEN = 60
_DARK = 0.55
_FAR_APART = 10.0


def axis_keys(arrangement: Arrangement) -> tuple[str, str] | None:
    """Return the two numbers with the most values, that with more of them first; None if fewer have three values."""
    numeric = [
        key
        for key in arrangement.keys
        if arrangement.scale(key) is not None and len(arrangement.choices[key]) >= _LEAST
    ]
    if len(numeric) < 2:
        return None
    first, second = sorted(numeric, key=lambda key: -len(arrangement.choices[key]))[:2]
    return first, second


def is_map(arrangement: Arrangement, across: str, upward: str, metric: str) -> bool:
    """Tell whether *metric* is known at most pairs of values, and differs: where nobody heeds a key there is no map."""
    known = np.isfinite(_means(arrangement, across, upward, metric)[0])
    rows, columns = known.any(axis=1).sum(), known.any(axis=0).sum()
    low, high = limits([arrangement], across, upward, metric)
    return bool(min(rows, columns) > 1 and 2 * known.sum() > rows * columns and low < high)


def limits(arrangements: Sequence[Arrangement], across: str, upward: str, metric: str) -> tuple[float, float]:
    """Return the least and the largest mean in the maps of *arrangements*, which one scale of colours is for."""
    tables = [_means(one, across, upward, metric)[0] for one in arrangements]
    known = np.concatenate([table[np.isfinite(table)] for table in tables])
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)


@drawing()
def draw_heatmap(
    arrangement: Arrangement,
    across: str,
    upward: str,
    fixed: dict[str, Any] | None = None,
    metric: str = "regret",
    colours: tuple[float, float] | None = None,
) -> "Figure":
    """Draw *metric* as the colour of a cell for each pair of values; a pair that was not run is left white.

    Args:
        arrangement: The points, in which only *across* and *upward* vary.
        across: The key along the horizontal axis.
        upward: The key along the vertical one.
        fixed: What the title says is held fixed.
        metric: What the colours say.
        colours: The ends of their scale, where maps that stand side by side share one; by default those of this map.
    """
    from matplotlib.colors import LogNorm, Normalize

    columns, rows = arrangement.choices[across], arrangement.choices[upward]
    table, halves = _means(arrangement, across, upward, metric)
    idle = [name(key) for key, values in ((across, table), (upward, table.T)) if _alike(values)]
    parts = (
        means(arrangement.points),
        described(fixed or {}),
        f"{' and '.join(idle)} made no difference" if idle else "",
        "same colours in all these maps" if colours else "",
    )
    title = f"{arrangement.name}: {label(metric).split(' (')[0]} over {name(across)} and {name(upward)}"
    drawn, (panel,) = figure(title, "; ".join(filter(None, parts)))
    low, high = colours or limits([arrangement], across, upward, metric)
    norm = (
        LogNorm(low, high) if low > 0 and high >= _FAR_APART * low else Normalize(low, high if high > low else low + 1)
    )
    mesh = panel.pcolormesh(np.ma.masked_invalid(table), cmap="viridis", norm=norm, edgecolors="white", linewidth=1.0)
    panel.grid(False)
    for axis, values, key in ((panel.xaxis, columns, across), (panel.yaxis, rows, upward)):
        scale = arrangement.scale(key)
        texts = [scaled(value) for value in scale.numbers] if scale else [shown(value) for value in values]
        every = -(-len(values) // 12)
        axis.set_ticks([place + 0.5 for place in range(0, len(values), every)], texts[::every])
        axis.set_label_text(wrapped(scale.label if scale else words(key), 60))
        axis.set_tick_params(length=0)
    if table.size <= _WRITTEN:
        for (row, column), value in np.ndenumerate(table):
            if np.isfinite(value):
                text = scaled(rounded(value, 3))
                if np.isfinite(halves[row, column]):
                    text += f"\n± {scaled(rounded(float(halves[row, column]), 2))}"
                colour = "white" if norm(value) < _DARK else "black"
                panel.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=7, color=colour)
    bar = drawn.colorbar(mesh, ax=panel, aspect=28, pad=0.02)
    bar.set_label(label(metric))
    bar.outline.set_visible(False)
    if isinstance(norm, LogNorm):
        label_more(bar.ax.yaxis)
    readable(bar.ax, x=False)
    return drawn


def _means(
    arrangement: Arrangement, across: str, upward: str, metric: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means and half-widths, a row for each value of *upward*, a column for each of *across*; NaN is unknown."""
    columns, rows = arrangement.choices[across], arrangement.choices[upward]
    table = np.full((len(rows), len(columns)), np.nan)
    halves = np.full_like(table, np.nan)
    row_of, column_of = ({identity(value): place for place, value in enumerate(some)} for some in (rows, columns))
    for point in arrangement.points:
        found = estimate(point, metric)
        if found is not None:
            where = row_of[identity(point.values[upward])], column_of[identity(point.values[across])]
            table[where] = float(found.mean)
            halves[where] = float(found.high - found.mean) if found.known else np.nan
    return table, halves


def _alike(table: NDArray[np.float64]) -> bool:
    """Tell whether each row has one value alone, and some row several times."""
    rows = [row[np.isfinite(row)] for row in table]
    return all(len(set(row)) <= 1 for row in rows) and any(len(row) > 1 for row in rows)
