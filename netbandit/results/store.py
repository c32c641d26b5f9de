"""A results folder: a run folder for each point and replication, and which of them make up the study.

A results folder holds one run folder for each run, named by the run's key, and ``study.json``, which says which
runs belong to which point. The same run may belong to several studies and be called by other parameters there,
so name and parameters come from ``study.json`` and everything else from the run folder.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any, Protocol

from netbandit.results.portable_json import LABELS, as_text, canonical, native
from netbandit.results.run_folder import FORMAT, complete, load_run, save_run
from netbandit.results.safe_files import storage, write_whole
from netbandit.simulation.result import RunResult

STUDY = "study.json"
"""The file of a results folder that says which runs belong to which point."""


class Point(Protocol):
    """What the study floor needs to know of one point of a sweep to name its runs."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What the sweep or ``--set`` varied, key -> value."""

    @property
    def resolved(self) -> Mapping[str, Any]:
        """The whole scenario with every default filled in."""


@dataclass(frozen=True)
class PointResult:
    """All replications of one point.

    Attributes:
        parameters: What the sweep or ``--set`` varied, key -> value.
        keys: The key of each run, by replication.
        runs: Each run, by replication; None where it failed or has not been run.
    """

    parameters: dict[str, Any]
    keys: list[str]
    runs: list[RunResult | None]

    @property
    def finished(self) -> list[RunResult]:
        """The runs that are there, in the order of their replications."""
        return [run for run in self.runs if run is not None]

    def value(self, key: str) -> Any:
        """Return what the sweep made of a dotted *key*, else what the scenario says or its default; None if unknown."""
        if key in self.parameters or not self.finished:
            return self.parameters.get(key)
        return lookup(self.finished[0].resolved, key)


@dataclass(frozen=True)
class StudyResult:
    """All points of a study.

    Attributes:
        name: The scenario's name.
        points: The points, in the order of the sweep.
        written: The scenario as it was written, merged over what it extends and what ``--set`` changed; None for
            results that do not know it.
        inputs: The keys of the scenario that name a file.
    """

    name: str
    points: list[PointResult]
    written: dict[str, Any] | None = None
    inputs: tuple[str, ...] = ()


def lookup(resolved: Mapping[str, Any], key: str, absent: Any = None) -> Any:
    """Return the value of a dotted *key* of a resolved scenario, or *absent*."""
    value: Any = resolved
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return absent
        value = value[part]
    return value


def run_key(point: Point, replication: int) -> str:
    """Return the name of the folder of one replication of *point*: 20 hexadecimal digits.

    The key covers all that decides the numbers: the resolved scenario, its seed and the replication's number. It
    does not cover the scenario's name and description nor ``run.replications``, so raising the number of
    replications leaves the keys of those already run as they are. A file the scenario names counts by its
    content, not by its path.

    Raises:
        OSError: A file the scenario names cannot be read.
    """
    return _key(_hashed(point), replication)


def run_keys(point: Point) -> list[str]:
    """Return the keys of all replications of *point*.

    Raises:
        OSError: A file the scenario names cannot be read.
    """
    scenario = _hashed(point)
    return [_key(scenario, replication) for replication in range(point.resolved["run"]["replications"])]


def save_study(
    out: Path,
    name: str,
    points: Sequence[Point],
    keys: Sequence[Sequence[str]],
    written: Mapping[str, Any] | None = None,
) -> None:
    """Write ``study.json``: which runs in *out* belong to which point, and the scenario as it was *written*.

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
    """Return the study that `save_study` has described, without curves and links, whatever has happened to its file.

    Another command may have described a study of its own in the same folder while the runs were done. What a folder
    says is of the command that has ended last, so ``study.json`` is then written again.

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
    return _loaded(out, json.loads(text), details=False)


def _as_text(
    name: str, points: Sequence[Point], keys: Sequence[Sequence[str]], written: Mapping[str, Any] | None
) -> str:
    entries = [
        {"parameters": dict(point.parameters), "runs": list(runs)} for point, runs in zip(points, keys, strict=True)
    ]
    whole = {"format": FORMAT, "name": name, "points": entries, "inputs": sorted(_inputs(points))}
    return as_text(whole if written is None else {**whole, "written": written})


