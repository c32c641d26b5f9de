"""Columns of tables that users bring: text files, Parquet, arrays in a file of numpy's, and pandas tables."""

import re
from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from netbandit.parts.component import Checks, Mistake, Part
from netbandit.parts.validation import is_frame
from netbandit.util.extras import MissingExtraError
from netbandit.util.memory import exceeded
from netbandit.util.memory import shown as shown_bytes
from netbandit.util.table_files import Table, TableFileError, finite, not_regular, shown
from netbandit.util.text import one_line

if TYPE_CHECKING:
    import pandas

MOST_CELLS = 1 << 27
"""The most fields of a table that are read."""

_MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>"})
_INDEX = re.compile(r"__index_level_\d+__")
_FLOATS = (float, np.floating)
_BOOLEANS = {"true": 1.0, "false": 0.0}

ENDINGS = "*.csv, *.tsv, *.txt, also gzipped (*.csv.gz), *.parquet or *.npz"
"""The files that can be read."""


class TableError(ValueError):
    """A table that does not hold what is needed; the message says where and why."""


class Names(NamedTuple):
    """A column of names: those that are there, in order of their first rows, and which of them each row has."""

    labels: list[str]
    codes: NDArray[np.int64]

    def ordered(self, order: Sequence[str]) -> NDArray[np.int64]:
        """Return the place of the name of each row in *order*, which has them all."""
        place = {label: number for number, label in enumerate(order)}
        return np.array([place[label] for label in self.labels], dtype=np.int64)[self.codes]


class Content(NamedTuple):
    """Columns of a table.

    Attributes:
        columns: The names of the columns of numbers.
        table: The numbers, shape (rows, columns), NaN where one is missing; it is the caller's own.
        names: The columns of names.
        lines: In which line of its file each row stands; None: rows are counted from 0.
    """

    columns: Sequence[str]
    table: NDArray[np.float64]
    names: Mapping[str, Names]
    lines: Sequence[int] | None = None

    @property
    def numbers(self) -> dict[str, NDArray[np.float64]]:
        """The columns of numbers by their names."""
        return {name: self.table[:, index] for index, name in enumerate(self.columns)}

    def place(self, row: int) -> int:
        """Return the line or the row that messages about a *row* name."""
        return row if self.lines is None else self.lines[row]


class Source(ABC):
    """Where a table comes from.

    Attributes:
        names: What its columns are called.
        may_lack_names: Whether the names may be the first row of numbers.
        hint: What is said to a field that is no number.
    """

    names: Sequence[str]
    may_lack_names = False
    hint = ""

    @abstractmethod
    def load(self, numbers: Sequence[str], names: Sequence[str] = (), index: str | None = None) -> Content:
        """Return the columns that hold *numbers*, *names*, and an *index*, which is the last of the numbers.

        Raises:
            TableError: One does not hold them, or they are too many; in an index what is no number is NaN.
        """

    @abstractmethod
    def error(self, reason: str, place: int | None = None) -> TableError:
        """Return an error of the whole table, or of its line or row *place*."""

    def no_number(self, text: str, column: str, place: int) -> TableError:
        """Return the error that *text* stands where a number must."""
        comma = ", with a point in place of the comma" if finite(text.replace(",", ".", 1)) is not None else ""
        return self.error(f"{shown(text)!r} in the column {shown(column)} is no number{comma}{self.hint}", place)

    def refuse_twice(self) -> None:
        """Raise a `TableError` if two columns have one name."""
        twice = next((name for name, times in Counter(self.names).items() if name and times > 1), None)
        if twice is not None:
            raise self.error(f"the column {shown(twice)} is there twice")

    def refuse_large(self, fields: int) -> None:
        """Raise a `TableError` if so many *fields* are too many."""
        if fields > MOST_CELLS:
            raise self.error(f"has more than {MOST_CELLS:,} fields, which is the most that is read")
        if (most := exceeded(8 * fields)) is not None:
            text = f"takes at least {shown_bytes(8 * fields)} of memory; {shown_bytes(most)} is available here"
            raise self.error(f"{text}: fewer rows or columns fit")


