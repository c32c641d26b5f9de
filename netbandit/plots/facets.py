"""The arrangement of panels: a grid of the keys they hold fixed, or a sequence."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netbandit.plots.grouping import Arrangement, evenly, titled
from netbandit.plots.style import figure
from netbandit.plots.values import identity
from netbandit.util.text import first_few

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS, MOST_COLUMNS = 2, 3
"""The most panels in a picture."""
MOST_ASKED = 3, 4
"""The same if rows and columns were requested."""

_LONGEST = 90
"""The most characters by which they are named, rather than counted."""
_NAMED = 3
"""The most parts without a panel that are named."""

Part = tuple[dict[str, Any], Arrangement]
"""Fixed values, and the points that have them."""


@dataclass(frozen=True)
class Facets:
    """The panels of a picture and their arrangement.

    Attributes:
        parts: The content of each panel, row by row.
        places: The index of each panel in the grid, counted row by row.
        rows: The number of rows.
        columns: The number of columns.
        left_out: The subtitle's note on parts without a panel; empty if there are none.
    """

    parts: list[Part]
    places: list[int]
    rows: int
    columns: int
    left_out: str = ""

    def figure(self, title: str, notes: Sequence[str], **shared: Any) -> "tuple[Figure, list[Axes]]":
        """Return a figure with a panel at each index; empty cells are hidden.

        Args:
            title: See `style.figure`.
            notes: The notes of the subtitle; empty ones are skipped.
            shared: See `style.figure`.
        """
        drawn, panels = figure(
            title,
            "; ".join(filter(None, notes)),
            rows=self.rows,
            columns=self.columns,
            **shared,
        )
        for index, panel in enumerate(panels):
            panel.set_visible(index in self.places)
        return drawn, panels

    @classmethod
    def row(cls, parts: Sequence[Part], rows: int = 1, left_out: str = "") -> "Facets":
        """Return *parts* side by side, or in some full *rows*."""
        return cls(list(parts), list(range(len(parts))), rows, len(parts) // rows, left_out)

    def is_lowest(self, place: int) -> bool:
        """Return whether there is no panel below *place*."""
        return place + self.columns not in self.places

    def is_leftmost(self, place: int) -> bool:
        """Return whether there is no panel to the left of *place*."""
        return place % self.columns == 0 or place - 1 not in self.places


def facets(whole: Arrangement, parts: Sequence[Part]) -> Facets:
    """Return at most six of *parts* in their arrangement.

    Parts that hold two keys or more fixed stand in a grid: a column has one value of the key with the most values, a
    row one combination of the others. Where there are too many, whole columns and rows are left out, so that all
    panels of a column share its value, and rows differ in one key alone: of numbers evenly spread ones, of words the
    last. Parts of one key, or of combinations that would fill no more than half of the grid, follow one another.

    Args:
        whole: All points, whose values are in order.
        parts: The parts to show, all with the same keys held fixed.
    """
    return _asked(whole, parts) if whole.facing else _grid(whole, parts) or _in_turn(parts)


def _asked(whole: Arrangement, parts: Sequence[Part]) -> Facets:
    """Return the panels in the requested rows and columns."""
    values = {key: _values(whole, key, parts) for key in whole.facing}
    down = values[whole.rows] if whole.rows is not None else [""]
    across = values[whole.columns] if whole.columns is not None else [""]

    def cell(fixed: Mapping[str, Any]) -> tuple[str, str]:
        row, column = ("" if key is None else identity(fixed[key]) for key in (whole.rows, whole.columns))
        return row, column

    cells = {cell(fixed): (fixed, part) for fixed, part in parts}
    few_rows, few_columns = evenly(down, MOST_ASKED[0]), evenly(across, MOST_ASKED[1])
    pairs = [(row, column) for row in few_rows for column in few_columns]
    places = [place for place, pair in enumerate(pairs) if pair in cells]
    without = [
        _without([{key: json.loads(one)} for one in every if one not in few])
        for few, every, key in ((few_rows, down, whole.rows), (few_columns, across, whole.columns))
        if key is not None and len(few) < len(every)
    ]
    chosen = [cells[pairs[place]] for place in places]
    return Facets(chosen, places, len(few_rows), len(few_columns), ", ".join(without))


def _in_turn(parts: Sequence[Part]) -> Facets:
    chosen = evenly(parts, MOST_ROWS * MOST_COLUMNS)
    columns = 2 if len(chosen) == 4 else max(1, min(len(chosen), MOST_COLUMNS))
    return Facets(
        chosen, list(range(len(chosen))), max(1, -(-len(chosen) // columns)), columns, left_out(chosen, parts)
    )


def left_out(chosen: Sequence[Part], parts: Sequence[Part]) -> str:
    """Return the subtitle's note on those of *parts* that are not *chosen*: their names, or how many there are."""
    drawn = {identity(fixed) for fixed, _ in chosen}
    names = [titled(fixed) for fixed, _ in parts if identity(fixed) not in drawn]
    text = first_few(names, _NAMED)
    if len(text) > _LONGEST:
        return f"{len(chosen)} of {len(parts)} combinations"
    return f"without {text}" if names else ""


