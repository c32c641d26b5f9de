"""The figures of a study as a pandas table that shows in a notebook what the study found."""

import math
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas

from netbandit.study.files import whole
from netbandit.study.results import StudyResult
from netbandit.study.table import FIXED, PARQUET, cell, parameter_names, records

if TYPE_CHECKING:
    from netbandit.study.report.tables import Table


class Results(pandas.DataFrame):
    """All figures of a study, long and tidy: one row for each point, replication and metric.

    It is a pandas table, and whatever is taken from it is a plain one. A notebook shows the most telling means with
    their 95 % intervals, as the command does.

    Attributes:
        study: The points with their runs, without curves and links.
    """

    _metadata: ClassVar[list[str]] = ["study"]
    study: StudyResult

    @property
    def _constructor(self) -> type[pandas.DataFrame]:
        return pandas.DataFrame

    @classmethod
    def of(cls, study: StudyResult) -> "Results":
        """Return the figures of *study*."""
        table = cls.from_records(list(records(study)), columns=[*parameter_names(study), *FIXED])
        found = cls(table)
        found["value"] = found["value"].astype(float)
        found.study = study
        return found

    def _repr_html_(self) -> str:
        from netbandit.study.report.tables import findings

        runs = sum(len(point.finished) for point in self.study.points)
        caption = f"{self.study.name}: {len(self.study.points)} points, {runs} runs, {len(self)} rows"
        found = findings(self.study)
        return _html(found, "; ".join(filter(None, (caption, found.everywhere))))


def write_parquet(out: Path, study: StudyResult) -> Path:
    """Write ``table.parquet`` into the results folder *out*: the same table as `Results`, and return its path.

    A column has values of one kind there, so a key whose values are lists, tables or of several kinds is text, as in
    ``table.csv``.

    Raises:
        StorageError: The folder cannot be written.
        ImportError: pyarrow is not installed.
    """
    plain = pandas.DataFrame(Results.of(study))
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


def _html(table: "Table", caption: str) -> str:
    """Return a table that needs no style of its own: a notebook has one."""
    heads = "".join(f'<th title="{escape(text)}">{escape(name)}</th>' for name, text in table.headings)
    rows = []
    for row in table.rows:
        cells = [
            f'<td style="text-align: {"right" if each.numeric else "left"}">{escape(each.text)}</td>' for each in row
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
