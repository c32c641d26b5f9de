"""Wording of messages: key paths, values, allowed values, and suggestions for misspelt names."""

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from difflib import SequenceMatcher, get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from netbandit.util.key_paths import KeyPath

WORDS = "x-words"
"""The keyword of the JSON Schema under which `Allowed` says what a key takes."""


@dataclass(frozen=True)
class Allowed:
    """Says in words what a field takes, where its type alone would say too little.

    Attributes:
        text: What it takes.
        keys: The tables that its own validator reads such a value with: together they have all keys that may be wrong.
        more: Returns further ones, which are asked for only once something is wrong.
    """

    text: str
    keys: tuple[type[BaseModel], ...] = ()
    more: Callable[[], Iterable[type[BaseModel]]] = tuple

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Have the JSON Schema say it too, under a keyword of our own that validators ignore."""
        return {**handler(core_schema), WORDS: self.text}


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_DOTTED = re.compile(r"[A-Za-z0-9_.-]+")
_LONGEST = 60


def key_text(path: KeyPath) -> str:
    """Return a key path as people write it: ``sweep.topology.agents[1]``."""
    text = ""
    for depth, key in enumerate(path):
        if isinstance(key, int):
            text += f"[{key}]"
            continue
        # Under [sweep] a key is itself a dotted key path, and reads best without its quotes.
        bare = _DOTTED if depth == 1 and path[0] == "sweep" else _BARE
        text += ("." if text else "") + (key if bare.fullmatch(key) else quoted(key))
    return text or "scenario"


def quoted(text: str) -> str:
    """Return *text* in double quotes on one line, shortened if it is long."""
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 3] + "..."
    inner = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in inner)


def show(value: Any) -> str:
    """Return a value as TOML would write it, on one line; lists and tables are only named."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() | float():
            # Python refuses to write integers of thousands of digits.
            return "an integer of many digits" if isinstance(value, int) and abs(value) >= 10**40 else repr(value)
        case datetime():
            return f"the date and time {value.isoformat()}"
        case date():
            return f"the date {value.isoformat()}"
        case time():
            return f"the time {value.isoformat()}"
        case Mapping():
            return "a table"
        case list() | tuple():
            return "an empty list" if not value else "a list"
    return "nothing" if value is None else type(value).__name__


def one_of(values: Iterable[Any]) -> str:
    """Return ``"a"``, or ``one of "a", "b"``."""
    shown = [show(value) for value in values]
    return shown[0] if len(shown) == 1 else "one of " + ", ".join(shown)


def did_you_mean(word: Any, candidates: Iterable[str]) -> str:
    """Return `` (did you mean "horizon"?)`` for the candidate closest to *word* that is no `opposite`, or nothing."""
    if not isinstance(word, str):
        return ""
    folded = {_folded(candidate): candidate for candidate in candidates}
    close = [folded[one] for one in get_close_matches(_folded(word), folded, cutoff=0.65)]
    meant = next((candidate for candidate in close if not opposite(word, candidate)), None)
    return "" if meant is None else f" (did you mean {quoted(meant)}?)"


_OPPOSITES = (
    *(("max", "min"), ("most", "least"), ("best", "worst"), ("high", "low"), ("first", "last"), ("good", "bad")),
    *(("up", "down"), ("on", "off"), ("sync", "async"), ("homo", "hetero"), ("include", "exclude")),
)
"""Beginnings of words that mean the opposite."""

_NEGATIONS = ("un", "no", "non", "dis")


def opposite(word: str, candidate: str) -> bool:
    """Return whether a name, perhaps misspelt, means the opposite of *candidate*, however close their letters are.

    So do ``maximise`` and ``minimize``, ``up_for`` and ``down_for``, ``sent`` and ``unsent``.
    """
    one, other = (_folded(name).strip("-") for name in (word, candidate))
    if any(_begin(one, this) and _begin(other, that) for pair in _OPPOSITES for this, that in (pair, pair[::-1])):
        return True
    likeness = SequenceMatcher(None, one, other).ratio()
    return any(
        longer.startswith(no) and SequenceMatcher(None, longer.removeprefix(no).strip("-"), shorter).ratio() > likeness
        for no in _NEGATIONS
        for longer, shorter in ((one, other), (other, one))
    )


def _begin(name: str, letters: str) -> bool:
    return any(part.startswith(letters) for part in name.split("-"))


def integer_meant(value: Any, metadata: Iterable[Any]) -> str:
    """Return `` (did you mean 10_000?)`` for a whole number within the bounds that is written ``1e4``, or nothing."""
    metadata = list(metadata)
    if not isinstance(value, float) or not value.is_integer() or abs(value) > 2**53:
        return ""
    bounds = (("ge", operator.ge), ("gt", operator.gt), ("le", operator.le), ("lt", operator.lt))
    limits = [(holds, _bound(metadata, name)) for name, holds in bounds]
    if any(limit is not None and not holds(value, limit) for holds, limit in limits):
        return ""
    return f" (did you mean {int(value):_}?)"


