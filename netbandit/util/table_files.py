"""Reads user-supplied text files and tables, in the same way for all contents.

A table is text in UTF-8, with or without a byte order mark, plain or gzipped (by its name or its first bytes), with
line ends of any kind. Fields are separated by commas, semicolons or tabs, whichever the first line has most of, or by
blanks where a format has them, and may be enclosed in double quotes. A line whose first nonblank character is ``#`` is
a comment; ``#`` elsewhere is content. A blank line is none of the table, but where there is a single column: there it
is an empty field. Every field is returned as text, without surrounding blanks; the caller converts
it by the meaning of its column.
"""

import csv
import gzip
import io
import re
import stat
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isinf
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from netbandit.util.text import one_line, pluralize

MOST_BYTES = 1 << 29
"""The most bytes of a file, unpacked."""
LONGEST_LINE = 1 << 20
"""The most characters of a line."""

_GZIP = b"\x1f\x8b"
_LARGEST_RATIO = 1032
"""How many times larger deflated data can become."""
_PIECE = 1 << 20
_SHOWN = 40
_NEVER_CLOSED = "a double quote is opened and never closed"
_LONG_FIELD = f"has a field of more than {csv.field_size_limit():,} characters: is a quote not closed?"
_WORD = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')


class TableFileError(ValueError):
    """A file that cannot be read; the message names it, and the line if one is to blame.

    Args:
        path: The file.
        reason: What is wrong.
        line: In which line, from 1; None: in no line of its own.
    """

    def __init__(self, path: Path, reason: str, line: int | None = None) -> None:
        super().__init__(f"{path}{'' if line is None else f':{line}'}: {reason}")
        self.path, self.reason, self.line = path, reason, line


class Record(NamedTuple):
    """A row of a table: the number of the line in which it begins, and its fields."""

    line: int
    cells: list[str]


def not_regular(path: Path) -> str | None:
    """Return what *path* is, where it is there and no regular file: reading it might have no end.

    Raises:
        OSError: It cannot be looked at.
        ValueError: No path can be so.
    """
    mode = path.stat().st_mode
    if stat.S_ISREG(mode):
        return None
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for is_one, name in kinds if is_one(mode)), "a device")


@contextmanager
def opened(path: Path, most_bytes: int = MOST_BYTES) -> Iterator[BinaryIO]:
    """Open a regular file, plain or gzipped, of at most *most_bytes* when unpacked, for reading.

    Raises:
        TableFileError: It cannot be read, is none, or is larger, which is found without keeping any of it; also for
            errors of reading while it is open.
    """
    too_large = TableFileError(path, f"has more than {most_bytes:,} bytes, which is the most that is read")
    try:
        kind = not_regular(path)
        if kind is not None:
            raise TableFileError(path, f"is {kind}, must be a file")
        with path.open("rb") as raw:
            size = path.stat().st_size
            if size > most_bytes:
                raise too_large
            packed = raw.peek(2)[:2] == _GZIP or path.suffix.lower() == ".gz"
            if not packed:
                yield raw
                return
            if size * _LARGEST_RATIO > most_bytes and _is_larger(raw, most_bytes):
                raise too_large
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast(BinaryIO, unpacked)
    except TableFileError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise TableFileError(path, "is no gzipped file, or a damaged one") from None
    except OSError as error:
        raise TableFileError(path, f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a path with a zero byte
        raise TableFileError(path, f"cannot be read: {error}") from None


def _is_larger(raw: BinaryIO, most_bytes: int) -> bool:
    found = 0
    with gzip.GzipFile(fileobj=raw) as unpacked:
        while found <= most_bytes and (piece := unpacked.read(_PIECE)):
            found += len(piece)
    return found > most_bytes


class TextLines:
    """The lines of a text file, with their line ends.

    Attributes:
        path: The file.
        number: The number of the latest line, from 1.
    """

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES, longest: int = LONGEST_LINE) -> None:
        self.path = path
        self.number = 0
        self._most_bytes = most_bytes
        self._longest = longest

    def __iter__(self) -> Iterator[str]:
        """Yield each line.

        Raises:
            TableFileError: The file cannot be read, is no text in UTF-8, or has a line that is too long.
        """
        self.number = 0
        with opened(self.path, self._most_bytes) as file:
            # Bytes that are no UTF-8 become halves of characters, so that they are found in their line.
            text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
            while line := text.readline(self._longest + 1):
                self.number += 1
                if self.number == 1 and line.startswith(("\udcff\udcfe", "\udcfe\udcff")):
                    raise self.error("is text in UTF-16: the file must be saved as UTF-8")
                if len(line) > self._longest:
                    raise self.error(f"is longer than {self._longest:,} characters")
                if "\0" in line:
                    raise self.error("has a zero byte: is no text")
                if not line.isascii():
                    self._check(line)
                yield line

    def contents(self) -> Iterator[str]:
        """Yield the lines that are neither blank nor comments, without the blanks around them; errors as above."""
        return (text for line in self if (text := line.strip()) and text[0] != "#")

    def error(self, reason: str) -> TableFileError:
        """Return an error of the latest line."""
        return TableFileError(self.path, reason, self.number)

    def _check(self, line: str) -> None:
        wrong = next((sign for sign in line if "\ud800" <= sign <= "\udfff"), None)
        if wrong is not None:
            raise self.error(f"the byte 0x{ord(wrong) - 0xDC00:02x} is not UTF-8: the file must be saved as UTF-8")
        if "\ufeff" in line:  # a name with one looks like another without
            raise self.error(
                "has a byte order mark, which is only at the beginning of a file: was one put behind another?"
            )


