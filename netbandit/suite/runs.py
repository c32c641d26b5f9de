"""Running entries on tracks, some at a time, in processes that are ended when a track takes too long."""

import os
import pickle
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from netbandit.results.run_keys import run_keys
from netbandit.scenario.errors import ScenarioError
from netbandit.suite.cells import Cell, cell_of
from netbandit.suite.entries import Entry
from netbandit.suite.plan import point_of, why_refused
from netbandit.suite.tracks import Track
from netbandit.suite.worker import PROBE_SLOTS, Task, read, write

LIMIT = 600.0
"""Seconds that an entry may take on a track, unless the user says otherwise."""

_LOOK_EVERY = 0.05
"""Seconds between two looks at whether a task has ended."""

Told = Callable[[Entry, Track, Cell], None]
"""Called with each cell when it is known."""


def tell_nobody(entry: Entry, track: Track, cell: Cell) -> None:
    """Tell nobody."""


@dataclass
class _Lane:
    """A process, and the task that it has; it is given the next one when that has ended."""

    process: "subprocess.Popen[bytes] | None" = None
    has: tuple[Entry, Task] | None = None
    since: float = 0.0


def run_pairs(
    pairs: Sequence[tuple[Entry, Track]],
    out: Path,
    *,
    jobs: int = 1,
    limit: float = LIMIT,
    told: Told = tell_nobody,
) -> dict[str, dict[str, Cell]]:
    """Return what each entry comes to on the track beside it: entry -> track -> cell.

    Args:
        pairs: Which entries to run on which tracks.
        out: The folder of the runs, a file for each entry and track; those that are there are not run again.
        jobs: How many processes run at once; 0 means one for each core.
        limit: Seconds that an entry may take on a track.
        told: Called with each cell when it is known.
    """
    found: dict[str, dict[str, Cell]] = {}

    def keep(entry: Entry, track: Track, cell: Cell) -> None:
        found.setdefault(entry.name, {})[track.name] = cell
        told(entry, track, cell)

    left: deque[tuple[Entry, Task]] = deque()
    for entry, task in _tasks(pairs, out, keep):
        there = _whole(task)
        if there is None:
            left.append((entry, task))
        else:
            keep(entry, task.track, there)
    lanes = [_Lane() for _ in range(min(jobs or os.cpu_count() or 1, len(left)))]
    try:
        while left or any(lane.has is not None for lane in lanes):
            for lane in lanes:
                _look_at(lane, limit, keep)
                if lane.has is None and left:
                    _give(lane, *left.popleft())
            time.sleep(_LOOK_EVERY)
    finally:
        for lane in lanes:
            _end(lane)
    ordered: dict[str, dict[str, Cell]] = {}
    for entry, track in pairs:
        ordered.setdefault(entry.name, {})[track.name] = found[entry.name][track.name]
    return ordered


def cells_there(pairs: Sequence[tuple[Entry, Track]], out: Path) -> dict[str, dict[str, Cell]]:
    """Return the cells of those of *pairs* that `run_pairs` has ended in the folder *out*; nothing is run."""
    found: dict[str, dict[str, Cell]] = {}

    def keep(entry: Entry, track: Track, cell: Cell) -> None:
        found.setdefault(entry.name, {})[track.name] = cell

    for entry, task in _tasks(pairs, out, keep):
        found_there, cell = read(task.file), _whole(task)
        if cell is None and found_there["end"] is not None and found_there["end"][0] != "ran":
            cell = _cell(found_there, task.track)
        if cell is not None:
            keep(entry, task.track, cell)
    return found


def file_of(out: Path, entry: Entry, track: Track) -> Path:
    """Return the file of the runs of *entry* on *track*; its name has letters that any file system takes."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", entry.name).strip("-")
    short = blake2b(entry.name.encode(), digest_size=3).hexdigest()  # what differs in other signs is another entry
    return out / f"{name[:80]}-{short}" / f"{track.name}.json"


def _tasks(pairs: Sequence[tuple[Entry, Track]], out: Path, keep: Told) -> Iterable[tuple[Entry, Task]]:
    """Yield what is to be run; *keep* what is refused."""
    for entry, track in pairs:
        try:
            point = point_of(entry, track)
            probe = None if track.epsilon is None else point_of(entry, track, {"horizon": PROBE_SLOTS})
        except ScenarioError as error:
            keep(entry, track, Cell("refused", why_refused(error.lines)))
            continue
        yield entry, Task(point, track, file_of(out, entry, track).absolute(), probe)


def _give(lane: _Lane, entry: Entry, task: Task) -> None:
    """Have the process of *lane* do a task; start one if there is none."""
    import cloudpickle  # classes of a notebook go by their code, others by their names

    _open_again(task)
    if lane.process is None:
        lane.process = _started()
    lane.has = entry, task
    lane.since = time.monotonic()
    assert lane.process.stdin is not None
    with suppress(BrokenPipeError):  # it has ended, which is found when it is looked at
        pickle.dump(cloudpickle.dumps(task), lane.process.stdin)
        lane.process.stdin.flush()


def _look_at(lane: _Lane, limit: float, keep: Told) -> None:
    """Keep what has come of the task of *lane* if it has ended, or has to."""
    if lane.process is None or lane.has is None:
        return
    entry, task = lane.has
    over = lane.process.poll() is not None  # asked first: what it wrote before is there when it is over
    found = read(task.file)
    if found["end"] is not None:
        cell = _cell(found, task.track)
    elif over or time.monotonic() - lane.since > limit:
        which = f"{len(found['runs'])} of {task.track.replications} replications"
        text = f"the process ended after {which}" if over else f"did not end in {limit:g} s, in which it ran {which}"
        cell = Cell("failed" if over else "late", text)
        _end(lane)
    else:
        return
    lane.has = None
    keep(entry, task.track, cell)


def _whole(task: Task) -> Cell | None:
    """Return the cell of a task of which all replications are in its file; else None."""
    there = {run["key"]: run for run in read(task.file)["runs"]}
    keys = run_keys(task.point)
    return cell_of([there[key] for key in keys], task.track) if all(key in there for key in keys) else None


def _cell(found: Mapping[str, Any], track: Track) -> Cell:
    """Return the cell that the file of a task which has ended says."""
    state, why = found["end"]
    return cell_of(found["runs"], track) if state == "ran" else Cell(state, why)


def _open_again(task: Task) -> None:
    """Have *task* not taken for ended by what an earlier call has left."""
    found = read(task.file)
    if found["end"] is not None:
        write(task.file, found["runs"], None)


def _started() -> "subprocess.Popen[bytes]":
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-c", "from netbandit.suite.worker import main; main()"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        pickle.dump((os.getpid(), str(Path.cwd())), process.stdin)
    return process


def _end(lane: _Lane) -> None:
    if lane.process is not None:
        lane.process.kill()
        lane.process.wait()
        with suppress(BrokenPipeError):
            lane.process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        lane.process = None
