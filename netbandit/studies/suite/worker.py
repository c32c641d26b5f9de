"""A separate process that runs entries, so that one that hangs or crashes Python does not affect the others.

Each task has a file, which is rewritten after each replication; replications in it are not run again.
"""

import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.compilation import compile_notice
from netbandit.results.run_keys import run_keys
from netbandit.results.safe_files import make_folder, write_whole
from netbandit.studies.suite.cells import spends_too_much, values_of
from netbandit.studies.suite.tracks import Track
from netbandit.user_code.errors import complaint
from netbandit.user_code.loading import find_beside, importing, kept_alive

if TYPE_CHECKING:
    from netbandit.simulation.replication import RunnablePoint

PROBE_SLOTS = 100
"""Where a track limits epsilon, an entry without a bound after this many slots is stopped."""

DIGITS = 8
"""The digits of a fingerprint that are kept."""


@dataclass(frozen=True)
class Task:
    """An entry on a track.

    Attributes:
        point: The point to run.
        track: The track.
        file: Where the runs are written: an object with ``runs``, one object for each replication with its ``key``,
            ``values``, ``fingerprint`` and ``seconds``, and ``end``: None while it goes on, else a state and why.
        probe: The point with a short horizon, where the track limits epsilon.
    """

    point: "RunnablePoint"
    track: Track
    file: Path
    probe: "RunnablePoint | None" = None


def read(file: Path) -> dict[str, Any]:
    """Return the content of the *file* of a task; no runs if it is missing or damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(file.read_text(encoding="utf-8"))
        return {"runs": list(found["runs"]), "end": found["end"]}
    return {"runs": [], "end": None}


def perform(task: Task) -> None:
    """Run all replications that are not in the file of *task*."""
    keys = run_keys(task.point)
    there = {run["key"]: run for run in read(task.file)["runs"]}
    runs = [there[key] for key in keys if key in there]
    state = ["ran", ""]
    try:
        with kept_alive():
            if task.probe is not None and not runs:
                epsilon = task.probe.simulation(0).run().metrics["epsilon"]
                if epsilon is None and (why := spends_too_much([None], task.track)):
                    write(task.file, [], ["private", why])
                    return
            for replication, key in enumerate(keys):
                if key not in there:
                    began = time.process_time()
                    result = task.point.simulation(replication).run()
                    seconds = round(time.process_time() - began, 3)
                    found = {"values": values_of(result, task.track), "fingerprint": result.fingerprint[:DIGITS]}
                    runs.append({"key": key, "replication": replication, **found, "seconds": seconds})
                    write(task.file, runs, None)
    except BaseException as error:  # code of the user's own may leave by any door
        state = ["failed", complaint(error)]
    write(task.file, sorted(runs, key=lambda run: int(run["replication"])), state)


def write(file: Path, runs: Sequence[Any], end: Sequence[str] | None) -> None:
    """Write the *file* of a task; see `Task`."""
    make_folder(file.parent)
    write_whole(file, json.dumps({"runs": runs, "end": end}))


def perform_packed(order: tuple[bytes, Path], tell: Callable[[str], None]) -> str:
    """Call `perform` in a worker process; return why it failed.

    Args:
        order: The task, pickled, and the folder in which the user's own parts are found first.
        tell: A function that shows the user a line.
    """
    packed, folder = order
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, output of entries is not shown
    find_beside(folder)
    try:
        with importing():
            task = pickle.loads(packed)
    except BaseException as error:  # code of the user's own may leave by any door
        return complaint(error)
    with compile_notice.telling(tell):
        perform(task)
    return ""