class Records:
    """The rows of a table with their fields, as many as each has.

    Attributes:
        lines: The lines of the file.
        separator: What separates fields: one of *separators*, or a blank for any number of blanks and tabs; empty
            before the first row is read, and where that row has a single field.
    """

    def __init__(self, path: Path, separators: str = ",;\t", *, most_bytes: int = MOST_BYTES) -> None:
        self.lines = TextLines(path, most_bytes=most_bytes)
        self.separator = ""
        self._separators = separators

    def __iter__(self) -> Iterator[Record]:
        """Yield each row.

        Raises:
            TableFileError: The file cannot be read, or a quote is not closed.
        """
        lines = iter(self.lines)
        first = next((line for line in lines if is_content(line)), None)
        if first is None:
            return
        self.separator = separator_of(first, self._separators)
        begin = self.lines.number
        if self.separator == " ":
            yield Record(begin, fields(self.lines, first, " "))
            yield from (Record(self.lines.number, fields(self.lines, line, " ")) for line in lines if is_content(line))
            return
        inside = False

        def fed() -> Iterator[str]:
            """Yield the lines of a record; only between records there are comments."""
            nonlocal inside, begin
            yield first
            for line in lines:
                if not inside and not (is_content(line) or self._is_empty_row(line)):
                    continue
                begin = begin if inside else self.lines.number
                inside = True
                yield line
            if inside:
                raise TableFileError(self.lines.path, _NEVER_CLOSED, begin)

        inside = True
        rows = csv.reader(fed(), delimiter=self.separator or ",", skipinitialspace=True)
        try:
            for cells in rows:
                inside = False
                yield Record(begin, [cell.strip() for cell in cells or [""]])
        except csv.Error:  # the only one of lines without zero bytes
            raise TableFileError(self.lines.path, _LONG_FIELD, begin) from None

    def _is_empty_row(self, line: str) -> bool:
        """Return whether a line of blanks is a row of empty fields: of a single one, or of some between tabs."""
        return line.isspace() and (self.separator == "" or (self.separator == "\t" and "\t" in line))


def is_content(line: str, comments: str = "#") -> bool:
    """Return whether a line of a table is neither blank nor begins with one of *comments*, but for blanks."""
    text = line.lstrip(" ")
    return text[:1] not in comments and not text.isspace()


def separator_of(line: str, separators: str = ",;\t") -> str:
    """Return which of *separators* a line has most of outside double quotes; none, or a blank if it has only these."""
    bare = re.sub(r'"[^"]*("|$)', "", line.strip() if " " in separators else line.strip(" \r\n"))
    best = max(separators.replace(" ", ""), key=bare.count)
    if best in bare:
        return best  # also where there are blanks: around separators, and in names, they separate nothing
    return " " if " " in separators and len(line.split()) > 1 else ""


