"""Where a key stands, and what is wrong there."""

from collections.abc import Mapping
from typing import Any

KeyPath = tuple[str | int, ...]
"""Where in a scenario a value stands: ``("links", "peer", "latency")``."""

Problem = tuple[KeyPath, str]
"""A mistake: the key path it stands at, and what is wrong and allowed there."""

Raw = dict[str, Any]
"""A table as it was written, not yet validated by the part it belongs to."""


def lookup(table: Any, key: str | KeyPath, absent: Any = None) -> Any:
    """Return what stands in *table* at a dotted key or a path of keys, or *absent*."""
    value = table
    for part in key.split(".") if isinstance(key, str) else key:
        if (isinstance(value, Mapping) and part in value) or (
            isinstance(part, int) and isinstance(value, list) and part < len(value)
        ):
            value = value[part]
        else:
            return absent
    return value
