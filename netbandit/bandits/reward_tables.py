"""Tables of rewards that users bring: read from a file or given as a pandas table, and brought to arrays.

A wide table has a column an arm and a row a slot. A long one has the columns ``arm`` and ``reward``, and may have
``agent`` and ``slot``. Names of arms and agents are text, and are compared as text. What may be no arm, such as a
column of times, is refused until ``arms`` says what the arms are.
"""

import csv
import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from netbandit.util.agent_rows import agent_numbers
from netbandit.util.extras import MissingExtraError
from netbandit.util.table_files import Table, TableFileError, finite, listed, not_regular, not_used, number, shown
from netbandit.util.text import one_line

if TYPE_CHECKING:
    import pandas

ARM, REWARD, AGENT, SLOT = "arm", "reward", "agent", "slot"
MOST_CELLS = 1 << 27
"""The most rewards of a table."""

_PARQUET = (".parquet", ".pq")
_NO_ARMS = frozenset(
    {"agent", "agents", "arm", "arms", "date", "datetime", "day", "episode", "hour", "id", "index", "iteration",
     "minute", "month", "replication", "reward", "rewards", "round", "row", "seed", "slot", "slots",
     "step", "t", "time", "timestamp", "trial", "week", "year"}
)  # fmt: skip
"""Names of columns that are not arms."""
_NAMELESS = re.compile(r"(Unnamed: \d+)?")
_INDEX = re.compile(r"__index_level_\d+__")
_ASCENDING = 10
"""Of how many rows it is no accident that all of them ascend in one column."""
_MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>"})
_FLOATS = (float, np.floating)
_BOOLEANS = {"true": 1.0, "false": 0.0}

ENDINGS = "*.csv, *.tsv, *.txt, also gzipped (*.csv.gz), or *.parquet"
"""The files that can be read."""


class RewardTableError(ValueError):
    """A table that holds no rewards as they are needed; the message says where and why."""


@dataclass(frozen=True)
class RewardTable:
    """Rewards by arm.

    Attributes:
        arms: What each arm is called.
        agents: What each agent is called; None: all agents have the same rewards.
        rows: The reward of each row (and agent) and arm, shape (R, K) or (R, M, K), read-only; None: it is not known
            which of them belong together.
        values: All rewards of each arm, ascending; with agents those of each agent and arm, agent by agent.
        long: Whether the table was a long one.
        notes: What of the table was read and what was not, where a mistake would go unseen, a phrase each.
    """

    arms: tuple[str, ...]
    agents: tuple[str, ...] | None
    rows: NDArray[np.float64] | None
    values: tuple[NDArray[np.float64], ...]
    long: bool = False
    notes: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest reward."""
        return float(min(one[0] for one in self.values)), float(max(one[-1] for one in self.values))

    @property
    def binary(self) -> bool:
        """Whether every reward is 0 or 1."""
        return all(np.isin(one, (0.0, 1.0)).all() for one in self.values)

    def of_agents(self, names: Sequence[str]) -> "RewardTable":
        """Return the rewards with the agents in the order of *names*; see `netbandit.util.agent_rows`.

        Raises:
            ValueError: The agents of the table are others.
        """
        if self.agents is None:
            return self
        place = {agent: row for row, agent in enumerate(agent_numbers(self.agents, names, "rewards").values())}
        order = [place[agent] for agent in range(len(names))]
        arms = len(self.arms)
        rows = None if self.rows is None else _read_only(self.rows[:, order])
        values = tuple(one for row in order for one in self.values[row * arms : (row + 1) * arms])
        return replace(self, agents=tuple(names), rows=rows, values=values)


def read(path: Path, arms: Sequence[str] | None = None) -> RewardTable:
    """Return the rewards in the file at *path*.

    Args:
        path: The file.
        arms: The columns, or the values of the column ``arm``, that are the arms; all if not given.

    Raises:
        RewardTableError: It cannot be read, or is no table of rewards.
    """
    try:
        known = path.stat()
    except (OSError, ValueError) as error:
        raise RewardTableError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return _read(path, known.st_size, known.st_mtime_ns, None if arms is None else tuple(arms))


@lru_cache(maxsize=8)
def _read(path: Path, size: int, changed: int, arms: tuple[str, ...] | None) -> RewardTable:
    """Return the rewards of a file; that of a *size* that was last *changed* at a time (ns) is read once."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    ending = ([suffix for suffix in suffixes if suffix != ".gz"] or [""])[-1]
    if ending not in (".csv", ".tsv", ".txt", *_PARQUET):
        raise RewardTableError(f"{path}: is no table by its name: {ENDINGS}")
    try:
        source: _Source = _OfParquet(path) if ending in _PARQUET else _OfText(path)
        return _rewards(source, arms)
    except TableFileError as error:
        raise RewardTableError(str(error)) from None


