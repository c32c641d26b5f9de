"""Which metrics are worth a column, and what is the same at every point of a study."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from netbandit.results.columns import column
from netbandit.results.metrics import HEADINGS
from netbandit.results.store import PointResult
from netbandit.results.summary import Estimate
from netbandit.simulation.result import Metric

Values = Mapping[str, Sequence[Metric]]
"""The values of each metric in the runs of a point."""

FIRST_METRICS = ("regret", "cost", "round_slots", "bytes", "energy_j", "rounds", "epsilon", "messages", "simulated_s")
"""The metrics that are shown for many points, the most telling first; as many as there is room for, at most six."""

PRICED = "energy_j"
"""Zero unless the scenario says what a message takes; then it is what its author asks for, and has a column."""

_ALWAYS_THERE = {
    *(*FIRST_METRICS, *HEADINGS, "activations", "delta", "broadcasts", "broadcast_copies", "events", "may_stall"),
}
"""Metrics that every run has; any other is one a learner or a protocol adds of its own, and worth a column."""


_SAID_ALREADY = ("regret_per_decision", "regret_worst_agent", "regret_best_agent", "items", "delivered", "mass")
"""Metrics that mostly follow from others that have a column: theirs come last."""


def metrics_with_columns(found: Sequence[dict[str, Estimate]]) -> list[str]:
    """Return the metrics worth a column, the most telling first: those that differ from 0 and exist somewhere.

    Regret comes first (`main_metric`), and then how many users went away unserved, and the privacy spent; what is the
    same at every point tells none from another, and comes last.
    """
    own = [name for each in found for name in each if name not in _ALWAYS_THERE.union(_SAID_ALREADY)]
    # Regrets are not to be compared where privacy differs without its being seen.
    spent = ["epsilon"] if _differs("epsilon", found) else []
    first = main_metric([{name: estimate.values for name, estimate in each.items()} for each in found])
    order = dict.fromkeys(
        (
            *(first, "unserved", *spent, PRICED, "recovery_slots"),
            *(*FIRST_METRICS[1:3], *own, *FIRST_METRICS[3:], *_SAID_ALREADY),
        )
    )
    worth = [metric for metric in order if _says_something(metric, found)]
    return sorted(worth, key=lambda metric: metric != first and not _differs(metric, found))


def main_metric(found: Sequence[Values]) -> str:
    """Return the metric that points are compared by: regret, or where some of it is not counted that of a decision.

    Who is not served, or not there, adds no regret, so that to serve fewer would look like a gain.
    """
    uncounted = partly_served(found) or partly_absent(found)
    known = any(_known(each, "regret_per_decision") for each in found)
    return "regret_per_decision" if known and uncounted else "regret"


def partly_served(found: Sequence[Values]) -> bool:
    """Tell whether users went away unserved at any point, and their regret was not counted."""
    return any(any(_known(each, "unserved")) and not _known(each, "regret_unserved") for each in found)


def partly_absent(found: Sequence[Values]) -> bool:
    """Tell whether agents were absent, and not for the same time at all points."""
    shares = [_known(each, "availability") for each in found]
    means = {math.fsum(some) / len(some) for some in shares if some}
    return len(means) > 1 and any(any(_known(each, "absent_slots")) for each in found)


def run_values(point: PointResult) -> Values:
    """Return the values of each metric in the runs of *point*."""
    names = dict.fromkeys(name for run in point.finished for name in run.metrics)
    return {name: [run.metrics.get(name) for run in point.finished] for name in names}


def _known(values: Values, metric: str) -> list[float]:
    return [float(value) for value in values.get(metric, ()) if value is not None]


def constant_metrics(found: Sequence[dict[str, Estimate]]) -> list[str]:
    """Return the telling metrics that are the same at all of several points, other than regret: no news in a column."""
    if len(found) < 2:
        return []
    first = main_metric([{name: estimate.values for name, estimate in each.items()} for each in found])
    estimates_of = {
        metric: [each.get(metric) for each in found] for metric in metrics_with_columns(found) if metric != first
    }
    return [
        metric
        for metric, some in estimates_of.items()
        if None not in some and len({(each.value, each.ends) for each in some if each is not None}) == 1
    ]


def constants_line(found: Sequence[dict[str, Estimate]], sign: str) -> str:
    """Return a line that says what is the same at every point; empty if nothing is."""
    texts = []
    for metric in constant_metrics(found):
        estimate = found[0][metric]
        shown = column(metric, [replace(estimate, ends=estimate.ends if estimate.half_width else None)])
        texts.append(" ".join(f"{shown.name} {shown.cells(sign)[0]} {shown.unit}".split()))
    return f"at every point: {', '.join(texts)}" if texts else ""


def _differs(metric: str, found: Sequence[dict[str, Estimate]]) -> bool:
    return len({each[metric].value if metric in each else None for each in found}) > 1


def _says_something(metric: str, found: Sequence[dict[str, Estimate]]) -> bool:
    return any(metric in each and each[metric].value not in (None, 0.0) for each in found)
