"""Loads a file and its ``--set`` options into merged tables that record where each value was written."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from netbandit.parts.settings import KeyPath, Problem, Raw
from netbandit.scenario.errors import Place, ScenarioError
from netbandit.scenario.given import Given, given, keyword_overrides
from netbandit.scenario.merge import FIRST_OVERRIDE, Merged, Origin, written_order
from netbandit.scenario.objects import plain
from netbandit.scenario.overrides import Override, read_overrides
from netbandit.scenario.source import Source, read_source, source_of
from netbandit.util.wording import key_text, show

_KEYS = re.compile(r"\b(?:run|topology|links|bandit|learner|protocol)(?:\.[a-z_]+)+")
"""Keys of a scenario in the text of a message."""

_WORD = re.compile(r"[a-z_]+")

LONGEST_CHAIN = 32
"""The most files that a scenario may extend, one after the other."""

_Origin = TypeVar("_Origin", Source, Given)


@dataclass(frozen=True)
class Document:
    """A scenario as written, merged with the files it extends and with ``--set``; not yet validated.

    Attributes:
        file: The file as the user gave it.
        data: The merged tables. ``extends`` is gone, ``name`` is always there, and under ``sweep`` each key is one
            dotted key path.
        parameters: The keys changed by ``--set``: dotted key -> value.
        nameless: Whether it has no name.
        notes: Remarks on keys that may not be as intended.
    """

    file: str
    data: dict[str, Any]
    parameters: dict[str, Any]
    _origins: dict[KeyPath, Origin]
    _former_kinds: dict[str, list[tuple[Origin, str]]]
    _top: Source | Given
    nameless: bool = False
    notes: Sequence[Problem] = ()
    _appended: Mapping[KeyPath, KeyPath] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The folder of the file: where relative paths of ``--set`` start and a user's own parts are looked for."""
        return self._top.folder

    @property
    def written(self) -> dict[str, Any]:
        """The merged tables as text and numbers alone, for a record of them."""
        return {key: plain(value) for key, value in self.data.items()}

    def place(self, path: KeyPath) -> str:
        """Return ``FILE:LINE:COLUMN``, or ``--set KEY``, of a key path.

        A key that does not exist stands at the nearest table around it, a table that does not exist at 1:1.
        """
        return str(self._place(path))

    def base_of(self, path: KeyPath) -> Path:
        """Return the folder of the file that the value at *path* was written in, for relative paths."""
        origin = self._origin(path)
        return origin.folder if isinstance(origin, Source | Given) else self.folder

    def inherited(self, path: KeyPath) -> bool:
        """Return whether the value at *path* stands in a file that the scenario extends."""
        origin = self._origin(path)
        return isinstance(origin, Source | Given) and origin is not self._top

    def other_kinds(self, table: str, key: str) -> list[str]:
        """Return the other kinds of part that a key of a part's table may have been written for.

        Where a sweep, ``--set`` or an extending file changes ``kind``, keys that were written for another kind may be
        left over: they are dropped, not mistakes, as long as one of these kinds knows them.

        Args:
            table: ``bandit``, ``learner`` or ``protocol``.
            key: A key of that table.
        """
        sweep = self.data.get("sweep")
        swept = sweep.get(f"{table}.kind") if isinstance(sweep, dict) else None
        kinds = [kind for kind in swept if isinstance(kind, str)] if isinstance(swept, list) else []
        cases = sweep.get("cases") if isinstance(sweep, dict) else None
        for case in cases if isinstance(cases, list) else []:
            part = case.get(table) if isinstance(case, dict) else None
            if isinstance(part, dict) and isinstance(part.get("kind"), str):
                kinds.append(part["kind"])
        own = self.data.get(table)
        if kinds and isinstance(own, dict) and isinstance(own.get("kind"), str):  # replaced by points of the sweep
            kinds.append(own["kind"])
        written = self._origins.get((table, key))
        if written is not None:
            changes = self._former_kinds.get(table, [])
            kinds += [kind for change, kind in changes if written_order(written) < written_order(change)]
        return list(dict.fromkeys(kinds))

    def error(self, problems: Iterable[Problem]) -> ScenarioError:
        """Return the error that reports all *problems*, in the order of the files, each once.

        Two keys that cannot be together may stand in two files, or in a file and a ``--set``: then both are named.
        """
        lines = {
            (self._place(path), f"{key_text(path)}: {text}{self._elsewhere(path, text)}") for path, text in problems
        }
        return ScenarioError(f"{place}: {text}" for place, text in sorted(lines))

    def _elsewhere(self, path: KeyPath, text: str) -> str:
        """Return where other keys stand that the *text* about a mistake at *path* names, if not in the same file.

        A key of the same table is named without its table. Keys set beside it on the command line need no place.
        """
        here = self._place(path)
        keys = [(*path[:-1], word) for word in dict.fromkeys(_WORD.findall(text))] if len(path) > 1 else []
        beside = [key for key in keys if key in self._origins and key != path]
        names = _KEYS.findall(text) + [key_text(key) for key in beside if self._place(key).line]
        found: dict[str, str] = {}
        for name in names:
            for other in (("sweep", name), tuple(name.split("."))):
                there = self._place(other)
                if other in self._origins and there.name != here.name and (here.line or there.line):
                    found.setdefault(name, str(there))
        return "".join(f"; {name} stands at {place}" for name, place in found.items())

    def _origin(self, path: KeyPath) -> Origin | None:
        while path and path not in self._origins:
            path = path[:-1]
        return self._origins.get(path)

    def _place(self, path: KeyPath) -> Place:
        origin = self._origin(path)
        if isinstance(origin, Override):
            return origin.place
        if path[:3] in self._appended:
            path = (*self._appended[path[:3]], *path[3:])
        return (origin or self._top).place(path if origin is not None else ())


