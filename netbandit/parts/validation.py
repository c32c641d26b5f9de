"""Tables of keys read into objects: pydantic's errors as clear texts with a key path each."""

import inspect
import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, Signature
from keyword import iskeyword
from types import UnionType
from typing import Any, TypeGuard, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from netbandit.util.key_paths import KeyPath, Problem
from netbandit.util.wording import (
    Allowed,
    allowed,
    did_you_mean,
    integer_meant,
    key_text,
    one_of,
    quoted,
    show,
    unwrapped,
)

Model = TypeVar("Model", bound=BaseModel)

UNKNOWN_KEY = "unknown key"
"""How the text of every unknown key begins: a mistake of the key, not of its value."""
MISSING = "is missing"
"""How the text of every missing key begins."""

# All others are raised by validators, whose own texts say it better than "must be ..., not ...".
_PYDANTIC = frozenset(get_args(ErrorType)) - {"value_error", "assertion_error"}


class KeysError(ValueError):
    """An object cannot have the keys that it was given; a line a mistake."""

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        super().__init__("\n".join(f"{name}({key_text(path)}=...): {text}" for path, text in problems))


DEEPEST = 64
"""How many tables and lists may stand inside one another; a scenario needs five."""
TOO_DEEP = "lists or tables are nested too deeply"
"""The message where they are nested deeper, or one contains itself."""


def too_deep(value: Any) -> bool:
    """Say whether more than `DEEPEST` tables and lists stand inside one another."""
    level = {id(value): value}
    for _ in range(DEEPEST):
        level = {
            id(inner): inner
            for outer in level.values()
            if isinstance(outer, dict | list | tuple)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list | tuple)
        }
        if not level:
            return False
    return True


