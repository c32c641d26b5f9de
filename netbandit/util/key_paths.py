"""Paths of keys in a scenario, and problems at them."""

from collections.abc import Mapping
from typing import Any

KeyPath = tuple[str | int, ...]
"""Where in a scenario a value stands: ``("links", "peer", "latency")``."""

Problem = tuple[KeyPath, str]
"""A mistake: the key path it stands at, and what is wrong and allowed there."""

CASE = "case"
"""The parameter of a point that says by which label the case of the sweep is known that it is of."""

Raw = dict[str, Any]
"""A table as it was written, not yet validated by the part it belongs to."""


def lookup(table: Any, key: str | KeyPath, absent: Any = None) -> Any:
    """Return what stands in *table* at a dotted key or a path of keys, or *absent*."""
    value = table
    for part in key.split(".") if isinstance(key, str) else key:
        there = isinstance(value, Mapping) and part in value
        if not there and not (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            return absent
        value = value[part]
    return value
