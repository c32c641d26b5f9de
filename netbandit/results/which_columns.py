"""Which metrics are worth a column, and what is the same at every point of a study."""

from collections.abc import Sequence
from dataclasses import replace

from netbandit.results.columns import column
from netbandit.results.metrics import HEADINGS
from netbandit.results.summary import Estimate

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
    first = main_metric(found)
    order = dict.fromkeys(
        (
            *(first, "unserved", *spent, PRICED, "recovery_slots"),
            *(*FIRST_METRICS[1:3], *own, *FIRST_METRICS[3:], *_SAID_ALREADY),
        )
    )
    worth = [metric for metric in order if _says_something(metric, found)]
    return sorted(worth, key=lambda metric: metric != first and not _differs(metric, found))


def main_metric(found: Sequence[dict[str, Estimate]]) -> str:
    """Return the metric that points are compared by: regret, or where users went away for free that of a decision.

    Who is not served adds no regret then, so that to serve fewer would look like a gain; so it is where agents are
    absent more at some points than at others.
    """
    unserved = any("unserved" in each and each["unserved"].value for each in found)
    counted = any("regret_unserved" in each for each in found)
    known = any("regret_per_decision" in each and each["regret_per_decision"].value is not None for each in found)
    absent = any("absent_slots" in each and each["absent_slots"].value for each in found)
    unlike = absent and _differs("availability", found)
    return "regret_per_decision" if known and (unlike or (unserved and not counted)) else "regret"


def constant_metrics(found: Sequence[dict[str, Estimate]]) -> list[str]:
    """Return the telling metrics that are the same at all of several points, other than regret: no news in a column."""
    if len(found) < 2:
        return []
    first = main_metric(found)
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
