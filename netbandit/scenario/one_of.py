"""Tables of which a key takes one, such as the laws of a delay: another of them takes the place of the whole."""

import types
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from netbandit.parts.registry import BASES, BUILT_IN, KindError, kind_key, load_class
from netbandit.parts.settings import KeyPath, Raw
from netbandit.scenario.model import scenario_model, tables_of


def is_another(path: KeyPath, before: Raw, after: Raw, tables: Raw) -> bool:
    """Return whether the table *after* is another of those of which the key at *path* takes one than *before*.

    Of which ones the key takes one, its type says: in the settings of the scenario or, for a key of a part, of its
    class. A part inside a part is another if its kind is. A table that has keys of none is not another one, so that the
    mistake is reported at its key.

    Args:
        path: The key.
        before: The table there.
        after: The table, or a part of it, that is laid over it.
        tables: The scenario, which says of which kinds the parts are.
    """
    if len(path) > 1 and "kind" in before and "kind" in after:
        return bool(before["kind"] != after["kind"])
    known = _known_keys(path, tables)
    return (
        len(known) > 1
        and any(after.keys() <= keys for keys in known)
        and not any(before.keys() | after.keys() <= keys for keys in known)
    )


def laid_over(tables: Raw, others: Raw) -> Raw:
    """Return a copy of *tables* with *others* laid over it, key by key, sharing what *others* do not name."""
    return _laid_over(tables, others, (), tables)


def _laid_over(table: Raw, other: Raw, path: KeyPath, tables: Raw) -> Raw:
    found = dict(table)
    for key, value in other.items():
        before, here = found.get(key), (*path, key)
        found[key] = value
        if isinstance(value, dict) and value and isinstance(before, dict):
            found[key] = value if is_another(here, before, value, tables) else _laid_over(before, value, here, tables)
    return found


def _known_keys(path: KeyPath, tables: Raw) -> list[set[str]]:
    """Return the keys of each of the tables of which the key at *path* takes one."""
    try:
        conditions = tables_of(tables)
    except KindError:  # reported where the tables are read
        return []
    models: list[type[BaseModel]] = [scenario_model(tuple(conditions.items()))]
    for depth, key in enumerate(path):
        if depth == 1 and path[0] in BUILT_IN:
            models = [_class_of(str(path[0]), tables)]
        models = [inside for model in models for inside in _tables_inside(model).get(str(key), ())]
    return [{*_tables_inside(model)} for model in models]


def _class_of(table: str, tables: Raw) -> Any:
    """Return the class of a part; of one that would have to be imported its base class."""
    part = tables.get(table)
    kind = part.get(kind_key(table)) if isinstance(part, dict) else None
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return load_class(BUILT_IN[table].get(str(kind), BASES[table]))


@cache
def _tables_inside(model: type[BaseModel]) -> dict[str, tuple[type[BaseModel], ...]]:
    """Return the tables that each key of *model* takes."""
    return {field.alias or name: tuple(_tables_in(field.annotation)) for name, field in model.model_fields.items()}


def _tables_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if get_origin(annotation) in (Union, types.UnionType):
        for one in get_args(annotation):
            yield from _tables_in(one)
    elif get_origin(annotation) is Annotated:
        yield from _tables_in(get_args(annotation)[0])
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
