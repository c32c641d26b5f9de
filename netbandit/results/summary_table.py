"""``summary.csv``: what the replications of each point say together, a row for each metric."""

import csv
import io
from pathlib import Path

from netbandit.results.safe_files import write_whole
from netbandit.results.statistic import MEDIAN, Statistic
from netbandit.results.statistics import CONFIDENCE
from netbandit.results.store import StudyResult
from netbandit.results.summary import QUANTILES, Estimate, estimates, failures
from netbandit.results.table import cell, parameter_names

SUMMARY = "summary.csv"
"""The name of the table in a results folder."""

_COLUMNS = (
    *("metric", "replications", "mean", "mean_low", "mean_high", "median", "median_low", "median_high"),
    *(f"q{round(100 * share)}" for share in QUANTILES),
    "failed",
)


def write_summary(out: Path, study: StudyResult) -> Path:
    """Write ``summary.csv`` into the results folder *out* and return its path.

    A row has the parameters of its point, the metric, mean and median with the ends of their 95 % intervals, the
    quantiles of 10, 25, 75 and 90 %, and the share of runs of the point that failed. What does not exist is blank.

    Raises:
        StorageError: The folder cannot be written.
    """
    names = parameter_names(study)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, *_COLUMNS])
    for point in study.points:
        if not point.finished:
            continue
        found = failures(point)
        for metric, estimate in estimates(point).items():
            row = [metric, len(point.finished), *_numbers(estimate), found.failed / found.runs]
            writer.writerow([cell(value) for value in [*(point.value(name) for name in names), *row]])
    write_whole(out / SUMMARY, text.getvalue())
    return out / SUMMARY


def _numbers(estimate: Estimate) -> list[float | None]:
    """Return mean and median with their ends, and the quantiles; None for what does not exist."""
    if estimate.value is None:
        return [None] * (6 + len(QUANTILES))
    known = [float(value) for value in estimate.values if value is not None]
    median = Estimate.of(MEDIAN.of(known, CONFIDENCE))
    sides = [side for one in (estimate, median) for side in (one.value, *(one.ends or (None, None)))]
    return [*sides, *(Statistic(share).of(known, CONFIDENCE).value for share in QUANTILES)]
