"""Table panels: a number for each pair of values, on a colour that shows its size."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.results.numbers import rounded, scaled
from netbandit.studies.papers.expressions import Expression
from netbandit.studies.papers.figure_runs import values_of
from netbandit.util.key_paths import lookup

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from netbandit.results.study_result import PointResult
    from netbandit.studies.papers.figure_runs import FigureRuns
    from netbandit.studies.papers.figures import Panel

_DARK = 0.55
_SIZE = 6.5


class Cells:
    """The numbers of a panel: means or medians, of multiples of another point's where the panel says so.

    Points that were not varied in the keys of the table are no part of it, though they may divide. A row or column
    without a number is left out, and so is one in which each is divided by itself.

    Args:
        runs: The figure and its runs.
        panel: The panel.

    Attributes:
        rows: The values of ``upward``, in the order of the points.
        columns: The values of ``across``, each a tuple.
        numbers: Shape (rows, columns); NaN where nothing was run.
    """

    def __init__(self, runs: "FigureRuns", panel: "Panel") -> None:
        formula = Expression(panel.y)
        keys = {panel.upward, *panel.across}
        points = [point for point in runs.select(panel.where) if keys <= point.parameters.keys()]
        self.rows = list(dict.fromkeys(point.parameters[panel.upward] for point in points))
        found = list(dict.fromkeys(tuple(point.parameters[key] for key in panel.across) for point in points))
        outer = [column[0] for column in found]
        self.columns = sorted(found, key=lambda column: outer.index(column[0]))
        self.numbers: NDArray[np.float64] = np.full((len(self.rows), len(self.columns)), np.nan)
        itself = np.zeros(self.numbers.shape, dtype=bool)
        for point in points:
            column = tuple(point.parameters[key] for key in panel.across)
            where = self.rows.index(point.parameters[panel.upward]), self.columns.index(column)
            base = None if panel.ratio_to is None else base_of(runs, panel, point)
            itself[where] = base is not None and base.parameters == point.parameters
            self.numbers[where] = _number(runs.figure.statistic, formula, point, base, panel.ratio_to is not None)
        telling = np.isfinite(self.numbers) & ~itself
        rows, columns = np.flatnonzero(telling.any(axis=1)), np.flatnonzero(telling.any(axis=0))
        self.numbers = self.numbers[np.ix_(rows, columns)]
        self.rows = [self.rows[row] for row in rows]
        self.columns = [self.columns[column] for column in columns]


def base_of(runs: "FigureRuns", panel: "Panel", point: "PointResult") -> "PointResult | None":
    """Return the divisor of *point*; None where it was not run."""
    alike = {key: lookup(point.resolved, key) for key in panel.alike}
    wanted = {**panel.where, **alike, **(panel.ratio_to or {})}
    return runs.one(wanted) if runs.select(wanted) else None


def _number(
    statistic: str, formula: Expression, point: "PointResult", base: "PointResult | None", divides: bool
) -> float:
    """Return the mean over the replications as a multiple of that of *base*, or the median of the runs' multiples."""
    if divides and base is None:
        return float("nan")
    if statistic == "mean":
        return _mean(formula, point) / (1.0 if base is None else _mean(formula, base))
    runs = point.by_replication
    others = runs if base is None else base.by_replication
    pairs = [pair for number in runs if number in others for pair in zip(runs[number], others[number], strict=True)]
    values = [(formula.of(run), 1.0 if base is None else formula.of(other)) for run, other in pairs]
    known = [one / other for one, other in values if one is not None and other]
    return float(np.median(known)) if known else float("nan")


def _mean(formula: Expression, point: "PointResult") -> float:
    known = [value for value in values_of(formula, point).values() if value is not None]
    return float(np.mean(known)) if known else float("nan")


def draw_cells(axes: "Axes", cells: Cells, panel: "Panel", norm: Any) -> Any:
    """Draw the numbers of a panel, and return the artist whose colours form the scale.

    Args:
        axes: Where to draw.
        cells: The numbers.
        panel: The panel.
        norm: The scale of the colours.
    """
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(cells.numbers), cmap="YlOrRd", norm=norm, edgecolors="white", linewidth=0.8
    )
    for (row, column), number in np.ndenumerate(cells.numbers):
        if np.isfinite(number):
            colour = "white" if norm(number) > _DARK else "black"
            text = scaled(rounded(float(number), 2))
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=_SIZE, color=colour)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.set_yticks([index + 0.5 for index in range(len(cells.rows))], _named(panel, cells.rows), fontsize=_SIZE)
    axes.invert_yaxis()
    inner = _named(panel, [column[-1] for column in cells.columns])
    places = [index + 0.5 for index in range(len(inner))]
    axes.set_xticks(places, inner, fontsize=_SIZE, rotation=35, ha="right", rotation_mode="anchor")
    if len(panel.across) == 2:
        _head_groups(axes, cells, panel)
    return mesh


def _head_groups(axes: "Axes", cells: Cells, panel: "Panel") -> None:
    """Write the common value of adjacent columns above them, and separate these groups."""
    outer = [column[0] for column in cells.columns]
    for value in dict.fromkeys(outer):
        first, count = outer.index(value), outer.count(value)
        (text,) = _named(panel, [value])
        where = axes.get_xaxis_transform()
        axes.text(first + count / 2, 1.01, text, ha="center", va="bottom", fontsize=7.5, transform=where)
        if first:
            axes.axvline(first, color="black", linewidth=1.2)


def _named(panel: "Panel", values: Sequence[Any]) -> list[str]:
    return [panel.names.get(str(value), str(value)) for value in values]
