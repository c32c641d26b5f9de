"""Results as a pandas table that shows in a notebook what a study found."""

from html import escape
from typing import TYPE_CHECKING, ClassVar

import pandas

from netbandit.plural import counted
from netbandit.results.dataframe import dataframe
from netbandit.results.store import StudyResult

if TYPE_CHECKING:
    from netbandit.report.tables import Table


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
        found = cls(dataframe(study))
        found.study = study
        return found

    def _repr_html_(self) -> str:
        from netbandit.report.tables import findings

        runs = sum(len(point.finished) for point in self.study.points)
        sizes = ((len(self.study.points), "point"), (runs, "run"), (len(self), "row"))
        caption = f"{self.study.name}: {', '.join(counted(number, what) for number, what in sizes)}"
        found = findings(self.study)
        return _html(found, "; ".join(filter(None, (caption, found.everywhere))))


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
