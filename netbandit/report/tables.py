"""The tables of a report: text to read, and numbers to sort by."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from netbandit.plots.values import words
from netbandit.report.recipe import without_folders
from netbandit.results.columns import (
    asks_for_answers,
    column,
    constant_metrics,
    constants_line,
    metrics_with_columns,
    parameter_cells,
)
from netbandit.results.failures import MARK, is_regret
from netbandit.results.intervals import CONFIDENCE, Statistic
from netbandit.results.metrics import METRICS
from netbandit.results.numbers import cell, scaled
from netbandit.results.remarks import INFINITE, MEANING, NOT_ASKED, asked_for, spread
from netbandit.results.safe_files import LABELS
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.results.summary import TOPOLOGY, Estimate, estimates, failures, over_replications
from netbandit.results.varied_keys import distinguishing, short_names, varied
from netbandit.scenario.toml_text import toml_text
from netbandit.simulation.result import bound_of

_MOST_COLUMNS = 12
_MOST_METRICS = 8
_LEAST_METRICS = 4
_NOTHING = "–"
_HALF_WIDTH = "half-width of its 95 % interval; none where all replications are identical"


@dataclass(frozen=True)
class Cell:
    """One entry of a table.

    Attributes:
        text: What is read.
        key: The sort key: a number or a text; None sorts last.
    """

    text: str
    key: float | str | None

    def marked(self) -> "Cell":
        """Return the same with the mark of stalled agents."""
        return Cell(f"{self.text} {MARK}", self.key)

    @property
    def numeric(self) -> bool:
        """Whether it is a number."""
        return isinstance(self.key, float)


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes:
        caption: Its caption.
        headings: Its columns, each with a longer explanation, which may be empty.
        rows: Its rows, each with a cell for each column.
        everywhere: The values shared by all rows, in words.
    """

    caption: str
    headings: list[tuple[str, str]]
    rows: list[list[Cell]]
    everywhere: str = ""


@dataclass(frozen=True)
class Detail:
    """All that is known of one point.

    Attributes:
        title: The values that distinguish it from the others.
        metrics: Each metric over the replications.
        messages: The messages of each kind; no rows where none was sent.
        runs: The folder and the fingerprint of each replication.
        scenario: Its scenario with every default filled in, as TOML.
    """

    title: str
    metrics: Table
    messages: Table
    runs: Table
    scenario: str


def findings(study: StudyResult) -> Table:
    """Return the table of the most telling metrics: a row for each point, or for each metric of the only point."""
    found = [estimates(point) for point in study.points]
    if len(study.points) == 1:
        return _metrics("What was found", found[0])
    asked = asks_for_answers(study)
    alike = constant_metrics(found, asked)
    most = max(_LEAST_METRICS, min(_MOST_METRICS, _MOST_COLUMNS - len(distinguishing(study))))
    names = [name for name in metrics_with_columns(found, asked) if name not in alike][:most]
    order = list(dict.fromkeys(name for each in found for name in each))
    table = by_point("What was found at each point", study)
    unfinished = any(len(point.finished) < len(point.runs) for point in study.points)
    if unfinished:
        table.headings.append(("runs", "finished runs"))
        for row, point in zip(table.rows, study.points, strict=True):
            row.append(Cell(f"{len(point.finished)} of {len(point.runs)}", float(len(point.finished))))
    stalled = [failures(point).stalled for point in study.points]
    for name in sorted(names, key=order.index):
        heading, cells = _column(name, [each.get(name) for each in found])
        table.headings.append((heading, ""))
        for row, entry, marks in zip(table.rows, cells, stalled, strict=True):
            row.append(entry.marked() if marks and is_regret(name) else entry)
    return replace(table, everywhere=constants_line(found, "±", asked))