def fields(lines: TextLines, text: str, separator: str) -> list[str]:
    """Return the fields of a row that is the latest of *lines*, or a part of it.

    Raises:
        TableFileError: A quote is not closed.
    """
    if separator == " ":
        found = _WORD.findall(text)
        if any(bare.startswith('"') for _, bare in found):
            raise lines.error(_NEVER_CLOSED)
        return [bare or quoted.replace('""', '"') for quoted, bare in found]

    def fed() -> Iterator[str]:
        yield text
        raise lines.error(_NEVER_CLOSED)

    try:
        cells = next(csv.reader(fed(), delimiter=separator or ",", skipinitialspace=True))
    except csv.Error:
        raise lines.error(_LONG_FIELD) from None
    return [cell.strip() for cell in cells]


class Table:
    """A table whose first row names its columns; every row has as many fields as there are names.

    Columns at the end that have no name and no content, as spreadsheets write them, are left out.

    Attributes:
        path: The file.
        names: What the columns are called; one without a name that is not at the end is called "".
        header_line: The line of the names.
        left_out: How many empty columns at the end were left out.
    """

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        """Read the names.

        Raises:
            TableFileError: The file cannot be read, holds no row, or a name is there twice.
        """
        self.path = path
        self._rows = iter(Records(path, most_bytes=most_bytes))
        header = next(self._rows, None)
        if header is None:
            raise TableFileError(path, "is empty: the names of the columns must stand in its first line")
        self.header_line = header.line
        names = header.cells
        while names and not names[-1]:
            names = names[:-1]
        self.names = tuple(names)
        self.left_out = len(header.cells) - len(names)
        twice = [name for name, times in Counter(filter(None, names)).items() if times > 1]
        if twice:
            raise self.error(f"the column {shown(twice[0])} is there twice")
        if not names:
            raise self.error("has no names of columns")

    @property
    def numbers_only(self) -> bool:
        """Whether all names are numbers: then it may be that the table has no names."""
        return all(number(name) is not None for name in self.names if name)

    def __iter__(self) -> Iterator[Record]:
        """Yield each row behind the names, once.

        Raises:
            TableFileError: The file cannot be read, or a row is longer or shorter than that of the names.
        """
        columns = len(self.names)
        for record in self._rows:
            line, cells = record
            if len(cells) != columns + self.left_out:
                raise TableFileError(self.path, self._wrong_count(cells), line)
            if self.left_out:
                for cell in cells[columns:]:
                    if cell:
                        raise TableFileError(self.path, f"{shown(cell)} stands in a column without a name", line)
                record = Record(line, cells[:columns])
            yield record

    def error(self, reason: str, line: int | None = None) -> TableFileError:
        """Return an error of a line, by default that of the names."""
        return TableFileError(self.path, reason, line or self.header_line)

    def _wrong_count(self, cells: Sequence[str]) -> str:
        columns = len(self.names) + self.left_out
        text = f"has {pluralize(len(cells), 'field')}, but line {self.header_line} names {pluralize(columns, 'column')}"
        if len(cells) == columns + 1 and not cells[-1]:
            return f"{text}: it ends with a separator"
        if self.left_out and len(cells) == len(self.names):
            return f"{text}, the last without a name: line {self.header_line} ends with a separator"
        return text


def number(text: str) -> float | None:
    """Return the number that *text* is, None if it is none; it may be infinite, and is never NaN.

    Digits are those of ASCII, without underscores between them.
    """
    try:
        found = float(text)
    except ValueError:
        return None
    return found if found == found and text.isascii() and "_" not in text else None


def finite(text: str) -> float | None:
    """Return the finite number that *text* is, None if it is none."""
    found = number(text)
    return None if found is None or isinf(found) else found


def shown(text: str) -> str:
    """Return a field as messages show it: on one line, and shortened if it is long."""
    return one_line(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return the first of *names*, with commas between them."""
    return ", ".join(map(shown, names[:most])) + (", ..." if len(names) > most else "")


def not_used(names: Sequence[str]) -> str:
    """Return the note that columns with these *names* are not used; some may have none."""
    return f"{pluralize(len(names), 'column')} not used: {listed([name or 'one without a name' for name in names])}"
