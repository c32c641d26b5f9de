"""One scenario file: its text, its tables, and the position of each key."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from netbandit.parts.settings import KeyPath
from netbandit.parts.validation import TOO_DEEP, too_deep
from netbandit.scenario.errors import Place, ScenarioError
from netbandit.scenario.positions import locate, statements_before
from netbandit.util.key_paths import lookup
from netbandit.util.nesting import TooDeepError, read_toml
from netbandit.util.table_files import not_regular
from netbandit.util.wording import key_text

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_REPEATED = ("Cannot overwrite", "Cannot declare", "Cannot mutate", "Cannot redefine")
# Where messages of tomllib state the symptom, not the cause.
_CLEARER = {
    "Invalid value": "not a value: must be a string in quotes, a number, true, false, a date, a list or a table",
    "Illegal character '\\n'": "not the end of a string: must be a quote, on the same line",
    "Unescaped '\\' in a string": r"not an escape: must be \\ for a backslash, or the string in single quotes",
}
_SURROGATE = re.compile("[\ud800-\udfff]")
# The digits Python reads in one integer.
_MANY_DIGITS = re.compile(r"[0-9][0-9_]{4299,}")


@dataclass(frozen=True)
class Source:
    """A file that has been read.

    Attributes:
        name: The file as the user gave it, for messages.
        text: Its text.
        data: Its tables; under ``sweep`` each key is one dotted key path, however it was written.
        layer: Its rank among the sources of the scenario, for the order of messages.
    """

    name: str
    text: str
    data: dict[str, Any]
    layer: int

    @property
    def folder(self) -> Path:
        """The folder of the file, from which its relative paths start."""
        return Path(self.name).parent

    def place(self, path: KeyPath) -> Place:
        """Return where *path* stands, or the nearest table around it, or the beginning of the file."""
        while path and path not in self._positions:
            path = path[:-1]
        line, column = self._positions.get(path, (1, 1))
        return Place(self.layer, line, column, self.name)

    @cached_property
    def _positions(self) -> dict[KeyPath, tuple[int, int]]:
        found: dict[KeyPath, tuple[int, int]] = {}
        for path, position in locate(self.text).items():
            found.setdefault(sweep_path(path), position)
        return found


def read_source(name: str, layer: int, wanted_by: tuple[Place, str] | None = None) -> Source:
    """Read one file.

    Args:
        name: The file as the user gave it.
        layer: Its rank among the sources of the scenario.
        wanted_by: Where another file names this one, with the key; None for the file the user named.

    Raises:
        ScenarioError: The file cannot be read, is not UTF-8, or is not TOML; one line.
    """
    where, key = wanted_by or (Place(layer, 1, 1, name), "file")
    content, reason = b"", None
    try:
        kind = not_regular(Path(name))
        if kind == "a folder" or (kind and wanted_by):  # the user's own may be a pipe: netbandit run <(command)
            reason = f"is {kind}, must be a scenario file"
        else:
            with Path(name).open("rb") as file:
                content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = _reason(error)
    if len(content) > _LARGEST:
        reason = f"is larger than {_LARGEST // 2**20} MiB; must be a scenario file"
    if reason is not None:
        raise ScenarioError([f"{where}: {key}: {f'{name}: ' if wanted_by else ''}{reason}"])
    return source_of(name, _decoded(name, content, layer), layer)


_LARGEST = 32 * 2**20
"""Bytes of the largest scenario file: ten million components of a hybrid need about this."""


def source_of(name: str, text: str, layer: int) -> Source:
    """Return the source that a file called *name* with this *text* is.

    Raises:
        ScenarioError: It is not TOML; one line.
    """
    # tomllib rewrites CRLF itself, and counts lines and columns as we do.
    text = text.replace("\r\n", "\n")
    half = _SURROGATE.search(text)
    if half is not None:  # a dictionary can bring one, a file cannot
        raise ScenarioError([f"{Place(layer, 1, 1, name)}: encoding: {half[0]!a} is half a character, not text"])
    try:
        data = read_toml(text)
    except ValueError as error:
        raise ScenarioError([_syntax_error(name, text, error, layer)]) from None
    if too_deep(data):
        raise ScenarioError([f"{Place(layer, 1, 1, name)}: syntax: {TOO_DEEP}"])
    source = Source(name, text, data, layer)
    if isinstance(data.get("sweep"), dict):
        data["sweep"] = _sweep_in_order(source)
    return source


def _sweep_in_order(source: Source) -> dict[str, Any]:
    """Return a file's sweep with dotted keys, in the order of the file, which tables of keys may have changed."""
    positions = locate(source.text)
    written: dict[str, KeyPath] = {}
    for path in sorted(positions, key=positions.__getitem__):
        flat = sweep_path(path)
        if len(flat) == 2 and flat[0] == "sweep" and not isinstance(lookup(source.data, path), dict):
            key = str(flat[1])
            if key in written:
                place = Place(source.layer, *positions[path], source.name)
                first = positions[written[key]][0]
                raise ScenarioError(
                    [f"{place}: {key_text(flat)}: is given twice, first in line {first}; must be given once"]
                )
            written[key] = path
    flat_table = flat_sweep(source.data["sweep"])
    return {key: flat_table[key] for key in [*written, *(key for key in flat_table if key not in written)]}


