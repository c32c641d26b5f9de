"""Placement of labels without overlap.

We do not use adjustText (1.4): on our networks it leaves names on points (11 of 11 on Abilene, 26 times on GEANT) and
takes three to four times as long. Here no name covers a point or another name.
"""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.style import NEUTRAL, lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIDES = (
    *((1, 0, "left", "center"), (-1, 0, "right", "center"), (0, 1, "center", "bottom"), (0, -1, "center", "top")),
    *((0.8, 0.8, "left", "bottom"), (0.8, -0.8, "left", "top")),
    *((-0.8, 0.8, "right", "bottom"), (-0.8, -0.8, "right", "top")),
)


_AWAY = (0.0, 10.0, 20.0, 32.0)
"""The largest distance of a label from its node, in typographic points."""


def place_labels(
    drawn: "Figure",
    panel: "Axes",
    places: NDArray[np.float64],
    texts: Sequence[str],
    radius: float,
    lines: NDArray[np.int64],
    size: float = 7.0,
) -> list[str]:
    """Write *texts* beside their *places*, each where it covers no other label, no point and the fewest lines.

    A label without room beside its place stands farther off, with a thin line to it; a label without room even there is
    left out, so the picture stays readable. Labels are placed in the order given.

    Args:
        drawn: The figure, complete but for the labels.
        panel: The axes the places belong to.
        places: Positions in data coordinates, shape (labels, 2).
        texts: One text per place.
        radius: The radius of a point's marker, in typographic points.
        lines: Pairs of places with a line between them, shape (lines, 2).
        size: The size of the letters, in typographic points.

    Returns:
        The texts that were written.
    """
    from netbandit.util.extras.plots import Text, withStroke

    lay_out(drawn)
    panel.apply_aspect()
    centres = panel.transData.transform(places)
    reach = (radius + 1.0) * drawn.dpi / 72
    taken = np.concatenate([centres - reach, centres + reach], axis=1)
    frame = np.array(panel.get_window_extent().extents)
    starts, ends = centres[lines[:, 0]], centres[lines[:, 1]]
    written = []
    for index, text in enumerate(texts):
        candidates: list[tuple[int, int, Any, NDArray[np.float64]]] = []
        for away, (right, up, horizontal, vertical) in itertools.product(_AWAY, _SIDES):
            if candidates and away:
                break  # there is room nearer by
            reached = radius + 1.5 + away
            label = panel.annotate(
                text,
                (float(places[index, 0]), float(places[index, 1])),
                xytext=(reached * right, reached * up),
                arrowprops={"arrowstyle": "-", "color": NEUTRAL, "linewidth": 0.4, "shrinkA": 0.0} if away else None,
                textcoords="offset points",
                ha=horizontal,
                va=vertical,
                fontsize=size,
                color=NEUTRAL,
                zorder=4,
                annotation_clip=False,
                path_effects=[withStroke(linewidth=1.8, foreground="white")],
            )
            label.set_in_layout(False)
            label.get_window_extent()  # puts it into its place
            box = np.array(Text.get_window_extent(label).extents)  # without its line
            label.remove()
            if _within(box, frame) and not _meet(box, taken).any():
                candidates.append((int(_cross(box, starts, ends).sum()), len(candidates), label, box))
        if candidates:
            _, _, label, box = min(candidates, key=lambda candidate: candidate[:2])
            panel.add_artist(label)
            taken = np.vstack([taken, box])
            written.append(text)
    return written


def _within(box: NDArray[np.float64], frame: NDArray[np.float64]) -> bool:
    return bool((box[:2] >= frame[:2]).all() and (box[2:] <= frame[2:]).all())


def _meet(box: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((box[:2] < others[:, 2:]).all(axis=1) & (others[:, :2] < box[2:]).all(axis=1))


def _cross(box: NDArray[np.float64], starts: NDArray[np.float64], ends: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which lines cross *box*: those of which a part is left between its sides in both directions."""
    way = ends - starts
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (box[:2] - starts) / way, (box[2:] - starts) / way
    # A line along a side's direction is between the two sides everywhere or nowhere.
    inside = (box[:2] <= starts) & (starts <= box[2:])
    enter = np.where(way == 0, np.where(inside, -np.inf, np.inf), np.minimum(one, other)).max(axis=1)
    leave = np.where(way == 0, np.where(inside, np.inf, -np.inf), np.maximum(one, other)).min(axis=1)
    return np.asarray(np.maximum(enter, 0.0) <= np.minimum(leave, 1.0))
