"""The tracks: scenarios without learner and protocol, each of which isolates one difficulty.

The tracks of a version never change: their files, seeds and references are part of its digest.
"""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.studies.suite.entries import Entry
from netbandit.util.wording import did_you_mean

if TYPE_CHECKING:
    from netbandit.simulation.replication import RunnablePoint

VERSION = 1
"""The version of the tracks."""

FOLDER = Path(__file__).with_name("tracks") / str(VERSION)
"""The folder of the track files; inside the package, so that an installed one has them."""

_REFERENCES = "references.toml"


class TrackError(ValueError):
    """There is no such track."""


@dataclass(frozen=True)
class Track:
    """A track.

    Attributes:
        name: Its name.
        family: ``arms`` or ``linear``.
        description: Which difficulty it isolates.
        path: Its scenario file, without learner and protocol.
        alone: The reference without cooperation: a learner over ``silent``.
        all: The reference of free cooperation: a learner over ``pooled``.
        epsilon: The most that an entry may spend of one reward's privacy; None: as much as it likes.
        agents: The number M of agents.
        horizon: T, in slots.
        replications: The number of replications, at fixed seeds.
    """

    name: str
    family: str
    description: str
    path: Path
    alone: Entry
    all: Entry
    epsilon: float | None
    agents: int
    horizon: int
    replications: int


@cache
def tracks() -> Mapping[str, Track]:
    """Return all tracks by name, in their order."""
    references = tomllib.loads((FOLDER / _REFERENCES).read_text(encoding="utf-8"))
    return {name: _track(name, found) for name, found in references.items()}


def chosen(names: Sequence[str] | None) -> list[Track]:
    """Return the tracks of some *names*, all if None.

    Raises:
        TrackError: There is none of a name.
    """
    known = tracks()
    if names is None:
        return list(known.values())
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        hint = did_you_mean(wrong[0], known) if len(wrong) == 1 else ""
        missing = f"there is no track {', '.join(wrong)}{hint}" if wrong else "no track is named"
        raise TrackError(f"{missing}; the tracks are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def point_of(entry: Entry, track: Track, run: Mapping[str, Any] | None = None) -> "RunnablePoint":
    """Return the checked point of *entry* on *track*.

    Relative paths, and classes of the user's own, start in the working folder.

    Args:
        entry: The entry.
        track: The track.
        run: Keys of ``[run]`` to put over the track's, such as ``horizon``.

    Raises:
        ScenarioError: It cannot be run there; each line says why.
    """
    from netbandit.checks.check import check
    from netbandit.scenario.load import load_tables

    tables = {"extends": str(track.path), "name": track.name, **entry.tables}
    return check(load_tables({**tables, **({"run": dict(run)} if run else {})})).points[0]


def digest() -> str:
    """Return the digest of all files of the version: 16 hexadecimal digits."""
    found = hashlib.sha256()
    for path in sorted(FOLDER.iterdir()):
        found.update(f"{path.name}\0{path.read_text(encoding='utf-8')}\0".encode())
    return found.hexdigest()[:16]


def _track(name: str, found: Mapping[str, Any]) -> Track:
    path = FOLDER / f"{name}.toml"
    scenario = tomllib.loads(path.read_text(encoding="utf-8"))
    return Track(
        name=name,
        family=found["family"],
        description=scenario["description"],
        path=path,
        alone=Entry(found["alone"], {"kind": "silent"}, "reference", family=found["family"]),
        all=Entry(found["all"], {"kind": "pooled"}, "reference", family=found["family"]),
        epsilon=found.get("epsilon"),
        agents=found["agents"],
        horizon=scenario["run"]["horizon"],
        replications=scenario["run"]["replications"],
    )
