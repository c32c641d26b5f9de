"""A table for a paper, as Python users have it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netbandit.results import paper_formats
from netbandit.results.columns import main_metric, run_values
from netbandit.results.paper_entries import PaperEntries, paper_entries
from netbandit.results.remarks import comparison_notes, failure_lines, remarks, trouble_lines
from netbandit.results.study_result import StudyResult
from netbandit.results.tables import columns as all_columns
from netbandit.util.text import each_once

if TYPE_CHECKING:
    from pandas import DataFrame


class PaperTable:
    """Metrics in rows and columns, as a paper shows them.

    An entry is a mean, or another statistic, with its 95 % interval. The best of the values that are compared is in
    bold where its difference from every other is decided at the 5 % level by pairs of replications with the same seed,
    with Holm's correction for all comparisons of the table. A notebook shows it as it would be printed.

    Attributes:
        caption: The sentences that say so, with what was counted.
        notes: Remarks needed to interpret the numbers, one per line.
    """

    def __init__(self, entries: PaperEntries) -> None:
        self._entries = entries
        self.caption = entries.caption
        self.notes = list(entries.notes)

    def to_latex(self, *, differences: bool = False) -> str:
        """Return it as LaTeX, for the packages booktabs and multirow.

        Args:
            differences: Whether to show differences from the best, with their p-values, in place of the entries.
        """
        return paper_formats.latex(self._entries, differences=differences)

    def to_markdown(self, *, differences: bool = False) -> str:
        """Return it as Markdown.

        Args:
            differences: Whether to show differences from the best, with their p-values, in place of the entries.
        """
        return paper_formats.markdown(self._entries, differences=differences)

    def to_csv(self) -> str:
        """Return the table of `to_frame` as CSV."""
        return paper_formats.comma_separated(self._entries)

    def to_frame(self) -> "DataFrame":
        """Return a tidy pandas table: a row for each entry, with its difference from the best of its setting.

        Its columns are the keys of rows and columns, ``metric``, ``value``, ``low`` and ``high`` (the ends of its 95 %
        interval), ``replications``, ``best`` (whether it is decided to be the best), ``difference`` with
        ``difference_low`` and ``difference_high``, ``pairs``, ``p`` and ``p_holm`` (Holm's, of all comparisons of the
        table). What does not exist is missing: the best has no difference.
        """
        return paper_formats.frame(self._entries)

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        return paper_formats.html(self._entries)


def table_of(
    study: StudyResult,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    metrics: Sequence[str] | None,
    *,
    compared: str | None,
    statistic: str,
    where: Mapping[str, Any] | None,
) -> PaperTable:
    """Return a table of all figures of *study*; see `Results.table`.

    Raises:
        CompareError: There is no such metric, key or value, or an entry would be several points; options are named as
            on the command line.
        StatisticError: There is no such statistic.
    """
    metrics = metrics or [main_metric([run_values(point) for point in study.points])]
    notes = each_once(
        [
            *comparison_notes(study, metrics),
            *trouble_lines(study),
            *failure_lines(study),
            *remarks(study),
        ]
    )
    entries = paper_entries(
        all_columns(study),
        rows,
        columns,
        metrics,
        compared=compared,
        statistic=statistic,
        where=where,
        name=study.name,
        notes=notes,
    )
    return PaperTable(entries)
