"""The lines of a log in the format of Criteo's display advertising challenge, read strictly, a piece at a time.

A line has 40 fields between tabs: the label (1: clicked, 0: not), 13 integers I1 to I13, and 26 categories C1 to C26,
words of any kind. Any field but the label may be empty: it is missing. Readers of tables cannot tell a line that is too
short from one whose last fields are missing, so the tabs are counted here.
"""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import Watch
from netbandit.util.table_files import not_regular

INTEGERS = 13
CATEGORIES = 26
FIELDS = 1 + INTEGERS + CATEGORIES
LAYOUT = f"a label, {INTEGERS} integers and {CATEGORIES} categories between tabs"

_PIECE = 1 << 22
"""Bytes that are read at a time."""

_LONGEST = 1 << 20
"""Bytes of a line; what has no end of line for longer is no log."""

_MOST_DIGITS = 18
_TAB, _NEWLINE, _MINUS, _ZERO = b"\t\n-0"
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LogError(Exception):
    """A log that cannot be read; the message begins with ``FILE:LINE``."""


class BadLineError(LogError):
    """A log with a line that is not of the format, where none is to be left out."""


@dataclass(frozen=True)
class BadLine:
    """A line that is not of the format.

    Attributes:
        number: The number of the line, from 1.
        text: What is wrong with it.
    """

    number: int
    text: str


@dataclass(frozen=True)
class Rows:
    """The good lines of a piece of a log, in order.

    Attributes:
        clicks: The labels, 0 or 1, shape (n,), int8.
        numbers: The integers, shape (n, 13), int64; 0 where one is missing.
        missing: Which of integers and categories are missing, shape (n, 39).
        lines: How many lines the piece has, bad ones included.
        bad: The bad lines, ascending.
    """

    clicks: NDArray[np.int8]
    numbers: NDArray[np.int64]
    missing: NDArray[np.bool_]
    lines: int
    bad: tuple[BadLine, ...]
    _text: bytes

    def words(self, category: int) -> list[bytes]:
        """Return the words of a category, from 0, in all rows; empty where it is missing."""
        return self._fields[1 + INTEGERS + category :: FIELDS]

    @cached_property
    def _fields(self) -> list[bytes]:
        return self._text.replace(b"\n", b"\t").split(b"\t")[:-1]


def pieces(path: Path, most: int | None, watch: Watch) -> Iterator[Rows]:
    """Yield the log at *path*, plain or gzipped, a piece of whole lines at a time.

    Lines may end with LF or CRLF, the last one with nothing. A mark of UTF-8 at the beginning is passed over.

    Args:
        path: The file.
        most: The most lines to read, or None for all.
        watch: Told how many bytes of the file have been read.

    Raises:
        LogError: The file cannot be read, is empty, or is no text of lines.
    """
    number = 0
    for text in _whole_lines(path, watch):
        piece = text
        if most is not None and number + text.count(b"\n") > most:
            piece = b"".join(line + b"\n" for line in islice(text.split(b"\n"), most - number))
        rows = parse(piece, number + 1)
        number += rows.lines
        yield rows
        if number == most:
            return
    if not number:
        raise LogError(f"{path}:1: the file is empty, but every line must have {LAYOUT}")


