"""Structures of communication side by side: regret against cost, with delay as the size of the marks."""

from typing import TYPE_CHECKING, Any

from netbandit.plots.grouping import Arrangement, Point
from netbandit.plots.metrics import AXES, bend, estimate, means
from netbandit.plots.silence import PROTOCOL, silence, talking
from netbandit.plots.style import (
    NEUTRAL,
    drawing,
    figure,
    legend_beside,
    readable,
    wrapped,
)
from netbandit.plots.values import name, shown, words
from netbandit.results.numbers import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netbandit.plots.bands import Band


_LEAST = 3
_SMALLEST, _LARGEST = 25.0, 320.0
"""The areas of the marks of no delay and of the longest, in square points."""


def structures_vary(arrangement: Arrangement) -> bool:
    """Tell whether the sweep compares protocols, three or more of them."""
    return PROTOCOL in arrangement.keys and len(arrangement.choices[PROTOCOL]) >= _LEAST


@drawing()
def draw_structures(arrangement: Arrangement) -> "Figure":
    """Draw a mark per point: across its cost, upward its regret; the larger it is, the longer a round is waited for.

    Protocols are told apart by colour, the values of the first other key that varies by shape.
    """
    shape = next((key for key in arrangement.keys if key != PROTOCOL), None)
    shown_points = talking(arrangement)
    longest = max((_delay(point) for point in shown_points), default=0.0)
    sizes = f"area of a mark: slots waited per round, up to {scaled(float(round(longest)))}" if longest > 0 else ""
    subtitle = "; ".join(filter(None, (means(arrangement.points), sizes, silence(arrangement))))
    drawn, panels = figure(f"{arrangement.name}: what each structure costs", subtitle)
    panel = panels[0]
    costs = []
    for point in shown_points:
        cost, regret = estimate(point, "cost"), estimate(point, "regret")
        if cost is None or regret is None:
            continue
        costs.append(cost)
        look = arrangement.look(PROTOCOL, point.values[PROTOCOL])
        marker = look.marker if shape is None else arrangement.look(shape, point.values[shape]).marker
        area = _SMALLEST + (_LARGEST - _SMALLEST) * (_delay(point) / longest if longest else 0.0)
        panel.errorbar(
            float(cost.mean),
            float(regret.mean),
            xerr=[[float(cost.mean - cost.low)], [float(cost.high - cost.mean)]] if _spreads(cost) else None,
            yerr=[[float(regret.mean - regret.low)], [float(regret.high - regret.mean)]] if regret.known else None,
            color=look.colour,
            linestyle="none",
            elinewidth=0.9,
            capsize=2.0,
            alpha=0.7,
            zorder=2.5,
        )
        panel.scatter(
            float(cost.mean),
            float(regret.mean),
            s=area,
            marker=marker,
            facecolor=[(*_rgb(look.colour), 0.25)],
            edgecolor=look.colour,
            linewidth=1.4,
            zorder=3,
        )
    _axes(panel, costs)
    handles, labels = _legend(arrangement, shape)
    legend_beside(drawn, handles, labels, words(PROTOCOL) if shape is None else f"{name(PROTOCOL)}, {name(shape)}")
    return drawn


def _axes(panel: "Axes", costs: "Sequence[Band]") -> None:
    panel.margins(0.12)
    if bend(panel, costs, across=True):
        middles = [float(one.mean) for one in costs]
        panel.set_xlim(0.4 * min(middles), 2.5 * max(middles))
    panel.set_xlabel(AXES["cost"])
    panel.set_ylabel(AXES["regret"])
    readable(panel)


def _legend(arrangement: Arrangement, shape: str | None) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    def handle(colour: str, marker: str) -> Line2D:
        return Line2D([], [], color=colour, marker=marker, linestyle="none", markerfacecolor="white")

    handles, labels = [], []
    drawn = [point.values[PROTOCOL] for point in talking(arrangement)]
    for value in (value for value in arrangement.choices[PROTOCOL] if value in drawn):
        look = arrangement.look(PROTOCOL, value)
        handles.append(handle(look.colour, look.marker if shape is None else "o"))
        labels.append(wrapped(shown(value), 22))
    for value in arrangement.choices[shape] if shape is not None else []:
        handles.append(handle(NEUTRAL, arrangement.look(str(shape), value).marker))
        labels.append(wrapped(shown(value), 22))
    return handles, labels


def _spreads(band: "Band") -> bool:
    return band.known and bool(band.high > band.low)


def _delay(point: Point) -> float:
    """Return the slots waited per round, mean over replications; 0 if there was no round."""
    found = estimate(point, "round_slots")
    return 0.0 if found is None else float(found.mean)


def _rgb(colour: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return red, green, blue
