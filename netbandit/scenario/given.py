"""A scenario given by Python: its tables have no lines, so an error names the keyword."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netbandit.parts.conditions import CONDITIONS
from netbandit.parts.settings import KeyPath, Raw
from netbandit.scenario.errors import Place, ScenarioError
from netbandit.scenario.overrides import Override
from netbandit.scenario.source import flat_sweep, sweep_path
from netbandit.util.wording import did_you_mean

TABLES: Mapping[str, tuple[str, ...]] = {
    "": (*("run", "topology", "links", *CONDITIONS, "bandit", "learner", "protocol", "sweep"),),
    "compute": ("agents", "server"),
    "links": ("peer", "uplink"),
    "links.peer": ("energy",),
    "links.uplink": ("energy",),
}
"""The tables inside each table of a scenario, by its dotted key."""


@dataclass(frozen=True)
class Given:
    """Tables that were given as they are.

    Attributes:
        name: The name of the scenario, also in messages.
        data: Its tables; under ``sweep`` each key is one dotted key path.
        keywords: Whether each table was a keyword of its own.
        layer: Its rank among the sources of the scenario.
    """

    name: str
    data: Raw
    keywords: bool
    layer: int = 0

    @property
    def folder(self) -> Path:
        """The working folder, in which relative paths start."""
        return Path()

    def place(self, path: KeyPath) -> Place:
        """Return the keyword, or the name of the whole."""
        name = f"{path[0]}=..." if self.keywords and path else self.name
        return Place(self.layer, 0, 0, name)


def given(tables: Raw, name: str, *, keywords: bool) -> Given:
    """Return tables as a source of a scenario."""
    data = dict(tables)
    if isinstance(data.get("sweep"), dict):
        data["sweep"] = flat_sweep(data["sweep"])
    return Given(name, data, keywords)


def keyword_overrides(keywords: Mapping[str, Any], first_layer: int, *, unrecorded: bool = False) -> list[Override]:
    """Return *keywords* as overrides, with ``__`` for each dot of a key.

    Args:
        keywords: Each with the value of its key.
        first_layer: The rank of the first among the sources of the scenario.
        unrecorded: Whether they are no parameters of the study.

    Raises:
        ScenarioError: A keyword has one underscore where two would be the key of a table; a line each.
    """
    overrides: list[Override] = []
    lines: list[str] = []
    for layer, (keyword, value) in enumerate(keywords.items(), start=first_layer):
        path = tuple(keyword.split("__"))
        meant = _meant(path)
        if meant is not None:
            here, there = keyword.removeprefix("sweep__"), meant.removeprefix("sweep__")
            lines.append(f'{here}=...: unknown key; two underscores stand for a dot (did you mean "{there}"?)')
            continue
        if path == ("sweep",) and isinstance(value, dict):
            value = flat_sweep(value)
        place = Place(layer, 0, 0, f"{keyword.removeprefix('sweep__')}=...")
        overrides.append(Override(place, sweep_path(path), value, unrecorded))
    if lines:
        raise ScenarioError(lines)
    return overrides


def _meant(path: tuple[str, ...]) -> str | None:
    """Return the keyword with two underscores where one of *path* is no key, but begins with the name of a table."""
    offset = 1 if path[0] == "sweep" else 0
    for depth in range(offset, len(path)):
        tables = TABLES.get(".".join(path[offset:depth]), ())
        for table in tables:
            if path[depth].startswith(f"{table}_"):
                rest = path[depth].removeprefix(f"{table}_")
                deeper = _meant((*path[offset:depth], table, rest, *path[depth + 1 :]))
                return deeper or "__".join((*path[:depth], table, rest, *path[depth + 1 :]))
        if depth == offset and tables and path[depth] not in tables and len(path) > depth + 1:
            hint = did_you_mean(path[depth], tables)
            if hint:
                return "__".join((*path[:depth], hint.split('"')[1], *path[depth + 1 :]))
    return None
