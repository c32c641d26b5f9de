"""A log in the format of Criteo's display advertising challenge (Kaggle, 2014), as events to replay."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import GeneratorOf, Watch
from netbandit.bandits.criteo_features import BUCKETS, MOST_MISSING, Buckets, Combination, filled, label, scaled
from netbandit.bandits.criteo_lines import CATEGORIES, INTEGERS, BadLine, BadLineError, LogError, Rows, pieces
from netbandit.bandits.recorded import Events, Recorded

SHIFTED, SHIFT = 1, 3
"""The integer that grows (from 0: I2), and by how much: in Criteo's log it alone goes below zero, down to -3."""


@dataclass(frozen=True)
class Log:
    """The events of a log, in order: who came, what was shown, and whether it was clicked.

    Attributes:
        users: The integers that describe each user, shape (events, p).
        lowest: The lowest of each integer, shape (p,).
        highest: The highest of each integer, shape (p,).
        items: What describes each arm, scaled to [0, 1], shape (K, 3); arms are in the order of their labels.
        shown: The arm that was shown in each event, shape (events,).
        clicks: 1 or 0, shape (events,).
        lines: How many lines were read.
        skipped: How many of them are not of the format.
        first_skipped: The first of these.
    """

    users: NDArray[np.integer[Any]]
    lowest: NDArray[np.int64]
    highest: NDArray[np.int64]
    items: NDArray[np.float64]
    shown: NDArray[np.int16]
    clicks: NDArray[np.int8]
    lines: int
    skipped: int
    first_skipped: BadLine | None

    def scaled_users(self, events: slice) -> NDArray[np.float64]:
        """Return the users of some events with each integer scaled to [0, 1], shape (n, p)."""
        return scaled(self.users[events], self.lowest, self.highest)


