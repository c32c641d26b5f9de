"""The charts of a metric against something, as specifications, and when each is worth drawing.

Trade-offs of delay, privacy, communication and cost, metrics against the diameter and a swept number, the costs of
structures and learners, and charts requested by the user.
"""

from collections.abc import Sequence
from typing import Any

from netbandit.plots.answers import answer, answer_between, answer_of_two, best_of, range_of
from netbandit.plots.chart import HOPS, HOPS_APART, Chart
from netbandit.plots.estimates import (
    EITHER_DELAY,
    compared,
    distinct,
    lateness,
    mean_of,
    partly_served,
    privacy_key,
    samples,
)
from netbandit.plots.facets import Facets, Part, facets, left_out
from netbandit.plots.grouping import Arrangement, evenly, value_of
from netbandit.plots.values import identity, name, words
from netbandit.results.metrics import axis_label, title_name
from netbandit.results.numbers import rounded, scaled
from netbandit.results.study_result import PointResult
from netbandit.util.text import in_words

BUDGETS = ("learner.rounds", "learner.every", "learner.threshold", "learner.band")
"""Keys of a budget of communication."""
LEARNER, PROTOCOL = "learner.kind", "protocol.kind"
MOST_PARTS = 3
"""The most combinations of the other keys that stand side by side in one picture."""

_LEAST = 3
_LIFETIME = "lifetime_slots"
_DESIGN = ("topology.", "links.", "learner.", "protocol.")
_LEARNERS_APART = 10.0
"""The ratio of regrets of learners from which their axis is logarithmic: the best are of most interest."""
_SHORT = {
    "round_slots": "waiting",
    "delay_slots": "delay",
    "decisions_per_s": "decisions per second",
    "bytes": "data",
    EITHER_DELAY: "delay",
}


def chart_of(arrangement: Arrangement, x: str, y: str = "regret", color: str | None = None, **how: Any) -> Chart:
    """Return the chart of a metric against a key that varies or another metric, with the panels asked for.

    Args:
        arrangement: The points.
        x: A key that varies, or a metric.
        y: A metric.
        color: The key whose values are distinguished by colour; None for one series.
        how: Other attributes of `Chart`. Without a *step*, a line joins the steps of the number on the axis, else those
            of the number with the most values; without a *title* it names the axes.
    """
    layout = facets(arrangement, list(arrangement.slices(arrangement.facing))) if arrangement.facing else None
    across = words(x) if x in arrangement.keys else axis_label(x)
    title = f"{axis_label(y).split(' (')[0]} against {across.split(' (')[0]}"
    numbers = [key for key in arrangement.keys if arrangement.scale(key) is not None]
    if x in arrangement.keys:
        how["step"] = x if x in numbers else None
    elif how.get("step") is None:
        free = [key for key in numbers if key not in (color, *arrangement.facing)]
        how["step"] = max(free, key=lambda key: len(arrangement.values[key]), default=None)
    layout = layout or Facets.row([({}, arrangement)])
    return Chart(arrangement, layout=layout, pairs=[(x, y)] * len(layout.parts), color=color, **{"title": title, **how})


def delay_chart(arrangement: Arrangement) -> Chart | None:
    """Return regret against the slots waited per round, if three points or more differ in these."""
    if len(distinct(arrangement.points, "round_slots")) < _LEAST or not _is_design(arrangement):
        return None
    return _tradeoff(arrangement, "round_slots", "delay", _color(arrangement), frontier=True)


def privacy_chart(arrangement: Arrangement) -> Chart | None:
    """Return regret against the privacy spent, or, where no result knows that, against the budget; if these vary."""
    key = privacy_key(arrangement)
    budget = key if key is not None and arrangement.scale(key) is not None else None
    color = _color(arrangement, budget)
    if len(distinct(_paying(arrangement), "epsilon")) > 1:
        how = {"frontier": _is_design(arrangement), "step": budget}
        return _tradeoff(arrangement, "epsilon", "privacy", color, **how)
    return _tradeoff(arrangement, budget, "privacy", color) if budget is not None else None