def parse(text: bytes, first: int = 1) -> Rows:
    """Return the rows of *text*.

    Args:
        text: Whole lines, each with a newline at its end and none of them missing.
        first: The number of the first line.
    """
    data = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    lengths = np.diff(ends, prepend=-1)
    fields = np.diff(np.searchsorted(np.flatnonzero(data == _TAB), ends), prepend=0) + 1
    numbers = np.arange(first, first + len(ends))
    bad = {int(line): _wrong_fields(int(fields[line]), int(lengths[line])) for line in np.flatnonzero(fields != FIELDS)}
    bad |= {line: "is not UTF-8" for line in _undecodable(text, ends) if line not in bad}
    kept = np.ones(len(ends), dtype=np.bool_)
    kept[list(bad)] = False
    data = data[np.repeat(kept, lengths)] if bad else data
    lines = np.flatnonzero(kept)

    stops = np.flatnonzero((data == _TAB) | (data == _NEWLINE)).reshape(-1, FIELDS)
    starts = np.concatenate([np.zeros(1, dtype=np.int64), stops.ravel()[:-1] + 1])[: stops.size].reshape(-1, FIELDS)
    widths = stops - starts
    labels = data[starts[:, 0]] - _ZERO if len(starts) else np.empty(0, dtype=np.uint8)
    good = (widths[:, 0] == 1) & (labels <= 1)
    values, readable = _integers(data, starts[:, 1 : 1 + INTEGERS], widths[:, 1 : 1 + INTEGERS])
    for row in np.flatnonzero(~(good & readable.all(axis=1))):
        column = 0 if not good[row] else 1 + int(np.argmin(readable[row]))
        field = data[starts[row, column] : stops[row, column]].tobytes()
        bad[int(lines[row])] = _wrong_value(column, field)
        good[row] = False
    if not good.all():
        data = data[np.repeat(good, stops[:, -1] - starts[:, 0] + 1)]
    return Rows(
        clicks=labels[good].astype(np.int8),
        numbers=values[good],
        missing=widths[good, 1:] == 0,
        lines=len(ends),
        bad=tuple(BadLine(int(numbers[line]), bad[line]) for line in sorted(bad)),
        _text=data.tobytes(),
    )


def _integers(
    data: NDArray[np.uint8], starts: NDArray[np.int64], widths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the integers in fields, 0 for an empty one, and which of the fields hold one or nothing."""
    begins, present = starts.ravel(), widths.ravel() > 0
    negative = present & (data[begins] == _MINUS)
    digits = widths.ravel() - negative
    good = ~present | ((digits >= 1) & (digits <= _MOST_DIGITS))
    values = np.zeros(len(begins), dtype=np.int64)
    for index in range(min(int(digits.max(initial=0)), _MOST_DIGITS)):
        some = np.flatnonzero(digits > index)
        digit = data[begins[some] + negative[some] + index] - _ZERO
        good[some] &= digit <= 9
        values[some] = 10 * values[some] + digit
    values = np.where(negative, -values, values)
    return values.reshape(starts.shape), good.reshape(starts.shape)


def _undecodable(text: bytes, ends: NDArray[np.int64]) -> list[int]:
    """Return the lines that are not UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return [line for line, content in enumerate(text.split(b"\n")[: len(ends)]) if not _is_text(content)]
    return []


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _wrong_fields(fields: int, length: int) -> str:
    found = "is empty" if length == 1 else f"has {fields} field{'' if fields == 1 else 's'}"
    return f"{found}, but must have {FIELDS}: {LAYOUT}"


def _wrong_value(column: int, field: bytes) -> str:
    shown = field.decode()
    shown = f'"{shown}"' if len(shown) <= 40 and shown.isprintable() else f"{len(shown)} characters"
    if column == 0:
        return f"the label must be 0 or 1, not {shown}" if field else "the label is missing, it must be 0 or 1"
    return f"I{column} must be an integer of at most {_MOST_DIGITS} digits or nothing, not {shown}"


def _whole_lines(path: Path, watch: Watch) -> Iterator[bytes]:
    """Yield the file's content in pieces that end with a newline, line ends made LF."""
    number = 1
    try:
        kind = not_regular(path)
        if kind is not None:
            raise LogError(f"{path}: is {kind}, must be a file")
        with path.open("rb") as raw:
            size = path.stat().st_size
            zipped = raw.peek(2)[:2] == _GZIP
            file = cast(BufferedIOBase, gzip.GzipFile(fileobj=raw)) if zipped else raw
            rest = b""
            while True:
                watch(path.name, min(raw.tell(), size), size)
                read = file.read(_PIECE)
                text = rest + read if read or not rest else rest + b"\n"
                cut = text.rfind(b"\n") + 1
                text, rest = text[:cut], text[cut:]
                if len(rest) > _LONGEST:
                    number += text.count(b"\n")
                    raise LogError(f"{path}:{number}: has no end within {_LONGEST:,} bytes: this is no log of lines")
                if text:
                    text = text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text
                    text = text.replace(b"\r\n", b"\n")
                    yield text
                    number += text.count(b"\n")
                if not read:
                    return
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LogError(f"{path}:{number}: the gzipped file is damaged: {error}") from error
    except OSError as error:
        raise LogError(f"{path}:{number}: cannot be read: {error.strerror or error}") from error
