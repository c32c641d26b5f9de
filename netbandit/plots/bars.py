"""Horizontal bars that are divided into parts, one below the other."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from netbandit.plots.style import NEUTRAL, legend_below, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONGEST_NAME = 40


def draw_bars(panel: "Axes", names: Sequence[str], parts: ArrayLike, colours: Sequence[str], xlabel: str) -> None:
    """Draw a bar for each of *names*, the first on top.

    Args:
        panel: Where to draw.
        names: What each bar is of; a long one is cut.
        parts: The length of each part of each bar, shape (bars, parts).
        colours: The colour of each part.
        xlabel: What the length is.
    """
    rows, before = np.arange(len(names)), np.zeros(len(names))
    for part, colour in zip(np.asarray(parts, dtype=np.float64).T, colours, strict=True):
        if part.any():
            panel.barh(rows, part, left=before, height=0.62, color=colour, zorder=2)
        before += part
    cut = [name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in names]
    panel.set_yticks(rows, cut, color=NEUTRAL)
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.set_xlim(left=0)
    panel.set_xlabel(xlabel)
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    readable(panel, y=False)


def legend_of_parts(drawn: "Figure", colours: Mapping[str, str]) -> None:
    """Draw what the colours of parts mean: text -> colour."""
    from netbandit.util.extras.plots import Patch

    legend_below(drawn, [Patch(color=colour, label=label) for label, colour in colours.items()], [*colours], "")
