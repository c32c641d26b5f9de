"""Runs that fail: an agent drops the best arm, agents stall, or no round ends.

The regret of such a run is another by far, so that a mean is mostly that of the few that failed, and an interval from
replications of which none has failed knows nothing of them. Where runs can fail nothing is therefore decided by a mean
of fewer than `ENOUGH` replications, whether or not one of them has failed: to look whether one has would let through
just those samples that missed it.
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
"""So many replications contain a failure with 95 %, where 10 % of runs fail."""

Metrics = Mapping[str, Metric]
"""The metrics of a run, by name."""

BEST_LOST, _STALLED, _NONE_ENDED = "an agent dropped the best arm", "agents stalled", "no round ended"
_MISSING = "runs are missing"


def failures_of(metrics: Metrics) -> tuple[str, ...]:
    """Return how a run has failed, in words; nothing if it has not."""
    waits = metrics.get("waiting_slots") is not None
    found = {
        BEST_LOST: bool(metrics.get("best_lost")),
        _STALLED: bool(metrics.get("stalled")),
        _NONE_ENDED: metrics.get("rounds") == 0 and waits,
    }
    return tuple(name for name, failed in found.items() if failed)


WELL_DELIVERED = 0.9
"""A network that delivers a smaller share of its messages did not do its work."""

TROUBLE: Mapping[str, Callable[[float], bool]] = {
    "alive": lambda share: share < 1,
    "first_death": lambda slot: True,
    "stalled": lambda agents: agents > 0,
    "delivery_ratio": lambda share: share < WELL_DELIVERED,
    "unsent": lambda messages: messages > 0,
    "collided": lambda messages: messages > 0,
}
"""Metrics that tell whether a network did its work, with when it did not, the most serious first."""


def troubles(runs: Sequence[Metrics]) -> list[str]:
    """Return the metrics by which a network did not do its work in some of *runs*, the most serious first."""
    return [
        name
        for name, shows in TROUBLE.items()
        if any(value is not None and shows(float(value)) for value in (run.get(name) for run in runs))
    ]


def is_regret(metric: str) -> bool:
    """Say whether *metric* is a regret, which the loss of the best arm moves; other metrics stay what they are."""
    return metric.startswith("regret")


@dataclass(frozen=True)
class Failures:
    """What is known of failures among some runs.

    Attributes:
        runs: How many runs there are.
        failed: How many of them failed.
        kinds: How many failed in each way, in words; a run may fail in several.
        drops: Whether agents drop arms, and so perhaps the best.
        stalls: Whether agents may wait for ever, or some run failed in another way than by the loss of the best arm.
    """

    runs: int
    failed: int
    kinds: Mapping[str, int]
    drops: bool
    stalls: bool

    @classmethod
    def of(cls, runs: Sequence[Metrics]) -> "Failures":
        """Return what *runs* say."""
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

    def can_move(self, metric: str) -> bool:
        """Say whether a failure would move *metric* far."""
        return self.stalls or (self.drops and is_regret(metric))

    def leave_open(self, metric: str) -> bool:
        """Say whether a mean of *metric* over these runs decides nothing."""
        return self.runs < ENOUGH and self.can_move(metric)

    @property
    def stalled(self) -> bool:
        """Whether agents stalled in some run."""
        return _STALLED in self.kinds

    @property
    def most_missed(self) -> float:
        """The largest share of failures of which so many runs contain none with 5 %."""
        return 1 - math.exp(math.log(1 - CONFIDENCE) / self.runs)


def too_few(failures: Failures) -> str:
    """Say why a mean over so few runs decides nothing."""
    return (
        f"{pluralize(failures.runs, 'replication')} can miss failures that happen in up to "
        f"{100 * failures.most_missed:.2g} % of runs, which the interval of the mean then "
        f"ignores: means are compared from {ENOUGH} replications on"
    )


MEDIANS = f", medians (--statistic median) from {least_for(0.5, CONFIDENCE)}"
"""What else may be compared."""


def shortfalls(runs: Sequence[RunResult], planned: int) -> tuple[str, ...]:
    """Return what some of the runs of a point did not do, in words; nothing if they did all.

    Who does less spends less, and may lose less: such a point is no winner where its values are lower.

    Args:
        runs: The runs that came to their end.
        planned: How many runs the point has, those that failed or have not been run among them.
    """
    kinds = Failures.of([run.metrics for run in runs]).kinds
    found = {
        _STALLED: _STALLED in kinds,
        _NONE_ENDED: _NONE_ENDED in kinds or any(STILL_EXPLORING in run.remarks for run in runs),
        _MISSING: len(runs) < planned,
    }
    return tuple(name for name, there in found.items() if there)


MARK = "*"
"""What stands beside the regret of a point at which agents stalled, and in pictures at points with `shortfalls`."""

STALLED = (
    "agents stalled: they receive nothing more, and those that wait exploit instead of exploring. "
    "Lower regret at such a point is not an improvement"
)
"""What must be known where regret of such a point is compared."""

MARKED = f"{MARK} {STALLED}"
"""What the mark means."""
