"""Tables as LaTeX and HTML: a heading spans the columns that share it, and a label the rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple


class _Text(NamedTuple):
    text: str
    columns: int = 1
    rows: int = 1
    tag: str = "th"


_BELOW = _Text("", rows=0)
"""Placeholder where a label spans from the rows above."""


@dataclass(frozen=True)
class Layout:
    """A table of texts, to be written as LaTeX or HTML.

    Attributes:
        heads: The headings of each column, from top to bottom.
        rows: The entries of each row.
        labels: The labels of each row, from left to right.
        head_names: The name of each level of headings.
        label_names: The name of each level of labels.
    """

    heads: Sequence[Sequence[str]]
    rows: Sequence[Sequence[str]]
    labels: Sequence[Sequence[str]] = ()
    head_names: Sequence[str] = ("",)
    label_names: Sequence[str] = ()

    def latex(self, caption: str, label: str = "") -> str:
        """Return a floating ``table`` for the packages booktabs and multirow."""
        head, body = ([_latex_row(row) for row in rows] for rows in (self._head(), self._body()))
        named = [f"\\label{{{label}}}"] if label else []
        words = len(self.label_names) or 1  # without labels the first column holds text
        columns = "l" * words + "r" * (len(self.label_names) + len(self.heads) - words)
        return "\n".join(
            [
                *(
                    "\\begin{table}",
                    "\\centering",
                    f"\\caption{{{caption}}}",
                    *named,
                    f"\\begin{{tabular}}{{{columns}}}",
                ),
                *("\\toprule", *head, "\\midrule", *body, "\\bottomrule", "\\end{tabular}", "\\end{table}", ""),
            ]
        )

    def html(self, caption: str) -> str:
        """Return a ``table`` with its caption."""
        head, body = ("".join(map(_html_row, rows)) for rows in (self._head(), self._body()))
        return f"<table><caption>{caption}</caption><thead>{head}</thead><tbody>{body}</tbody></table>"

    def _head(self) -> Iterator[list[_Text]]:
        for level, name in enumerate(self.head_names):
            corner = [_Text("")] * (len(self.label_names) - 1) + [_Text(name)] * bool(self.label_names)
            groups = (list(same) for _, same in groupby(self.heads, lambda head: head[: level + 1]))  # noqa: B023
            yield corner + [_Text(same[0][level], columns=len(same)) for same in groups]
        if any(self.label_names):
            yield [*map(_Text, self.label_names), *[_Text("")] * len(self.heads)]

    def _body(self) -> Iterator[list[_Text]]:
        for index, row in enumerate(self.rows):
            beside = [self._label(index, level) for level in range(len(self.label_names))]
            yield beside + [_Text(text, tag="td") for text in row]

    def _label(self, place: int, level: int) -> _Text:
        same = [labels[: level + 1] == self.labels[place][: level + 1] for labels in self.labels]
        if place and same[place - 1]:
            return _BELOW
        return _Text(self.labels[place][level], rows=([*same[place:], False]).index(False))


def _latex_row(row: Sequence[_Text]) -> str:
    found = []
    for text, columns, rows, _ in row:
        tall = f"\\multirow[t]{{{rows}}}{{*}}{{{text}}}" if rows > 1 else text
        found.append(f"\\multicolumn{{{columns}}}{{c}}{{{tall}}}" if columns > 1 else tall)
    return " & ".join(found) + " \\\\"


def _html_row(row: Sequence[_Text]) -> str:
    found = []
    for text, columns, rows, tag in row:
        spans = f' colspan="{columns}"' * (columns > 1) + f' rowspan="{rows}"' * (rows > 1)
        found.append(f"<{tag}{spans}>{text}</{tag}>" if rows else "")
    return f"<tr>{''.join(found)}</tr>"