def of_frame(frame: "pandas.DataFrame", arms: Sequence[str] | None = None) -> RewardTable:
    """Return the rewards of a pandas table.

    Args:
        frame: The table, wide or long.
        arms: See `read`.

    Raises:
        RewardTableError: It is no table of rewards.
    """
    return _rewards(_OfFrame(frame), arms)


def written(frame: "pandas.DataFrame") -> tuple[str, dict[str, Any]]:
    """Return a pandas table as the text of a file, and the keys with which it is read as the table is."""
    source = _OfFrame(frame)
    named = source.frame.copy()
    for name in (ARM, AGENT) if _is_long(source.names) else ():
        if name in source.names:
            named[name] = named[name].astype(object).map(_text)
    keys = {"arms": list(source.names)} if all(number(name) is not None for name in source.names) else {}
    return str(named.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)), keys  # a name may begin with #


def digest(frame: "pandas.DataFrame") -> str:
    """Return a hash of the columns and rows of a pandas table; its index is no part of it."""
    from netbandit.util.extras.frames import pandas

    found = blake2b(repr([*map(str, frame.columns)]).encode(), digest_size=16)
    found.update(pandas.util.hash_pandas_object(frame.rename(columns=str), index=False).to_numpy().tobytes())
    return found.hexdigest()


class _Names(NamedTuple):
    """A column of names: those that are there, in order of their first rows, and which of them each row has."""

    labels: list[str]
    codes: NDArray[np.int64]


class _Content(NamedTuple):
    """Columns of a table, and in which line of its file each row stands; None: rows are counted from 0."""

    numbers: Mapping[str, NDArray[np.float64]]
    names: Mapping[str, _Names]
    lines: Sequence[int] | None = None


class _Source(Protocol):
    """Where a table comes from.

    Attributes:
        names: What its columns are called.
        may_lack_names: Whether the names may be the first row of rewards.
    """

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def may_lack_names(self) -> bool: ...

    def load(self, numbers: Sequence[str], names: Sequence[str], index: str | None) -> _Content:
        """Return the columns that hold *numbers* (NaN where one is missing), *names*, and an *index*.

        Raises:
            RewardTableError: One does not hold them; in an index what is no number is NaN.
        """

    def error(self, reason: str, place: int | None = None) -> RewardTableError:
        """Return an error of the whole table, or of its line or row *place*."""


