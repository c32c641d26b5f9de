"""``table.csv``: all figures of a study, long and tidy."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netbandit.results.safe_files import write_whole
from netbandit.results.store import StudyResult

TABLE = "table.csv"
"""The name of the table in a results folder."""

PARQUET = "table.parquet"
"""The same table in another format, where it is asked for."""

FIXED = ("replication", "seed", "metric", "value", "run")
"""The columns every table has, after those of the parameters."""


def parameter_names(study: StudyResult) -> list[str]:
    """Return the keys that the sweep or ``--set`` varied, in their order."""
    return list(dict.fromkeys(key for point in study.points for key in point.parameters))


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


def write_table(out: Path, study: StudyResult) -> Path:
    """Write ``table.csv`` into the results folder *out* and return its path.

    Raises:
        StorageError: The folder cannot be written.
    """
    text = io.StringIO()
    columns = [*parameter_names(study), *FIXED]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for record in records(study):
        writer.writerow([cell(record.get(column)) for column in columns])
    write_whole(out / TABLE, text.getvalue())
    return out / TABLE


def cell(value: Any) -> str:
    """Return *value* as a cell of a table: as TOML writes it, but text without quotes, and nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | dict):
        return json.dumps(value)
    return str(value)
