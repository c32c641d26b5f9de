"""``table.csv``, all metrics of a study in long, tidy form, and ``summary.csv``, a row per point and metric."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from netbandit.results.numbers import cell
from netbandit.results.safe_files import write_whole
from netbandit.results.store import StudyResult
from netbandit.results.summary import QUANTILES, Estimate, estimates, failures, median_and_quantiles
from netbandit.results.varied_keys import parameter_names

TABLE = "table.csv"
"""The file name of the table in a results folder."""

PARQUET = "table.parquet"
"""The same table in another format, written on request."""

SUMMARY = "summary.csv"
"""The file name of the summary over replications."""


_SUMMARY_COLUMNS = (
    *("metric", "replications", "mean", "mean_low", "mean_high", "median", "median_low", "median_high"),
    *(f"q{round(100 * share)}" for share in QUANTILES),
    "failed",
)

FIXED = ("replication", "seed", "metric", "value", "run")
"""The columns of every table, after those of the parameters."""


def records(study: StudyResult) -> Iterator[dict[str, Any]]:
    """Yield one record for each point, replication and metric, in the order of the study.

    A record has the parameters varied by the sweep or ``--set``, with the resolved value where the point does not set
    one (None where its parts have no such key), then ``replication``, ``seed``, ``metric``, ``value`` (None if
    undefined or infinite) and ``run``, the name of the run folder.
    """
    names = parameter_names(study)
    for point in study.points:
        parameters = {name: point.value(name) for name in names}
        for key, run in zip(point.keys, point.runs, strict=True):
            if run is None:
                continue
            for metric, value in run.metrics.items():
                found = (run.replication, run.seed, metric, value, key)
                yield {**parameters, **dict(zip(FIXED, found, strict=True))}


Columns = Mapping[str, Sequence[Any]]
"""A table by column: the varied keys, and `FIXED`."""


def columns(study: StudyResult) -> dict[str, list[Any]]:
    """Return all metrics of *study* by column, a row for each of `records`; undefined values are NaN."""
    found = list(records(study))
    table = {name: [record[name] for record in found] for name in (*parameter_names(study), *FIXED)}
    table["value"] = [math.nan if value is None else float(value) for value in table["value"]]
    return table


def write_table(out: Path, study: StudyResult) -> Path:
    """Write ``table.csv`` into the results folder *out* and return its path.

    Raises:
        StorageError: The folder cannot be written.
    """
    text = io.StringIO()
    names = [*parameter_names(study), *FIXED]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for record in records(study):
        writer.writerow([cell(record.get(name)) for name in names])
    write_whole(out / TABLE, text.getvalue())
    return out / TABLE


def write_summary(out: Path, study: StudyResult) -> Path:
    """Write ``summary.csv`` into the results folder *out* and return its path.

    A row has the parameters of its point, the metric, mean and median with the ends of their 95 % intervals, the
    quantiles of 10, 25, 75 and 90 %, and the share of failed runs of the point. Undefined values are blank.

    Raises:
        StorageError: The folder cannot be written.
    """
    names = parameter_names(study)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, *_SUMMARY_COLUMNS])
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
    """Return mean and median with their interval ends, and the quantiles; None for undefined values."""
    if estimate.value is None:
        return [None] * (6 + len(QUANTILES))
    median, quantiles = median_and_quantiles(estimate)
    sides = [side for one in (estimate, median) for side in (one.value, *(one.ends or (None, None)))]
    return [*sides, *quantiles]
