"""All metrics of a study in long, tidy form: ``table.csv``, pandas and Parquet; ``summary.csv``, a row per point."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.results.numbers import as_csv, cell
from netbandit.results.safe_files import whole, write_whole
from netbandit.results.study_result import StudyResult
from netbandit.results.summary import QUANTILES, Estimate, estimates, failures, median_and_quantiles
from netbandit.results.varied_keys import parameter_names

if TYPE_CHECKING:
    from pandas import DataFrame

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
    names = [*parameter_names(study), *FIXED]
    rows = ([cell(record.get(name)) for name in names] for record in records(study))
    write_whole(out / TABLE, as_csv([names, *rows]))
    return out / TABLE


def write_summary(out: Path, study: StudyResult) -> Path:
    """Write ``summary.csv`` into the results folder *out* and return its path.

    A row has the parameters of its point, the metric, mean and median with the ends of their 95 % intervals, the
    quantiles of 10, 25, 75 and 90 %, and the share of failed runs of the point. Undefined values are blank.

    Raises:
        StorageError: The folder cannot be written.
    """
    names = parameter_names(study)
    rows: list[Sequence[str]] = [[*names, *_SUMMARY_COLUMNS]]
    for point in study.points:
        if not point.finished:
            continue
        found = failures(point)
        for metric, estimate in estimates(point).items():
            row = [metric, len(point.finished), *_numbers(estimate), found.failed / found.runs]
            rows.append([cell(value) for value in [*(point.value(name) for name in names), *row]])
    write_whole(out / SUMMARY, as_csv(rows))
    return out / SUMMARY


def _numbers(estimate: Estimate) -> list[float | None]:
    """Return mean and median with their interval ends, and the quantiles; None for undefined values."""
    if estimate.value is None:
        return [None] * (6 + len(QUANTILES))
    median, quantiles = median_and_quantiles(estimate)
    sides = [side for one in (estimate, median) for side in (one.value, *(one.ends or (None, None)))]
    return [*sides, *quantiles]


def dataframe(study: StudyResult) -> "DataFrame":
    """Return all metrics of *study* in long, tidy form: one row for each point, replication and metric.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    from netbandit.util.extras.frames import pandas

    table = columns(study)
    for name in parameter_names(study):
        table[name] = [groupable(value) for value in table[name]]
    return pandas.DataFrame(table)


def groupable(value: Any) -> Any:
    """Return *value* in a form pandas can group by: a list or a table becomes its text in ``table.csv``."""
    return cell(value) if isinstance(value, list | tuple | dict) else value


def write_parquet(out: Path, study: StudyResult) -> Path:
    """Write ``table.parquet`` into the results folder *out*: the same table as `dataframe`, and return its path.

    A Parquet column has one type, so a key whose values are lists, tables or of several types becomes text, as in
    ``table.csv``.

    Raises:
        StorageError: The folder cannot be written.
        MissingExtraError: pyarrow is not installed.
    """
    from netbandit.util.extras.parquet import Table, write_table

    table = columns(study)
    for name in parameter_names(study):
        kinds = {type(value) for value in table[name] if value is not None}
        if not (kinds <= {int, float} or kinds in ({bool}, {str})):
            table[name] = [None if value is None else cell(value) for value in table[name]]
    with whole(out / PARQUET) as temporary:
        write_table(Table.from_pydict(table), temporary)
    return out / PARQUET
