"""The names of run folders: a hash of everything that determines a run's numbers.

A scenario key added after 0.2.0 counts only if it differs from its default, so that runs made before it existed are
still found. A new key in a table must be registered in `ADDED`; the test of this file fails until it is.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any
from uuid import uuid4

from netbandit.results.changed_numbers import numbers_of
from netbandit.results.safe_files import LABELS, canonical
from netbandit.simulation.sweep_point import Point

NUMBERS = 1
"""Increased by every change of numbers or fingerprints in all scenarios: earlier runs are then not reused.

For changes that affect some scenarios only, see `changed_numbers`.
"""

ADDED: Mapping[str, Any] = {"run.header": 20, "run.until": "horizon", "run.idle": False}
"""Keys added after 0.2.0, with their defaults at that time.

``"links.peer.loss": 0.0`` is a key of every scenario, ``"bandit:vertical.unserved": "free"`` one of a kind (for the
topology: of a family). The value is as in the resolved scenario, ready for JSON. An entry is permanent, even if the
default changes later: it records how runs without the key behaved.
"""


def run_key(point: Point, replication: int) -> str:
    """Return the name of the folder of one replication of *point*: 20 hexadecimal digits.

    The key covers everything that determines the numbers: the resolved scenario, its seed and the replication's number.
    It does not cover the scenario's name and description nor ``run.replications``, so raising the number of
    replications keeps the keys of existing runs. Inputs outside the scenario's text count by content: a file (the
    point's ``inputs``, dotted key -> path) by its bytes, not by its path; a user class or a graph object by the point's
    ``identities`` (dotted key -> text). If an identity is None, the key is unique to this call.

    Raises:
        OSError: A file the scenario names cannot be read.
    """
    return _key(_common(point), replication)


def run_keys(point: Point) -> list[str]:
    """Return the keys of all replications of *point*.

    Raises:
        OSError: A file the scenario names cannot be read.
    """
    common = _common(point)
    return [_key(common, replication) for replication in range(point.resolved["run"]["replications"])]


def inputs(points: Sequence[Point]) -> dict[str, Path]:
    """Return the files named by *points*, by key."""
    return {key: path for point in points for key, path in point.inputs.items()}


def _key(common: str, replication: int) -> str:
    # The canonical JSON of {"replication": ..., "scenario": ..., "seed": ...}, of which only the first entry differs.
    return blake2b(f'{{"replication":{replication},{common}'.encode(), digest_size=10).hexdigest()


def _common(point: Point) -> str:
    """Return the common part of the runs of *point*: canonical JSON without its beginning."""
    scenario = deciding_keys(point)
    whole: dict[str, Any] = {"scenario": scenario, "seed": scenario["run"].get("seed")}
    numbers = numbers_of(point.resolved, NUMBERS)  # depends on file names, not on their content
    if numbers != 1:
        whole["zz_numbers"] = numbers  # sorts last
    return canonical(whole).removeprefix("{")


def deciding_keys(point: Point) -> dict[str, Any]:
    """Return the part of *point*'s scenario that determines its numbers."""
    scenario = {key: value for key, value in point.resolved.items() if key not in LABELS}
    run = dict(scenario.get("run", {}))
    run.pop("replications", None)
    scenario["run"] = run
    for key, default in ADDED.items():
        _leave_out(scenario, key, default)
    for key, path in point.inputs.items():
        found = path.stat()
        _put(scenario, key.split("."), f"blake2b:{_digest(path, found.st_size, found.st_mtime_ns)}")
    for key, identity in point.identities.items():
        _put(scenario, [*key.split(".")[:-1], f"{key.rpartition('.')[2]} is"], identity or uuid4().hex)
    return scenario


def _leave_out(scenario: dict[str, Any], key: str, default: Any) -> None:
    """Remove an added *key* from *scenario* if it equals its *default*, and its table if it is then empty."""
    head, *rest = key.split(".")
    name, _, kind = head.partition(":")
    table = scenario.get(name)
    if kind and isinstance(table, Mapping) and kind not in (table.get("kind"), table.get("family")):
        return
    for part in rest[:-1]:
        table = table.get(part) if isinstance(table, Mapping) else None
    if isinstance(table, Mapping) and rest[-1] in table and _same(table[rest[-1]], default):
        _remove(scenario, [name, *rest])


def _same(value: Any, default: Any) -> bool:
    return value == default and isinstance(value, bool) == isinstance(default, bool)


def _remove(tree: dict[str, Any], path: Sequence[str]) -> None:
    """Remove the entry at *path*, and tables that are then empty, on copies."""
    head, rest = path[0], path[1:]
    if rest:
        tree[head] = dict(tree[head])
        _remove(tree[head], rest)
    if not rest or not tree[head]:
        del tree[head]


def _put(tree: dict[str, Any], path: Sequence[str], value: object) -> None:
    """Set the value at *path*, on copies: the scenario itself must not change."""
    head, rest = path[0], path[1:]
    if rest:
        tree[head] = dict(tree.get(head, {}))
        _put(tree[head], rest, value)
    else:
        tree[head] = value


@lru_cache(maxsize=64)
def _digest(path: Path, size: int, changed: int) -> str:
    """Return the hash of a file's content, read in chunks.

    The points of a sweep name the same file; with equal *size* and modification time *changed* (ns) the hash is cached.
    """
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()
