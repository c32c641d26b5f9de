"""Failed runs: an agent drops the best arm, agents stall, or no round ends.

The regret of a failed run is of another magnitude, so a few failures dominate the mean, and an interval from
replications without a failure does not account for them. Where runs can fail, a mean of fewer than `ENOUGH`
replications therefore decides nothing, whether or not a failure occurred: testing for one would let through exactly
the samples that missed it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from netbandit.results import intervals
from netbandit.results.intervals import CONFIDENCE, Interval, least_for
from netbandit.simulation.result import STILL_EXPLORING, Metric, RunResult
from netbandit.util.text import pluralize

_RARE = 0.1

ENOUGH = math.ceil(math.log(1 - CONFIDENCE) / math.log(1 - _RARE))
"""This many replications contain a failure with probability 95 % if 10 % of runs fail."""

Metrics = Mapping[str, Metric]
"""The metrics of a run, by name."""

BEST_LOST, _STALLED, _NONE_ENDED = "an agent dropped the best arm", "agents stalled", "no round ended"
_MISSING = "runs are missing"


def failures_of(metrics: Metrics) -> tuple[str, ...]:
    """Return how a run failed, in words; empty if it did not."""
    waits = metrics.get("waiting_slots") is not None
    found = {
        BEST_LOST: bool(metrics.get("best_lost")),
        _STALLED: bool(metrics.get("stalled")),
        _NONE_ENDED: metrics.get("rounds") == 0 and waits,
    }
    return tuple(name for name, failed in found.items() if failed)


HALF_BUSY = 0.5
"""Links that are less busy than this could carry what is dropped, if it did not come in bursts."""

WELL_DELIVERED = 0.9
"""A network that delivers a smaller share of its messages has failed to deliver."""


def _many(messages: float, run: Metrics) -> bool:
    """Return whether a share of what was handed to links that says something of the run, not only of its end."""
    return messages > (1 - WELL_DELIVERED) * (run.get("handed") or messages)


TROUBLE: Mapping[str, Callable[[float, Metrics], bool]] = {
    "alive": lambda share, _: share < 1,
    "first_death": lambda slot, _: True,
    "stalled": lambda agents, _: agents > 0,
    "unanswered": lambda rounds, _: rounds > 0,
    "delivery_ratio": lambda share, _: share < WELL_DELIVERED,
    "unsent": lambda messages, run: messages > 0 if "delivery_ratio" in run else _many(messages, run),
    # What comes after the last answer is of use to nobody.
    "in_flight": lambda messages, run: _many(messages, run) and run.get("answered") != 1,
    "dropped_share": lambda share, run: share > 0 and (run.get("links_busy") or 0.0) < HALF_BUSY,
    "collided": lambda messages, _: messages > 0,
}
"""Metrics that show whether the network delivered, with the condition of failure, the most serious first."""


def troubles(runs: Sequence[Metrics]) -> list[str]:
    """Return the metrics by which the network failed to deliver in some of *runs*, the most serious first."""
    return [
        name
        for name, shows in TROUBLE.items()
        if any(value is not None and shows(float(value), run) for run in runs for value in [run.get(name)])
    ]


def is_regret(metric: str) -> bool:
    """Return whether *metric* is a regret, which the loss of the best arm changes; other metrics are unaffected."""
    return metric.startswith("regret")


@dataclass(frozen=True)
class Failures:
    """Failures among a set of runs.

    Attributes:
        runs: The number of runs.
        failed: The number of failed runs.
        kinds: The number of runs that failed in each way, in words; a run may fail in several.
        drops: Whether agents drop arms, and so possibly the best.
        stalls: Whether agents may wait forever, or a run failed other than by the loss of the best arm.
    """

    runs: int
    failed: int
    kinds: Mapping[str, int]
    drops: bool
    stalls: bool

    @classmethod
    def of(cls, runs: Sequence[Metrics]) -> "Failures":
        """Return the failures among *runs*."""
        found = [failures_of(metrics) for metrics in runs]
        kinds = {name: sum(name in one for one in found) for name in (BEST_LOST, _STALLED, _NONE_ENDED)}
        return cls(
            len(runs),
            sum(map(bool, found)),
            {name: count for name, count in kinds.items() if count},
            any(metrics.get("best_lost") is not None for metrics in runs),
            any(metrics.get("may_stall") for metrics in runs) or bool(kinds[_STALLED] or kinds[_NONE_ENDED]),
        )

    @property
    def share(self) -> Interval:
        """The share of runs that failed, with its interval.

        Raises:
            ValueError: There is no run.
        """
        return intervals.share([1.0] * self.failed + [0.0] * (self.runs - self.failed), CONFIDENCE)

    def leave_open(self, metric: str) -> bool:
        """Return whether a mean of *metric* over these runs decides nothing: a failure would change it by much."""
        return self.runs < ENOUGH and (self.stalls or (self.drops and is_regret(metric)))

    @property
    def stalled(self) -> bool:
        """Whether agents stalled in any run."""
        return _STALLED in self.kinds

    @property
    def most_missed(self) -> float:
        """The largest failure rate at which this many runs contain no failure with probability 5 %."""
        return 1 - math.exp(math.log(1 - CONFIDENCE) / self.runs)


def too_few(failures: Failures) -> str:
    """Say why a mean over this few runs decides nothing."""
    return (
        f"{pluralize(failures.runs, 'replication')} can miss failures that happen in up to "
        f"{100 * failures.most_missed:.2g} % of runs, which the interval of the mean then "
        f"ignores: means are compared from {ENOUGH} replications on"
    )


MEDIANS = f", medians (--statistic median) from {least_for(0.5, CONFIDENCE)}"
"""The other statistics of a comparison."""


def shortfalls(runs: Sequence[RunResult], planned: int) -> dict[str, tuple[int, int]]:
    """Return what some runs of a point failed to do, in words; empty if all did everything.

    A run that does less sends less and may lose less, so lower values do not make such a point better.

    Args:
        runs: The completed runs.
        planned: The number of runs of the point, including those that failed or have not been run.

    Returns:
        In how many runs that was so, and of how many.
    """
    kinds = Failures.of([run.metrics for run in runs]).kinds
    none_ended = sum(_NONE_ENDED in failures_of(run.metrics) or STILL_EXPLORING in run.remarks for run in runs)
    found = {_STALLED: kinds.get(_STALLED, 0), _NONE_ENDED: none_ended}
    missing = {_MISSING: (planned, planned)} if len(runs) < planned else {}
    return {name: (count, len(runs)) for name, count in found.items() if count} | missing


MARK = "*"
"""The mark at the regret of a point at which agents stalled, and in pictures at points with `shortfalls`."""

STALLED = (
    "agents stalled: they receive nothing more, and those that wait exploit instead of exploring. "
    "Lower regret at such a point is not an improvement"
)
"""The remark where the regret of such a point is compared."""

MARKED = f"{MARK} {STALLED}"
"""The meaning of the mark."""
