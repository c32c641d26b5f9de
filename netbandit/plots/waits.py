"""Stacked bars of the waiting time of a round by cause: late rewards, computing nodes, messages."""

from typing import TYPE_CHECKING

import numpy as np

from netbandit.plots.bars import draw_bars, legend_of_parts
from netbandit.plots.grouping import Arrangement, evenly
from netbandit.plots.style import drawing, figure
from netbandit.plots.subtitles import missing_note, without_note
from netbandit.results.numbers import percentage, rounded, scaled
from netbandit.results.study_result import PointResult
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 16
"""The number of points shown."""

_CAUSES = {"feedback_wait_slots": "late rewards", "round_computing_slots": "computing", "round_slots": "messages"}
_COLOURS = "#CC79A7", "#8C8C8C", "#E69F00"


def causes(point: PointResult) -> list[float] | None:
    """Return the mean slots that a round of *point* waits for each cause; None if it never waits."""
    means: list[float] = []
    for metric in _CAUSES:
        values = [value for run in point.finished if (value := run.metrics.get(metric)) is not None]
        means.append(float(np.mean(values)) if values else 0.0)
    return [*means[:2], max(0.0, means[2] - means[1])] if any(means) else None


def have_causes(point: PointResult) -> bool:
    """Return whether a round of *point* waits for something other than messages."""
    found = causes(point)
    return found is not None and any(found[:2])


@drawing()
def draw_waits(arrangement: Arrangement) -> "Figure":
    """Draw for each point of *arrangement* a bar of the slots that a round waits, divided by cause; see `causes`.

    While any node computes, its computing counts, and messages for the rest.
    """
    known = [(point, found) for point in arrangement.points if (found := causes(point)) is not None]
    shown = evenly(known, MOST)
    notes = [
        f"means of {pluralize(max(len(point.finished) for point, _ in shown), 'replication')}",
        without_note(arrangement, [point for point, _ in shown]),
        missing_note(arrangement),
    ]
    names = [arrangement.called(point) or "all runs" for point, _ in shown]
    parts = [found for _, found in shown]
    longest, slots, where = max(zip(parts, map(sum, parts), names, strict=True), key=lambda one: one[1])
    cause, share = [*_CAUSES.values()][int(np.argmax(longest))], max(longest) / slots
    many = f"{scaled(rounded(slots, 3))} slots"
    most = f"up to {many} ({where})" if len(shown) > 1 else many
    title = f"{arrangement.name}: a round waits {most}, {scaled(percentage(share))} % of that for {cause}"
    drawn, (panel,) = figure(title, "; ".join(filter(None, notes)))
    draw_bars(panel, names, parts, _COLOURS, "waiting per round (slots)")
    used = np.any(parts, axis=0)
    labels = [*_CAUSES.values()]
    legend_of_parts(drawn, {labels[place]: _COLOURS[place] for place in np.flatnonzero(used).tolist()})
    return drawn
