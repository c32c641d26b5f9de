"""Runs entries on tracks in parallel processes, which are terminated when a track takes too long."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from netbandit.compilation.compile_notice import to_stderr
from netbandit.results.run_keys import run_keys
from netbandit.running.pool import Lost, Pool
from netbandit.scenario.errors import ScenarioError
from netbandit.studies.suite.cells import Cell, cell_of
from netbandit.studies.suite.entries import Entry
from netbandit.studies.suite.tracks import Track, point_of
from netbandit.studies.suite.worker import PROBE_SLOTS, Task, perform_packed, read, write
from netbandit.util.process import cores

LIMIT = 600.0
"""The default time limit (s) of an entry on a track."""

Told = Callable[[Entry, Track, Cell], None]
"""Called with each cell when it is known."""


def tell_nobody(entry: Entry, track: Track, cell: Cell) -> None:
    """Report no progress."""


def run_pairs(
    pairs: Sequence[tuple[Entry, Track]],
    out: Path,
    *,
    jobs: int = 1,
    limit: float = LIMIT,
    told: Told = tell_nobody,
) -> dict[str, dict[str, Cell]]:
    """Return the results of each entry on its tracks: entry -> track -> cell.

    Args:
        pairs: The entries and tracks to run.
        out: The folder of the runs, a file for each entry and track; existing runs are not repeated.
        jobs: The number of parallel processes; 0 means one for each core.
        limit: The time limit (s) of an entry on a track.
        told: A function called with each cell once it is known.
    """
    import cloudpickle  # classes of a notebook go by their code, others by their names

    found: dict[str, dict[str, Cell]] = {}

    def keep(entry: Entry, track: Track, cell: Cell) -> None:
        found.setdefault(entry.name, {})[track.name] = cell
        told(entry, track, cell)

    def orders() -> Iterator[tuple[tuple[Entry, Task], tuple[bytes, Path]]]:
        for entry, task in left:
            found = read(task.file)
            if found["end"] is not None:  # left by an earlier call
                write(task.file, found["runs"], None)
            yield (entry, task), (cloudpickle.dumps(task), Path.cwd())

    left: list[tuple[Entry, Task]] = []
    for entry, track, task in _tasks(pairs, out):
        there = task if isinstance(task, Cell) else _whole(task)
        if isinstance(task, Task) and there is None:
            left.append((entry, task))
        elif there is not None:
            keep(entry, track, there)
    with Pool(min(jobs or cores(), len(left)), perform_packed, to_stderr) as workers:
        for (entry, task), answer in workers.answers(orders(), limit=limit):
            keep(entry, task.track, _ended(task, answer, limit))
    ordered: dict[str, dict[str, Cell]] = {}
    for entry, track in pairs:
        ordered.setdefault(entry.name, {})[track.name] = found[entry.name][track.name]
    return ordered


def cells_there(pairs: Sequence[tuple[Entry, Track]], out: Path) -> dict[str, dict[str, Cell]]:
    """Return the cells of those of *pairs* that `run_pairs` has finished in the folder *out*; nothing is run."""
    found: dict[str, dict[str, Cell]] = {}
    for entry, track, task in _tasks(pairs, out):
        cell = task if isinstance(task, Cell) else _whole(task)
        if isinstance(task, Task) and cell is None:
            there = read(task.file)
            cell = _cell(there, track) if there["end"] is not None and there["end"][0] != "ran" else None
        if cell is not None:
            found.setdefault(entry.name, {})[track.name] = cell
    return found


def file_of(out: Path, entry: Entry, track: Track) -> Path:
    """Return the file of the runs of *entry* on *track*; its name has letters that any file system takes."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", entry.name).strip("-")
    short = blake2b(entry.name.encode(), digest_size=3).hexdigest()  # other characters make another entry
    return out / f"{name[:80]}-{short}" / f"{track.name}.json"


def _tasks(pairs: Sequence[tuple[Entry, Track]], out: Path) -> Iterator[tuple[Entry, Track, Task | Cell]]:
    """Yield the task of each pair; the cell of one that is refused."""
    for entry, track in pairs:
        try:
            point = point_of(entry, track)
            probe = None if track.epsilon is None else point_of(entry, track, {"horizon": PROBE_SLOTS})
        except ScenarioError as error:
            text = error.lines[0].partition(": ")[2] or error.lines[0]  # without places in files
            yield entry, track, Cell("refused", re.sub(r"; \S+ stands at .*$", "", text))
        else:
            yield entry, track, Task(point, track, file_of(out, entry, track).absolute(), probe)


def _ended(task: Task, answer: str | Lost, limit: float) -> Cell:
    """Return the cell of a task that ended or was terminated."""
    found = read(task.file)
    if found["end"] is not None:
        return _cell(found, task.track)
    which = f"{len(found['runs'])} of {task.track.replications} replications"
    if answer is Lost.LATE:
        return Cell("late", f"did not end in {limit:g} s, in which it ran {which}")
    return Cell("failed", f"the process ended after {which}" if answer is Lost.DIED else answer)


def _whole(task: Task) -> Cell | None:
    """Return the cell of a task if all its replications are in its file; else None."""
    there = {run["key"]: run for run in read(task.file)["runs"]}
    keys = run_keys(task.point)
    return cell_of([there[key] for key in keys], task.track) if all(key in there for key in keys) else None


def _cell(found: Mapping[str, Any], track: Track) -> Cell:
    """Return the cell that the file of a task which has ended says."""
    state, why = found["end"]
    return cell_of(found["runs"], track) if state == "ran" else Cell(state, why)
