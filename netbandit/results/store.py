"""A results folder: one run folder per point and replication, and the study that they make up.

A results folder holds one run folder for each run, ``runs/KEY``, and
``study.json``, which maps runs to points and carries a checksum. The same run may belong to several studies with
different parameters, so name and parameters come from ``study.json`` and everything else from the run folder.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from netbandit.results.run_folder import FORMAT, DamagedRunError, of_this_format, read_run
from netbandit.results.run_keys import inputs
from netbandit.results.safe_files import native, sealed, storage, unsealed, write_whole
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
    """

    name: str
    points: list[PointResult]
    written: dict[str, Any] | None = None
    inputs: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()


def folder_of(out: Path, key: str) -> Path:
    """Return the path of the run *key* in the results folder *out*."""
    return out / RUNS / key


def run_names(out: Path) -> set[str]:
    """Return the names of all possible run folders in the results folder *out*."""
    try:
        return {name for name in os.listdir(out / RUNS) if _KEY.fullmatch(name)}
    except OSError:
        return set()


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
    """Return the study in *out*, which must have at least one finished run.

    Args:
        out: A results folder.
        details: Whether to read the curves and the links too.

    Raises:
        FileNotFoundError: *out* is not a results folder.
        ValueError: Its ``study.json`` is damaged or has another format, or no run has finished.
    """
    study = load_study(out, details)
    if not any(point.finished for point in study.points):
        raise ValueError(f"{out} has no finished run")
    return study


def _loaded(out: Path, whole: Mapping[str, Any], details: bool, most_runs: int | None = None) -> StudyResult:
    """Return the study that a ``study.json`` describes, with its runs in *out*."""
    damaged: list[str] = []
    points = [_point(out, whole["name"], entry, details, most_runs, damaged.append) for entry in whole["points"]]
    written = whole.get("written")
    return StudyResult(
        name=_text(whole["name"]),
        points=points,
        written=native(written) if isinstance(written, dict) else None,
        inputs=tuple(map(_text, whole.get("inputs", []))),
        damaged=tuple(dict.fromkeys(damaged)),
    )


def _point(
    out: Path,
    name: str,
    entry: Mapping[str, Any],
    details: bool,
    most_runs: int | None,
    tell_damage: Callable[[str], None],
) -> PointResult:
    parameters, keys = native(entry["parameters"]), [_text(key) for key in entry["runs"]]
    if not isinstance(parameters, dict) or not all(map(_KEY.fullmatch, keys)):
        raise TypeError("a point has a table of parameters, and runs by their keys")
    runs: list[RunResult | None] = []
    for key in keys:
        if most_runs is not None and sum(run is not None for run in runs) >= most_runs:
            runs.append(None)
            continue
        folder = folder_of(out, key)
        try:
            runs.append(replace(read_run(folder, details), name=name, parameters=parameters))
        except FileNotFoundError:
            runs.append(None)
        except DamagedRunError as error:
            runs.append(None)
            tell_damage(f"{folder}: {error}")
    resolved = next((run.resolved for run in runs if run is not None), {})
    if "run" in resolved:  # a run records the number planned when it was made
        resolved = {**resolved, "run": {**resolved["run"], "replications": len(keys)}}
    return PointResult(parameters=parameters, resolved=resolved, keys=keys, runs=runs)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
