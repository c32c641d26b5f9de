"""Python objects and the tables of keys that represent them: one form for files, dictionaries and keywords.

In a table a class may stand where a file has its ``kind``, and a graph where a file names one.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from pydantic import BaseModel

from netbandit.parts.component import Part
from netbandit.parts.registry import GRAPH, kind_key, kind_of, load_class
from netbandit.parts.settings import Raw
from netbandit.parts.validation import TOO_DEEP, is_frame, native, too_deep
from netbandit.scenario.errors import ScenarioError

PARTS = ("topology", "bandit", "learner", "protocol")
"""The tables that have a class of their own."""


def tables_of(given: Mapping[str, Any]) -> Raw:
    """Return the tables of a scenario whose values may be objects, dictionaries of keys, classes or graphs.

    Raises:
        ScenarioError: A table holds itself.
    """
    refuse_deep(given)
    return {str(table): table_of(str(table), value) for table, value in given.items() if value is not None}


def refuse_deep(given: Mapping[Any, Any]) -> None:
    """Do nothing if no value holds itself, or is nested too deeply.

    Args:
        given: Values by their keywords.

    Raises:
        ScenarioError: Some do; a line each.
    """
    lines = [f"{keyword}=...: {TOO_DEEP}" for keyword, value in given.items() if too_deep(value)]
    if lines:
        raise ScenarioError(lines)


def table_of(table: str, value: Any) -> Any:
    """Return the plain form of the *value* of a table of the scenario, or of one of its keys.

    Args:
        table: The dotted key it stands at.
        value: A part, settings, a class, a graph of networkx, a path, or whatever a key takes.
    """
    if table in PARTS:
        key = kind_key(table)
        if isinstance(value, Part):
            return {key: type(value), **_written(value)}
        if isinstance(value, type) or (isinstance(value, str) and table != "topology"):
            return {key: value}
        if is_graph(value):
            return {key: load_class(GRAPH), "graph": value}
        if isinstance(value, str | os.PathLike):
            return {key: "file", "file": os.fspath(value)}
    if isinstance(value, BaseModel):
        return _written(value)
    if isinstance(value, Mapping):
        if table == "sweep":
            return {str(key): swept(str(key), inner) for key, inner in value.items()}
        return {str(key): table_of(f"{table}.{key}", inner) for key, inner in value.items() if inner is not None}
    return native(value)


def plain(value: Any, names: Mapping[int, str] | None = None) -> Any:
    """Return *value* as text and numbers alone: a class by its kind, a graph or a table by how large it is.

    Args:
        value: The value of a key or a table.
        names: Other names of some of these objects, by their ids.
    """
    if isinstance(value, Mapping):
        return {key: plain(inner, names) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, names) for inner in value]
    if not _is_object(value):
        return value
    return (names or {}).get(id(value)) or _name(value)


def numbered_apart(values: Any) -> list[Any]:
    """Return *values* as text and numbers alone; objects of one name are numbered: ``"module:World"``, ``... #2``."""
    names: dict[int, str] = {}
    for value in _objects(values):
        if id(value) not in names:
            name, taken = _name(value), set(names.values())
            numbered = (f"{name} #{number}" for number in count(2))
            names[id(value)] = name if name not in taken else next(text for text in numbered if text not in taken)
    return [plain(value, names) for value in values]


def _objects(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _objects(inner)
    elif _is_object(value):
        yield value


def _is_object(value: Any) -> bool:
    return isinstance(value, type) or is_graph(value) or is_frame(value)


def _name(value: Any) -> str:
    if isinstance(value, type):
        names = [kind_of(table, value) for table in PARTS]
        return next((name for name in names if ":" not in name), names[0])
    if is_frame(value):
        return f"a table of {len(value)} rows and {len(value.columns)} columns"
    return f"a graph of {value.number_of_nodes()} nodes and {value.number_of_edges()} links"


def is_graph(value: Any) -> bool:
    """Return whether *value* is a graph of networkx, without importing it."""
    return any(kind.__module__.partition(".")[0] == "networkx" for kind in type(value).__mro__)


def swept(key: str, values: Any) -> Any:
    """Return the plain form of the *values* that a key takes in turn, or of the tables of several keys.

    Args:
        key: The dotted key.
        values: A list of arguments of `table_of`, or what `native` makes one of; or a table of such lists.
    """
    if isinstance(values, Mapping):
        return {str(inner): swept(f"{key}.{inner}", value) for inner, value in values.items()}
    found = native(values)
    if not isinstance(found, list):
        return found
    if key == "cases":
        return [tables_of(case) if isinstance(case, Mapping) else case for case in found]
    return [table_of(key, value) for value in found]


def _written(model: BaseModel) -> Raw:
    """Return the keys that were given where the object was made."""
    found = model.model_dump(by_alias=True, exclude_unset=True)
    return {key: native(value) for key, value in found.items() if value is not None}
