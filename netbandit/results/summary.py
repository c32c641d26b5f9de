"""What the replications of a point say together: means, 95 % intervals, and the object that ``--json`` prints."""

import math
from dataclasses import dataclass
from typing import Any

import netbandit
from netbandit.results import statistics
from netbandit.results.statistics import CONFIDENCE
from netbandit.results.store import PointResult, StudyResult
from netbandit.simulation.result import Metric, bound_of

TOPOLOGY = ("agents", "links", "diameter", "radius")

_NO_MEAN = "it does not exist or is infinite in some replication"


@dataclass(frozen=True)
class Estimate:
    """A metric over the replications of a point.

    Attributes:
        mean: The mean; None where a value does not exist or is infinite, or where no run has finished.
        half_width: Half the width of the 95 % interval around the mean; None where there is no interval.
        values: One value for each replication; None where it failed, does not exist or is infinite.
        why_none: Why there is no interval; empty where there is one.
    """

    mean: float | None
    half_width: float | None
    values: list[Metric]
    why_none: str = ""

    @property
    def interval(self) -> list[float] | None:
        """The ends of the 95 % interval, or None where there is none."""
        if self.mean is None or self.half_width is None:
            return None
        return [self.mean - self.half_width, self.mean + self.half_width]


def estimates(point: PointResult) -> dict[str, Estimate]:
    """Return an estimate for each metric of *point*, in the order in which the runs name them."""
    names = list(dict.fromkeys(name for run in point.finished for name in run.metrics))
    return {name: _estimate(point, name) for name in names}


def as_json(study: StudyResult) -> dict[str, Any]:
    """Return the object that ``netbandit run --json`` prints; null stands for what does not exist or is infinite."""
    return {
        "scenario": study.name,
        "version": netbandit.__version__,
        "points": [_point_as_json(point) for point in study.points],
    }


def _estimate(point: PointResult, name: str) -> Estimate:
    values = [None if run is None else run.metrics.get(name) for run in point.runs]
    found = [run.metrics.get(name) for run in point.finished]
    numbers = [float(value) for value in found if value is not None]
    if not numbers or len(numbers) < len(found):
        return Estimate(None, None, values, _NO_MEAN if found else "no run has come to its end")
    interval = statistics.mean(numbers, CONFIDENCE)
    return Estimate(interval.value, interval.half_width, values, interval.why_none)


def _point_as_json(point: PointResult) -> dict[str, Any]:
    remarks = list(dict.fromkeys(remark for run in point.finished for remark in run.remarks))
    return {
        "parameters": {key: finite(value) for key, value in point.parameters.items()},
        "topology": {name: over_replications(point, name) for name in TOPOLOGY},
        "metrics": {name: _as_json(estimate) for name, estimate in estimates(point).items()},
        **_privacy(point),
        **({"remarks": remarks} if remarks else {}),
        "fingerprints": [None if run is None else run.fingerprint for run in point.runs],
    }


def _as_json(estimate: Estimate) -> dict[str, Any]:
    why = {"ci95_why_null": estimate.why_none} if estimate.interval is None else {}
    return {"mean": estimate.mean, "ci95": estimate.interval, **why, "values": estimate.values}


def _privacy(point: PointResult) -> dict[str, Any]:
    """Return what ``epsilon`` and ``delta`` are for, how they were found, and what they do not cover."""
    run = next((run for run in point.finished if run.privacy_unit), None)
    if run is None:
        return {}
    caveats = list(dict.fromkeys(caveat for run in point.finished for caveat in run.privacy_caveats))
    account = {"unit": run.privacy_unit, "accountant": run.privacy_accountant, "bound": bound_of(point.finished)}
    return {"privacy": {**account, "caveats": caveats}}


def over_replications(point: PointResult, name: str) -> Metric:
    """Return a figure of the graph: a replication may draw its own, then it is the mean over them."""
    values = [run.topology.get(name) for run in point.finished]
    numbers = [value for value in values if value is not None]
    if not numbers or len(numbers) < len(values):
        return None
    return numbers[0] if min(numbers) == max(numbers) else math.fsum(numbers) / len(numbers)


def finite(value: Any) -> Any:
    """Return *value* as JSON can hold it: what is infinite or no number is None."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
