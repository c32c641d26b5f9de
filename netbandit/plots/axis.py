"""Positions of numbers along an axis, including infinity, and zero on a logarithmic axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netbandit.plots.style import readable
from netbandit.plots.values import Scale
from netbandit.results.numbers import rounded, scaled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAR_APART = 30.0
_NOT_SO_FAR = 4.0
_DIGITS = 4
_NEAR = 0.07
_TICKS = 9
_LETTER = 0.013
"""The width of a letter, as a share of the axis."""


@dataclass(frozen=True)
class Axis:
    """Positions of values on the horizontal axis.

    Infinity is placed one step beyond the largest finite value; zero, on a logarithmic axis, one step before the
    smallest positive one. The step is the mean distance between the other values.

    Attributes:
        places: The position of each value.
        ticks: Positions and texts of the distinct values, ascending.
        last: The position of the largest finite value; everything beyond is infinite.
        plain: Whether every value is its own position.
        named: Whether the values are categories, each with its name below it.
    """

    places: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]
    last: float
    plain: bool
    named: bool = False

    @property
    def span(self) -> float:
        """The distance between the first and the last position; 1 if there is only one."""
        return (self.ticks[-1][0] - self.ticks[0][0]) or 1.0

    @classmethod
    def categories(cls, texts: Sequence[str]) -> "Axis":
        """Return a categorical axis, in the order of *texts*."""
        places = tuple(map(float, range(len(texts))))
        return cls(places, tuple(zip(places, texts, strict=True)), math.inf, False, named=True)

    @classmethod
    def of(cls, scale: Scale, *, ratios: bool = False) -> "Axis":
        """Return the axis of numbers, logarithmic if they span a wide range.

        Args:
            scale: The numbers.
            ratios: Whether their ratios matter, as for epsilons: a narrower range then suffices.
        """
        finite = sorted({value for value in scale.numbers if math.isfinite(value)})
        positive = [value for value in finite if value > 0]
        apart = _NOT_SO_FAR if ratios else _FAR_APART
        if len(finite) > 1 and min(np.diff(finite)) < _NEAR * (finite[-1] - finite[0]) and len(finite) <= _TICKS:
            apart = _NOT_SO_FAR  # or ticks would be too near to one another
        wide = len(positive) > 1 and positive[-1] >= apart * positive[0] and (not finite or finite[0] >= 0)

        def bent(value: float) -> float:
            return math.log10(value) if wide else value

        on_axis = [bent(value) for value in (positive if wide else finite)]
        step = (on_axis[-1] - on_axis[0]) / (len(on_axis) - 1) if len(on_axis) > 1 else 1.0

        def place(value: float) -> float:
            if value == math.inf:
                return (on_axis[-1] if on_axis else 0.0) + step
            if wide and value == 0:
                return on_axis[0] - step
            return bent(value)

        places = tuple(place(value) for value in scale.numbers)
        ticks = dict(sorted((place(value), _short(value)) for value in scale.numbers))
        last = on_axis[-1] if on_axis else -math.inf
        return cls(places, tuple(ticks.items()), last, not wide and math.inf not in scale.numbers)

    def apply(self, panel: "Axes", side_by_side: int = 1) -> None:
        """Put a tick at every value that has room, or at round numbers if there are many values.

        Args:
            panel: Where to put them.
            side_by_side: The number of panels side by side.
        """
        low, high, span = self.ticks[0][0], self.ticks[-1][0], self.span
        panel.set_xlim(low - 0.07 * span, high + 0.07 * span)
        if self.named:
            self._name_all(panel, side_by_side)
            return
        if self.plain and len(self.ticks) > _TICKS:
            readable(panel, y=False)
            return
        kept: list[tuple[float, str]] = []
        for place, text in self.ticks:
            room = max(_NEAR, 0.011 * max(side_by_side, 2) * (len(text) + 1))
            if not kept or place - kept[-1][0] >= room * span:
                kept.append((place, text))
        panel.set_xticks([place for place, _ in kept], [text for _, text in kept])

    def _name_all(self, panel: "Axes", side_by_side: int) -> None:
        """Write every name, slanted if there is no room side by side."""
        texts = [text for _, text in self.ticks]
        longest = max(len(line) for text in texts for line in text.split("\n"))
        if _LETTER * side_by_side * (longest + 1) * self.span <= 1.0:
            panel.set_xticks([place for place, _ in self.ticks], texts)
            return
        texts = [" ".join(text.split("\n")) for text in texts]
        size = 8.0 if len(texts) <= 2 * _TICKS else 6.0
        panel.set_xticks([place for place, _ in self.ticks], texts, rotation=40, ha="right", rotation_mode="anchor")
        panel.tick_params(axis="x", labelsize=size)


def _short(value: float) -> str:
    """Return a measured number with no more digits than fit at a tick; whole numbers are kept."""
    if value == math.inf or value == round(value):
        return scaled(value)
    text = f"{value:g}"
    return scaled(float(text) if len(text) <= _DIGITS + 2 else rounded(value, _DIGITS))