def read(path: Path, *, arms: int, skip: bool, lines: int | None, watch: Watch) -> Log:
    """Read the log at *path*, plain or gzipped.

    Columns with more than 40 % missing are dropped; what else is missing is filled forward, then backward; I2 grows by
    3. The words of a line are hashed into three buckets, and the pairing of their counts is its label; lines with one
    of the most frequent labels are the events, the labels the arms. Integers and counts are scaled to [0, 1] over the
    events.

    The file is read twice, a piece at a time. Some 50 bytes a line stay in memory: of Criteo's own a fifth of what the
    line takes in the file. The last two logs read are kept in memory, and not read again as long as their files are
    the same.

    Args:
        path: The file.
        arms: The most labels that are kept.
        skip: Whether lines that are not of the format are left out and counted; if not they are an error.
        lines: The most lines to read, or None for all.
        watch: Told how much has been read.

    Raises:
        LogError: The file cannot be read, a line is not of the format, or nothing is left to replay.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise LogError(f"{path}:1: cannot be read: {error.strerror or error}") from error
    return _read(_Source(path, found.st_size, found.st_mtime_ns, arms, skip, lines, watch))


@dataclass(frozen=True)
class _Source:
    """A file as it is now, and how to read it; who watches makes no difference."""

    path: Path
    size: int
    changed: int
    arms: int
    skip: bool
    lines: int | None
    watch: Watch = field(compare=False)


@dataclass
class _Columns:
    """Statistics of the first pass over the file.

    Attributes:
        rows: The number of good lines.
        lines: The number of all lines.
        skipped: The number of bad ones.
        first_skipped: The first of these.
        missing: In how many good lines each integer and category is missing, shape (39,).
        first: What each column begins with: an integer, or the bucket of a word; absent: missing everywhere.
    """

    rows: int = 0
    lines: int = 0
    skipped: int = 0
    first_skipped: BadLine | None = None
    missing: NDArray[np.int64] = field(default_factory=lambda: np.zeros(INTEGERS + CATEGORIES, dtype=np.int64))
    first: dict[int, int] = field(default_factory=dict)

    def add(self, rows: Rows, buckets: Buckets) -> None:
        """Take in a piece."""
        self.lines += rows.lines
        self.rows += len(rows.clicks)
        self.skipped += len(rows.bad)
        self.first_skipped = self.first_skipped or next(iter(rows.bad), None)
        missing = rows.missing.sum(axis=0)
        self.missing += missing
        for column in np.flatnonzero(missing < len(rows.clicks)).tolist():
            if column not in self.first:
                row = int(np.argmin(rows.missing[:, column]))
                integer = column < INTEGERS
                word = b"" if integer else rows.words(column - INTEGERS)[row]
                self.first[column] = int(rows.numbers[row, column]) if integer else buckets[word]

    @property
    def kept(self) -> tuple[list[int], list[int]]:
        """The integers and the categories, each from 0, of which not too many are missing."""
        kept = np.flatnonzero(self.missing <= MOST_MISSING * self.rows).tolist()
        return [column for column in kept if column < INTEGERS], [
            column - INTEGERS for column in kept if column >= INTEGERS
        ]


@dataclass(frozen=True)
class _Events:
    """The good lines of a piece: integers shape (n, p), counts shape (n, 3), labels and clicks shape (n,)."""

    users: NDArray[np.integer[Any]]
    counts: NDArray[np.int8]
    labels: NDArray[np.int32]
    clicks: NDArray[np.int8]

    def among(self, labels: NDArray[np.int32]) -> "_Events":
        """Return those with one of *labels*."""
        kept = np.isin(self.labels, labels)
        return _Events(self.users[kept], self.counts[kept], self.labels[kept], self.clicks[kept])


@lru_cache(maxsize=2)
def _read(source: _Source) -> Log:
    path = source.path
    buckets = Buckets()
    columns = _Columns()
    for rows in pieces(path, source.lines, _half(source.watch, 0)):
        if rows.bad and not source.skip:
            bad = rows.bad[0]
            raise BadLineError(f"{path}:{bad.number}: {bad.text}")
        columns.add(rows, buckets)
    if not columns.rows:
        why = columns.first_skipped or BadLine(1, "there is none")
        raise LogError(f"{path}:{why.number}: {why.text}; nor can any other line be used")
    integers, categories = columns.kept
    for kept, what in ((integers, "integers"), (categories, "categories")):
        if not kept:
            raise LogError(f"{path}:1: more than {MOST_MISSING:.0%} of each of the {what} are missing")
    events = list(_events(source, columns, integers, categories, buckets))
    found, times = np.unique(np.concatenate([each.labels for each in events]), return_counts=True)
    # The most frequent labels; of equally frequent ones the lower.
    labels = np.sort(found[np.lexsort((found, -times))][: source.arms])
    events = [each.among(labels) for each in events]
    users = np.concatenate([each.users for each in events])
    shown = np.searchsorted(labels, np.concatenate([each.labels for each in events]))
    counts = np.zeros((len(labels), BUCKETS), dtype=np.int64)
    counts[shown] = np.concatenate([each.counts for each in events])
    return Log(
        users=users,
        lowest=users.min(axis=0).astype(np.int64),
        highest=users.max(axis=0).astype(np.int64),
        items=scaled(counts, counts.min(axis=0), counts.max(axis=0)),
        shown=shown.astype(np.int16),
        clicks=np.concatenate([each.clicks for each in events]),
        lines=columns.lines,
        skipped=columns.skipped,
        first_skipped=columns.first_skipped,
    )


def _events(
    source: _Source, columns: _Columns, integers: Sequence[int], categories: Sequence[int], buckets: Buckets
) -> Iterator[_Events]:
    """Yield the events of each piece, in the second pass."""
    before = dict(columns.first)
    for rows in pieces(source.path, source.lines, _half(source.watch, 1)):
        if not len(rows.clicks):
            continue
        users = np.empty((len(rows.clicks), len(integers)), dtype=np.int64)
        for index, column in enumerate(integers):
            values = filled(rows.numbers[:, column], rows.missing[:, column], before[column])
            before[column] = int(values[-1])
            users[:, index] = values + SHIFT * (column == SHIFTED)
        counts = np.zeros((len(rows.clicks), BUCKETS), dtype=np.int8)
        for category in categories:
            column = INTEGERS + category
            found = buckets.of(rows.words(category)).astype(np.int64)
            values = filled(found, found < 0, before[column])
            before[column] = int(values[-1])
            for bucket in range(BUCKETS):
                counts[:, bucket] += values == bucket
        fits = np.abs(users).max() <= np.iinfo(np.int32).max
        labels = label(counts.astype(np.int64)).astype(np.int32)
        yield _Events(users.astype(np.int32) if fits else users, counts, labels, rows.clicks)


def _half(watch: Watch, half: int) -> Watch:
    """Return a progress callback that counts one of the two passes as half of the whole."""
    return lambda what, done, total: watch(what, half * total + done, 2 * total)


class CriteoLog(Recorded):
    """The events of a log, in its order; nothing is drawn, and the reward of the best arm is unknown.

    Args:
        log: The log.
        combination: How a user and an item make a context.
        name: What its file is called.

    Attributes:
        events_there: How many events there are.
    """

    knows_best = False

    def __init__(self, log: Log, combination: Combination, name: str) -> None:
        super().__init__(log.items, log.users.shape[1], combination)
        self._log = log
        self.events_there = len(log.shown)
        if log.first_skipped is not None:
            first = log.first_skipped
            self.remarks = (
                f"{log.skipped:,} of {log.lines:,} lines of {name} were skipped; "
                f"the first is line {first.number}: {first.text}",
            )

    def events(self, block: int, generator: GeneratorOf) -> Events:
        """Return the events of a block; the last one of the log may be shorter."""
        part = slice(block * self.block, (block + 1) * self.block)
        shown, clicks = self._log.shown[part].astype(np.int64), self._log.clicks[part].astype(np.float64)
        return Events(self._log.scaled_users(part), shown, clicks)