class _OfText:
    """A text file."""

    def __init__(self, path: Path) -> None:
        self._table = Table(path)
        self.names = self._table.names
        self.may_lack_names = self._table.numbers_only

    def error(self, reason: str, place: int | None = None) -> RewardTableError:
        return RewardTableError(str(TableFileError(self._table.path, reason, place)))

    def load(self, numbers: Sequence[str], names: Sequence[str], index: str | None) -> _Content:
        place = {name: number for number, name in enumerate(self.names)}
        figures = [(place[name], array("d")) for name in numbers]
        counter = [] if index is None else [(place[index], array("d"))]
        texts: list[tuple[int, dict[str, int], array[int]]] = [(place[name], {}, array("q")) for name in names]
        lines = array("q")
        full = 0
        width = len(figures) + len(texts) + len(counter)
        for line, cells in self._table:
            if any(cells):
                full = len(lines) + 1
            elif texts:
                continue
            if (len(lines) + 1) * width > MOST_CELLS:
                raise self.error(f"has more than {MOST_CELLS:,} fields, which is the most that is read")
            lines.append(line)
            for column, kept in figures:
                found = finite(cells[column])
                kept.append(self._other(cells[column], self.names[column], line) if found is None else found)
            for column, kept in counter:
                kept.append(_or_nan(cells[column]))
            for column, codes, of_rows in texts:
                if not cells[column]:
                    raise self.error(f"the {self.names[column]} is missing", line)
                of_rows.append(codes.setdefault(cells[column], len(codes)))
        return _Content(  # rows at the end that hold nothing are those of a spreadsheet
            {self.names[column]: np.array(kept[:full]) for column, kept in (*figures, *counter)},
            {self.names[column]: _Names(list(codes), np.array(rows)) for column, codes, rows in texts},
            lines,
        )

    def _other(self, text: str, column: str, line: int) -> float:
        low = text.lower()
        if low in _MISSING:
            return float("nan")
        if low in _BOOLEANS:
            return _BOOLEANS[low]
        raise self.error(_no_number(text, column), line)


class _OfParquet:
    """A Parquet file, whose columns have types."""

    may_lack_names = False

    def __init__(self, path: Path) -> None:
        self._path = path
        kind = not_regular(path)
        if kind is not None:
            raise self.error(f"is {kind}, must be a file")
        try:
            from netbandit.util.extras.parquet import ParquetFile
        except MissingExtraError as error:
            raise self.error(str(error)) from None
        try:
            self._file = ParquetFile(path)
        except Exception as error:  # pyarrow's own, for what is no such file
            raise self.error(f"cannot be read: {one_line(str(error))}") from None
        self.names = [name for name in self._file.schema_arrow.names if not _INDEX.fullmatch(name)]

    def error(self, reason: str, place: int | None = None) -> RewardTableError:
        return RewardTableError(f"{self._path}: {reason}" if place is None else f"{self._path}: row {place}: {reason}")

    def load(self, numbers: Sequence[str], names: Sequence[str], index: str | None) -> _Content:
        wanted = [*numbers, *names, *([] if index is None else [index])]
        if self._file.metadata.num_rows * len(wanted) > MOST_CELLS:
            raise self.error(f"has more than {MOST_CELLS:,} fields, which is the most that is read")
        try:
            table = self._file.read(columns=wanted).combine_chunks()
            figures = {name: _of_arrow(table.column(name)) for name in wanted if name not in names}
            coded = {name: table.column(name).combine_chunks().dictionary_encode() for name in names}
            texts = {
                name: (column.indices.fill_null(-1).to_numpy(), column.dictionary.to_pylist())
                for name, column in coded.items()
            }
        except Exception as error:  # pyarrow's own, for what is damaged
            raise self.error(f"cannot be read: {one_line(str(error))}") from None
        return _of_values(self, figures, texts, index)


def _of_arrow(column: Any) -> "NDArray[Any] | list[Any]":
    """Return a column of pyarrow as numbers, where it has numbers, else as Python's objects."""
    from netbandit.util.extras.parquet import types

    numeric = any(is_one(column.type) for is_one in (types.is_integer, types.is_floating, types.is_boolean))
    found: NDArray[Any] | list[Any] = column.cast("float64", safe=False).to_numpy() if numeric else column.to_pylist()
    return found


class _OfFrame:
    """A pandas table."""

    may_lack_names = False

    def __init__(self, frame: "pandas.DataFrame") -> None:
        self.frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        self.names = list(self.frame.columns)
        lost = [name for name in frame.index.names if name in (ARM, REWARD, AGENT, SLOT)]
        if lost:
            raise self.error(f"{lost[0]} is in the index, which is not read: data.reset_index() makes it a column")

    def error(self, reason: str, place: int | None = None) -> RewardTableError:
        return RewardTableError(reason if place is None else f"row {place}: {reason}")

    def load(self, numbers: Sequence[str], names: Sequence[str], index: str | None) -> _Content:
        from netbandit.util.extras.frames import pandas

        figures = {name: self.frame[name].to_numpy() for name in (*numbers, *([] if index is None else [index]))}
        coded = {name: pandas.factorize(self.frame[name]) for name in names}
        return _of_values(self, figures, {name: (codes, list(found)) for name, (codes, found) in coded.items()}, index)