def communication_chart(arrangement: Arrangement) -> Chart | None:
    """Return regret against the data sent, with the budget along the line, if a budget of communication varies."""
    budget = next((key for key in BUDGETS if key in arrangement.keys and arrangement.scale(key) is not None), None)
    if budget is None or len(distinct(_paying(arrangement), "bytes")) < 2:
        return None
    color = _color(arrangement, budget)
    return _tradeoff(arrangement, "bytes", "communication", color, step=budget, labelled=True)


def lifetime_chart(arrangement: Arrangement) -> Chart | None:
    """Return how long batteries last against a number of ``[energy]`` that varies, else regret against how long."""
    if len(distinct(arrangement.points, _LIFETIME)) < _LEAST:
        return None
    key = next((key for key in arrangement.keys if key.startswith("energy.") and arrangement.scale(key)), None)
    if key is None:
        return _tradeoff(arrangement, _LIFETIME, "lifetime", _color(arrangement))
    title = answer(arrangement, arrangement.points, key, _LIFETIME) or range_of(arrangement, _LIFETIME)
    return chart_of(arrangement, key, _LIFETIME, _color(arrangement, key), **({"title": title} if title else {}))


def _tradeoff(arrangement: Arrangement, x: str, what: str, color: str | None, **how: Any) -> Chart:
    """Return the chart of the metric that compares points against *x*, which its title calls *what*."""
    y = compared(arrangement.points)
    title = answer(arrangement, arrangement.points, x, y) if x in arrangement.keys else answer_of_two(arrangement, x, y)
    return chart_of(arrangement, x, y, color, title=title or f"{title_name(y)} against {what}", **how)


def _color(arrangement: Arrangement, other: str | None = None) -> str | None:
    """Return the key distinguished by colour, not *other*: the protocol if that varies, else the key of the series."""
    keys = [key for key in (PROTOCOL, *arrangement.keys) if key in arrangement.keys and key != other]
    return next(iter(keys), None)


def _paying(arrangement: Arrangement) -> list[PointResult]:
    """Return the points that cost something, or all where none does."""
    return [point for point in arrangement.points if mean_of(point, "cost")] or list(arrangement.points)


def _is_design(arrangement: Arrangement) -> bool:
    """Return whether only choices of whoever builds the system vary: then the best of them is a frontier.

    How many agents there are is no choice: the regret of more agents is that of more pulls.
    """
    return all(key.startswith(_DESIGN) and key != "topology.agents" for key in arrangement.keys)


def numeric_keys(arrangement: Arrangement) -> list[str]:
    """Return the keys that belong on an axis: numbers, but not those that are the series beside another number."""
    numeric = [key for key in arrangement.keys if arrangement.scale(key) is not None]
    return numeric if len(arrangement.keys) == 1 else [key for key in numeric if key != arrangement.series]


def axis_key(arrangement: Arrangement) -> str | None:
    """Return the number with the most values, the earlier key among equals; None if the sweep varies no number."""
    return max(numeric_keys(arrangement), key=lambda key: len(arrangement.values[key]), default=None)


def has_a_line(arrangement: Arrangement, key: str) -> bool:
    """Return whether some series has two values of *key* or more: a single value shows no trend."""
    lines = arrangement.along(_series(arrangement, key))
    return any(len({identity(value_of(point, key)) for point in points}) > 1 for _, points in lines)


def others(arrangement: Arrangement, key: str) -> list[str]:
    """Return the keys that a picture against *key* holds fixed."""
    return [other for other in arrangement.keys if other not in (key, _series(arrangement, key))]


def _series(arrangement: Arrangement, key: str) -> str | None:
    return arrangement.series if arrangement.series != key else None


