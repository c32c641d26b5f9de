"""One folder for one run: complete from the moment ``result.json`` is in it, and not before."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from netbandit.results.portable_json import as_text, native
from netbandit.results.safe_files import remove_leftovers, storage, write_whole
from netbandit.simulation.result import Curve, LinkUse, Metric, Nodes, RunResult

FORMAT = 1
"""The version of the files in a results folder; what is of another version is run again."""

RESULT = "result.json"
SCENARIO = "scenario.json"
CURVES = "curves.json"
LINKS = "links.json"
NODES = "nodes.json"
TRACE = "trace.jsonl"
ERROR = "error.txt"


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
    files: dict[str, object] = {SCENARIO: scenario, CURVES: curves, LINKS: links}
    if result.nodes is not None:
        files[NODES] = _nodes_as_json(result.nodes)
    for name, content in files.items():
        write_whole(folder / name, as_text(content))
    with storage(folder):
        if trace is not None:
            trace.replace(folder / TRACE)
        names = [*files, TRACE] if trace is not None else list(files)
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
        "privacy_unit": result.privacy_unit,
        "privacy_accountant": result.privacy_accountant,
        "privacy_caveats": list(result.privacy_caveats),
        "remarks": list(result.remarks),
        "sizes": sizes,
    }
    write_whole(folder / RESULT, as_text(whole))
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
        sizes = whole["sizes"]
        for name in (SCENARIO, CURVES, LINKS, *([NODES] if NODES in sizes else [])):
            if (folder / name).stat().st_size != sizes[name]:
                return None
        scenario = json.loads((folder / SCENARIO).read_bytes())
        curves = json.loads((folder / CURVES).read_bytes()) if details else {}
        links = json.loads((folder / LINKS).read_bytes()) if details else {}
        nodes = json.loads((folder / NODES).read_bytes()) if details and NODES in sizes else None
        return RunResult(
            name=_checked(whole["name"], str),
            parameters=native(_checked(whole["parameters"], dict)),
            resolved=native(_checked(scenario["scenario"], dict)),
            seed=_checked(whole["seed"], int),
            replication=_checked(whole["replication"], int),
            metrics=_checked_figures(whole["metrics"]),
            kinds={kind: (int(messages), int(size)) for kind, (messages, size) in whole["kinds"].items()},
            topology=_checked_figures(whole["topology"]),
            curves={name: _curve(curve) for name, curve in curves.items()},
            links=_links(links, details),
            fingerprint=_checked(whole["fingerprint"], str),
            versions=_checked(whole["versions"], dict),
            nodes=None if nodes is None else _nodes(nodes),
            privacy_unit=_checked(whole.get("privacy_unit", ""), str),
            privacy_accountant=_checked(whole.get("privacy_accountant", ""), str),
            privacy_caveats=tuple(_checked(caveat, str) for caveat in whole.get("privacy_caveats", [])),
            remarks=tuple(_checked(remark, str) for remark in whole.get("remarks", [])),
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


def _nodes_as_json(nodes: Nodes) -> dict[str, object]:
    coordinates = None if nodes.coordinates is None else nodes.coordinates.tolist()
    if coordinates is not None:
        coordinates = [[None if math.isnan(number) else number for number in place] for place in coordinates]
    return {"names": None if nodes.names is None else list(nodes.names), "coordinates": coordinates}


def _nodes(columns: Mapping[str, Any]) -> Nodes:
    names, coordinates = columns["names"], columns["coordinates"]
    return Nodes(
        names=None if names is None else tuple(names),
        coordinates=None if coordinates is None else np.array(coordinates, dtype=np.float64).reshape(-1, 2),
    )