def source_at(path: Path, hint: str = "") -> Source:
    """Return the table in the file at *path*.

    Raises:
        TableError: It cannot be read, or is no table.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    ending = ([suffix for suffix in suffixes if suffix != ".gz"] or [""])[-1]
    try:
        if ending in (".csv", ".tsv", ".txt"):
            found: Source = OfText(path)
        elif ending in (".parquet", ".pq"):
            found = OfParquet(path)
        elif ending == ".npz":
            found = OfArrays(path)
        else:
            raise TableError(f"{path}: is no table by its name: {ENDINGS}")
    except TableFileError as error:
        raise TableError(str(error)) from None
    found.hint = hint
    return found


def size_and_time(path: Path) -> tuple[int, int]:
    """Return the size of a file and when it was last changed (ns), by which it is known whether it is the same.

    Raises:
        TableError: It cannot be looked at.
    """
    try:
        known = path.stat()
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return known.st_size, known.st_mtime_ns


class OfText(Source):
    """A text file."""

    def __init__(self, path: Path) -> None:
        self._table = Table(path)
        self.names = self._table.names
        self.may_lack_names = self._table.numbers_only

    def error(self, reason: str, place: int | None = None) -> TableError:
        """See `Source.error`."""
        return TableError(str(TableFileError(self._table.path, reason, place)))

    def load(self, numbers: Sequence[str], names: Sequence[str] = (), index: str | None = None) -> Content:
        """See `Source.load`."""
        try:
            return self._load([*numbers, *([] if index is None else [index])], names, index)
        except TableFileError as error:
            raise TableError(str(error)) from None

    def _load(self, numbers: Sequence[str], names: Sequence[str], index: str | None) -> Content:
        place = {name: number for number, name in enumerate(self.names)}
        figures = [place[name] for name in numbers]
        counter = -1 if index is None else place[index]
        texts: list[tuple[int, dict[str, int], array[int]]] = [(place[name], {}, array("q")) for name in names]
        kept, lines = array("d"), array("q")
        full = 0
        width = len(figures) + len(texts)
        for line, cells in self._table:
            if any(cells):
                full = len(lines) + 1
            elif texts:
                continue
            if (len(lines) + 1) * width > MOST_CELLS or len(lines) % _LOOKED == _LOOKED - 1:
                self.refuse_large((len(lines) + 1) * width)
            lines.append(line)
            for column in figures:
                found = finite(cells[column])
                kept.append(self._other(cells[column], column, line, column == counter) if found is None else found)
            for column, codes, of_rows in texts:
                if not cells[column]:
                    raise self.error(f"the {self.names[column]} is missing", line)
                of_rows.append(codes.setdefault(cells[column], len(codes)))
        table = np.frombuffer(kept) if kept else np.empty(0)
        return Content(  # rows at the end that hold nothing are those of a spreadsheet
            numbers,
            table.reshape(len(lines), len(figures))[:full],
            {self.names[column]: Names(list(codes), np.array(rows)) for column, codes, rows in texts},
            lines,
        )

    def _other(self, text: str, column: int, line: int, index: bool) -> float:
        low = text.lower()
        if low in _MISSING or index:
            return float("nan")
        if low in _BOOLEANS:
            return _BOOLEANS[low]
        raise self.no_number(text, self.names[column], line)


_LOOKED = 1 << 16
"""Rows after which the memory is looked at."""

Column = NDArray[Any] | list[Any]


class _OfValues(Source):
    """A table whose columns are values."""

    rows: int

    @abstractmethod
    def _column(self, name: str) -> Column:
        """Return the values of a column."""

    @abstractmethod
    def _coded(self, name: str) -> tuple[NDArray[np.int64], Iterable[Any]]:
        """Return which of the values of a column each row has, -1 for none, and these values."""

    def load(self, numbers: Sequence[str], names: Sequence[str] = (), index: str | None = None) -> Content:
        """See `Source.load`."""
        wanted = [*numbers, *([] if index is None else [index])]
        self.refuse_large(self.rows * (len(wanted) + len(names)))
        table = np.empty((self.rows, len(wanted)))
        for place, name in enumerate(wanted):
            table[:, place] = self._figures(name, self._column(name), name == index)
        return Content(wanted, table, {name: self._names(name) for name in names})

    def _figures(self, name: str, values: Column, index: bool) -> NDArray[np.float64]:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iufb" and not np.isinf(values).any():
            return values.astype(np.float64, copy=False)
        if index:
            return np.array([_or_nan(str(value)) for value in values])
        return np.array([self._figure(name, row, value) for row, value in enumerate(values)], dtype=np.float64)

    def _figure(self, column: str, row: int, value: Any) -> float:
        if _is_missing(value):
            return float("nan")
        if isinstance(value, str):
            found = finite(value.strip())
        else:
            try:
                found = float(value)
            except (TypeError, ValueError, OverflowError):
                found = None
        if found is None or not np.isfinite(found):
            raise self.no_number(str(value), column, row)
        return found

    def _names(self, name: str) -> Names:
        codes, found = self._coded(name)
        values = list(found)
        labels = [name_of(value) for value in values]
        lacking = np.flatnonzero(
            (codes < 0) | np.isin(codes, [index for index, label in enumerate(labels) if not label])
        )
        if len(lacking):
            raise self.error(f"the {name} is missing", int(lacking[0]))
        order: dict[str, int] = {}
        first: dict[str, Any] = {}
        for index, (label, value) in enumerate(zip(labels, values, strict=True)):
            order.setdefault(label, len(order))
            if isinstance(first.setdefault(label, value), str) != isinstance(value, str):
                row = int((codes == index).argmax())
                raise self.error(f"the {name} {shown(label)} is there as a text and as a number", row)
        return Names(list(order), np.array([order[label] for label in labels], dtype=np.int64)[codes])


class _OfFile(_OfValues):
    """A file of values."""

    def __init__(self, path: Path) -> None:
        self._path = path
        kind = not_regular(path)
        if kind is not None:
            raise self.error(f"is {kind}, must be a file")

    def error(self, reason: str, place: int | None = None) -> TableError:
        """See `Source.error`."""
        return TableError(f"{self._path}: {reason}" if place is None else f"{self._path}: row {place}: {reason}")


class OfParquet(_OfFile):
    """A Parquet file, whose columns have types."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            from netbandit.util.extras.parquet import ParquetFile
        except MissingExtraError as error:
            raise self.error(str(error)) from None
        try:
            self._file = ParquetFile(path)
        except Exception as error:  # pyarrow's own, for what is no such file
            raise self._damaged(error) from None
        self.names = [name for name in self._file.schema_arrow.names if not _INDEX.fullmatch(name)]
        self.rows = self._file.metadata.num_rows

    def _damaged(self, error: Exception) -> TableError:
        return self.error(f"cannot be read: {one_line(str(error))}")

    def _column(self, name: str) -> Column:
        try:  # one after another: together they would take more memory than the table
            return _of_arrow(self._file.read(columns=[name]).column(name))
        except Exception as error:  # pyarrow's own, for what is damaged
            raise self._damaged(error) from None

    def _coded(self, name: str) -> tuple[NDArray[np.int64], Iterable[Any]]:
        try:
            column = self._file.read(columns=[name]).column(name).combine_chunks().dictionary_encode()
            return column.indices.fill_null(-1).to_numpy(), column.dictionary.to_pylist()
        except Exception as error:  # as above
            raise self._damaged(error) from None


