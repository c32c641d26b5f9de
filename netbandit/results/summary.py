"""Statistics over the replications of a point: means, medians, 95 % intervals, and the object of ``--json``."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import netbandit
from netbandit.results.failures import Failures, too_few
from netbandit.results.intervals import CONFIDENCE, MEAN, MEDIAN, Interval, Statistic, value_at
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.simulation.result import Metric, bound_of

TOPOLOGY = ("agents", "links", "diameter", "radius")

QUANTILES: tuple[float, ...] = (0.1, 0.25, 0.75, 0.9)
"""The quantiles shown beside mean and median."""

_NO_MEAN = "it does not exist or is infinite in some replication"


@dataclass(frozen=True)
class Estimate:
    """An estimate of a metric over the replications of a point.

    Attributes:
        value: The mean, or another statistic; None where a value is undefined or infinite, or where no run has
            finished.
        ends: The ends of its 95 % interval; None where there is no interval.
        values: One value per replication; None where it failed, is undefined or is infinite.
        why_none: Why there is no interval; empty where there is one.
        around: Whether the interval is symmetric around the value.
    """

    value: float | None
    ends: tuple[float, float] | None = None
    values: Sequence[Metric] = ()
    why_none: str = ""
    around: bool = True

    @classmethod
    def of(cls, interval: Interval, values: Sequence[Metric] = (), *, around: bool = True) -> "Estimate":
        """Return the estimate with *interval*."""
        return cls(interval.value, interval.ends, values, interval.why_none, around)

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None where there is none."""
        return None if self.ends is None else (self.ends[1] - self.ends[0]) / 2


def estimates(point: PointResult, statistic: Statistic = MEAN) -> dict[str, Estimate]:
    """Return an estimate for each metric of *point*, in the order of the metrics in its runs."""
    names = list(dict.fromkeys(name for run in point.finished for name in run.metrics))
    return {name: _estimate(point, name, statistic) for name in names}


def failures(point: PointResult) -> Failures:
    """Return the failures among the runs of *point*."""
    return Failures.of([run.metrics for run in point.finished])


def as_json(study: StudyResult) -> dict[str, Any]:
    """Return the object that ``netbandit run --json`` prints; null stands for undefined and infinite values."""
    return {
        "scenario": study.name,
        "version": netbandit.__version__,
        "points": [_point_as_json(point) for point in study.points],
    }


def _estimate(point: PointResult, name: str, statistic: Statistic) -> Estimate:
    values = [None if run is None else run.metrics.get(name) for run in point.runs]
    found = [run.metrics.get(name) for run in point.finished]
    numbers = [float(value) for value in found if value is not None]
    if not numbers or len(numbers) < len(found):
        return Estimate(None, None, values, _NO_MEAN if found else "no run has finished")
    statistic = statistic.of_metric(name)
    return Estimate.of(statistic.of(numbers, CONFIDENCE), values, around=statistic.around)


def _point_as_json(point: PointResult) -> dict[str, Any]:
    remarks = list(dict.fromkeys(remark for run in point.finished for remark in run.remarks))
    return {
        "parameters": {key: finite(value) for key, value in point.parameters.items()},
        "topology": {name: over_replications(point, name) for name in TOPOLOGY},
        "metrics": {name: _as_json(estimate) for name, estimate in estimates(point).items()},
        **({"failures": _failures_as_json(failures(point))} if point.finished else {}),
        **_privacy(point),
        **({"remarks": remarks} if remarks else {}),
        "fingerprints": [None if run is None else run.fingerprint for run in point.runs],
    }


def _as_json(estimate: Estimate) -> dict[str, Any]:
    why = {"ci95_why_null": estimate.why_none} if estimate.ends is None else {}
    found = {"mean": estimate.value, "ci95": _listed(estimate), **why, "values": estimate.values}
    if estimate.value is None:
        return found
    median, quantiles = median_and_quantiles(estimate)
    shares = {f"{share:g}": value for share, value in zip(QUANTILES, quantiles, strict=True)}
    return {**found, "median": median.value, "median_ci95": _listed(median), "quantiles": shares}


def median_and_quantiles(estimate: Estimate) -> tuple[Estimate, list[float]]:
    """Return the median of a metric with its interval, and its `QUANTILES`; the metric must have values."""
    known = sorted(float(value) for value in estimate.values if value is not None)
    quantiles = [value_at(known, share) for share in QUANTILES]
    return Estimate.of(MEDIAN.of(known, CONFIDENCE)), quantiles


def _listed(estimate: Estimate) -> list[float] | None:
    return None if estimate.ends is None else list(estimate.ends)


def _failures_as_json(found: Failures) -> dict[str, Any]:
    """Return the number and kinds of failed runs, and whether a mean over the replications is conclusive."""
    share = found.share
    remark = {"remark": too_few(found)} if found.leave_open("regret") else {}
    return {
        "runs": found.runs,
        "failed": found.failed,
        "share": share.value,
        "ci95": [share.low, share.high],
        "kinds": dict(found.kinds),
        **remark,
    }


def _privacy(point: PointResult) -> dict[str, Any]:
    """Return the unit that ``epsilon`` and ``delta`` protect, how they were computed, and their limits."""
    run = next((run for run in point.finished if run.privacy_unit), None)
    if run is None:
        return {}
    caveats = list(dict.fromkeys(caveat for run in point.finished for caveat in run.privacy_caveats))
    account = {"unit": run.privacy_unit, "accountant": run.privacy_accountant, "bound": bound_of(point.finished)}
    return {"privacy": {**account, "caveats": caveats}}


def over_replications(point: PointResult, name: str) -> Metric:
    """Return a figure of the graph, averaged over replications, which may draw different graphs."""
    values = [run.topology.get(name) for run in point.finished]
    numbers = [value for value in values if value is not None]
    if not numbers or len(numbers) < len(values):
        return None
    return numbers[0] if min(numbers) == max(numbers) else math.fsum(numbers) / len(numbers)


def finite(value: Any) -> Any:
    """Return *value* as JSON can hold it: infinite and NaN become None."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