def _without(missing: Sequence[dict[str, Any]]) -> str:
    """Return the subtitle's note on the values of which no panel is drawn."""
    return f"without {first_few([titled(values) for values in missing], _NAMED)}"


def _grid(whole: Arrangement, parts: Sequence[Part]) -> Facets | None:
    """Return the grid of *parts*; None if they hold fewer than two keys fixed, or fill no more than half of it."""
    keys = list(parts[0][0]) if parts else []
    values = {key: _values(whole, key, parts) for key in keys}
    if len(keys) < 2:
        return None
    across = max(reversed(keys), key=lambda key: len(values[key]))  # numbers, which have an order, come last
    others = [key for key in keys if key != across]
    cells = {(_row(fixed, others), identity(fixed[across])): (fixed, part) for fixed, part in parts}
    ranks = {_row(fixed, others): [values[key].index(identity(fixed[key])) for key in others] for fixed, _ in parts}
    rows, columns = sorted(ranks, key=lambda row: ranks[row]), values[across]
    if min(len(rows), len(columns)) < 2 or 2 * len(cells) <= len(rows) * len(columns):
        return None
    alike = rows if len(rows) <= MOST_ROWS else _alike(rows, ranks)
    in_words = len(others) == 1 and whole.scale(others[0]) is None
    few_rows = alike[:MOST_ROWS] if in_words else evenly(alike, MOST_ROWS)
    few_columns = columns[:MOST_COLUMNS] if whole.scale(across) is None else evenly(columns, MOST_COLUMNS)
    pairs = [(row, column) for row in few_rows for column in few_columns]
    places = [place for place, pair in enumerate(pairs) if pair in cells]
    missing_rows = [dict(zip(others, json.loads(row), strict=True)) for row in rows if row not in few_rows]
    missing_columns = [{across: json.loads(one)} for one in columns if one not in few_columns]
    without = [_without(missing) for missing in (missing_columns, missing_rows) if missing]
    chosen = [cells[pairs[place]] for place in places]
    return Facets(chosen, places, len(few_rows), len(few_columns), ", ".join(without)) if chosen else None


def _alike(rows: Sequence[str], ranks: Mapping[str, Sequence[int]]) -> list[str]:
    """Return the largest group of *rows* that differ in one key only, which the rows then compare."""
    groups: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for row in rows:
        for index in range(len(ranks[row])):
            rest = tuple(rank for other, rank in enumerate(ranks[row]) if other != index)
            groups.setdefault((index, rest), []).append(row)
    return max(groups.values(), key=len)


def _values(whole: Arrangement, key: str, parts: Sequence[Part]) -> list[str]:
    """Return the values of *key* that *parts* hold fixed, in the order of the study, as identities."""
    present = {identity(fixed[key]) for fixed, _ in parts}
    return [one for one in map(identity, whole.values[key]) if one in present]


def _row(fixed: Mapping[str, Any], keys: Sequence[str]) -> str:
    return identity([fixed[key] for key in keys])