def _of_arrow(column: Any) -> Column:
    """Return a column of pyarrow as numbers, where it has numbers, else as Python's objects."""
    from netbandit.util.extras.parquet import types

    numeric = any(is_one(column.type) for is_one in (types.is_integer, types.is_floating, types.is_boolean))
    found: Column = column.cast("float64", safe=False).to_numpy() if numeric else column.to_pylist()
    return found


class OfFrame(_OfValues):
    """A pandas table."""

    def __init__(self, frame: "pandas.DataFrame", hint: str = "") -> None:
        self.frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        self.names = list(self.frame.columns)
        self.rows = len(self.frame)
        self.hint = hint

    def error(self, reason: str, place: int | None = None) -> TableError:
        """See `Source.error`."""
        return TableError(reason if place is None else f"row {place}: {reason}")

    def _column(self, name: str) -> Column:
        return np.asarray(self.frame[name].to_numpy())

    def _coded(self, name: str) -> tuple[NDArray[np.int64], Iterable[Any]]:
        from netbandit.util.extras.frames import pandas

        return pandas.factorize(self.frame[name])


class OfArrays(_OfFile):
    """Arrays in a file of ``numpy.savez``: each of one dimension is a column, each ``x`` of two the columns x0, x1."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            with np.load(path, allow_pickle=False) as file:
                self.refuse_large(sum(entry.file_size for entry in file.zip.infolist()) // 8)
                arrays = {name: file[name] for name in file.files}
        except TableError:
            raise
        except (OSError, ValueError, EOFError, AttributeError, BadZipFile) as error:  # AttributeError: a single array
            raise self.error(
                f"is no file of numpy.savez with numbers and texts (astype(str)): {one_line(str(error))}"
            ) from None
        try:
            self._columns = columns_of(arrays)
        except ValueError as error:
            raise self.error(str(error)) from None
        self.names = list(self._columns)
        self.rows = len(next(iter(self._columns.values()), ()))

    def _column(self, name: str) -> Column:
        return self._columns[name]

    def _coded(self, name: str) -> tuple[NDArray[np.int64], Iterable[Any]]:
        values, codes = np.unique(self._columns[name], return_inverse=True)
        return codes, values.tolist()


def columns_of(arrays: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the columns of arrays: of one of two dimensions, ``x``, they are ``x0``, ``x1`` and so on.

    Raises:
        ValueError: One has other dimensions, or they have not as many rows.
    """
    found: dict[str, NDArray[Any]] = {}
    for name, given in arrays.items():
        values = np.asarray(given)
        if values.ndim not in (1, 2):
            raise ValueError(f"the array {shown(str(name))} has {values.ndim} dimensions: must be one or two")
        each = {name: values} if values.ndim == 1 else {f"{name}{j}": column for j, column in enumerate(values.T)}
        found.update({str(column): entries for column, entries in each.items()})
    rows = {len(column): name for name, column in reversed(found.items())}
    if len(rows) > 1:
        sizes = ", ".join(f"{name} has {size}" for size, name in reversed(rows.items()))
        raise ValueError(f"arrays have different numbers of rows: {sizes}")
    return found