def parameter_chart(whole: Arrangement, key: str, parts: Sequence[Part] = ()) -> Chart:
    """Return regret, and below or beside it the slots waited per round, against the values of *key*.

    Where no agent waits, the second row is the delay of information, and without that the cost, if any; where
    users went away unserved it is the decisions in a second, beside the regret of each. Where all runs end with the
    last answer, it is when that comes, and the samples until then. What is the same at all points has no row: the
    subtitle has its value.

    Args:
        whole: All points.
        key: A key whose values are numbers.
        parts: The points of each column of panels, in which *key* and the series' key vary, with the values they hold
            fixed; all points, if there are none. `MOST_PARTS` of them are drawn.
    """
    columns = evenly(parts, MOST_PARTS) or [({}, whole)]
    points = [point for _, part in columns for point in part.points]
    first = compared(points)
    second = "decisions_per_s" if partly_served(points) else lateness(points) or "cost"
    if first == "stop_slot":
        second = "samples"
    metrics = [first, *_differing(points, second)]
    title = " and ".join([title_name(first), *(_SHORT.get(metric, metric) for metric in metrics[1:])])
    layout = Facets.row(columns * len(metrics), len(metrics) if len(columns) > 1 else 1, left_out(columns, parts))
    return Chart(
        whole,
        title=answer(whole, points, key, first) or range_of(whole, first, points) or f"{title} against {name(key)}",
        layout=layout,
        pairs=[(key, metric) for metric in metrics for _ in columns],
        color=_series(whole, key),
        step=key,
        note=_same_note(points, second),
    )


def diameter_varies(arrangement: Arrangement) -> bool:
    """Return whether the sweep varies the topology in a way that gives three diameters or more: two make no picture."""
    if not any(key.startswith("topology.") for key in arrangement.keys):
        return False
    return len(distinct(arrangement.points, HOPS)) >= _LEAST


def cost_varies(arrangement: Arrangement) -> bool:
    """Return whether there are three points or more with different costs."""
    return len(distinct(arrangement.points, "cost")) >= _LEAST


def structures_vary(arrangement: Arrangement) -> bool:
    """Return whether the sweep compares three or more protocols."""
    return PROTOCOL in arrangement.keys and len(arrangement.values[PROTOCOL]) >= _LEAST


def learners_vary(arrangement: Arrangement) -> bool:
    """Return whether the sweep compares three or more learners that differ in data, energy or delay."""
    compares = LEARNER in arrangement.keys and len(arrangement.values[LEARNER]) >= _LEAST
    return compares and bool(_prices(arrangement))


def beside_topology(arrangement: Arrangement) -> list[str]:
    """Return the keys that do not belong to the topology: a picture against the diameter holds them fixed."""
    return [key for key in arrangement.keys if not key.startswith("topology.")]


def diameter_chart(arrangement: Arrangement, fixed: dict[str, Any] | None = None) -> Chart:
    """Return cost, waiting and regret against the diameter; families are distinguished by colour and marker.

    Where no agent waits the second panel is the delay of information. A metric that is the same everywhere has no
    panel: the subtitle has its value.

    Args:
        arrangement: The points, in which only the topology varies.
        fixed: The values that the subtitle states as fixed.
    """
    last, late = compared(arrangement.points), lateness(arrangement.points) or "round_slots"
    metrics = [*_differing(arrangement.points, "cost", late), last]
    names = ["delay" if metric == late else title_name(metric) for metric in metrics]
    found = answer_between(arrangement, HOPS, last) or range_of(arrangement, last)
    title = found or f"{in_words(names, 'and')} against the diameter"
    how: dict[str, Any] = {"apart": HOPS_APART, "note": _same_note(arrangement.points, "cost", late)}
    return _of_metrics(arrangement, family_key(arrangement), [(HOPS, one) for one in metrics], title, fixed, **how)