def _of_values(
    source: _Source,
    figures: "Mapping[str, NDArray[Any] | list[Any]]",
    names: Mapping[str, tuple[NDArray[np.int64], list[Any]]],
    index: str | None,
) -> _Content:
    """Return columns of values.

    Args:
        source: The table.
        figures: The columns of numbers.
        names: Of each column of names which of the values each row has, -1 for none, and the values.
        index: See `_Source.load`.
    """
    found = {}
    for name, values in figures.items():
        if isinstance(values, np.ndarray) and values.dtype.kind in "iufb" and not np.isinf(values).any():
            found[name] = values.astype(np.float64)
        elif name == index:
            found[name] = np.array([_or_nan(str(value)) for value in values])
        else:
            found[name] = np.array([_value(source, name, *row) for row in enumerate(values)], dtype=np.float64)
    texts = {}
    for name, (codes, values) in names.items():
        labels = [_text(value) for value in values]
        lacking = np.flatnonzero(
            (codes < 0) | np.isin(codes, [place for place, label in enumerate(labels) if not label])
        )
        if len(lacking):
            raise source.error(f"the {name} is missing", int(lacking[0]))
        order: dict[str, int] = {}
        first: dict[str, Any] = {}
        for place, (label, value) in enumerate(zip(labels, values, strict=True)):
            order.setdefault(label, len(order))
            if isinstance(first.setdefault(label, value), str) != isinstance(value, str):
                row = int((codes == place).argmax())
                raise source.error(f"the {name} {shown(label)} is there as a text and as a number", row)
        texts[name] = _Names(list(order), np.array([order[label] for label in labels], dtype=np.int64)[codes])
    return _Content(found, texts)


def _value(source: _Source, column: str, row: int, value: Any) -> float:
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
        raise source.error(_no_number(str(value), column), row)
    return found


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, _FLOATS) and value != value)
    )


def _text(value: Any) -> str:
    """Return what a value names: a whole number without a point, nothing for what is missing."""
    if _is_missing(value):
        return ""
    return str(int(value)) if isinstance(value, _FLOATS) and value.is_integer() else str(value).strip()


def _or_nan(text: str) -> float:
    found = finite(text)
    return float("nan") if found is None else found


def _no_number(text: str, column: str) -> str:
    comma = ", with a point in place of the comma" if finite(text.replace(",", ".", 1)) is not None else ""
    return (
        f"{shown(text)!r} in the column {shown(column)} is no number{comma}: columns that are no arms are left out by "
        "arms = [...], which lists the others"
    )


def _is_long(names: Sequence[str]) -> bool:
    return {ARM, REWARD} <= set(names)


def _rewards(source: _Source, arms: Sequence[str] | None) -> RewardTable:
    """Return the rewards of a table.

    Raises:
        RewardTableError: It is none, or it may be that other columns are arms than would be taken.
    """
    names = source.names
    twice = next((name for name, times in Counter(names).items() if name and times > 1), None)
    if twice is not None:
        raise source.error(f"the column {shown(twice)} is there twice")
    return _long(source, arms) if _is_long(names) else _wide(source, arms)


