"""A record of benchmarks: JSON lines, one for each benchmark that was measured.

A line holds the rows of its table with machine and versions, which the page of the documentation shows, and pyperf's
own file of all values (``pyperf``), with which later ones are compared. Lines written before pyperf have none.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import Row
from netbandit.results.safe_files import storage
from netbandit.util.nesting import read_json
from netbandit.util.process import machine, machine_text


class RecordError(ValueError):
    """A file is no record of benchmarks; the text says where."""


@dataclass(frozen=True)
class Run:
    """A benchmark that was measured.

    Attributes:
        benchmark: Its name.
        rows: What it found.
        machine: The processor, how many cores may be used, and the system.
        versions: Python, netbandit and its libraries -> version.
        at: When it ended, ISO 8601 in UTC.
        pyperf: The content of pyperf's file, if pyperf measured it.
    """

    benchmark: str
    rows: Sequence[Row]
    machine: dict[str, str | int]
    versions: dict[str, str]
    at: str
    pyperf: dict[str, Any] | None = None


def now(benchmark: str, rows: Sequence[Row], suite: Any) -> Run:
    """Return the run of a benchmark that ended just now on this machine."""
    from netbandit.simulation.result import versions

    with TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        suite.dump(str(file))
        content = json.loads(file.read_text(encoding="utf-8"))
    return Run(benchmark, rows, machine(), versions(), datetime.now(UTC).isoformat(timespec="seconds"), content)


def append(file: Path, run: Run) -> None:
    """Add a run to the record in *file*.

    Raises:
        StorageError: It cannot be written.
    """
    with storage(file), file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(asdict(run)) + "\n")


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
            run = Run(**read_json(line))
            if not isinstance(run.benchmark + run.at, str) or not all(map(_is_figure, _figures(run.rows))):
                raise ValueError
            machine_text(run.machine)
            dict.items(run.versions)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RecordError(f"{file}:{number}: not a line that python -m benchmarks --record writes") from None
        runs.append(run)
    if not runs:
        raise RecordError(f"{file}: holds no run of a benchmark")
    return runs


def _figures(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [value for row in rows for value in row.values()]


def _is_figure(value: Any) -> bool:
    return isinstance(value, str | int | float)


def values_in(file: Path, names: Sequence[str]) -> list[Any]:
    """Return pyperf's suites of these benchmarks in the record *file*.

    Raises:
        RecordError: It is no record, or holds no values of one of them.
    """
    import pyperf

    runs = [run for run in read(file) if run.benchmark in names and run.pyperf is not None]
    missing = [name for name in names if name not in {run.benchmark for run in runs}]
    if missing:
        raise RecordError(f"{file}: holds no values of pyperf of {', '.join(missing)}; record them with --record")
    suites = []
    with TemporaryDirectory() as folder:
        for number, run in enumerate(runs):
            one = Path(folder) / f"{number}.json"
            one.write_text(json.dumps(run.pyperf), encoding="utf-8")
            try:
                suites.append(pyperf.BenchmarkSuite.load(str(one)))
            except Exception:  # whatever pyperf makes of what it has not written
                raise RecordError(f"{file}: pyperf cannot read its values of {run.benchmark}") from None
    return suites


def comparison(before: Sequence[Any], after: Sequence[Any]) -> str:
    """Return what ``pyperf compare_to`` says of two lists of suites: what differs by more than chance, and how much."""
    import pyperf

    with TemporaryDirectory() as folder:
        for name, suites in (("before", before), ("after", after)):
            for suite in suites:
                pyperf.add_runs(str(Path(folder) / name), suite)
        command = [sys.executable, "-m", "pyperf", "compare_to", "--table", "before", "after"]
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
