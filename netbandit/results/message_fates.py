"""What became of a hundred messages: delivered, or not, and why."""

from collections.abc import Iterable, Mapping

from netbandit.simulation.result import Metric

CAUSES: Mapping[str, str] = {
    "lost": "lost on the way",
    "collided": "collided on the air",
    "refused": "found a full inbox",
    "dropped": "found a full queue",
    "unsent": "never sent",
}
"""Why a message does not arrive, by the metric that counts it; what is lost by an outage is lost on the way."""

FATES: Mapping[str, str] = {
    "delivered": "delivered",
    "duplicates_dropped": "delivered before",
    "in_flight": "under way at the end",
    **CAUSES,
}
"""What becomes of messages and of their copies, by the metric that counts it: in one of these ways, each."""


def of_a_hundred(runs: Iterable[Mapping[str, Metric]]) -> dict[str, float] | None:
    """Return for each of `FATES` how many of 100 messages and copies in *runs* have it; None if there was no message.

    Args:
        runs: The metrics of each run, or what was counted on one link; what one does not have is none.
    """
    metrics = list(runs)
    count = {fate: float(sum(run.get(fate) or 0 for run in metrics)) for fate in FATES}
    count["lost"] = max(0.0, count["lost"] - count["collided"] - count["refused"])  # they are among those lost
    total = sum(count.values())
    return {fate: 100 * number / total for fate, number in count.items()} if total else None


def failing(shares: Mapping[str, float]) -> float:
    """Return how many of 100 messages do not arrive, given the result of `of_a_hundred`."""
    return sum(shares[cause] for cause in CAUSES)
