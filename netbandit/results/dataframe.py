"""All figures of a study as a pandas table, in memory and in a Parquet file."""

import math
from pathlib import Path
from typing import Any

from netbandit.extras.frames import pandas
from netbandit.results.numbers import cell
from netbandit.results.safe_files import whole
from netbandit.results.store import StudyResult
from netbandit.results.tables import FIXED, PARQUET, records
from netbandit.results.varied_keys import parameter_names


def dataframe(study: StudyResult) -> pandas.DataFrame:
    """Return all figures of *study*, long and tidy: one row for each point, replication and metric."""
    names = parameter_names(study)
    table = pandas.DataFrame.from_records(list(records(study)), columns=[*names, *FIXED])
    for name in names:
        if table[name].dtype == object:
            table[name] = [groupable(value) for value in table[name]]
    table["value"] = table["value"].astype(float)
    return table


def groupable(value: Any) -> Any:
    """Return *value* as pandas can group by it: of a list or a table the text that ``table.csv`` has."""
    return cell(value) if isinstance(value, list | tuple | dict) else value


def write_parquet(out: Path, study: StudyResult) -> Path:
    """Write ``table.parquet`` into the results folder *out*: the same table as `dataframe`, and return its path.

    A column has values of one kind there, so a key whose values are lists, tables or of several kinds is text, as in
    ``table.csv``.

    Raises:
        StorageError: The folder cannot be written.
        ImportError: pyarrow is not installed.
    """
    plain = dataframe(study)
    for name in parameter_names(study):
        kinds = {type(value) for value in plain[name] if not _missing(value)}
        if not (kinds <= {int, float} or kinds in ({bool}, {str})):
            plain[name] = [None if _missing(value) else cell(value) for value in plain[name]]
    with whole(out / PARQUET) as temporary:
        plain.to_parquet(temporary, index=False)
    return out / PARQUET


def _missing(value: object) -> bool:
    """Say whether a point has no such key."""
    return value is None or (isinstance(value, float) and math.isnan(value))
