"""The table of the grid: a line for each scenario, with what its run left behind, in short."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

TABLE = Path(__file__).with_name("grid.csv")

CONDITIONS = (
    *("topology.changes", "topology.family=contacts", "topology.family=mobile"),
    *("links.peer.queue", "links.peer.radio", "links.uplink.queue", "compute.", "energy.", "feedback.", "adversary."),
)
"""How keys begin that have every message decided as it happens, or that few lines have."""


class Line(NamedTuple):
    """A line of the table.

    Attributes:
        fingerprint: The first half of the run's fingerprint.
        messages: The number of messages.
        bytes: Their bytes.
        rounds: The number of rounds.
        ledger: A hash of all that counts messages: by kind, by link, and what became of them.
        metrics: A hash of all other metrics but the time it took.
        curves: A hash of the curves.
        remarks: A hash of what is said of the run in words.
        scenario: The keys that it sets over ``base.toml``, each as for ``--set``, parted by ``; ``.
    """

    fingerprint: str
    messages: str
    bytes: str
    rounds: str
    ledger: str
    metrics: str
    curves: str
    remarks: str
    scenario: str

    def differences(self, now: "Line") -> list[str]:
        """Return each column in which *now* differs, with what was and what is."""
        pairs = zip(self._fields, self, now, strict=True)
        return [f"{name} was {before}, is {after}" for name, before, after in pairs if before != after]


def protocol_of(scenario: str) -> str:
    """Return the kind of a scenario's protocol."""
    return next(key.partition("=")[2] for key in scenario.split("; ") if key.startswith("protocol.kind="))


def group_of(scenario: str) -> str:
    """Return what a scenario is an example of: the first of its `CONDITIONS`, else the kind of its protocol."""
    return next((key for key in CONDITIONS if f"; {key}" in scenario), protocol_of(scenario))


def read() -> list[Line]:
    """Return the table."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return [Line(**row) for row in csv.DictReader(file)]


def write(lines: Sequence[Line]) -> None:
    """Write the table, in order."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Line._fields)
        writer.writerows(sorted(lines, key=lambda line: line.scenario))


def one_in(part: int, lines: Sequence[Line]) -> list[Line]:
    """Return one in *part* of the lines of every group: those that do not depend on which others there are."""
    groups: dict[str, list[Line]] = {}
    for line in sorted(lines, key=lambda line: crc32(line.scenario.encode())):
        groups.setdefault(group_of(line.scenario), []).append(line)
    return [line for own in groups.values() for line in own[: -(-len(own) // part)]]
