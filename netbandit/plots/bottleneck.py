"""The bottleneck: the busiest links, including uplinks, and how long messages wait for each."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.grouping import Arrangement, described, value_of
from netbandit.plots.style import COLOURS, NEUTRAL, drawing, figure, legend_below, readable
from netbandit.results.loads import UPLINK, ends_of_links, mean_loads, nodes_of
from netbandit.results.numbers import percentage, scaled
from netbandit.results.study_result import PointResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 12
"""The number of links shown, the busiest first."""

_ALIKE = 0.95
"""A link that is occupied for this share of the busiest one's time is as busy."""
_BUSY = 0.01
_LONGEST_NAME = 24
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_PEER_COLOUR, _UPLINK_COLOUR = COLOURS[0], COLOURS[1]


def queues(point: PointResult) -> bool:
    """Return whether messages occupied a link for any time: nothing queues where bandwidth is unlimited."""
    classes = (use for run in point.finished for use in (run.links, run.uplinks) if use is not None)
    return any(way is not None and bool(way.any()) for use in classes for way in (use.busy, use.busy_back))


def most_busy(point: PointResult) -> tuple[float, float]:
    """Return the longest wait for a link of *point* (s), and the share of the run that one is occupied."""
    loads = mean_loads(point.finished)[1]
    shares = np.maximum(loads["utilisation"], loads["utilisation_back"])
    return float(np.nan_to_num(loads["longest_wait_s"]).max(initial=0.0)), float(shares.max(initial=0.0))


def is_busy(point: PointResult) -> bool:
    """Return whether some link of *point* is occupied for a share of the run that can be seen."""
    return most_busy(point)[1] >= _BUSY


@drawing()
def draw_bottleneck(arrangement: Arrangement, point: PointResult) -> "Figure":
    """Draw the share of the run for which the busiest links of *point* are occupied, and the waits for each.

    Args:
        arrangement: The study, whose keys name the point.
        point: A point with some occupied links; see `queues`.
    """
    runs, loads, _ = mean_loads(point.finished)
    ends, classes = ends_of_links(runs[0])
    busy = np.maximum(loads["utilisation"], loads["utilisation_back"])
    used = int((busy > 0).sum())
    shown = np.argsort(-busy, kind="stable")[: min(MOST, used)]
    names = [name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in nodes_of(runs[0])]
    back = loads["utilisation_back"] > loads["utilisation"]
    labels = [" → ".join(names[node] for node in (ends[link][::-1] if back[link] else ends[link])) for link in shown]
    colours = [_UPLINK_COLOUR if classes[link] == UPLINK else _PEER_COLOUR for link in shown]
    whose = "one replication" if len(runs) == 1 else f"mean of {len(runs):,} replications"
    if len(runs) < len(point.finished):
        whose = f"replication {runs[0].replication} of {len(point.finished):,}, each on a different network"
    notes = [whose, described({key: value_of(point, key) for key in arrangement.keys})]
    some = f"the {len(shown)} busiest of {scaled(used)} links in use, " if len(shown) < used else ""
    notes.append(f"{some}each in its busier direction")
    share = scaled(percentage(float(busy[shown[0]])))
    alone = used == 1 or float(np.sort(busy)[-2]) < _ALIKE * float(busy[shown[0]])
    most = f"{labels[0]} is occupied {share} % of the time, the most of all links"
    waits = bool(loads["longest_wait_s"].any())
    title = f"{arrangement.name}: {most if alone else f'links are occupied up to {share} % of the time'}"
    title += "" if waits else ", and no message waits for one"
    drawn, (left, *right) = figure(title, "; ".join(filter(None, notes)), columns=1 + waits, sharey=True)
    rows = np.arange(len(shown))
    left.barh(rows, 100 * busy[shown], height=0.62, color=colours, zorder=2)
    left.set_xlim(0, 100 if busy.max() > 0.5 else None)
    left.set_xlabel("time occupied (%)")
    left.set_ylim(len(shown) - 0.4, -0.6)
    left.set_yticks(rows, labels, color=NEUTRAL)
    for panel in right:
        _draw_waits(panel, rows, loads["mean_wait_s"][shown], loads["longest_wait_s"][shown], colours)
    for panel in (left, *right):
        panel.tick_params(axis="y", length=0)
        panel.grid(visible=False, axis="y")
        readable(panel, y=False)
    _legend(drawn, colours, waits)
    return drawn


def _draw_waits(
    panel: "Axes",
    rows: NDArray[np.int64],
    mean: NDArray[np.float64],
    longest: NDArray[np.float64],
    colours: list[str],
) -> None:
    size, unit = next((each for each in _UNITS if longest.max(initial=0.0) >= each[0]), _UNITS[0])
    panel.hlines(rows, mean / size, longest / size, colors=colours, linewidth=1.2, zorder=2)
    panel.scatter(mean / size, rows, s=34, c=colours, zorder=3, clip_on=False)
    panel.scatter(longest / size, rows, s=60, c=colours, marker="|", zorder=3, clip_on=False)
    panel.set_xlim(left=0)
    panel.set_xlabel(f"messages wait for it ({unit})")


def _legend(drawn: "Figure", colours: list[str], waits: bool) -> None:
    from netbandit.util.extras.plots import Line2D, Patch

    both = ((_PEER_COLOUR, "links between agents"), (_UPLINK_COLOUR, "uplinks to the server"))
    handles: list[Any] = [Patch(color=colour, label=text) for colour, text in both if colour in colours]
    how: dict[str, Any] = {"linestyle": "none", "color": NEUTRAL}
    if waits:
        handles.append(Line2D([], [], marker="o", markersize=5.5, label="mean wait", **how))
        handles.append(Line2D([], [], marker="|", markersize=9, label="longest wait", **how))
    legend_below(drawn, handles, [str(handle.get_label()) for handle in handles], "")
