"""A table for a paper as LaTeX, Markdown and CSV, and as a pandas table."""

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import netbandit
from netbandit.results.columns import column, marked, parameter_cells
from netbandit.results.markup import Layout
from netbandit.results.numbers import as_csv, cell, level_text
from netbandit.results.paired import value_text
from netbandit.results.paper_entries import Entry, PaperEntries, decided, metric_heading
from netbandit.results.summary import Estimate

if TYPE_CHECKING:
    from pandas import DataFrame

NOTHING = "–"
"""The text of a combination that was not run."""

_BEST = "best"
"""The text of the entry that the others are compared with, in a table of differences."""


def markdown(table: PaperEntries, *, differences: bool = False) -> str:
    """Return *table* as Markdown, with aligned columns and the caption below."""
    heads, rows = _laid_out(table, differences, lambda text, bold: f"**{text}**" if bold else text)
    names = [table.names[key] for key in table.rows]
    lines = [[*names, *(_joined(table, head) for head in heads)], *([*labels, *texts] for labels, texts in rows)]
    lines = [[text.replace("|", "\\|") for text in line] for line in lines]
    widths = [max(map(len, one)) for one in zip(*lines, strict=True)]
    sides = [False] * len(names) + [True] * len(heads)

    def line(texts: Iterable[str]) -> str:
        return "".join(f"| {text} " for text in texts) + "|"

    rule = line("-" * (width - right) + ":" * right for width, right in zip(widths, sides, strict=True))
    filled = [
        line(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(one, widths, sides, strict=True)
        )
        for one in lines
    ]
    return "\n".join([filled[0], rule, *filled[1:], "", _caption(table, differences), ""])


def latex(table: PaperEntries, *, differences: bool = False) -> str:
    """Return *table* as LaTeX: a floating ``table`` for booktabs and multirow; details of its caption are comments."""
    found = _as_shown(table, differences, escaped, lambda text: f"\\textbf{{{text}}}")
    label = "tab:" + re.sub(r"[^A-Za-z0-9]+", "-", table.name).strip("-")
    made = f"% netbandit {netbandit.__version__}: {table.name}; needs the packages booktabs and multirow"
    text = found.latex(escaped(" ".join(table.short_caption(differences=differences))), label)
    aside = [*table.details(differences=differences), *table.notes]
    return "\n".join([made, *(f"% {line}" for line in aside), text])


def html(table: PaperEntries, *, differences: bool = False) -> str:
    """Return *table* as HTML, with its caption, as a notebook shows it."""
    return _as_shown(table, differences, escape, lambda text: f"<b>{text}</b>").html(
        escape(_caption(table, differences))
    )


def _as_shown(
    table: PaperEntries, differences: bool, escaped: Callable[[str], str], bold: Callable[[str], str]
) -> Layout:
    """Return the cell texts of *table* in its layout."""
    heads, rows = _laid_out(table, differences, lambda text, is_bold: bold(escaped(text)) if is_bold else escaped(text))
    named = len(table.metrics) > 1 or not table.columns  # values shared by all columns are in the caption
    return Layout(
        heads=[tuple(map(escaped, head if named else head[1:])) for head in heads],
        rows=[texts for _, texts in rows],
        labels=[tuple(map(escaped, row)) if table.rows else ("",) for row, _ in rows],
        head_names=[*([""] if named else []), *(escaped(table.names[key]) for key in table.columns)],
        label_names=[escaped(table.names[key]) for key in table.rows] or [""],
    )


def frame(table: PaperEntries) -> "DataFrame":
    """Return *table* tidy, a row for each entry; see `netbandit.api.tables.PaperTable.to_frame`."""
    from netbandit.util.extras.frames import pandas

    return pandas.DataFrame.from_records([_record(table, each) for each in table.entries])


def comma_separated(table: PaperEntries) -> str:
    """Return the table of `frame` as CSV."""
    records = [_record(table, each) for each in table.entries]
    return as_csv([records[0], *([cell(value) for value in record.values()] for record in records)])


def _record(table: PaperEntries, entry: Entry) -> dict[str, Any]:
    other, of_table = entry.from_best, {key: entry.values[key] for key in (*table.rows, *table.columns)}
    low, high = entry.estimate.ends or (None, None)
    difference = None if other is None else other.interval
    below, above = (None, None) if difference is None else difference.ends or (None, None)
    return of_table | {
        "metric": entry.metric,
        "value": entry.estimate.value,
        "low": low,
        "high": high,
        "replications": entry.replications,
        "best": entry.best,
        "difference": None if difference is None else difference.value,
        "difference_low": below,
        "difference_high": above,
        "pairs": None if difference is None else difference.replications,
        "p": None if other is None else other.p,
        "p_holm": None if other is None else other.p_holm,
    }