def as_frame(value: Any) -> Any:
    """Return a pandas table for a dictionary of arrays, see `columns_of`, and all else as it is.

    Raises:
        ValueError: The arrays are no columns, or pandas is not there.
    """
    if not isinstance(value, Mapping):
        return value
    try:
        from netbandit.util.extras.frames import pandas
    except MissingExtraError as error:
        raise ValueError(str(error)) from None
    return pandas.DataFrame(columns_of(value))


def source_mistakes(path: str | None, data: Any, keys: tuple[str, str], what: str) -> Checks:
    """Yield that neither a *path* nor *data* is given, or both, or data that is no table.

    Args:
        path: The file, if there is one.
        data: The table of Python, if there is one.
        keys: The keys of both.
        what: What the file is.
    """
    path_key, key = keys
    if path is None and data is None:
        yield Mistake(path_key, f"is missing: {what} must be given")
    if path is not None and data is not None:
        yield Mistake(key, f"excludes {path_key}: give one of the two")
    if data is not None and not is_frame(data):
        yield Mistake(key, f"must be a pandas DataFrame; {path_key} names a file")


class OfTables(Part):
    """A part whose keys may be tables of pandas, which are equal where their columns and rows are."""

    frames: ClassVar[tuple[str, ...]] = ("data",)
    """The keys."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.table() == other.table()

    __hash__ = None

    def table(self) -> dict[str, Any]:
        """Return the keys; tables of pandas by a hash of their columns and rows."""
        given = {name: frame for name in self.frames if (frame := getattr(self, name)) is not None}
        found = self.model_copy(update=dict.fromkeys(given)).model_dump(by_alias=True)
        return {**found, **{name: f"blake2b:{_digest(frame)}" for name, frame in given.items()}}


def _digest(frame: "pandas.DataFrame") -> str:
    """Return a hash of the columns and rows of a pandas table; its index is no part of it."""
    from netbandit.util.extras.frames import pandas

    found = blake2b(repr([*map(str, frame.columns)]).encode(), digest_size=16)
    found.update(pandas.util.hash_pandas_object(frame.rename(columns=str), index=False).to_numpy().tobytes())
    return found.hexdigest()


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, _FLOATS) and value != value)
    )


def name_of(value: Any) -> str:
    """Return what a value names: a whole number without a point, nothing for what is missing."""
    if _is_missing(value):
        return ""
    return str(int(value)) if isinstance(value, _FLOATS) and value.is_integer() else str(value).strip()


def _or_nan(text: str) -> float:
    found = finite(text)
    return float("nan") if found is None else found


def in_order(texts: Sequence[str]) -> list[str]:
    """Return *texts* in the order of agents: as numbers if all are whole numbers, else as text."""
    try:
        return sorted(texts, key=int)
    except ValueError:
        return sorted(texts)
