"""What became of a hundred messages: delivered, or not, and why."""

from collections.abc import Iterable, Mapping, Sequence

from netbandit.results.failures import WELL_DELIVERED
from netbandit.results.study_result import PointResult
from netbandit.simulation.result import Metric

MANY = round(100 * (1 - WELL_DELIVERED))
"""More of 100 messages than this are said first."""

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


def described_fates(runs: Iterable[Mapping[str, Metric]]) -> dict[str, str]:
    """Return the texts of `FATES` in *runs*: what comes to a node that is down is lost too, where nodes go down."""
    down = any(run.get("first_death") is not None or run.get("absent_slots") for run in runs)
    return {**FATES, "lost": f"{FATES['lost']} or at a node that was down"} if down else dict(FATES)


def counted(runs: Iterable[Mapping[str, Metric]]) -> str:
    """Return what `of_a_hundred` counts in *runs*: attempts, where links repeat messages."""
    return "attempts" if any(run.get("retransmissions") for run in runs) else "messages"


def failing(shares: Mapping[str, float]) -> float:
    """Return how many of 100 messages do not arrive, given the result of `of_a_hundred`."""
    return sum(shares[cause] for cause in CAUSES)


def not_arrived(runs: Iterable[Mapping[str, Metric]]) -> float:
    """Return how many of 100 messages in *runs* had not arrived by the end: lost for good, or still under way."""
    metrics = list(runs)
    shares = of_a_hundred(metrics)
    if shares is None:
        return 0.0
    lost = failing(shares)
    if counted(metrics) == "attempts":  # after an attempt that fails the sender tries again, or gives up
        given_up, again = (sum(run.get(name) or 0 for run in metrics) for name in ("given_up", "retransmissions"))
        lost *= given_up / (given_up + again)
    return lost + shares["in_flight"]


OF_ARRIVED = ("delay_slots", "lateness")
"""Metrics that are means over what arrived: where much did not, they are not what a message took."""


def much_not_arrived(points: Sequence[PointResult]) -> list[tuple[PointResult, float]]:
    """Return the points that have a metric of `OF_ARRIVED`, and where many of 100 messages had not arrived by the end.

    With each, how many had not.
    """
    runs = [(one, [run.metrics for run in one.finished]) for one in points]
    known = [(one, some) for one, some in runs if any(run.get(OF_ARRIVED[0]) is not None for run in some)]
    return [(one, share) for one, some in known if (share := not_arrived(some)) > MANY]