def graphs(study: StudyResult) -> Table:
    """Return the table of the networks: a row for each point whose topology is another."""
    keys = [key for key in varied(study) if key.startswith("topology.")]
    kept: dict[str, PointResult] = {}
    for point in study.points:
        if point.finished:
            kept.setdefault(repr([point.value(key) for key in keys]), point)
    points = list(kept.values())
    table = by_point("The networks", study, points, keys)
    known = {key.removeprefix("topology.") for key in keys}
    names = [name for name in (*TOPOLOGY[:2], "links per agent", *TOPOLOGY[2:]) if name not in known]
    table.headings.extend((name, _GRAPH[name]) for name in names)
    for row, point in zip(table.rows, points, strict=True):
        facts = {name: over_replications(point, name) for name in TOPOLOGY}
        agents, links = facts["agents"], facts["links"]
        facts["links per agent"] = 2 * links / agents if agents and links is not None else None
        row += [_figure(facts[name]) for name in names]
    if not keys:
        _drop_number(table)
    return table


_GRAPH = {
    "agents": "agents, the nodes of the network",
    "links": "links between two agents",
    "links per agent": "the mean degree",
    "diameter": "hops between the two agents farthest apart; the largest of several components",
    "radius": "hops from the most central agent to the one farthest from it; the smallest of several components",
}


def privacy(study: StudyResult) -> tuple[Table, list[str]]:
    """Return the privacy spent with its unit: a row for each point; no rows where none was requested."""
    points = [point for point in study.points if any(run.privacy_unit for run in point.finished)]
    units = list(dict.fromkeys(run.privacy_unit for point in points for run in point.finished if run.privacy_unit))
    bounded = [point for point in points if any(map(asked_for, point.finished))]
    table = by_point("Privacy spent by the worst-off agent", study, points if bounded else [])
    table.headings[len(table.headings) :] = [
        ("epsilon spent", "according to the accountant; 0 where delta alone is sufficient"),
        ("delta spent", "what an event's probability may exceed exp(epsilon) times its other one by; 0: pure privacy"),
        ("epsilon, claimed", "the paper's own statement"),
    ]
    for row, point in zip(table.rows, points if bounded else [], strict=True):
        for metric in ("epsilon", "delta", "epsilon_claimed"):
            values = [run.metrics.get(metric) for run in point.finished]
            known = [float(value) for value in values if value is not None]
            largest = math.inf if None in values else max(known)
            nothing = metric == "epsilon" and set(values) == {None}
            at_most = "at most " if metric == "epsilon" and bound_of(point.finished) == "upper" else ""
            row.append(Cell(NOT_ASKED if nothing else at_most + spread(values), largest))
    if len(study.points) == 1:
        _drop_number(table)
    return table, units


def privacy_notes(study: StudyResult) -> list[str]:
    """Return what an account of privacy means, how each was found, and what it does not cover."""
    runs = [run for point in study.points for run in point.finished if asked_for(run)]
    found = dict.fromkeys(f"found by: {run.privacy_accountant}" for run in runs if run.privacy_accountant)
    caveats = dict.fromkeys(f"not covered: {caveat}" for run in runs for caveat in run.privacy_caveats)
    return [MEANING, *found, *caveats]


def details(study: StudyResult) -> list[Detail]:
    """Return all that is known of each point that has a finished run."""
    return [
        Detail(
            title=_title(study, index, point),
            metrics=_metrics("Metrics over the replications", estimates(point)),
            messages=_messages(point),
            runs=_runs(point),
            scenario=toml_text(
                without_folders(study, {key: value for key, value in point.resolved.items() if key not in LABELS})
            ),
        )
        for index, point in enumerate(study.points)
        if point.finished
    ]


def by_point(
    caption: str, study: StudyResult, points: Sequence[PointResult] | None = None, keys: Sequence[str] | None = None
) -> Table:
    """Return a table with a row for each point, and so far the number of the point and its parameters."""
    points = study.points if points is None else points
    keys = distinguishing(study) if keys is None else keys
    place = {id(point): number for number, point in enumerate(study.points, start=1)}
    headings = [("point", "its number in this report")]
    headings += [(name, _longer(name, key)) for name, key in zip(short_names(keys, METRICS), keys, strict=True)]
    columns = [[Cell(str(place[id(point)]), float(place[id(point)])) for point in points]]
    for key in keys:
        values = [point.value(key) for point in points]
        texts = [text.strip() for text in parameter_cells(values)]
        columns.append([Cell(text or _NOTHING, _key(value)) for text, value in zip(texts, values, strict=True)])
    return Table(caption, headings, [list(row) for row in zip(*columns, strict=True)])


