"""Entries: a learner with a protocol and their keys, identical on all tracks of a family."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from netbandit.parts.registry import kind_of

Rank = Literal["default", "tuned", "own", "reference"]
"""``default``: as shipped; ``tuned``: keys chosen on other seeds; ``own``: of the user; ``reference``: of a track."""

_FILE = Path(__file__).with_name("entries.toml")


@dataclass(frozen=True)
class Entry:
    """An entry.

    Attributes:
        learner, protocol: The tables of their keys, with ``kind``, which may be a class.
        rank: Its rank.
        family: The family of tracks that it is for; empty: any that accept it.
        note: How the keys of a tuned entry were chosen.
    """

    learner: Mapping[str, Any]
    protocol: Mapping[str, Any]
    rank: Rank = "default"
    note: str = ""
    family: str = ""

    @property
    def name(self) -> str:
        """Its name: ``klucb over relay``, with given keys after the kind that they belong to."""
        return f"{_named('learner', self.learner)} over {_named('protocol', self.protocol)}"

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The tables of its scenario."""
        return {"learner": dict(self.learner), "protocol": dict(self.protocol)}


@cache
def shipped() -> Sequence[Entry]:
    """Return the entries that are recorded: pairs of shipped learners and protocols, and tuned ones."""
    written = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    pairs = [
        Entry(learner, {"kind": protocol}, family=group["family"])
        for group in written["default"]
        for learner in group["learners"]
        for protocol in group["protocols"]
    ]
    tuned = [
        Entry(one["learner"], one["protocol"], "tuned", one["note"], one["family"]) for one in written.get("tuned", [])
    ]
    return [*pairs, *tuned]


def _named(table: str, keys: Mapping[str, Any]) -> str:
    kind = keys["kind"]
    name = kind_of(table, kind) if isinstance(kind, type) else str(kind)
    others = ", ".join(f"{key} = {value}" for key, value in keys.items() if key != "kind")
    return f"{name} ({others})" if others else name
