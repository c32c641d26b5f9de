"""Metrics on the axes: what they are called, their units, and points with error bars."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netbandit.plots.bands import Band, band
from netbandit.plots.grouping import Point
from netbandit.plots.style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.lines import Line2D

AXES = {
    "regret": "regret of all agents (reward)",
    "regret_per_agent": "regret per agent (reward)",
    "regret_per_decision": "regret per decision (reward)",
    "regret_per_s": "regret per simulated second (reward / s)",
    "decisions_per_s": "decisions per second",
    "unserved": "users not served",
    "relative_ctr": "click-through rate relative to chance",
    "cost": "cost (weighted link activations)",
    "activations": "activations (links in slots)",
    "round_slots": "waiting per round (slots)",
    "delay_slots": "delay of what is heard (slots)",
    "violations": "share of slots that violate the threshold",
    "accepted": "share of what is heard that is believed",
    "rounds": "rounds",
    "messages": "messages",
    "bytes": "data sent (bytes)",
    "energy_j": "energy (J)",
    "epsilon": "privacy spent ε, agent worst off",
    "epsilon_claimed": "privacy ε, claimed",
    "delta": "privacy δ",
    "simulated_s": "simulated time (s)",
    "wall_s": "computing time (s)",
    "diameter": "diameter (hops)",
    "radius": "radius (hops)",
    "agents": "agents",
    "links": "links",
}
"""What an axis says of a metric or of a fact of the topology."""

DECADES = 100.0
"""How many times the least of some values the largest is where an axis becomes logarithmic, if nothing else is said."""

EPSILON = "learner.epsilon"
"""The key of the privacy budget."""

UNBOUNDED = ("epsilon", "epsilon_claimed")
"""Metrics that are infinite where a result has none."""


def label(metric: str) -> str:
    """Return what an axis says of *metric*: one that a part of the user's own adds is called by its name."""
    return AXES.get(metric, metric.replace("_", " "))


def measured(points: Sequence[Point]) -> str | None:
    """Return what tells how well *points* do: regret, or the first curve that all runs have where nobody knows it.

    None if there is no such curve.
    """
    runs = [run for point in points for run in point.runs]
    common = [name for name in runs[0].curves if all(name in run.curves for run in runs)]
    return "regret" if "regret" in common else next(iter(common), None)


def partly_served(points: Sequence[Point]) -> bool:
    """Tell whether users went away unserved at any of *points*, and their regret was not counted."""
    return any(point.samples("unserved").any() and not len(point.samples("regret_unserved")) for point in points)


def compared(points: Sequence[Point]) -> str:
    """Return the metric by which *points* are compared: what is measured, the regret if nothing is.

    Where users went away unserved it is the regret of a decision, if any was made: who is not served adds none, so to
    serve fewer would look like a gain.
    """
    found = measured(points) or "regret"
    known = any(len(point.samples("regret_per_decision")) for point in points)
    return "regret_per_decision" if found == "regret" and known and partly_served(points) else found


def lateness(points: Sequence[Point]) -> str | None:
    """Return what tells how late agents hear of one another: how long they wait, or, if nobody waits, the delay.

    None where they hear nothing, or at once.
    """
    matters = (any(point.samples(name).any() for point in points) for name in _LATENESS)
    return next((name for name, some in zip(_LATENESS, matters, strict=True) if some), None)


_LATENESS = ("round_slots", "delay_slots")


def called(metric: str) -> str:
    """Return what a title calls a metric."""
    return "relative click-through rate" if metric == "relative_ctr" else metric.replace("_", " ")


def estimate(point: Point, metric: str) -> Band | None:
    """Return mean and t-interval of *metric* over the replications of *point* that know it, None if none does."""
    samples = point.samples(metric)
    return band(samples) if len(samples) else None


def means(points: Sequence[Point]) -> str:
    """Return what a subtitle says of the markers of *points*."""
    most = max(len(point.runs) for point in points)
    return f"means of {most:,} replications with 95 % intervals" if most > 1 else "one replication"


def bend(panel: "Axes", drawn: Sequence[Band], *, across: bool = False, apart: float = DECADES) -> bool:
    """Make an axis of *panel* logarithmic if the means on it are positive and far apart, by default two decades.

    A bar that reaches down to almost nothing does not stretch the axis: it begins a little below the lowest mean.

    Args:
        panel: The axes.
        drawn: The estimates drawn along the axis.
        across: Whether it is the horizontal one.
        apart: How many times the least mean the largest is at least.

    Returns:
        Whether the axis is logarithmic now.
    """
    values = [float(one.mean) for one in drawn]
    if len(values) < 2 or min(values) <= 0 or max(values) < apart * min(values):
        return False
    limits = (0.6 * min(values), 1.5 * max(float(one.high) for one in drawn))
    panel.set(**({"xscale": "log", "xlim": limits} if across else {"yscale": "log", "ylim": limits}))
    if max(values) < DECADES**1.5 * min(values):
        label_more(panel.xaxis if across else panel.yaxis)
    return True


def label_more(axis: "XAxis | YAxis", *between: int) -> None:
    """Put ticks between powers of ten, which are too rare on a logarithmic axis of few decades: at 2 and 5, say."""
    from matplotlib.ticker import LogLocator

    axis.set_major_locator(LogLocator(subs=(1, *(between or (2, 5)))))


def draw_points(
    panel: "Axes",
    across: Sequence[Band],
    upward: Sequence[Band],
    look: Look,
    label: str,
    *,
    joined: bool,
) -> "Line2D":
    """Draw means as markers with the bars of their intervals.

    Args:
        panel: Where to draw.
        across: The horizontal estimates; an interval of no width gets no bar.
        upward: The vertical ones, as many.
        look: Colour, marker and dashes.
        label: The name of the series in the legend.
        joined: Whether a thin line joins the points, which are steps of one number.

    Returns:
        The markers and their line, for the legend.
    """
    x, y = _column(across, "mean"), _column(upward, "mean")
    widths = np.array([x - _column(across, "low"), _column(across, "high") - x])
    heights = np.array([y - _column(upward, "low"), _column(upward, "high") - y])
    bars = panel.errorbar(
        x,
        y,
        xerr=widths if any(one.known for one in across) and widths.any() else None,
        yerr=heights if any(one.known for one in upward) else None,
        color=look.colour,
        marker=look.marker,
        markerfacecolor="white",
        markeredgewidth=1.5,
        linestyle=look.dashes if joined else "none",
        linewidth=1.2,
        elinewidth=1.1,
        capsize=2.5,
        zorder=3,
    )
    line: Line2D = bars.lines[0]
    line.set_label(label)
    return line


def _column(bands: Sequence[Band], end: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([float(getattr(one, end)) for one in bands])
