"""Run folders: one folder for each point and replication, complete or not there at all.

A results folder holds one run folder for each run, named by the run's key, and ``study.json``, which says which
runs belong to which point. The same run may belong to several studies and be called by other parameters there,
so name and parameters come from ``study.json`` and everything else from the run folder.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from netbandit.simulation.result import Curve, LinkUse, Metric, RunResult
from netbandit.study.files import StorageError, remove_leftovers, storage, write_whole

FORMAT = 1
"""The version of the files in a run folder; a folder of another version is run again."""

RESULT = "result.json"
SCENARIO = "scenario.json"
CURVES = "curves.json"
LINKS = "links.json"
TRACE = "trace.jsonl"
ERROR = "error.txt"
STUDY = "study.json"

_LABELS = ("name", "description")
_INFINITIES = {"inf": math.inf, "-inf": -math.inf}


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


@dataclass(frozen=True)
class StudyResult:
    """All points of a study.

    Attributes:
        name: The scenario's name.
        points: The points, in the order of the sweep.
    """

    name: str
    points: list[PointResult]


def canonical(value: object) -> str:
    """Return *value* as JSON in the one form that is hashed: keys sorted, no spaces, infinities as text."""
    return json.dumps(_portable(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


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


def save_run(folder: Path, result: RunResult, trace: Path | None = None) -> None:
    """Write *result* into *folder*; the folder is complete from the moment ``result.json`` appears in it.

    Args:
        folder: The run folder; made if it is not there.
        result: What the run left behind.
        trace: A finished trace in the same folder, which is given its name here.

    Raises:
        StorageError: The folder cannot be written.
    """
    scenario = {"scenario": result.resolved, "seed": result.seed, "replication": result.replication}
    curves = {
        name: {"slots": curve.slots.tolist(), "values": curve.values.tolist()} for name, curve in result.curves.items()
    }
    links = {name: getattr(result.links, name).tolist() for name in LinkUse.__dataclass_fields__}
    with storage(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ERROR).unlink(missing_ok=True)
    write_whole(folder / SCENARIO, _text(scenario))
    write_whole(folder / CURVES, _text(curves))
    write_whole(folder / LINKS, _text(links))
    with storage(folder):
        if trace is not None:
            trace.replace(folder / TRACE)
        names = [SCENARIO, CURVES, LINKS] + ([TRACE] if trace is not None else [])
        sizes = {name: (folder / name).stat().st_size for name in names}
    whole = {
        "format": FORMAT,
        "run": folder.name,
        "name": result.name,
        "parameters": result.parameters,
        "seed": result.seed,
        "replication": result.replication,
        "topology": _figures(result.topology),
        "metrics": _figures(result.metrics),
        "kinds": {kind: [int(messages), int(size)] for kind, (messages, size) in result.kinds.items()},
        "fingerprint": result.fingerprint,
        "versions": result.versions,
        "sizes": sizes,
    }
    write_whole(folder / RESULT, _text(whole))
    remove_leftovers(folder)


def load_run(folder: Path, details: bool = True) -> RunResult | None:
    """Return the run in *folder*, or None if it is not there, not complete, damaged or of another format.

    Args:
        folder: The run folder.
        details: Whether to read the curves and the links too; without, both are empty.
    """
    try:
        whole = json.loads((folder / RESULT).read_bytes())
        if whole["format"] != FORMAT or whole["run"] != folder.name:
            return None
        for name in (SCENARIO, CURVES, LINKS):
            if (folder / name).stat().st_size != whole["sizes"][name]:
                return None
        scenario = json.loads((folder / SCENARIO).read_bytes())
        curves = json.loads((folder / CURVES).read_bytes()) if details else {}
        links = json.loads((folder / LINKS).read_bytes()) if details else {}
        return RunResult(
            name=_checked(whole["name"], str),
            parameters=_native(_checked(whole["parameters"], dict)),
            resolved=_native(_checked(scenario["scenario"], dict)),
            seed=_checked(whole["seed"], int),
            replication=_checked(whole["replication"], int),
            metrics=_checked_figures(whole["metrics"]),
            kinds={kind: (int(messages), int(size)) for kind, (messages, size) in whole["kinds"].items()},
            topology=_checked_figures(whole["topology"]),
            curves={name: _curve(curve) for name, curve in curves.items()},
            links=_links(links, details),
            fingerprint=_checked(whole["fingerprint"], str),
            versions=_checked(whole["versions"], dict),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def complete(folder: Path, trace: bool = False) -> bool:
    """Say whether *folder* holds a complete run, with its trace if *trace* is asked for."""
    if load_run(folder, details=False) is None:
        return False
    if not trace:
        return True
    try:
        size = json.loads((folder / RESULT).read_bytes())["sizes"].get(TRACE)
        return bool(size == (folder / TRACE).stat().st_size)
    except (OSError, ValueError):
        return False


def save_study(out: Path, name: str, points: Sequence[Point], keys: Sequence[Sequence[str]]) -> None:
    """Write ``study.json``: which runs in *out* belong to which point.

    Raises:
        StorageError: The folder cannot be written.
    """
    entries = [
        {"parameters": dict(point.parameters), "runs": list(runs)} for point, runs in zip(points, keys, strict=True)
    ]
    with storage(out):
        out.mkdir(parents=True, exist_ok=True)
    write_whole(out / STUDY, _text({"format": FORMAT, "name": name, "points": entries}))


def load_study(out: Path, details: bool = True) -> StudyResult:
    """Return the study whose results are in *out*, with None for each run that is not (yet) complete.

    Args:
        out: A results folder.
        details: Whether to read the curves and the links too.

    Raises:
        FileNotFoundError: *out* is not a results folder.
        ValueError: Its ``study.json`` is damaged or of another format.
    """
    if not (out / STUDY).is_file():
        raise FileNotFoundError(f"{out} is not a results folder: it has no {STUDY}")
    try:
        whole = json.loads((out / STUDY).read_bytes())
        if whole["format"] != FORMAT:
            raise ValueError(f"format {whole['format']!r}")
        points = [
            _point(out, whole["name"], _native(entry["parameters"]), entry["runs"], details)
            for entry in whole["points"]
        ]
        return StudyResult(name=_checked(whole["name"], str), points=points)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{out / STUDY} is damaged or of another version; run the scenario again") from error


def load_runs(out: Path, details: bool = True) -> list[RunResult]:
    """Return all complete runs of the study in *out*, by point and replication.

    Raises:
        FileNotFoundError: *out* is not a results folder.
        ValueError: Its ``study.json`` is damaged or of another format.
    """
    return [run for point in load_study(out, details).points for run in point.finished]


def _hashed(point: Point) -> dict[str, Any]:
    """Return what of the scenario of *point* decides its numbers."""
    scenario = {key: value for key, value in point.resolved.items() if key not in _LABELS}
    run = dict(scenario.get("run", {}))
    run.pop("replications", None)
    scenario["run"] = run
    for key, path in getattr(point, "inputs", {}).items():
        digest = blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()
        _put(scenario, key.split("."), f"blake2b:{digest}")
    return scenario


def _key(scenario: dict[str, Any], replication: int) -> str:
    whole = {"scenario": scenario, "seed": scenario["run"].get("seed"), "replication": replication}
    return blake2b(canonical(whole).encode(), digest_size=10).hexdigest()


def _point(out: Path, name: str, parameters: dict[str, Any], keys: list[str], details: bool) -> PointResult:
    runs = []
    for key in keys:
        run = load_run(out / key, details)
        runs.append(None if run is None else replace(run, name=name, parameters=parameters))
    return PointResult(parameters=parameters, keys=keys, runs=runs)


def _text(value: object) -> str:
    return json.dumps(_portable(value), allow_nan=False, indent=None, ensure_ascii=False) + "\n"


def _portable(value: object) -> object:
    """Return *value* in what JSON can say; infinities, which it cannot, become the words TOML has for them."""
    if isinstance(value, Mapping):
        return {str(key): _portable(entry) for key, entry in value.items()}
    if isinstance(value, list) and value and all(type(entry) in (int, str) for entry in value):
        return value  # the long columns of curves and links: nothing to do, and no copy
    if isinstance(value, list | tuple):
        return [_portable(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, np.generic):
        return _portable(value.item())
    return value


def _native(value: Any) -> Any:
    """Undo `_portable`."""
    if isinstance(value, dict):
        return {key: entry if key in _LABELS else _native(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_native(entry) for entry in value]
    if isinstance(value, str):
        return _INFINITIES.get(value, value)
    return value


def _figures(figures: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return plain Python numbers, with None for what is infinite or does not exist."""
    plain: dict[str, Metric] = {}
    for name, value in figures.items():
        number = value.item() if isinstance(value, np.generic) else value
        plain[name] = number if number is not None and math.isfinite(number) else None
    return plain


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not a {kind.__name__}")
    return value


def _checked_figures(figures: Any) -> dict[str, Metric]:
    for value in _checked(figures, dict).values():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise TypeError(f"{value!r} is not a number")
    return dict(figures)


def _curve(columns: Mapping[str, Any]) -> Curve:
    slots = np.array(columns["slots"], dtype=np.int64)
    values = np.array(columns["values"], dtype=np.float64)
    if slots.ndim != 1 or slots.shape != values.shape:
        raise ValueError("a curve needs one value for each slot")
    return Curve(slots=slots, values=values)


def _links(columns: Mapping[str, Any], details: bool) -> LinkUse:
    names = LinkUse.__dataclass_fields__
    arrays = {name: np.array(columns[name] if details else [], dtype=np.int64) for name in names}
    if len({array.shape for array in arrays.values()}) != 1:
        raise ValueError("a link needs one entry in each column")
    return LinkUse(**arrays)


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
    "StorageError",
    "StudyResult",
    "canonical",
    "complete",
    "load_run",
    "load_runs",
    "load_study",
    "run_key",
    "run_keys",
    "save_run",
    "save_study",
]