def load_study(out: Path, details: bool = True) -> StudyResult:
    """Return the study whose results are in *out*, with None for each run that is not (yet) complete.

    Args:
        out: A results folder.
        details: Whether to read the curves and the links too.

    Raises:
        FileNotFoundError: *out* is not a results folder.
        ValueError: Its ``study.json`` is damaged or of another format.
    """
    if not out.is_dir():
        raise FileNotFoundError(
            f"{out} is not a results folder: {'it is a file' if out.exists() else 'it does not exist'}"
        )
    if not (out / STUDY).is_file():
        raise FileNotFoundError(f"{out} is not a results folder: it has no {STUDY}")
    try:
        whole = json.loads((out / STUDY).read_bytes())
        if whole["format"] != FORMAT:
            raise ValueError(f"format {whole['format']!r}")
        return _loaded(out, whole, details)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{out / STUDY} is damaged or of another version; run the scenario again") from error


def load_finished(out: Path, details: bool = True) -> StudyResult:
    """Return the study whose results are in *out*, in which at least one run has come to its end.

    Args:
        out: A results folder.
        details: Whether to read the curves and the links too.

    Raises:
        FileNotFoundError: *out* is not a results folder.
        ValueError: Its ``study.json`` is damaged or of another format, or no run has come to its end.
    """
    study = load_study(out, details)
    if not any(point.finished for point in study.points):
        raise ValueError(f"{out} has no run that has come to its end")
    return study


def _hashed(point: Point) -> dict[str, Any]:
    """Return what of the scenario of *point* decides its numbers."""
    scenario = {key: value for key, value in point.resolved.items() if key not in LABELS}
    run = dict(scenario.get("run", {}))
    run.pop("replications", None)
    scenario["run"] = run
    for key, path in _inputs([point]).items():
        found = Path(path).stat()
        _put(scenario, key.split("."), f"blake2b:{_digest(Path(path), found.st_size, found.st_mtime_ns)}")
    return scenario


@lru_cache(maxsize=64)
def _digest(path: Path, size: int, changed: int) -> str:
    """Return the hash of a file's content, of which only a piece is in memory at a time.

    The points of a sweep name the same file; one of the same *size* that was last *changed* (ns) at the same time is
    not read again.
    """
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


def _inputs(points: Sequence[Point]) -> dict[str, Path]:
    return {key: path for point in points for key, path in getattr(point, "inputs", {}).items()}


def _key(scenario: dict[str, Any], replication: int) -> str:
    whole = {"scenario": scenario, "seed": scenario["run"].get("seed"), "replication": replication}
    return blake2b(canonical(whole).encode(), digest_size=10).hexdigest()


def _loaded(out: Path, whole: Mapping[str, Any], details: bool) -> StudyResult:
    """Return the study that the content of a ``study.json`` describes, with the runs that are in *out*."""
    points = [
        _point(out, whole["name"], native(entry["parameters"]), entry["runs"], details) for entry in whole["points"]
    ]
    written = whole.get("written")
    return StudyResult(
        name=_text(whole["name"]),
        points=points,
        written=native(written) if isinstance(written, dict) else None,
        inputs=tuple(map(_text, whole.get("inputs", []))),
    )


def _point(out: Path, name: str, parameters: dict[str, Any], keys: list[str], details: bool) -> PointResult:
    runs = []
    for key in keys:
        run = load_run(out / key, details)
        runs.append(None if run is None else replace(run, name=name, parameters=parameters))
    return PointResult(parameters=parameters, keys=keys, runs=runs)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _put(tree: dict[str, Any], path: Sequence[str], value: object) -> None:
    """Set the value at *path*, on copies: the scenario itself is not ours to change."""
    head, rest = path[0], path[1:]
    if rest:
        tree[head] = dict(tree.get(head, {}))
        _put(tree[head], rest, value)
    else:
        tree[head] = value


__all__ = [
    "FORMAT",
    "Point",
    "PointResult",
    "StudyResult",
    "complete",
    "load_finished",
    "load_run",
    "load_study",
    "lookup",
    "run_key",
    "run_keys",
    "save_run",
    "save_study",
    "save_study_again",
]
