"""Values and tables as TOML, which the standard library reads but does not write.

Ours rather than tomli-w, which writes every list over many lines, quotes the dotted keys of a sweep, and knows no None:
the code to use it would be as long as this.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_DEPTH = 2
"""Tables inside this many others, such as a range of latencies, are written on one line."""


def toml_value(value: Any) -> str:
    """Return *value* as TOML writes it, on one line; None inside a table is left out."""
    if isinstance(value, Mapping):
        entries = [f"{_key(key)} = {toml_value(entry)}" for key, entry in value.items() if entry is not None]
        return "{ " + ", ".join(entries) + " }" if entries else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return _quoted(value)


def toml_text(tables: Mapping[str, Any]) -> str:
    """Return *tables* as a TOML document: plain keys first, then a section for each table.

    A dotted key, such as a key of a sweep, stays dotted. None is left out: TOML has no null.
    """
    return "\n".join(_section((), tables)).strip("\n") + "\n"


def _section(path: tuple[str, ...], table: Mapping[str, Any]) -> list[str]:
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping) and len(path) < _DEPTH}
    plain = {key: value for key, value in table.items() if value is not None and key not in inner}
    lines = [f"{_key(key)} = {toml_value(value)}" for key, value in plain.items()]
    if path and (lines or not inner):
        lines = ["", f"[{'.'.join(map(_key, path))}]", *lines]
    for key, value in inner.items():
        lines += _section((*path, key), value)
    return lines


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _quoted(value: Any) -> str:
    # JSON escapes all that TOML wants escaped, but for the one character that deletes.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