def _drop_number(table: Table) -> None:
    """Remove the number of the point where it tells nothing."""
    del table.headings[0]
    for row in table.rows:
        del row[0]


def _longer(name: str, key: str) -> str:
    """Return what a heading's key is, in words if there are any; nothing if the heading says all of it."""
    return "" if name == key == words(key) else words(key) if words(key) != key else key


def _key(value: Any) -> float | str | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return None if value is None else float(value)
    return cell(value)


def _column(metric: str, found: Sequence[Estimate | None]) -> tuple[str, list[Cell]]:
    """Return the heading of a metric, with its unit, and a cell for each estimate."""
    drawn = column(metric, found)
    heading = drawn.heading()
    texts = [" ".join(text.split()) for text in drawn.cells("±")]
    keys = [None if each is None else each.value for each in found]
    return heading, [
        Cell(_NOTHING if text == "-" else text, None if key is None else float(key))
        for text, key in zip(texts, keys, strict=True)
    ]


def _metrics(caption: str, found: dict[str, Estimate]) -> Table:
    rows = []
    for metric, estimate in found.items():
        heading, (value,) = _column(metric, [estimate])
        mean, _, half = value.text.partition(" ± ")
        exists = any(one is not None for one in estimate.values)
        if metric.startswith("epsilon") and estimate.value is None and not exists:
            mean = INFINITE
        name, unit = heading[:-1].split(" (") if heading.endswith(")") else (heading, "")
        numbers = [Cell(mean, value.key), Cell(half, estimate.half_width), *_quantiles(metric, estimate)]
        rows.append([Cell(name, name), *numbers, Cell(unit, unit or None)])
    headings = [
        ("metric", ""),
        ("mean", ""),
        ("±", _HALF_WIDTH),
        ("median", ""),
        ("middle 80 %", "from the quantile of 10 % to that of 90 %"),
        ("unit", ""),
    ]
    return Table(caption, headings, rows)


def _quantiles(metric: str, estimate: Estimate) -> list[Cell]:
    """Return the median and between which quantiles the middle 80 % lie; nothing where the mean tells all."""
    if estimate.value is None or len(set(estimate.values)) < 2:
        return [Cell("", None)] * 2
    known = [float(value) for value in estimate.values if value is not None]
    estimates = [Estimate(Statistic(share).of(known, CONFIDENCE).value) for share in (0.5, 0.1, 0.9)]
    # With as many digits as the mean has: they are rounded together with it.
    _, (_, median, low, high) = _column(metric, [estimate, *estimates])
    return [median, Cell(f"{low.text} to {high.text}", low.key)]


def _messages(point: PointResult) -> Table:
    kinds: dict[str, tuple[int, int]] = {}
    for run in point.finished:
        for kind, (messages, size) in run.kinds.items():
            before = kinds.get(kind, (0, 0))
            kinds[kind] = (before[0] + messages, before[1] + size)
    runs = len(point.finished)
    rows = [
        [Cell(kind, kind), *(Cell(f"{value / runs:,.0f}", value / runs) for value in kinds[kind])]
        for kind in sorted(kinds)
    ]
    return Table("Messages of a run, mean", [("kind", ""), ("messages", ""), ("bytes", "")], rows)


def _runs(point: PointResult) -> Table:
    rows = [
        [
            Cell(str(replication), float(replication)),
            Cell(_NOTHING, None) if run is None else Cell(run.fingerprint, run.fingerprint),
            Cell(key, key),
        ]
        for replication, (key, run) in enumerate(zip(point.keys, point.runs, strict=True))
    ]
    headings = [
        ("replication", ""),
        ("fingerprint", "a hash of the time, node, kind and size of every event"),
        ("run folder", ""),
    ]
    return Table("Fingerprints", headings, rows)


def _title(study: StudyResult, place: int, point: PointResult) -> str:
    keys = distinguishing(study)
    values = ", ".join(
        f"{name} {cell(point.value(key)) or _NOTHING}" for name, key in zip(short_names(keys), keys, strict=True)
    )
    return f"Point {place + 1}: {values}" if values else f"Point {place + 1}"


def _figure(value: float | int | None) -> Cell:
    return Cell(_NOTHING, None) if value is None else Cell(scaled(round(float(value), 2)), float(value))
