"""All metrics of a study as a pandas table, in memory and in a Parquet file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.results.numbers import cell
from netbandit.results.safe_files import whole
from netbandit.results.store import StudyResult
from netbandit.results.tables import PARQUET, columns
from netbandit.results.varied_keys import parameter_names

if TYPE_CHECKING:
    from pandas import DataFrame


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
