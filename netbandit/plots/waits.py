"""Stacked bars of the waiting time of a round by cause: late rewards, computing nodes, messages."""

from typing import TYPE_CHECKING

import numpy as np

from netbandit.plots.grouping import Arrangement, evenly, titled, value_of
from netbandit.plots.style import NEUTRAL, drawing, figure, legend_below, readable
from netbandit.results.numbers import scaled
from netbandit.results.study_result import PointResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 16
"""The number of points shown."""

_CAUSES = {"feedback_wait_slots": "late rewards", "round_computing_slots": "computing", "round_slots": "messages"}
_COLOURS = "#CC79A7", "#8C8C8C", "#E69F00"
_LONGEST_NAME = 40


def causes(point: PointResult) -> list[float] | None:
    """Return the mean slots that a round of *point* waits for each cause; None if only messages can be one."""
    means: list[float] = []
    for metric in _CAUSES:
        values = [value for run in point.finished if (value := run.metrics.get(metric)) is not None]
        means.append(float(np.mean(values)) if values else 0.0)
    return [*means[:2], max(0.0, means[2] - means[1])] if any(means[:2]) else None


@drawing()
def draw_waits(arrangement: Arrangement) -> "Figure":
    """Draw for each point of *arrangement* a bar of the slots that a round waits, divided by cause; see `causes`.

    While any node computes, its computing counts, and messages for the rest.
    """
    from netbandit.util.extras.plots import Patch

    known = [(point, found) for point in arrangement.points if (found := causes(point)) is not None]
    shown = evenly(known, MOST)
    notes = [f"means of {max(len(point.finished) for point, _ in shown):,} replications"]
    if len(shown) < len(known):
        notes.append(f"{len(shown)} of {scaled(len(known))} points")
    drawn, (panel,) = figure(f"{arrangement.name}: what a round waits for", "; ".join(notes))
    rows, parts = np.arange(len(shown)), np.array([found for _, found in shown])
    before = np.zeros(len(shown))
    handles = []
    for part, colour, label in zip(parts.T, _COLOURS, _CAUSES.values(), strict=True):
        if part.any():
            panel.barh(rows, part, left=before, height=0.62, color=colour, zorder=2)
            handles.append(Patch(color=colour, label=label))
        before += part
    names = [titled({key: value_of(point, key) for key in arrangement.keys}) or "all runs" for point, _ in shown]
    cut = [name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in names]
    panel.set_yticks(rows, cut, color=NEUTRAL)
    panel.set_ylim(len(shown) - 0.4, -0.6)
    panel.set_xlim(left=0)
    panel.set_xlabel("waiting per round (slots)")
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    readable(panel, y=False)
    legend_below(drawn, handles, [str(handle.get_label()) for handle in handles], "")
    return drawn
