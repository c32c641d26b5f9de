"""The picture of an emulation: round times, and the excess time of hops by link."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netbandit.plots.style import COLOURS, NEUTRAL, drawing, figure, readable
from netbandit.studies.emulation.comparison import ROUND, SLOPE, HopTime, RoundTime, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@drawing()
def drawn(setting: str, rows: Sequence[Row], rounds: Sequence[RoundTime], hops: Sequence[HopTime]) -> "Figure":
    """Return the picture of *rounds* and *hops*, with *rows* of the table and the *setting* in its heading."""
    time = {row.quantity: row.emulated for row in rows}
    named = {ROUND: "a round's error", SLOPE: "the slope of hops"}
    found = [f"{what} is {time[key]}" for key, what in named.items() if key in time]
    figure_, (above, below) = figure(", ".join(found) or "Measured and simulated times", setting, rows=2)
    _draw_rounds(above, rounds)
    _draw_hops(below, hops)
    return figure_


def _draw_rounds(panel: "Axes", rounds: Sequence[RoundTime]) -> None:
    expected = [each.simulated_s * 1e3 for each in rounds]
    found = [each.measured_s * 1e3 for each in rounds]
    most = max([*expected, *found], default=1.0) * 1.05
    panel.plot([0, most], [0, most], color=NEUTRAL, linewidth=0.8, label="equal")
    panel.plot(expected, found, "o", color=COLOURS[0], label="a round")
    panel.set_xlabel("simulated (ms)")
    panel.set_ylabel("measured (ms)")
    panel.legend(loc="upper left")
    readable(panel)


def _draw_hops(panel: "Axes", hops: Sequence[HopTime]) -> None:
    links: dict[tuple[int, int], list[float]] = {}
    for hop in hops:
        links.setdefault((hop.sender, hop.receiver), []).append((hop.measured_s - hop.simulated_s) * 1e3)
    ordered = sorted(links)
    for place, link in enumerate(ordered):
        panel.plot([place] * len(links[link]), links[link], ".", color=COLOURS[0], markersize=3, alpha=0.4)
    few = range(0, len(ordered), max(1, len(ordered) // 12))
    panel.set_xticks(list(few), [f"{ordered[place][0]}-{ordered[place][1]}" for place in few])
    panel.set_ylim(bottom=0.0)
    panel.set_xlabel("link, from and to")
    panel.set_ylabel("a hop's excess (ms)")
    readable(panel, x=False)
