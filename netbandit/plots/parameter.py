"""Regret and waiting against a swept number, such as the latency of the links."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from netbandit.plots.axis import Axis
from netbandit.plots.bands import Band, exact
from netbandit.plots.estimates import EPSILONS, Estimates, compared, lateness, partly_served
from netbandit.plots.grouping import Arrangement, described, titled, value_of
from netbandit.plots.marks import aside, draw_points, finish_heights
from netbandit.plots.style import PLAIN, drawing, figure, head, legend_below, readable, wrapped
from netbandit.plots.subtitles import left_out_note, missing_note, privacy_note, replications_note
from netbandit.plots.values import identity, name, shown, words
from netbandit.results.metrics import axis_label, title_name
from netbandit.results.store import PointResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 3
"""So many combinations of the other keys stand side by side in one picture."""

_SHORT = {"round_slots": "waiting", "delay_slots": "delay", "cost": "cost", "decisions_per_s": "decisions per second"}


def numeric_keys(arrangement: Arrangement) -> list[str]:
    """Return the keys that belong on an axis: numbers, but not those that are the series beside another number."""
    numeric = [key for key in arrangement.keys if arrangement.scale(key) is not None]
    return numeric if len(arrangement.keys) == 1 else [key for key in numeric if key != arrangement.series]


def axis_key(arrangement: Arrangement) -> str | None:
    """Return the number with the most values, the earlier key among equals; None if the sweep varies no number."""
    numeric = numeric_keys(arrangement)
    return max(numeric, key=lambda key: len(arrangement.values[key])) if numeric else None


def has_a_line(arrangement: Arrangement, key: str) -> bool:
    """Tell whether some series has two values of *key* or more: of one alone there is nothing to see along the axis."""
    series = _series(arrangement, key)
    return any(len({identity(value_of(point, key)) for point in points}) > 1 for _, points in arrangement.along(series))


def others(arrangement: Arrangement, key: str) -> list[str]:
    """Return the keys that a picture against *key* holds fixed."""
    return [other for other in arrangement.keys if other not in (key, _series(arrangement, key))]


@drawing()
def draw_against_parameter(
    whole: Arrangement, key: str, parts: Sequence[tuple[dict[str, Any], Arrangement]] = (), of: int = 1
) -> "Figure":
    """Draw regret, and below or beside it the slots waited per round, against the values of *key*.

    Where nobody waits, the second row is the delay of what is heard, and without that the cost; where users went away
    unserved it is the decisions in a second, beside the regret of each. Series stand side by side around each value.

    Args:
        whole: All points.
        key: A key whose values are numbers.
        parts: The points of each column of panels, in which *key* and the series' key vary, with the values they hold
            fixed; all points, if there are none. At most three.
        of: How many such parts there are, drawn or not.
    """
    columns = list(parts) or [({}, whole)]
    series = _series(whole, key)
    points = [point for _, part in columns for point in part.points]
    first = compared(points)
    second = "decisions_per_s" if partly_served(points) else lateness(points) or "cost"
    metrics = (first, second)
    drawn_metrics = {metric: Estimates(whole, metric, points) for metric in metrics}
    fixed = described(columns[0][0]) if len(columns) == 1 else ""
    notes = (
        replications_note(points, *drawn_metrics.values()),
        fixed,
        f"{len(columns)} of {of} combinations" if of > len(columns) else "",
        *(left_out_note(points, metric, whole.keys) for metric in metrics),
        missing_note(whole),
        "" if key in EPSILONS else privacy_note(points),
    )
    what = f"{title_name(first)} and {_SHORT[second]}"
    title = f"{whole.name}: {what} against {name(key)}"
    shape = {"columns": 2} if len(columns) == 1 else {"rows": 2, "columns": len(columns), "sharey": "row"}
    drawn, panels = figure(title, "; ".join(filter(None, notes)), **shape)
    scale = whole.scale(key)
    assert scale is not None
    axis = Axis.of(scale, ratios=key in EPSILONS)
    handles: dict[str, Any] = {}
    for row, metric in enumerate(metrics):
        bands: list[Band] = []
        for column, (values, part) in enumerate(columns):
            panel = panels[row * len(columns) + column]
            bands += _draw(panel, part, key, series, drawn_metrics[metric], axis, handles)
            axis.apply(panel, max(2, len(columns)))
            if len(columns) == 1 or row == 1:
                panel.set_xlabel(wrapped(scale.label, 44))
            if len(columns) > 1 and row == 0:
                head(panel, titled(values), len(columns))
            if column == 0:
                panel.set_ylabel(axis_label(metric))
        for panel in panels[row * len(columns) : (row + 1) * len(columns)]:
            panel.margins(y=0.08)
            finish_heights(panel, bands)
            readable(panel, x=False)
    if series is not None:
        legend_below(drawn, list(handles.values()), list(handles), words(series))
    return drawn


def _series(arrangement: Arrangement, key: str) -> str | None:
    return arrangement.series if arrangement.series != key else None


def _draw(
    panel: "Axes",
    part: Arrangement,
    key: str,
    series: str | None,
    metric: Estimates,
    axis: Axis,
    handles: dict[str, Any],
) -> list[Band]:
    """Draw the lines of *part*, add what a legend says of them to *handles*, and return what was drawn."""
    places = {identity(value): place for value, place in zip(part.values[key], axis.places, strict=True)}
    heights: list[Band] = []
    groups = part.along(series)
    for turn, (value, points) in enumerate(groups):
        known = _known(points, key, metric, places)
        if not known:
            continue
        look = PLAIN if series is None else part.look(series, value)
        text = "" if series is None else wrapped(shown(value), 22)
        away = axis.span * aside(turn, len(groups))
        # No line leads to infinity.
        finite, beyond = ([pair for pair in known if (pair[0] > axis.last) is far] for far in (False, True))
        for some in (finite, beyond):
            if some:
                across = [exact(place) for place, _ in some]
                line = draw_points(panel, across, [one for _, one in some], look, text, joined=True, beside=away)
                handles.setdefault(text, line)
        heights += [one for _, one in known]
    return heights


def _known(
    points: Sequence[PointResult], key: str, metric: Estimates, places: dict[str, float]
) -> list[tuple[float, Band]]:
    found = [(places[identity(value_of(point, key))], metric.of(point)) for point in points]
    return sorted(((place, one) for place, one in found if one is not None), key=lambda pair: pair[0])
