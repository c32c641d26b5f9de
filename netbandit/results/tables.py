"""What stands in ``table.csv``, all figures of a study, long and tidy, and in ``summary.csv``, a row a metric."""

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
"""The name of the table in a results folder."""

PARQUET = "table.parquet"
"""The same table in another format, where it is asked for."""

SUMMARY = "summary.csv"
"""The name of the table of what the replications of each point say together."""


_SUMMARY_COLUMNS = (
    *("metric", "replications", "mean", "mean_low", "mean_high", "median", "median_low", "median_high"),
    *(f"q{round(100 * share)}" for share in QUANTILES),
    "failed",
)

FIXED = ("replication", "seed", "metric", "value", "run")
"""The columns every table has, after those of the parameters."""


def records(study: StudyResult) -> Iterator[dict[str, Any]]:
    """Yield one record for each point, replication and metric, in the order of the study.

    A record has what the sweep or ``--set`` varied, with what the scenario says where this point does not set it (None
    where its parts have no such key), then ``replication``, ``seed``, ``metric``, ``value`` (None where it does not
    exist or is infinite) and ``run``, the name of the run folder.
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
"""A table of figures by column: the keys that vary, and `FIXED`."""


def columns(study: StudyResult) -> dict[str, list[Any]]:
    """Return all figures of *study* by column, a row for each of `records`; a value that does not exist is NaN."""
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
    quantiles of 10, 25, 75 and 90 %, and the share of runs of the point that failed. What does not exist is blank.

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
    """Return mean and median with their ends, and the quantiles; None for what does not exist."""
    if estimate.value is None:
        return [None] * (6 + len(QUANTILES))
    median, quantiles = median_and_quantiles(estimate)
    sides = [side for one in (estimate, median) for side in (one.value, *(one.ends or (None, None)))]
    return [*sides, *quantiles]
