"""The record for comparisons: the values of all recorded entries on all tracks, by replication."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from netbandit.results.safe_files import write_whole
from netbandit.simulation.result import versions
from netbandit.studies.suite.cells import METRICS, Cell
from netbandit.studies.suite.entries import Entry
from netbandit.studies.suite.tracks import VERSION, digest
from netbandit.studies.suite.worker import DIGITS
from netbandit.util.process import machine

FORMAT = 1

FILE = Path(__file__).with_name("recorded") / f"{VERSION}.json"
"""The record that is shipped."""

_DIGITS = 7
"""Significant digits that are kept of a value."""


class RecordError(ValueError):
    """A file is no record, or one of other tracks."""


@dataclass(frozen=True)
class Record:
    """A record.

    Attributes:
        entries: The entries by name; mere references have the rank ``reference``.
        cells: Entry -> track -> cell; cells that were not run are missing.
        versions: Of netbandit, Python and the libraries that made the numbers.
        machine: On which it was made.
    """

    entries: Mapping[str, Entry]
    cells: Mapping[str, Mapping[str, Cell]]
    versions: Mapping[str, str]
    machine: Mapping[str, str | int]

    def cell(self, entry: str, track: str) -> Cell:
        """Return a cell; one that was not run says so."""
        return self.cells.get(entry, {}).get(track, Cell("missing", "not run"))

    def with_entry(self, entry: Entry, cells: Mapping[str, Cell]) -> "Record":
        """Return the record with one more entry, or with another one of its name in its place."""
        whole = {**self.cells, entry.name: cells}
        return Record({**self.entries, entry.name: entry}, whole, self.versions, self.machine)


def made_here(entries: Sequence[Entry], cells: Mapping[str, Mapping[str, Cell]]) -> Record:
    """Return the record of runs that this machine has made."""
    return Record({entry.name: entry for entry in entries}, cells, versions(), machine())


@cache
def shipped_record() -> Record:
    """Return the record that is shipped."""
    return read_record(FILE)


def read_record(path: Path) -> Record:
    """Return the record in the file *path*.

    Raises:
        RecordError: It is none, or one of other tracks.
        OSError: It cannot be read.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        form, tracks = found["format"], found["tracks"]
    except (ValueError, KeyError, TypeError):
        raise RecordError(f"{path} is no record of the suite") from None
    if form != FORMAT or tracks != digest():
        raise RecordError(f"{path} was made with other tracks than this version of netbandit has")
    try:
        entries = [
            Entry(_keys(one["learner"]), _keys(one["protocol"]), one["rank"], one["note"], one["family"])
            for one in found["entries"]
        ]
        cells = {
            entry.name: {name: _cell(cell) for name, cell in one["cells"].items()}
            for entry, one in zip(entries, found["entries"], strict=True)
        }
        return Record({entry.name: entry for entry in entries}, cells, found["versions"], found["machine"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise RecordError(f"{path} is damaged") from None


def write_record(record: Record, path: Path) -> None:
    """Write *record* into the file *path*, a line a cell."""
    head = {"format": FORMAT, "tracks": digest(), "versions": dict(record.versions), "machine": dict(record.machine)}
    lines = [json.dumps(head)[:-1] + ', "entries": [']
    for number, (name, entry) in enumerate(record.entries.items()):
        said: dict[str, Any] = {"learner": _text(entry.learner), "protocol": _text(entry.protocol), "rank": entry.rank}
        said |= {"note": entry.note, "family": entry.family}
        lines.append(("," if number else "") + json.dumps(said)[:-1] + ', "cells": {')
        cells = [f'"{track}": {json.dumps(_written(cell))}' for track, cell in record.cells.get(name, {}).items()]
        lines.append(",\n".join(cells))
        lines.append("}}")
    lines.append("]}\n")
    write_whole(path, "\n".join(lines))


def _written(cell: Cell) -> dict[str, Any]:
    found: dict[str, Any] = {"state": cell.state, "seconds": round(cell.seconds, 2)}
    if cell.why:
        found["why"] = cell.why
    if cell.values is not None:
        found["values"] = {metric: _short(cell.values[metric]) for metric in METRICS}
        found["replications"] = len(cell.fingerprints)
        found["fingerprints"] = [one[:DIGITS] for one in cell.fingerprints]
    return found


def _text(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return keys as JSON can hold them, which knows no infinite number."""
    return {key: "inf" if value == inf else value for key, value in keys.items()}


def _keys(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: inf if value == "inf" else value for key, value in found.items()}


def _short(values: Sequence[float | None]) -> Any:
    """Return values with as many digits as are kept; one where all are the same."""
    found = [None if value is None else float(f"{value:.{_DIGITS}g}") for value in values]
    return found[0] if len(set(found)) == 1 else found


def _cell(found: Mapping[str, Any]) -> Cell:
    values = found.get("values")
    if values is not None:
        count = found["replications"]
        values = {metric: value if isinstance(value, list) else [value] * count for metric, value in values.items()}
    return Cell(found["state"], found.get("why", ""), values, found.get("fingerprints", ()), found["seconds"])