def _wide(source: _Source, arms: Sequence[str] | None) -> RewardTable:
    names = source.names
    index = None
    if arms is None:
        if source.may_lack_names:
            raise source.error(
                "the first line has numbers only, and may be rewards: a line of names must come first; if these are "
                "the names, arms = [...] lists them"
            )
        index = names[0] if names and _NAMELESS.fullmatch(names[0]) else None
        if "" in names[index is not None :]:
            raise source.error(f"column {1 + list(names).index('', index is not None)} has no name")
        no_arm = next((name for name in names if name.strip().lower() in _NO_ARMS), None)
        if no_arm is not None:
            raise source.error(
                f"the column {shown(no_arm)} is no arm by its name: arms = [...] lists the columns that are "
                "(a table of a row a reward has the columns arm and reward)"
            )
    chosen = _chosen(source, [name for name in names if name and name != index], arms, "column")
    content = source.load(chosen, (), index)
    rows = len(next(iter(content.numbers.values()), ()))
    if not rows or not chosen:
        raise source.error("it has no rows of rewards")
    columns = [content.numbers[arm] for arm in chosen]
    if index is not None and not _counts(content.numbers[index], (0, 1)):
        raise source.error(
            "the first column has no name, and does not count the rows: it needs a name, or arms = [...] lists the arms"
        )
    if arms is None:
        _refuse_times(source, chosen, columns)
    unused = [name for name in names if name not in chosen]
    notes = [] if arms is not None else [f"arms: {listed(chosen, 10)}"]
    notes += [not_used(unused)] if unused else []
    values = np.column_stack(columns)
    return RewardTable(
        tuple(chosen),
        None,
        _read_only(values) if np.isfinite(values).all() else None,
        tuple(_law(source, column, arm) for arm, column in zip(chosen, columns, strict=True)),
        notes=tuple(notes),
    )


def _refuse_times(source: _Source, names: Sequence[str], columns: Sequence[NDArray[np.float64]]) -> None:
    """Refuse a column that counts its rows, or ascends throughout, where not all do.

    Raises:
        RewardTableError: There is one.
    """
    rows = len(columns[0])
    ascends = [
        (rows >= 3 and _counts(column, (column[0],))) or (rows >= _ASCENDING and bool((np.diff(column) > 0).all()))
        for column in columns
    ]
    if any(ascends) and not all(ascends):
        name = shown(names[ascends.index(True)])
        raise source.error(
            f"the column {name} ascends from row to row, as times do: arms = [...] lists the columns that are arms"
        )


def _counts(column: NDArray[np.float64], begins: Sequence[float]) -> bool:
    return any(np.array_equal(column, begin + np.arange(len(column))) for begin in begins)


def _long(source: _Source, arms: Sequence[str] | None) -> RewardTable:
    written = next((name for name in source.names if name not in (AGENT, SLOT) and name.lower() in (AGENT, SLOT)), None)
    if written is not None:
        raise source.error(f"the column {shown(written)} must be called {written.lower()}")
    content = source.load([REWARD], [name for name in (ARM, AGENT, SLOT) if name in source.names], None)
    rewards, names = content.numbers[REWARD], content.names
    if not len(rewards):
        raise source.error("it has no rows of rewards")
    if np.isnan(rewards).any():
        row = int(np.isnan(rewards).argmax())
        raise source.error("the reward is missing", row if content.lines is None else content.lines[row])
    chosen = _chosen(source, names[ARM].labels, arms, "arm")
    position = {arm: place for place, arm in enumerate(chosen)}
    arm = np.array([position.get(label, -1) for label in names[ARM].labels])[names[ARM].codes]
    kept = arm >= 0
    rewards, arm = rewards[kept], arm[kept]
    agents, of_agent = (None, None) if AGENT not in names else _ordered(names[AGENT], _sorted(names[AGENT].labels))
    cell = arm if of_agent is None else arm + len(chosen) * of_agent[kept]
    cells = len(chosen) * (1 if agents is None else len(agents))

    def name(cell: int) -> str:
        own = shown(chosen[cell % len(chosen)])
        return own if agents is None else f"{own} of agent {shown(agents[cell // len(chosen)])}"

    notes = []
    rows = None
    if SLOT in names:
        in_order = _slots(source, names[SLOT], kept, cell)
        if in_order is None:
            notes.append(f"slots in the order of the rows: {listed(names[SLOT].labels)}")
        slots, of_slot = _ordered(names[SLOT], in_order or names[SLOT].labels)
        place = of_slot[kept] * cells + cell
        order = np.argsort(place, kind="stable")
        found, count = np.unique(place, return_counts=True)
        lacking = np.flatnonzero(found != np.arange(len(found)))
        if (count > 1).any() or len(found) < len(slots) * cells:
            twice = int((count > 1).argmax())
            wrong = int(found[twice]) if (count > 1).any() else int(lacking[0]) if len(lacking) else len(found)
            what = f"is there {count[twice]} times" if (count > 1).any() else "is missing"
            raise source.error(f"slot {shown(slots[wrong // cells])}: the reward of {name(wrong % cells)} {what}")
        rows = rewards[order].reshape(len(slots), *([] if agents is None else [len(agents)]), len(chosen))
    found = np.unique(cell)
    if len(found) < cells:
        lacking = np.flatnonzero(found != np.arange(len(found)))
        raise source.error(f"{name(int(lacking[0]) if len(lacking) else len(found))} has no reward")
    order = np.lexsort((rewards, cell))
    ends = np.cumsum(np.bincount(cell, minlength=cells))[:-1]
    values = tuple(map(_read_only, np.split(rewards[order], ends)))
    unused = [name for name in source.names if name not in (REWARD, *names)]
    if unused:
        notes.append(not_used(unused))
    return RewardTable(
        tuple(chosen),
        None if agents is None else tuple(agents),
        None if rows is None else _read_only(rows),
        values,
        long=True,
        notes=tuple(notes),
    )


