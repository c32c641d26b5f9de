"""JSON that any program can read: no NaN and no infinities, and one form for the same content."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

LABELS = ("name", "description")
"""Keys of a scenario whose values are words to read and nothing else."""

_INFINITIES = {"inf": math.inf, "-inf": -math.inf}


def canonical(value: object) -> str:
    """Return *value* as JSON in the one form that is hashed: keys sorted, no spaces, infinities as text."""
    return json.dumps(portable(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def as_text(value: object) -> str:
    """Return *value* as a line of JSON, with infinities as text."""
    return json.dumps(portable(value), allow_nan=False, ensure_ascii=False) + "\n"


def portable(value: object) -> object:
    """Return *value* in what JSON can say; infinities, which it cannot, become the words TOML has for them."""
    if isinstance(value, Mapping):
        return {str(key): portable(entry) for key, entry in value.items()}
    if isinstance(value, list) and value and all(type(entry) in (int, str) for entry in value):
        return value  # the long columns of curves and links: nothing to do, and no copy
    if isinstance(value, list | tuple):
        return [portable(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, np.generic):
        return portable(value.item())
    return value


def native(value: Any) -> Any:
    """Undo `portable`."""
    if isinstance(value, dict):
        return {key: entry if key in LABELS else native(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [native(entry) for entry in value]
    if isinstance(value, str):
        return _INFINITIES.get(value, value)
    return value
