"""Merges files and overrides, recording the origin of each value."""

import copy
from collections.abc import Sequence
from typing import Any

from netbandit.parts.settings import KeyPath, Problem
from netbandit.scenario.given import Given
from netbandit.scenario.model import PARTS
from netbandit.scenario.one_of import is_another
from netbandit.scenario.overrides import Override
from netbandit.scenario.source import Source
from netbandit.scenario.sweep import APPEND, CASES, INHERIT, are_cases
from netbandit.util.text import pluralize

Origin = Source | Given | Override
"""The origin of a value."""

FIRST_OVERRIDE = 10**6
"""The rank of the first override among the sources: behind any chain of files."""

# These describe one file, not the experiments that build upon it.
_OWN = ("name", "description", "extends")


def written_order(origin: Origin) -> int:
    """Return the precedence of an origin: the base first, then the files that extend it, then each override."""
    return origin.place.layer if isinstance(origin, Override) else -origin.layer


class Merged:
    """The sources put over one another.

    Args:
        sources: The named file first, then each extended file.
        changes: The overrides, in order.

    Attributes:
        data: The merged tables.
        origins: The origin of each table and key.
        former_kinds: For each part's table, the kinds it had before, each with the origin of the change.
        parameters: The keys changed by overrides: dotted key -> value.
        appended: For the path of each case that was added to others, the path at which it was written.
        notes: Replaced values that may have been meant to be extended.
    """

    def __init__(self, sources: Sequence[Source | Given], changes: Sequence[Override]) -> None:
        self.data: dict[str, Any] = {}
        self.origins: dict[KeyPath, Origin] = {}
        self.former_kinds: dict[str, list[tuple[Origin, str]]] = {}
        self.parameters: dict[str, Any] = {}
        self.appended: dict[KeyPath, KeyPath] = {}
        self.notes: list[Problem] = []
        for source in reversed(sources):
            written = {key: value for key, value in source.data.items() if source is sources[0] or key not in _OWN}
            written = self._inherited_sweep(written)
            self._note_kinds(source, written)
            self._end_sweeps(written)
            self._note_replaced_cases(written)
            self._tables(self.data, written, (), source)
            self._append_cases(source)
        self.data.pop("extends", None)
        for change in changes:
            self._change(change)

    def _tables(self, into: dict[str, Any], written: dict[str, Any], prefix: KeyPath, origin: Origin) -> None:
        for key, value in written.items():
            path = (*prefix, key)
            before = into.get(key)
            if isinstance(value, dict) and isinstance(before, dict) and not is_another(path, before, value, self.data):
                self.origins[path] = origin
                self._tables(into[key], value, path, origin)
            else:
                self._replace(into, key, value, path, origin)

    def _replace(self, into: dict[str, Any], key: str, value: Any, path: KeyPath, origin: Origin) -> None:
        if key in into:
            self.origins = {known: where for known, where in self.origins.items() if known[: len(path)] != path}
            self.appended = {known: where for known, where in self.appended.items() if known[: len(path)] != path}
        self.origins[path] = origin
        if isinstance(value, dict):
            into[key] = {}
            self._tables(into[key], value, path, origin)
        else:
            into[key] = copy.deepcopy(value) if isinstance(value, list) else value

    def _note_replaced_cases(self, written: dict[str, Any]) -> None:
        """Remember that *written* has cases of its own in place of those written earlier."""
        sweep, before = written.get("sweep"), self.data.get("sweep")
        if isinstance(sweep, dict) and CASES in sweep and isinstance(before, dict) and are_cases(before.get(CASES)):
            number = len(before[CASES])
            text = f"replaces the {pluralize(number, 'case')} of the extended file; [[sweep.{APPEND}]] adds to them"
            self.notes.append((("sweep", CASES), text))

    def _append_cases(self, origin: Origin) -> None:
        """Add the cases that were written to be added, if there are others; `sweep.problems` says what is wrong."""
        sweep = self.data.get("sweep")
        if not isinstance(sweep, dict) or not are_cases(sweep.get(APPEND)) or not are_cases(sweep.get(CASES)):
            return
        for number, case in enumerate(sweep.pop(APPEND)):
            path = ("sweep", CASES, len(sweep[CASES]))
            self.appended[path] = ("sweep", APPEND, number)
            self.origins[path] = origin
            sweep[CASES].append(case)

    def _change(self, change: Override) -> None:
        if change.path == ("extends",):
            return
        if change.path == ("sweep", INHERIT) and isinstance(change.value, bool):
            self._inherited_sweep({"sweep": {INHERIT: change.value}})
            return
        written: Any = change.value
        for key in reversed(change.path):
            written = {key: written}
        self._note_kinds(change, written)
        self._end_sweeps(written)
        into = self.data
        for depth, key in enumerate(change.path[:-1], start=1):
            before, after = into.get(key), {change.path[depth]: change.value}
            if not isinstance(before, dict) or is_another(change.path[:depth], before, after, self.data):
                self._replace(into, key, {}, change.path[:depth], change)
            into = into[key]
        self._replace(into, change.path[-1], change.value, change.path, change)
        if change.path[0] not in ("sweep", *_OWN) and not change.unrecorded:
            self.parameters[".".join(change.path)] = change.value

    def _note_kinds(self, origin: Origin, written: dict[str, Any]) -> None:
        """Remember the kind a part had before *written* changes it."""
        for table in PARTS:
            before, after = self.data.get(table), written.get(table)
            if isinstance(before, dict) and isinstance(after, dict):
                kind = before.get("kind")
                if isinstance(kind, str) and after.get("kind", kind) != kind:
                    self.former_kinds.setdefault(table, []).append((origin, kind))

    def _inherited_sweep(self, written: dict[str, Any]) -> dict[str, Any]:
        """Forget the sweep written earlier if *written* does not inherit it; return *written* without that key."""
        sweep = written.get("sweep")
        if not isinstance(sweep, dict) or not isinstance(sweep.get(INHERIT), bool):
            return written
        if not sweep[INHERIT]:
            self.data.pop("sweep", None)
            self.origins = {path: where for path, where in self.origins.items() if path[:1] != ("sweep",)}
        rest = {key: values for key, values in sweep.items() if key != INHERIT}
        return {key: value for key, value in written.items() if key != "sweep"} | ({"sweep": rest} if rest else {})

    def _end_sweeps(self, written: dict[str, Any]) -> None:
        """Drop the sweeps, written earlier, of keys that *written* now gives a value."""
        sweep = self.data.get("sweep")
        if not isinstance(sweep, dict):
            return
        for key in [key for key in sweep if _gives(written, key.split("."))]:
            del sweep[key]
            self.origins = {path: where for path, where in self.origins.items() if path[:2] != ("sweep", key)}


def _gives(table: Any, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(table, dict):
            return True
        if key not in table:
            return False
        table = table[key]
    return True
