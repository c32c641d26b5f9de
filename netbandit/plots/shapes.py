"""Markers of points that differ in several keys: distinct points have distinct marks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from netbandit.plots.grouping import ABSENT, Arrangement, value_of
from netbandit.plots.style import DASHES, MARKERS, NEUTRAL, PLAIN, Look, Section, wrapped
from netbandit.plots.values import heading, identity, name, with_unit
from netbandit.results.study_result import PointResult

_MOST = 12
"""The most shapes used for numbers; other values may have more."""

_LEGEND = 24
"""Letters of a line of a legend."""


@dataclass(frozen=True)
class Shapes:
    """How the points of a picture are distinguished: by colour along one key, by shape along all other relevant ones.

    Attributes:
        arrangement: The points.
        color: The key distinguished by colour, if any.
        others: The keys distinguished together by shape; without any, the shape is that of the colour's look.
        combinations: The values of the other keys that occur, in their order.
        indistinct: Numbers for which there are not enough shapes.
    """

    arrangement: Arrangement
    color: str | None
    others: tuple[str, ...]
    combinations: tuple[str, ...]
    indistinct: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The subtitle's note on points that share a marker; empty if there are none."""
        return (
            f"points with the same marker differ in {', '.join(map(name, self.indistinct))}" if self.indistinct else ""
        )

    @classmethod
    def of(cls, arrangement: Arrangement, color: str | None, without: Sequence[str | None] = ()) -> "Shapes":
        """Return the shapes of all keys that vary here but *color* and those in *without*, which an axis or line shows.

        A key is left out too where it has one value for each value of another, which distinguishes the points already.
        """
        points = arrangement.points
        others: list[str] = []
        for key in arrangement.keys:
            told = [one for one in (color, *without, *others) if one is not None]
            if key not in told and _tells_more(points, told, key):
                others.append(key)
        indistinct: list[str] = []
        numbers = [key for key in others if arrangement.scale(key) is not None]
        while numbers and len({identity([value_of(point, key) for key in others]) for point in points}) > _MOST:
            # Nobody reads twenty shapes; a number that is left out is one of the same thing.
            indistinct.append(max(numbers, key=lambda key: len(arrangement.values[key])))
            others.remove(indistinct[-1])
            numbers.remove(indistinct[-1])
        ranks = {key: [identity(value) for value in arrangement.values[key]] for key in others}
        seen = {identity([value_of(point, key) for key in others]): point for point in points} if others else {}
        order = sorted(seen, key=lambda text: [ranks[key].index(identity(value_of(seen[text], key))) for key in others])
        return cls(arrangement, color, tuple(others), tuple(order), tuple(indistinct))

    def look(self, point: PointResult) -> Look:
        """Return the look of *point*."""
        base = PLAIN if self.color is None else self.arrangement.look(self.color, value_of(point, self.color))
        if not self.others:
            return base
        return replace(base, marker=_marker(self._place(point)))

    def text(self, point: PointResult) -> str:
        """Return the text that distinguishes *point* from the other marks of the picture."""
        return _named(point, [key for key in (self.color, *self.others) if key is not None])

    def line(self, point: PointResult) -> Look:
        """Return how a curve of *point* is drawn: coloured as its mark, dashed along all other keys."""
        look = self.look(point)
        if not self.others:
            return look
        return replace(look, dashes=DASHES[self._place(point) % len(DASHES)])

    def _place(self, point: PointResult) -> int:
        return self.combinations.index(identity([value_of(point, key) for key in self.others]))

    def lines_legend(self, drawn: Sequence[PointResult]) -> list[Section]:
        """Return the only section of a legend of curves: one line for each point."""
        from netbandit.util.extras.plots import Line2D

        keys = [key for key in (self.color, *self.others) if key is not None]
        handles = [Line2D([], [], color=self.line(one).colour, linestyle=self.line(one).dashes) for one in drawn]
        texts = [wrapped(_named(one, keys), _LEGEND) for one in drawn]
        return [(", ".join(map(name, keys)), handles, texts)]

    def legend(self, drawn: Sequence[PointResult], joined: bool = False) -> list[Section]:
        """Return the sections of a legend of the points that are *drawn*: heading, handles and labels of each.

        Args:
            drawn: The points in the picture.
            joined: Whether lines join points of one colour.
        """
        from netbandit.util.extras.plots import Line2D

        def handle(look: Look, line: bool) -> Line2D:
            how: dict[str, Any] = {"linestyle": look.dashes if line else "none", "markerfacecolor": "white"}
            return Line2D([], [], color=look.colour, marker=look.marker, markeredgewidth=1.5, linewidth=1.2, **how)

        sections: list[Section] = []
        if self.color is not None:
            present = {identity(value_of(point, self.color)) for point in drawn}
            values = [value for value in self.arrangement.values[self.color] if identity(value) in present]
            looks = [self.arrangement.look(self.color, value) for value in values]
            if self.others:
                looks = [replace(look, marker="o") for look in looks]
            texts = [wrapped(with_unit(self.color, value), _LEGEND) for value in values]
            sections.append((heading(self.color), [handle(look, joined) for look in looks], texts))
        if self.others:
            by_text = {identity([value_of(point, key) for key in self.others]): point for point in drawn}
            found = [(place, by_text[text]) for place, text in enumerate(self.combinations) if text in by_text]
            texts = [wrapped(_named(point, self.others) or "none", _LEGEND) for _, point in found]
            handles = [handle(Look(NEUTRAL, _marker(place), "-"), False) for place, _ in found]
            above = heading(self.others[0]) if len(self.others) == 1 else ", ".join(map(name, self.others))
            sections.append((above, handles, texts))
        return sections


def _named(point: PointResult, keys: Sequence[str]) -> str:
    """Return the values of *keys* that *point* has."""
    found = {key: value_of(point, key) for key in keys}
    return ", ".join(with_unit(key, value) for key, value in found.items() if value != ABSENT)


def _tells_more(points: Sequence[PointResult], told: Sequence[str], key: str) -> bool:
    """Return whether *key* distinguishes points that *told* do not."""
    before = {identity([value_of(point, one) for one in told]) for point in points}
    after = {identity([value_of(point, one) for one in (*told, key)]) for point in points}
    return len(after) > len(before)


def _marker(place: int) -> Any:
    """Return a shape of its own for each *place*: those that have names, then stars and polygons of more corners."""
    if place < len(MARKERS):
        return MARKERS[place]
    turn, kind = divmod(place - len(MARKERS), 2)
    return (5 + turn, 1 - kind, 0)