def diameters_chart(arrangement: Arrangement, parts: Sequence[Part]) -> Chart:
    """Return regret against the diameter in a panel for each of *parts*, in which only the topology varies."""
    y = compared(arrangement.points)
    answers = (answer_between(part, HOPS, y) for _, part in reversed(parts))
    title = next(filter(None, answers), "") or range_of(arrangement, y) or f"{title_name(y)} against the diameter"
    layout = facets(arrangement, parts)
    pairs = [(HOPS, y)] * len(layout.parts)
    return Chart(arrangement, title, layout, pairs, color=family_key(arrangement), apart=HOPS_APART)


def family_key(arrangement: Arrangement) -> str | None:
    """Return the key that says which kind of topology a point has; None if these differ in numbers only."""
    kinds = [key for key in arrangement.keys if key.startswith("topology.") and arrangement.scale(key) is None]
    return "topology.family" if "topology.family" in kinds else next(iter(kinds), None)


def cost_chart(arrangement: Arrangement) -> Chart:
    """Return the regret that a cost buys, with a colour for each value of the series' key."""
    y = compared(arrangement.points)
    title = answer_of_two(arrangement, "cost", y) or f"{title_name(y)} against cost"
    return _of_metrics(arrangement, arrangement.series, [("cost", y)], title)


def learners_chart(arrangement: Arrangement) -> Chart:
    """Return regret against the data sent, and beside it against energy and delay where these differ.

    Learners are distinguished by colour, all other varying keys, such as the protocol, by shape.
    """
    y, prices = compared(arrangement.points), _prices(arrangement)
    what = ", ".join(_SHORT.get(price, title_name(price)) for price in prices)
    title = best_of(arrangement, prices[0], y) or f"{title_name(y)} of each learner against {what}"
    return _of_metrics(arrangement, LEARNER, [(price, y) for price in prices], title, apart=_LEARNERS_APART)


def structure_chart(arrangement: Arrangement) -> Chart:
    """Return regret against cost; the larger a mark is, the longer a round is waited for.

    Protocols are distinguished by colour, all other varying keys by shape. A mark whose wait did not end is dotted.
    """
    layout = Facets.row([({}, arrangement)])
    y = compared(arrangement.points)
    title = best_of(arrangement, "cost", y) or "what each structure costs"
    return Chart(arrangement, title, layout, [("cost", y)], color=PROTOCOL, waiting=True)


def _of_metrics(
    arrangement: Arrangement,
    color: str | None,
    pairs: Sequence[tuple[str, str]],
    title: str,
    fixed: dict[str, Any] | None = None,
    **how: Any,
) -> Chart:
    """Return a panel for each pair of metrics; a line joins the steps of the only number that varies beside *color*."""
    rest = [key for key in arrangement.keys if key != color and len(arrangement.along(key)) > 1]
    step = rest[0] if len(rest) == 1 and arrangement.scale(rest[0]) is not None else None
    layout = Facets.row([(fixed or {}, arrangement)] * len(pairs))
    return Chart(arrangement, title, layout, pairs, color=color, step=step, **how)


def _differing(points: Sequence[PointResult], *metrics: str) -> list[str]:
    """Return those of *metrics* that differ between points: of no other is there anything to see."""
    return [metric for metric in metrics if len(distinct(points, metric)) > 1]


def _same_note(points: Sequence[PointResult], *metrics: str) -> str:
    """Return the subtitle's note on those of *metrics* that are the same, and not 0, at all points that have any."""
    notes = []
    for metric in metrics:
        means = distinct(points, metric)
        if len(means) == 1 and any(means):
            where = "everywhere" if all(samples(point, metric) for point in points) else "where it is known"
            notes.append(f"{axis_label(metric)}: {scaled(rounded(means.pop(), 3))} {where}")
    return "; ".join(notes)


def _prices(arrangement: Arrangement) -> list[str]:
    """Return those of data, energy and delay that differ between points."""
    return _differing(arrangement.points, "bytes", "energy_j", EITHER_DELAY)
