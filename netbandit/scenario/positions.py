"""The position of each key, table and array element in a TOML document."""

import contextlib
import re
from bisect import bisect_right
from dataclasses import dataclass, field

from netbandit.parts.settings import KeyPath
from netbandit.util.nesting import read_toml

# Possessive repetitions (*+): a long string costs one pass, never a backtrack. Where what they repeat looks ahead it is
# an atomic group (?>...) that says so: Python 3.11.2 gets the shorter form wrong.
_BLANK = re.compile(r"[ \t]*+")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*+)*+")
_KEY = re.compile(r"""[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'""")
_STRINGS = {
    # A multi-line string may end in up to two quotes of its own before the closing three.
    '"""': re.compile(r'"""(?>(?:\\.|"{1,2}(?!")|[^"\\])*)"{3,5}', re.DOTALL),
    "'''": re.compile(r"'''(?>(?:'{1,2}(?!')|[^'])*)'{3,5}"),
    '"': re.compile(r'"(?:[^"\\\n]|\\.)*+"'),
    "'": re.compile(r"'[^'\n]*+'"),
}
_SCALAR = re.compile(r"[^,\]}#\r\n]++")


@dataclass(frozen=True)
class Statement:
    """A line of the document that sets a key or opens a table.

    Attributes:
        offset: Where it begins, in characters from 0.
        path: The key or table it is about.
    """

    offset: int
    path: KeyPath


def locate(source: str) -> dict[KeyPath, tuple[int, int]]:
    """Return the line and column, both from 1, of every key, table and array element.

    A key stands at its last dotted piece, a table with a header at the header's bracket, a table that has none
    where it is first mentioned, an array element at its value. Columns count characters.

    Args:
        source: A *valid* TOML 1.0 document; anything else gives a partial answer or ValueError.
    """
    scanner = _Scanner(source)
    scanner.document()
    return {path: scanner.position(offset) for path, offset in scanner.offsets.items()}


def statements_before(source: str, offset: int) -> list[tuple[Statement, tuple[int, int]]]:
    """Return the statements that begin before *offset* with their line and column, in order.

    For documents that are valid so far but repeat themselves: the same path may occur twice.
    """
    scanner = _Scanner(source)
    with contextlib.suppress(ValueError):  # text after the mistake is irrelevant here
        scanner.document(end=offset)
    return [(found, scanner.position(found.offset)) for found in scanner.statements if found.offset < offset]


@dataclass
class _Scanner:
    """One pass over a document."""

    source: str
    offsets: dict[KeyPath, int] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    at: int = 0
    _elements: dict[KeyPath, int] = field(default_factory=dict)  # arrays of tables: how many so far
    _lines: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines = [0, *(match.end() for match in re.finditer("\n", self.source))]

    def position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def document(self, end: int | None = None) -> None:
        end = len(self.source) if end is None else end
        table: KeyPath = ()
        headers: set[KeyPath] = set()
        while self._skip(_SPACE) < end:
            start = self.at
            if self.source[start] == "[":
                table = self._header(start, headers)
            else:
                self._pair(table, statement=True)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.source, self.at)
        if match is None:
            raise ValueError(f"not a TOML document at character {self.at}")
        self.at = match.end()
        return self.at

    def _dotted(self) -> list[tuple[str, int]]:
        """Read a dotted key and return its pieces, each with its offset."""
        pieces = []
        while True:
            start = self._skip(_BLANK)
            text = self.source[start : self._skip(_KEY)]
            pieces.append((_plain(text), start))
            self._skip(_BLANK)
            if not self.source.startswith(".", self.at):
                return pieces
            self.at += 1

    def _header(self, start: int, headers: set[KeyPath]) -> KeyPath:
        is_element = self.source.startswith("[[", start)
        self.at += 2 if is_element else 1
        pieces = [piece for piece, _ in self._dotted()]
        self.at += 2 if is_element else 1
        path: KeyPath = ()
        for depth, piece in enumerate(pieces, start=1):
            path += (piece,)
            self.offsets.setdefault(path, start)
            # A statement on an array of tables concerns its last element.
            if path in self._elements and not (is_element and depth == len(pieces)):
                path += (self._elements[path] - 1,)
        if is_element:
            index = self._elements.get(path, 0)
            self._elements[path] = index + 1
            path += (index,)
            self.offsets[path] = start
        elif path not in headers:
            self.offsets[path] = start  # a header outranks an earlier mention by a table inside it
            headers.add(path)
        self.statements.append(Statement(start, path))
        return path

    def _pair(self, table: KeyPath, *, statement: bool = False) -> None:
        pieces = self._dotted()
        path = table
        for piece, start in pieces:
            path += (piece,)
            self.offsets.setdefault(path, start)
        if statement:
            self.statements.append(Statement(pieces[-1][1], path))
        self.at += 1  # the equals sign
        self._skip(_BLANK)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        sign = self.source[self.at : self.at + 1]
        if sign in ("[", "{"):
            self._container(path, closing="]" if sign == "[" else "}")
        elif sign in ('"', "'"):
            self._skip(_STRINGS[sign * 3 if self.source.startswith(sign * 3, self.at) else sign])
        else:
            self._skip(_SCALAR)

    def _container(self, path: KeyPath, closing: str) -> None:
        """Read an array, or an inline table."""
        self.at += 1
        index = 0
        while True:
            start = self._skip(_SPACE)
            if start >= len(self.source):
                raise ValueError(f"nothing closes {path}")
            if self.source[start] == closing:
                self.at += 1
                return
            if self.source[start] == ",":
                self.at += 1
            elif closing == "]":
                self.offsets[(*path, index)] = start
                self._value((*path, index))
                index += 1
            else:
                self._pair(path)


def _plain(piece: str) -> str:
    """Return a piece of a key without its quotes."""
    if piece[0] not in "'\"":
        return piece
    if piece[0] == "'" or "\\" not in piece:
        return piece[1:-1]
    return str(read_toml(f"key = {piece}")["key"])