def _caption(table: PaperEntries, differences: bool) -> str:
    return table.caption_of_differences if differences else table.caption


Head = tuple[str, ...]
"""The heading of a column: its metric, and the value of each key."""


def _laid_out(
    table: PaperEntries, differences: bool, bold: Callable[[str, bool], str]
) -> tuple[list[Head], list[tuple[list[str], list[str]]]]:
    """Return the heading of each column, and for each row its labels and its texts."""
    keys = [*table.rows, *table.columns]
    labels = {key: _labels(table, key) for key in keys}
    titles = {metric: metric_heading(metric, table.entries) for metric in table.metrics}
    places: dict[tuple[Head, tuple[str, ...]], int] = {}
    for place, entry in enumerate(table.entries):
        texts = {key: labels[key][value_text(entry.values[key])] for key in keys}
        head = (titles[entry.metric], *(texts[key] for key in table.columns))
        places[head, tuple(texts[key] for key in table.rows)] = place
    order = {key: list(labels[key].values()) for key in keys}
    heads = sorted(
        dict.fromkeys(head for head, _ in places),
        key=lambda head: (
            [list(titles.values()).index(head[0])]
            + [order[key].index(text) for key, text in zip(table.columns, head[1:], strict=True)]
        ),
    )
    rows = sorted(
        dict.fromkeys(row for _, row in places),
        key=lambda row: [order[key].index(text) for key, text in zip(table.rows, row, strict=True)],
    )
    columns = []
    for head in heads:
        there = [places[head, row] for row in rows if (head, row) in places]
        drawn = dict(zip(there, _texts(table, [table.entries[place] for place in there], differences), strict=True))
        columns.append([bold(*drawn[places[head, row]]) if (head, row) in places else NOTHING for row in rows])
    return heads, [(list(row), [one[place] for one in columns]) for place, row in enumerate(rows)]


def _labels(table: PaperEntries, key: str) -> dict[str, str]:
    """Return the label of each value of *key*, in the order of the study."""
    values = {value_text(entry.values[key]): entry.values[key] for entry in table.entries}
    texts = [text.strip() or NOTHING for text in parameter_cells(list(values.values()))]
    return dict(zip(values, texts, strict=True))


def _texts(table: PaperEntries, entries: Sequence[Entry], differences: bool) -> list[tuple[str, bool]]:
    """Return the text of the entries of a column, and whether they are in bold."""
    stalled = [each.stalled for each in entries]
    if not differences:
        drawn = column(entries[0].metric, [each.estimate for each in entries]).cells("±")
        return list(
            zip((_plain(text) for text in marked(drawn, stalled)), [each.best for each in entries], strict=True)
        )
    labels = {key: _labels(table, key) for key in table.setting}
    settings = [
        ", ".join(f"{table.names[key]} {labels[key][value_text(entry.values[key])]}" for key in table.setting)
        for entry in entries
    ]
    several = len(set(settings)) > 1
    around = table.statistic.of_metric(entries[0].metric).around
    found = [
        None if each.from_best is None else Estimate.of(each.from_best.interval, around=around) for each in entries
    ]
    drawn = column(entries[0].metric, found).cells("±")
    texts = []
    for text, entry, setting in zip(marked(drawn, stalled), entries, settings, strict=True):
        other = entry.from_best
        if other is None:
            best = f"{_BEST} of {setting}" if several else _BEST
            texts.append((best if table.comparisons and entry.leads else NOTHING, entry.best))
            continue
        level = f" (p {_relation(level_text(other.p_holm))})" if other.p_holm is not None else ""
        texts.append((_plain(text) + level, decided(other)))
    return texts


def _relation(level: str) -> str:
    return f"< {level[1:]}" if level.startswith("<") else f"= {level}"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("[ ", "[")


def _joined(table: PaperEntries, head: Head) -> str:
    """Return the heading of a column in one line."""
    metric, *values = head
    words = [f"{table.names[key]} {text}" for key, text in zip(table.columns, values, strict=True)]
    return ", ".join([metric, *words] if len(table.metrics) > 1 or not words else words)


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "∞": r"$\infty$",
    "–": "--",
    "−": "$-$",
    "<": "$<$",
    ">": "$>$",
    "×": r"$\times$",
}


def escaped(text: str) -> str:
    """Return *text* escaped for LaTeX; a minus before a number becomes a minus sign."""
    text = re.sub(r"(?<![\w.])-(?=\d)", "−", text)
    return "".join(_LATEX.get(letter, letter) for letter in text)
