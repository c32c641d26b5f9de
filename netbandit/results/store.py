"""A results folder: one run folder per point and replication, and the study that they make up.

A results folder holds one run folder for each run, ``runs/KEY``, and
``study.json``, which maps runs to points and carries a checksum. The same run may belong to several studies with
different parameters, so name and parameters come from ``study.json`` and everything else from the run folder.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from netbandit.results.numbers import run_text
from netbandit.results.run_folder import ERROR, FORMAT, DamagedRunError, of_this_format, read_run
from netbandit.results.run_keys import inputs
from netbandit.results.safe_files import native, remove_leftovers, sealed, storage, unsealed, write_whole
from netbandit.simulation.result import RunResult
from netbandit.simulation.sweep_point import Point
from netbandit.util.nesting import any_depth

STUDY = "study.json"
"""The file of a results folder that maps runs to points."""

RUNS = "runs"
"""The folder in a results folder that holds the run folders."""

_KEY = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True, kw_only=True)
class PointResult(Point):
    """A point with its replications.

    Attributes:
        keys: The key of each run, by replication.
        runs: Each run, by replication; None where it failed or has not been run.
    """

    keys: list[str] = field(default_factory=list)
    runs: Sequence[RunResult | None] = ()

    @property
    def finished(self) -> list[RunResult]:
        """The finished runs, in the order of their replications."""
        return [run for run in self.runs if run is not None]

    @property
    def by_replication(self) -> dict[int, list[RunResult]]:
        """The finished runs of each replication: one, unless several seeds make up one point."""
        found: dict[int, list[RunResult]] = {}
        for run in self.finished:
            found.setdefault(run.replication, []).append(run)
        return found


@dataclass(frozen=True)
class StudyResult:
    """All points of a study.

    Attributes:
        name: The scenario's name.
        points: The points, in the order of the sweep.
        written: The scenario as written, merged over the files it extends and changed by ``--set``; None for
            results that do not have it.
        inputs: The keys of the scenario that name a file.
        damaged: The runs that are left out because their files are not as written, a line each.
        missing: The runs that are not there: they failed, were not done yet or were removed; a line each.
    """

    name: str
    points: list[PointResult]
    written: dict[str, Any] | None = None
    inputs: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def folder_of(out: Path, key: str) -> Path:
    """Return the path of the run *key* in the results folder *out*."""
    return out / RUNS / key


def run_names(out: Path) -> set[str]:
    """Return the names of all possible run folders in the results folder *out*."""
    try:
        return {name for name in os.listdir(out / RUNS) if _KEY.fullmatch(name)}
    except OSError:
        return set()


def tidy(out: Path) -> int:
    """Remove from the results folder *out* what killed processes left unfinished; see `remove_leftovers`."""
    runs: list[Path] = []
    with suppress(OSError):
        runs = [Path(entry.path) for entry in os.scandir(out / RUNS) if entry.is_dir(follow_symlinks=False)]
    return remove_leftovers(out, out / RUNS, *runs)


def save_study(
    out: Path,
    name: str,
    points: Sequence[Point],
    keys: Sequence[Sequence[str]],
    written: Mapping[str, Any] | None = None,
) -> None:
    """Write ``study.json``: the runs of each point in *out*, and the scenario as *written*.

    Raises:
        StorageError: The folder cannot be written.
    """
    with storage(out):
        out.mkdir(parents=True, exist_ok=True)
    write_whole(out / STUDY, _as_text(name, points, keys, written))


def save_study_again(
    out: Path,
    name: str,
    points: Sequence[Point],
    keys: Sequence[Sequence[str]],
    written: Mapping[str, Any] | None = None,
) -> StudyResult:
    """Return the study described by `save_study`, without curves and links, even if its file has changed.

    Another command may have described its own study in the same folder while the runs were in progress. The folder
    belongs to the command that ended last, so ``study.json`` is then written again.

    Raises:
        StorageError: The folder cannot be written.
    """
    text = _as_text(name, points, keys, written)
    try:
        same = (out / STUDY).read_bytes() == text.encode()
    except OSError:
        same = False
    if not same:
        write_whole(out / STUDY, text)
    return _loaded(out, unsealed(text.encode()), details=False)


def _as_text(
    name: str, points: Sequence[Point], keys: Sequence[Sequence[str]], written: Mapping[str, Any] | None
) -> str:
    entries = [
        {"parameters": dict(point.parameters), "runs": list(runs)} for point, runs in zip(points, keys, strict=True)
    ]
    whole = {"format": FORMAT, "name": name, "points": entries, "inputs": sorted(inputs(points))}
    return sealed(whole if written is None else {**whole, "written": written})


def load_points(out: Path, runs: int = 1) -> StudyResult:
    """Return the study in *out*, with at most *runs* runs of each point, without curves and links.

    Raises:
        FileNotFoundError: *out* is not a results folder.
        ValueError: Its ``study.json`` is damaged or has another format.
    """
    return load_study(out, details=False, most_runs=runs)


def load_study(out: Path, details: bool = True, most_runs: int | None = None) -> StudyResult:
    """Return the study in *out*, with None for each run that is not (yet) complete.

    Args:
        out: A results folder.
        details: Whether to read the curves and the links too.
        most_runs: The most runs of each point to read, among the readable ones; None: all.

    Raises:
        FileNotFoundError: *out* is not a results folder.
        ValueError: Its ``study.json`` is damaged or has another format.
    """
    if not out.is_dir():
        raise FileNotFoundError(
            f"{out} is not a results folder: {'it is a file' if out.exists() else 'it does not exist'}"
        )
    if not (out / STUDY).is_file():
        below = sorted(found.parent.name for found in out.glob(f"*/{STUDY}"))
        hint = f", but those in it are: {', '.join(below)}" if below else ""
        raise FileNotFoundError(f"{out} is not a results folder: it has no {STUDY}{hint}")
    try:
        with any_depth():
            whole = of_this_format(unsealed((out / STUDY).read_bytes()), str(out / STUDY))
            return _loaded(out, whole, details, most_runs)
    except DamagedRunError as error:
        raise ValueError(f"{error}; run the scenario again") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{out / STUDY} is damaged or of another version; run the scenario again") from error


def load_finished(out: Path, details: bool = True) -> StudyResult:
    """Return the study in *out*, which must have at least one finished run, and `tidy` the folder.

    Args:
        out: A results folder.
        details: Whether to read the curves and the links too.

    Raises:
        FileNotFoundError: *out* is not a results folder.
        ValueError: Its ``study.json`` is damaged or has another format, or no run has finished.
    """
    tidy(out)
    study = load_study(out, details)
    if not any(point.finished for point in study.points):
        raise ValueError(f"{out} has no finished run")
    return study


def _loaded(out: Path, whole: Mapping[str, Any], details: bool, most_runs: int | None = None) -> StudyResult:
    """Return the study that a ``study.json`` describes, with its runs in *out*."""
    damaged: list[str] = []
    missing: list[str] = []
    points = [_point(out, whole["name"], entry, details, most_runs, damaged, missing) for entry in whole["points"]]
    written = whole.get("written")
    return StudyResult(
        name=_text(whole["name"]),
        points=points,
        written=native(written) if isinstance(written, dict) else None,
        inputs=tuple(map(_text, whole.get("inputs", []))),
        damaged=tuple(dict.fromkeys(damaged)),
        missing=tuple(dict.fromkeys(missing)),
    )


def _point(
    out: Path,
    name: str,
    entry: Mapping[str, Any],
    details: bool,
    most_runs: int | None,
    damaged: list[str],
    missing: list[str],
) -> PointResult:
    """Return a point of a ``study.json``; tell which of its runs are *damaged*, and which *missing*."""
    parameters, keys = native(entry["parameters"]), [_text(key) for key in entry["runs"]]
    if not isinstance(parameters, dict) or not all(map(_KEY.fullmatch, keys)):
        raise TypeError("a point has a table of parameters, and runs by their keys")
    runs: list[RunResult | None] = []
    for replication, key in enumerate(keys):
        if most_runs is not None and sum(run is not None for run in runs) >= most_runs:
            runs.append(None)
            continue
        folder = folder_of(out, key)
        try:
            runs.append(replace(read_run(folder, details), name=name, parameters=parameters))
        except FileNotFoundError as error:
            runs.append(None)
            why = f"it failed, see {folder / ERROR}" if (folder / ERROR).is_file() else error
            missing.append(f"{run_text(parameters, replication)}: {why}")
        except DamagedRunError as error:
            runs.append(None)
            damaged.append(f"{folder}: {error}")
    resolved = next((run.resolved for run in runs if run is not None), {})
    if "run" in resolved:  # a run records the number planned when it was made
        resolved = {**resolved, "run": {**resolved["run"], "replications": len(keys)}}
    return PointResult(parameters=parameters, resolved=resolved, keys=keys, runs=runs)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