def flat_sweep(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a sweep with one dotted key for each list: ``topology.agents`` may be written with or without quotes."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and value:
            flat.update(flat_sweep(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


@overload
def sweep_path(path: tuple[str, ...]) -> tuple[str, ...]: ...
@overload
def sweep_path(path: KeyPath) -> KeyPath: ...
def sweep_path(path: KeyPath) -> KeyPath:
    """Return a path of a file as a path of the merged tables: all keys of a sweep's key path in one."""
    if path[:1] != ("sweep",):
        return path
    keys = 1
    while keys < len(path) and isinstance(path[keys], str):
        keys += 1
    return ("sweep", ".".join(map(str, path[1:keys])), *path[keys:]) if keys > 1 else path


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, PermissionError):
        return "no permission to read this file"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot be read: {text[:1].lower()}{text[1:]}"


def _decoded(name: str, content: bytes, layer: int) -> str:
    # Some editors begin a file with a byte order mark; it is no part of the text.
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        place = Place(layer, line, column, name)
        text = f"the byte 0x{content[error.start]:02x} is not UTF-8, the file must be saved as UTF-8"
        raise ScenarioError([f"{place}: encoding: {text}"]) from None


def _syntax_error(name: str, text: str, error: Exception, layer: int) -> str:
    if isinstance(error, TooDeepError):
        return f"{Place(layer, 1, 1, name)}: syntax: {TOO_DEEP}"
    message = str(error)
    match = _AT.search(message)
    if match is None:
        digits = _MANY_DIGITS.search(text)
        offset = digits.start() if digits else 0
        message = "an integer has too many digits" if digits else message
    else:
        message = message[: match.start()]
        offset = len(text) if match[1] is None else _offset(text, int(match[1]), int(match[2]))
    if message.startswith(_REPEATED):
        repeated = _repeated(name, text, offset, layer)
        if repeated:
            return repeated
    line = text.count("\n", 0, offset) + 1
    place = Place(layer, line, offset - (text.rfind("\n", 0, offset) + 1) + 1, name)
    message = _CLEARER.get(message, message)
    if match is not None and match[1] is None:
        started = statements_before(text, offset)
        message += f", begun in line {started[-1][1][0]}" if started else ""
    return f"{place}: syntax: {message[:1].lower()}{message[1:]}"


def _offset(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column - 1


def _repeated(name: str, text: str, offset: int, layer: int) -> str | None:
    """Return the line for a key or table that stands twice: at the second, naming the first."""
    found = statements_before(text, offset)
    if not found:
        return None
    last, position = found[-1]
    first = next((where for statement, where in found[:-1] if statement.path == last.path), None)
    place = Place(layer, *position, name)
    if first is None:
        return (
            f"{place}: {key_text(last.path)}: must not be added here, it is a value, a list or a complete table already"
        )
    return f"{place}: {key_text(last.path)}: is given twice, first in line {first[0]}; must be given once"
