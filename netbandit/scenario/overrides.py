"""``--set KEY=VALUE``: one key of the scenario, set on the command line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from netbandit.parts.validation import DEEPEST, TOO_DEEP, too_deep
from netbandit.scenario.errors import Place, ScenarioError
from netbandit.scenario.source import flat_sweep, sweep_path
from netbandit.util.nesting import read_toml
from netbandit.util.wording import key_text, show

_PIECE = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_SURROGATE = re.compile("[\ud800-\udfff]")
_OVERRIDE = re.compile(rf"\s*({_PIECE}(?:\s*\.\s*{_PIECE})*)\s*=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Override:
    """A key set on the command line.

    Attributes:
        place: ``--set KEY``, KEY as it was written.
        path: The key path; under ``sweep`` one dotted key.
        value: The value, read as TOML.
        unrecorded: Whether it is no parameter of the study.
    """

    place: Place
    path: tuple[str, ...]
    value: Any
    unrecorded: bool = False


def read_overrides(texts: Sequence[str], first_layer: int) -> list[Override]:
    """Read all overrides.

    Args:
        texts: Each ``KEY=VALUE``; a value that is not TOML and opens no bracket or quote is a string.
        first_layer: The rank of the first among the sources of the scenario.

    Raises:
        ScenarioError: Some are malformed; a line each.
    """
    overrides: list[Override] = []
    lines: list[str] = []
    for layer, text in enumerate(texts, start=first_layer):
        key = text.partition("=")[0].strip() or text.strip()
        place = Place(layer, 0, 0, f"--set {key}" if key else "--set")
        if _SURROGATE.search(text):
            lines.append(f"{place}: key: must be text in UTF-8, but has a byte that is not")
            continue
        match = _OVERRIDE.fullmatch(text)
        if match is None:
            lines.append(f"{place}: {key or 'key'}: must be KEY=VALUE with a key such as run.horizon")
            continue
        place = Place(layer, 0, 0, f"--set {match[1]}")
        path = _path(match[1])
        try:
            value = _value(match[2].strip())
        except ValueError as error:
            lines.append(f"{place}: {key_text(path)}: {error}")
            continue
        if len(path) > DEEPEST or too_deep(value):
            lines.append(f"{place}: key: {TOO_DEEP}")
            continue
        if path == ("sweep",) and isinstance(value, dict):
            value = flat_sweep(value)
        elif path[0] == "sweep" and isinstance(value, dict) and value:
            for inner, values in flat_sweep(value).items():
                overrides.append(Override(place, ("sweep", f"{'.'.join(path[1:])}.{inner}"), values))
            continue
        overrides.append(Override(place, sweep_path(path), value))
    if lines:
        raise ScenarioError(lines)
    return overrides


def _path(key: str) -> tuple[str, ...]:
    pieces: list[str] = []
    table: Any = read_toml(f"{key} = 0")
    while isinstance(table, dict):
        (piece,) = table
        pieces.append(piece)
        table = table[piece]
    return tuple(pieces)


def _value(text: str) -> Any:
    if not text:
        raise ValueError('has no value, must be KEY=VALUE; the empty string is ""')
    try:
        read = read_toml(f"value = {text}")
        if list(read) == ["value"]:
            return read["value"]
    except ValueError as error:
        # tomllib's line and column refer to a generated document, which the user never saw.
        reason = re.sub(r" \(at [^()]*\)$", "", str(error))
        if text[0] in "[{\"'":
            raise ValueError(f"must be a TOML value, not {show(text)}: {reason[:1].lower()}{reason[1:]}") from None
    return text