def natives(name: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the *keys* of an object with `native` values.

    Args:
        name: What the object is called in messages.
        keys: What it was given.

    Raises:
        KeysError: A list holds itself.
    """
    deep = [((key,), TOO_DEEP) for key, value in keys.items() if too_deep(value)]
    if deep:
        raise KeysError(name, deep)
    return {key: native(value) for key, value in keys.items()}


def native(value: Any) -> Any:
    """Return lists for tuples, ranges, numpy's arrays and pandas' series, and Python's numbers for numpy's."""
    if isinstance(value, list | tuple | range):
        return [native(inner) for inner in value]
    if type(value).__module__.partition(".")[0] in ("numpy", "pandas") and hasattr(value, "tolist"):
        return value.tolist()  # of an array of objects its objects
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def is_frame(value: Any) -> bool:
    """Return whether *value* is a pandas table, which need not be imported to tell."""
    names = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(value).__mro__)
    return ("pandas", "DataFrame") in names


def list_keys(model: type[BaseModel]) -> None:
    """Add to the docstring of a table what ``help`` should show of each key: what it is, takes, and is by default."""
    lines = []
    keywords = []
    for name, field in _fields(model):
        lines += textwrap.wrap(
            _key_line(name, field),
            _WIDTH,
            initial_indent=" " * 4,
            subsequent_indent=" " * 8,
            break_long_words=False,
            break_on_hyphens=False,
        )
        if iskeyword(name):  # from Python it is written **{"from": ...}
            continue
        default = Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
        keywords.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default))
    if lines:
        said = inspect.cleandoc(model.__dict__.get("__doc__") or "")
        model.__doc__ = "\n".join([*([said, ""] if said else []), "Keys:", *lines])
    # The annotations, which pydantic would show, say in several lines what the list above says in words.
    model.__signature__ = Signature(keywords)


def _key_line(name: str, field: FieldInfo) -> str:
    takes = allowed(field.annotation, field.metadata)
    said = " ".join((field.description or "").replace("``", "").split())
    return f"{name}: {said}{' ' if said else ''}{takes[:1].upper()}{takes[1:]}; {_default(field)}."


def help_of_key(model: type[BaseModel], path: tuple[str, ...]) -> str:
    """Return what ``help`` shows of a key, and of the tables that may stand there.

    Args:
        model: The table in which the path begins.
        path: The keys of tables inside one another, not empty.

    Raises:
        LookupError: There is no such key; the message names those that there are.
    """
    tables = [model]
    for depth, key in enumerate(path):
        fields = dict(pair for table in tables for pair in _fields(table))
        if key not in fields:
            where = key_text(path[:depth]) or "a scenario"
            raise LookupError(f"{UNKNOWN_KEY}{did_you_mean(key, fields)}: {where} has {', '.join(fields) or 'no keys'}")
        tables = _tables_of(fields[key].annotation, fields[key].metadata)
    line = _key_line(key_text(path), fields[key])
    found = [inspect.getdoc(table) or "" for table in tables]
    return "\n\n".join(found if found and not fields[key].description else [line, *found])


def _tables_of(annotation: Any, metadata: Iterable[Any] = ()) -> list[type[BaseModel]]:
    """Return the tables that a field of this type takes."""
    annotation, metadata = unwrapped(annotation, metadata)
    if _is_model(annotation):
        return [annotation]
    told = [table for item in metadata if isinstance(item, Allowed) for table in (*item.keys, *item.more())]
    return list(dict.fromkeys([*told, *(table for inner in get_args(annotation) for table in _tables_of(inner))]))


_WIDTH = 76
"""Columns of a docstring, which ``help`` indents by four."""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "optional"
    if isinstance(value, BaseModel):
        return "default: all defaults"
    return f"default {repr(value) if isinstance(value, list) else show(value)}"


@dataclass(frozen=True)
class _Place:
    """Where an error stands: its key path, the type there, and the union whose branch raised it, if any."""

    path: KeyPath
    annotation: Any
    metadata: tuple[Any, ...]
    owner: type[BaseModel] | None
    union: KeyPath | None


def read(model: type[Model], table: Any, prefix: KeyPath = ()) -> tuple[Model | None, list[Problem]]:
    """Validate a table.

    Args:
        model: The settings to validate with.
        table: What was written.
        prefix: Where the table stands in the scenario.

    Returns:
        The settings and no problem, or None and all problems.
    """
    try:
        return model.model_validate(table), []
    except ValidationError as error:
        return None, problems_of(error, model, prefix)


def problems_of(error: ValidationError, model: type[BaseModel], prefix: KeyPath = ()) -> list[Problem]:
    """Return what is wrong, what is allowed, and what was probably meant.

    A value that none of a union's branches takes is one problem; a value that is of a branch's shape and has a
    mistake deeper inside is reported there.

    Args:
        error: What pydantic found.
        model: The settings it was validated with.
        prefix: Where the table stands in the scenario.
    """
    found = [(_place(model, tuple(details["loc"])), details) for details in error.errors(include_url=False)]
    deeper = {place.union for place, _ in found if place.union is not None and place.path != place.union}
    worded = {place.path for place, details in found if place.union == place.path and details["type"] not in _PYDANTIC}
    problems: dict[Problem, None] = {}
    for place, details in found:
        # Branches that the value does not fit say nothing of interest beside one that looked inside it.
        silenced = place.path in deeper or (place.path in worded and details["type"] in _PYDANTIC)
        if place.union == place.path and silenced:
            continue
        problems[(prefix + place.path, _text(place, details, model, prefix))] = None
    return list(problems)


def _place(model: type[BaseModel], location: tuple[str | int, ...]) -> _Place:
    """Follow pydantic's location, which names the branches of unions between the keys, through the types."""
    path: KeyPath = ()
    annotation: Any = model
    metadata: list[Any] = []
    owner: type[BaseModel] | None = None
    union: KeyPath | None = None
    rest = list(location)
    while True:
        annotation, metadata = unwrapped(annotation, metadata)
        if not rest:
            break
        told = (item for item in metadata if isinstance(item, Allowed) and item.keys)
        tables = next(((*item.keys, *item.more()) for item in told), None)
        annotation = annotation if tables is None else create_model("Keys", __base__=tables)
        origin = get_origin(annotation)
        if origin in (Union, UnionType):
            union = path
            if isinstance(rest[0], int):  # raised by a validator of our own, which names no branch
                annotation, metadata = _branch(annotation, rest[0]), []
                continue
            rest.pop(0)
            if not rest:
                break
            annotation, metadata = _branch(annotation, rest[0]), []
            continue
        key = rest.pop(0)
        path += (key,)
        if _is_model(annotation):
            owner = annotation
            field = _field(annotation, key)
            annotation, metadata = (field.annotation, list(field.metadata)) if field is not None else (Any, [])
        elif isinstance(key, int) and get_args(annotation):
            arguments = get_args(annotation)
            fixed = origin is tuple and Ellipsis not in arguments and key < len(arguments)
            annotation, metadata = arguments[key if fixed else 0], []
        else:
            # A free dictionary: pydantic names its keys as they are.
            annotation, metadata = (get_args(annotation) or (Any,))[-1], []
    return _Place(path, annotation, tuple(metadata), owner, union)


def _is_model(item: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(item, type) and issubclass(item, BaseModel)


def _branch(union: Any, key: str | int) -> Any:
    """Return the branch of a union that has something under *key*."""
    for argument in get_args(union):
        inner, _ = unwrapped(argument)
        is_table = get_origin(inner) is dict or _is_model(inner)
        if is_table != isinstance(key, int) and (is_table or get_origin(inner) in (list, tuple)):
            return inner
    return Any


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        yield field.alias or name, field


def _field(model: type[BaseModel], key: str | int) -> FieldInfo | None:
    return next((field for name, field in _fields(model) if name == key), None)


def _text(place: _Place, details: ErrorDetails, model: type[BaseModel], prefix: KeyPath) -> str:
    kind = details["type"]
    value = details["input"]
    if kind == "extra_forbidden" and place.owner is not None:
        return _unknown_key(place, model, prefix)
    if kind == "missing":
        # Every other part is named by its kind, a topology by its family.
        kind_given = place.path[-1] == "family" and isinstance(value, Mapping) and "kind" in value
        hint = f" (did you mean {quoted('family')} for {quoted('kind')}?)" if kind_given else ""
        return f"{MISSING}, must be {allowed(place.annotation, place.metadata)}{hint}"
    if kind not in _PYDANTIC:
        return str(details.get("ctx", {}).get("error", details["msg"]))
    wanted = allowed(place.annotation, place.metadata)
    if wanted == "a value":
        return details["msg"][:1].lower() + details["msg"][1:]
    if kind in ("too_short", "too_long") and isinstance(value, list | tuple):
        return f"must be {wanted}, not a list of {len(value)}"
    fits_no_branch = place.union == place.path  # said once, of all branches
    if kind in ("string_too_short", "string_too_long", "string_pattern_mismatch") and not fits_no_branch:
        wanted = (
            details["msg"].replace("String should have", "a string of").replace("String should match", "a string of")
        )
        return f"must be {wanted}, not {show(value)}"
    words = [word for word in _literals(place.annotation) if isinstance(word, str)]
    meant = integer_meant(value, place.metadata) if kind == "int_type" else did_you_mean(value, words)
    return f"must be {wanted}, not {show(value)}{meant}"


def _unknown_key(place: _Place, model: type[BaseModel], prefix: KeyPath) -> str:
    assert place.owner is not None
    key = place.path[-1]
    impossible: Mapping[str | int, str] = getattr(place.owner, "impossible", {})
    if key in impossible:
        return f"{UNKNOWN_KEY}: {impossible[key]}"
    known = [name for name, _ in _fields(place.owner)]
    if len(place.path) == 1 and hasattr(place.owner, "named_by"):  # a part, whose own fields leave that key out
        known.insert(0, place.owner.named_by)
    hint = did_you_mean("family" if key == "kind" and "family" in known else key, known)
    if not hint:
        elsewhere = [path for path in _paths(model, prefix) if path[-1] == key]
        beside = [path for path in elsewhere if path[0] == (*prefix, *place.path)[0]] or elsewhere
        nearest = [path for path in beside if len(path) == min(map(len, beside))]
        if len({path[0] for path in nearest}) == 1:  # of other tables only one has such a key
            hint = f" (did you mean {' or '.join(quoted(key_text(path)) for path in nearest)}?)"
    return f"{UNKNOWN_KEY}, must be {one_of(known) if known else 'left out: this table has no keys'}{hint}"


def _paths(model: type[BaseModel], prefix: KeyPath) -> Iterator[KeyPath]:
    """Yield the paths of all keys of a table and of the tables inside it."""
    for name, field in _fields(model):
        yield (*prefix, name)
        inner, _ = unwrapped(field.annotation)
        if _is_model(inner):
            yield from _paths(inner, (*prefix, name))


def _literals(annotation: Any) -> list[Any]:
    annotation, _ = unwrapped(annotation)
    if get_origin(annotation) in (Union, UnionType):
        return [word for argument in get_args(annotation) for word in _literals(argument)]
    return list(get_args(annotation)) if type(annotation).__name__ == "_LiteralGenericAlias" else []