def _ordered(names: _Names, order: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return names in their *order*, and the place of that of each row in it."""
    place = {label: number for number, label in enumerate(order)}
    return list(order), np.array([place[label] for label in names.labels])[names.codes]


def _slots(source: _Source, names: _Names, kept: NDArray[np.bool_], cell: NDArray[np.int64]) -> list[str] | None:
    """Return slots in their order, that of numbers or of dates; None: they are other texts, in that of the rows.

    Args:
        source: The table.
        names: The slot of each row.
        kept: Which rows are those of arms.
        cell: Of which arm and agent each of these is.

    Raises:
        RewardTableError: A slot is written in two ways, or rows of one arm have another order than those of another.
    """
    labels = names.labels
    moments: list[Any]
    if all(number(label) is not None for label in labels):
        moments = [Decimal(label) for label in labels]
    else:
        try:
            moments = [datetime.fromisoformat(label) for label in labels]
            max(moments)  # fails where only some have a time zone
        except (TypeError, ValueError):
            order = np.argsort(cell, kind="stable")
            back = (np.diff(names.codes[kept][order]) < 0) & (np.diff(cell[order]) == 0)
            if back.any():
                late, early = names.codes[kept][order][int(back.argmax()) :][:2]
                raise source.error(
                    "slots are neither numbers nor dates, and rows have them in different orders: "
                    f"{shown(labels[early])} before and after {shown(labels[late])}"
                ) from None
            return None
    ascending = sorted(range(len(labels)), key=moments.__getitem__)
    twice = next((pair for pair in pairwise(ascending) if moments[pair[0]] == moments[pair[1]]), None)
    if twice is not None:
        raise source.error(f"one slot is written in two ways: {shown(labels[twice[0]])} and {shown(labels[twice[1]])}")
    return [labels[place] for place in ascending]


def _chosen(source: _Source, known: Sequence[str], arms: Sequence[str] | None, what: str) -> list[str]:
    unknown = next((arm for arm in arms or () if arm not in set(known)), None)
    if unknown is not None:
        raise source.error(f"there is no {what} {shown(unknown)}; there are {listed(known)}")
    return list(known if arms is None else arms)


def _law(source: _Source, column: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    known = np.sort(column[~np.isnan(column)])
    if not len(known):
        raise source.error(f"{shown(name)} has no reward")
    return _read_only(known)


def _sorted(texts: Sequence[str]) -> list[str]:
    """Return *texts* in the order of agents: as numbers if all are whole numbers, else as text."""
    try:
        return sorted(texts, key=int)
    except ValueError:
        return sorted(texts)


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array