def load(
    file: str | os.PathLike[str],
    overrides: Sequence[str] | Mapping[str, Any] = (),
    text: str | None = None,
    unrecorded: Mapping[str, Any] | None = None,
) -> Document:
    """Read a scenario file, the files it extends, and the overrides.

    Tables are merged key by key; a key that is given again, or set, replaces the former value, including a sweep of it.
    Of tables of which a key takes one, such as laws, another one replaces the whole; see `one_of`.
    ``name`` and ``description`` are a file's own and are not inherited.

    Args:
        file: The file; messages name it as it is given here.
        overrides: Each the ``KEY=VALUE`` of a ``--set``; later ones win. Or values by keyword, ``__`` for each dot.
        text: The content in place of a file.
        unrecorded: Overrides by keyword that are no parameters of the study.

    Raises:
        ScenarioError: A file cannot be read, is not TOML or of another ``schema``, or an override is malformed.
    """
    lines: list[str] = []
    changes: list[Override] = []
    try:
        if isinstance(overrides, Mapping):
            changes = keyword_overrides(overrides, FIRST_OVERRIDE)
        else:
            changes = read_overrides(overrides, FIRST_OVERRIDE)
        changes += keyword_overrides(unrecorded or {}, FIRST_OVERRIDE + len(changes), unrecorded=True)
    except ScenarioError as error:
        lines += error.lines
    try:
        name = os.fspath(file)
        sources = _sources(_checked(read_source(name, 0) if text is None else source_of(name, text, 0)), changes)
    except ScenarioError as error:
        raise ScenarioError(error.lines + lines) from None
    if lines:
        raise ScenarioError(lines)
    return _document(sources, changes)


def load_tables(
    tables: Raw,
    overrides: Mapping[str, Any] | None = None,
    *,
    unrecorded: Mapping[str, Any] | None = None,
    keywords: bool = False,
) -> Document:
    """Return the scenario that *tables* are, with the files it extends and the overrides.

    Args:
        tables: The tables of a scenario, in which a class may replace its kind; relative paths start in the working
            folder, and without a ``name`` it is called ``scenario``.
        overrides: Values by keyword, ``__`` for each dot of a key.
        unrecorded: Overrides that are no parameters of the study.
        keywords: Whether each table was a keyword of its own, for messages.

    Raises:
        ScenarioError: A file cannot be read, is not TOML or of another ``schema``, or an override is malformed.
    """
    changes = keyword_overrides(overrides or {}, FIRST_OVERRIDE)
    changes += keyword_overrides(unrecorded or {}, FIRST_OVERRIDE + len(changes), unrecorded=True)
    return _document(_sources(_checked(given(tables, "scenario", keywords=keywords)), changes), changes)


def _document(sources: Sequence[Source | Given], changes: Sequence[Override]) -> Document:
    merged = Merged(sources, changes)
    if not merged.data and isinstance(sources[0], Source):
        tables = "must have the tables run, topology, bandit, learner and protocol"
        raise ScenarioError([f"{sources[0].place(())}: file: is empty, {tables}"])
    first = sources[0]
    nameless = isinstance(first, Given) and "name" not in merged.data
    merged.data.setdefault("name", Path(first.name).stem)
    return Document(
        first.name,
        merged.data,
        merged.parameters,
        merged.origins,
        merged.former_kinds,
        first,
        nameless,
        merged.notes,
        merged.appended,
    )


def _sources(first: Source | Given, changes: Sequence[Override]) -> list[Source | Given]:
    """Return *first* and the files it extends."""
    sources = [first]
    extends = next((change.value for change in reversed(changes) if change.path == ("extends",)), None)
    place = next((change.place for change in reversed(changes) if change.path == ("extends",)), None)
    if extends is None:
        extends, place = sources[0].data.get("extends"), sources[0].place(("extends",))
    while extends is not None:
        assert place is not None
        if not isinstance(extends, str) or not extends or "\0" in extends:
            raise ScenarioError([f"{place}: extends: must be the name of a scenario file, not {show(extends)}"])
        base = os.path.join(os.path.dirname(sources[-1].name), extends)
        names = [source.name for source in sources]
        again = [index for index, known in enumerate(names) if _same(known, base)]
        if again:
            circle = " -> ".join([*names[again[0] :], base])
            raise ScenarioError([f"{place}: extends: must not lead back to the file itself: {circle}"])
        if len(sources) > LONGEST_CHAIN:
            text = f"at most {LONGEST_CHAIN} files may extend one another; put some of them together"
            raise ScenarioError([f"{place}: extends: {text}"])
        sources.append(_checked(read_source(base, len(sources), (place, "extends"))))
        extends, place = sources[-1].data.get("extends"), sources[-1].place(("extends",))
    return sources


def _checked(source: _Origin) -> _Origin:
    schema = source.data.get("schema", 1)
    if type(schema) is not int or schema != 1:
        text = f"must be 1, the only format this version reads, not {show(schema)}"
        raise ScenarioError([f"{source.place(('schema',))}: schema: {text}"])
    return source


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