def unknown_value(value: Any, known: Iterable[str], *, also: str = "", hint: str = "") -> str:
    """Return the text for a value that is none of the known ones, such as a misspelt ``kind``.

    Args:
        value: What was written.
        known: The values that are known.
        also: What else is allowed, such as ``or "package.module:Class"``.
        hint: What is likely meant; if not given, the known value that is nearest.
    """
    known = list(known)
    more = f" {also}" if also else ""
    return f"must be {one_of(known)}{more}, not {show(value)}{hint or did_you_mean(value, known)}"


def allowed(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    """Return what a field of this type takes: ``an integer from 1 to 10^7``."""
    annotation, metadata = unwrapped(annotation, metadata)
    worded = next((item.text for item in metadata if isinstance(item, Allowed)), None)
    if worded is not None:
        return worded
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        kinds = [allowed(argument, metadata) for argument in arguments if argument is not NoneType]
        return " or ".join(dict.fromkeys(kinds))
    if origin is Literal:
        return one_of(arguments)
    if annotation is bool:
        return "true or false"
    if annotation in (int, float):
        infinite = annotation is float and any(getattr(item, "allow_inf_nan", None) for item in metadata)
        return ("an integer" if annotation is int else "a number") + _bounds(metadata) + (" or inf" if infinite else "")
    if isinstance(annotation, type) and hasattr(annotation, "words"):  # a quantity, see `netbandit.util.units`
        return str(annotation.words)
    if annotation is str:
        return "a string that is not empty" if _bound(metadata, "min_length") else "a string"
    if origin in (list, tuple) or annotation in (list, tuple):
        return _list(arguments, metadata)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        keys = [quoted(field.alias or name) for name, field in annotation.model_fields.items()]
        return f"a table with the key{'s' if len(keys) > 1 else ''} {', '.join(keys)}" if keys else "a table"
    if origin is dict or annotation is dict:
        return "a table"
    return "a value"


def unwrapped(annotation: Any, metadata: Iterable[Any] = ()) -> tuple[Any, list[Any]]:
    """Return the type without ``Annotated`` and ``None``, and all that was said about it."""
    metadata = list(metadata)
    while get_origin(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        metadata += more
    arguments = [argument for argument in get_args(annotation) if argument is not NoneType]
    if get_origin(annotation) in (Union, UnionType) and len(arguments) == 1:
        return unwrapped(arguments[0], metadata)
    flat: list[Any] = []
    for item in metadata:
        flat += item.metadata if isinstance(item, FieldInfo) else [item]
    return annotation, flat


def number(value: float) -> str:
    """Return a bound: ``10^7`` for a large power of ten."""
    if isinstance(value, int) and value >= 10**6:
        digits = str(value)
        if digits.strip("0") == "1":
            return f"10^{len(digits) - 1}"
        if (value + 1).bit_count() == 1:
            return f"2^{value.bit_length()} - 1"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _bound(metadata: Iterable[Any], name: str) -> Any:
    return next((getattr(item, name) for item in metadata if getattr(item, name, None) is not None), None)


def _bounds(metadata: Iterable[Any]) -> str:
    metadata = list(metadata)
    at_least, at_most = _bound(metadata, "ge"), _bound(metadata, "le")
    above, below = _bound(metadata, "gt"), _bound(metadata, "lt")
    if at_least is not None and at_most is not None:
        return f" from {number(at_least)} to {number(at_most)}"
    named = (("of at least", at_least), ("above", above), ("of at most", at_most), ("below", below))
    texts = [f"{name} {number(bound)}" for name, bound in named if bound is not None]
    return (" " if texts else "") + " and ".join(texts)


def _list(arguments: tuple[Any, ...], metadata: list[Any]) -> str:
    shortest, longest = _bound(metadata, "min_length"), _bound(metadata, "max_length")
    if shortest is not None and shortest == longest:
        text = f"a list of {shortest} values"
    elif shortest is not None and longest is not None:
        text = f"a list of {shortest} to {longest} values"
    elif shortest is not None:
        text = "a list that is not empty" if shortest == 1 else f"a list of at least {shortest} values"
    elif longest is not None:
        text = f"a list of at most {longest} values"
    else:
        text = "a list"
    inner = [argument for argument in arguments if argument is not Ellipsis]
    each = allowed(inner[0]) if inner and inner[0] is not Any else ""
    return f"{text}, each {each}" if each and each != "a value" else text


def _folded(word: str) -> str:
    return word.lower().replace("_", "-")


def names(text: str) -> list[str]:
    """Return the names that commas part in *text*, such as keys or metrics."""
    return [name.strip() for name in text.split(",") if name.strip()]
