"""Comparison of communication structures: regret against cost, with delay as marker size."""

from typing import TYPE_CHECKING

from netbandit.plots.bands import Band
from netbandit.plots.estimates import Estimates, compared, mean_of
from netbandit.plots.grouping import Arrangement
from netbandit.plots.marks import Mark, at_zero_place, bend, draw_far_off, draw_marks, far_off, zero_place
from netbandit.plots.shapes import Shapes
from netbandit.plots.style import drawing, figure, legend_beside, readable
from netbandit.plots.subtitles import left_out_note, missing_note, privacy_note, replications_note, shortfall_note
from netbandit.results.metrics import axis_label
from netbandit.results.numbers import rounded, scaled
from netbandit.results.store import PointResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PROTOCOL = "protocol.kind"

_LEAST = 3
_SMALLEST, _LARGEST = 25.0, 320.0
"""The areas of the marks of no delay and of the longest, in square points."""

_WAITING = "round_slots"


def structures_vary(arrangement: Arrangement) -> bool:
    """Return whether the sweep compares three or more protocols."""
    return PROTOCOL in arrangement.keys and len(arrangement.values[PROTOCOL]) >= _LEAST


@drawing()
def draw_structures(arrangement: Arrangement) -> "Figure":
    """Draw a mark per point: across its cost, upward its regret; the larger it is, the longer a round is waited for.

    Protocols are told apart by colour, all else that varies by shape. Who says nothing stands at no cost; where that
    is worse than all others by far, at the upper edge. A mark whose wait did not end is dotted, and has no size.
    """
    shapes = Shapes.of(arrangement, PROTOCOL)
    upward = compared(arrangement.points)
    cost, regret = (Estimates(arrangement, metric) for metric in ("cost", upward))
    shown = [point for point in arrangement.points if cost.of(point) is not None and regret.of(point) is not None]
    waits = {id(point): mean_of(point, _WAITING) for point in shown}
    longest = max((wait for wait in waits.values() if wait is not None), default=0.0)
    sizes = f"marker area: slots waited per round, up to {scaled(rounded(longest, 3))}" if longest > 0 else ""
    unknown = left_out_note(shown, _WAITING, arrangement.keys).replace("left out", "not drawn as size (dotted)")
    pairs = [(point, _mark(point, shapes, arrangement, cost, regret)) for point in shown]
    away = far_off([mark for _, mark in pairs])
    near = [(point, mark) for point, mark in pairs if mark not in away]
    with_runs = [point for point, _ in near]
    drawn_means = replications_note(shown, cost.only(with_runs), regret.only(with_runs))
    far = shortfall_note([mark.y for mark in away])
    parts = (
        drawn_means,
        "" if far in drawn_means else far,
        sizes,
        unknown,
        missing_note(arrangement),
        shapes.note,
        privacy_note(shown),
    )
    drawn, (panel,) = figure(f"{arrangement.name}: what each structure costs", "; ".join(filter(None, parts)))
    zero = _axes(panel, [mark for _, mark in near], [mark.x for _, mark in pairs], upward)
    for point, mark in near:
        draw_marks(panel, [mark], zero, mark.name, joined=False).set_marker("none")
        wait = waits[id(point)]
        area = _SMALLEST + (_LARGEST - _SMALLEST) * ((wait or 0.0) / longest if longest else 0.0)
        panel.scatter(
            float(at_zero_place(mark.x, zero).mean),
            float(mark.y.mean),
            s=area,
            marker=mark.look.marker,
            facecolor=[(*_rgb(mark.look.colour), 0.25)],
            edgecolor=mark.look.colour,
            linewidth=1.4,
            linestyle=":" if wait is None and longest > 0 else "-",
            zorder=3.5,
        )
    draw_far_off(panel, away, zero)
    legend_beside(drawn, *shapes.legend(shown))
    return drawn


def _mark(point: PointResult, shapes: Shapes, arrangement: Arrangement, cost: Estimates, regret: Estimates) -> Mark:
    x, y = cost.of(point), regret.of(point)
    assert x is not None
    assert y is not None
    return Mark(x, y, shapes.look(point), shapes.text(point))


def _axes(panel: "Axes", near: list[Mark], costs: list[Band], upward: str) -> float | None:
    """Give *panel* its axes and return where zero stands across, if that is a place of its own."""
    logarithmic = bend(panel, costs, across=True)
    if not logarithmic:
        panel.set_xlim(_ends(costs))
    if not bend(panel, [mark.y for mark in near]):
        panel.set_ylim(_ends([mark.y for mark in near]))
    panel.set_xlabel(axis_label("cost"))
    panel.set_ylabel(axis_label(upward))
    readable(panel)
    return zero_place(costs) if logarithmic else None


def _ends(bands: list[Band]) -> tuple[float, float]:
    """Return where an axis begins and ends on which all *bands* have room; not below 0 where nothing can be."""
    runs = [value for band in bands for value in band.runs.values()]
    low = min([*(float(band.widest[0]) for band in bands), *runs])
    high = max([*(float(band.widest[1]) for band in bands), *runs])
    room = 0.12 * ((high - low) or abs(high) or 1.0)
    least = min([*(float(band.mean) for band in bands), *runs])
    return max(low - room, -0.03 * high) if least >= 0 else low - room, high + room


def _rgb(colour: str) -> tuple[float, float, float]:
    from netbandit.util.extras.plots import to_rgb

    red, green, blue = to_rgb(colour)
    return red, green, blue
