"""A record of benchmarks: what they found on which machine with which versions, and whether two records differ.

A record is a file of JSON lines, one for each time that a benchmark ran. In a row of a benchmark, words and whole
numbers say what was measured (the graph, the messages that it took), and fractions are what the clock said: a figure of
one record is compared with the figure of the other that has the same words and whole numbers beside it. A column whose
name ends in ``noise`` says how sure another figure is, and is not compared.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import exp, log
from pathlib import Path

from netbandit.bench.measure import Row
from netbandit.nesting import read_json
from netbandit.results.machine import machine, machine_text
from netbandit.results.safe_files import storage

ERROR_RATE = 0.05
"""With this probability or less, a comparison calls anything changed where nothing changed."""

LEAST_RUNS = 2
"""So many runs a side have a spread; a single one says nothing of what is noise."""


class RecordError(ValueError):
    """A file is no record of benchmarks; the text says where."""


@dataclass(frozen=True)
class Run:
    """A benchmark that ran once.

    Attributes:
        benchmark: Its name.
        rows: What it found.
        machine: The processor, how many cores may be used, and the system.
        versions: Python, netbandit and its libraries -> version.
        at: When it ended, ISO 8601 in UTC.
    """

    benchmark: str
    rows: Sequence[Row]
    machine: dict[str, str | int]
    versions: dict[str, str]
    at: str


Figure = tuple[str, tuple[tuple[str, str | int], ...], str]
"""Which figure: the benchmark, the words and whole numbers of its row, its column."""


@dataclass(frozen=True)
class Change:
    """One figure in two records.

    Attributes:
        figure: Which.
        before: Its geometric mean in the first record.
        after: That in the second.
        ratio: After over before.
        p: The probability of a difference as large if nothing but noise differed; None where a side ran only once.
        changed: Whether that is too unlikely, all figures of the comparison considered.
    """

    figure: Figure
    before: float
    after: float
    ratio: float
    p: float | None
    changed: bool


def now(benchmark: str, rows: Sequence[Row]) -> Run:
    """Return the run of a benchmark that ended just now on this machine."""
    from netbandit.simulation.result import versions

    return Run(benchmark, rows, machine(), versions(), datetime.now(UTC).isoformat(timespec="seconds"))


def append(file: Path, run: Run) -> None:
    """Add a run to the record in *file*.

    Raises:
        StorageError: It cannot be written.
    """
    with storage(file), file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(run.__dict__) + "\n")


def read(file: Path) -> list[Run]:
    """Return the runs recorded in *file*.

    Raises:
        RecordError: It cannot be read, or a line of it is no run of a benchmark.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or 'not a text'}") from None
    runs = []
    for number, line in enumerate(lines, 1):
        try:
            found = read_json(line)
            run = Run(**{name: found[name] for name in ("benchmark", "rows", "machine", "versions", "at")})
            _figures(run)
            machine_text(run.machine)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RecordError(f"{file}:{number}: not a line that netbandit bench --record writes") from None
        runs.append(run)
    if not runs:
        raise RecordError(f"{file}: holds no run of a benchmark")
    return runs


_LEAST = 1e-100


def _figures(run: Run) -> dict[Figure, float]:
    """Return what the clock said; what is not above zero, or what no clock says, has no ratio and is left out."""
    found: dict[Figure, float] = {}
    for row in run.rows:
        same = tuple((column, value) for column, value in row.items() if not isinstance(value, float))
        for column, value in row.items():
            if isinstance(value, float) and _LEAST < value < 1 / _LEAST and not column.endswith("noise"):
                found[run.benchmark, same, column] = value
    return found


def _by_figure(runs: Iterable[Run]) -> dict[Figure, list[float]]:
    found: dict[Figure, list[float]] = {}
    for run in runs:
        for figure, value in _figures(run).items():
            found.setdefault(figure, []).append(value)
    return found


def compare(before: Sequence[Run], after: Sequence[Run]) -> list[Change]:
    """Return every figure that both records have, in the order of the first.

    Welch's test on the logarithms of the runs, with Holm's correction for all figures of the comparison, at
    `ERROR_RATE`.
    """
    first, second = _by_figure(before), _by_figure(after)
    common = [figure for figure in first if figure in second]
    chances = {figure: _chance(first[figure], second[figure]) for figure in common}
    changed = _holm({figure: chance for figure, chance in chances.items() if chance is not None})
    changes = []
    for figure in common:
        one, other = _geometric_mean(first[figure]), _geometric_mean(second[figure])
        changes.append(Change(figure, one, other, other / one, chances[figure], figure in changed))
    return changes


def only_in_one(before: Sequence[Run], after: Sequence[Run]) -> tuple[list[Figure], list[Figure]]:
    """Return the figures that only the first record has, and those that only the second has.

    Where a row counts other messages than before, it measured something else, and is among them.
    """
    first, second = _by_figure(before), _by_figure(after)
    return [one for one in first if one not in second], [one for one in second if one not in first]


def machines(runs: Iterable[Run]) -> list[str]:
    """Return the machines of a record, in words, each once."""
    return list(dict.fromkeys(machine_text(run.machine) for run in runs))


def _geometric_mean(values: Sequence[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


def _chance(before: Sequence[float], after: Sequence[float]) -> float | None:
    """Return the p-value of Welch's test; None where a side has no spread that could be known."""
    if min(len(before), len(after)) < LEAST_RUNS:
        return None
    from scipy.stats import ttest_ind

    one, other = [log(value) for value in before], [log(value) for value in after]
    if len({*one, *other}) == 1:
        return 1.0
    return float(ttest_ind(one, other, equal_var=False).pvalue)


def _holm(chances: dict[Figure, float]) -> set[Figure]:
    changed: set[Figure] = set()
    for place, (figure, chance) in enumerate(sorted(chances.items(), key=lambda entry: entry[1])):
        if chance > ERROR_RATE / (len(chances) - place):
            break
        changed.add(figure)
    return changed
