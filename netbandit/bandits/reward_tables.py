"""Tables of rewards that users bring: read from a file or given as a pandas table, and brought to arrays.

A wide table has a column an arm and a row a slot. A long one has the columns ``arm`` and ``reward``, and may have
``agent`` and ``slot``.
"""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.printable import one_line

if TYPE_CHECKING:
    import pandas

ARM, REWARD, AGENT, SLOT = "arm", "reward", "agent", "slot"
_LONG = {ARM, REWARD}
_PARQUET = (".parquet", ".pq")
_MOST_NAMED = 5

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
    """

    arms: tuple[str, ...]
    agents: tuple[str, ...] | None
    rows: NDArray[np.float64] | None
    values: tuple[NDArray[np.float64], ...]
    long: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest reward."""
        return float(min(one[0] for one in self.values)), float(max(one[-1] for one in self.values))

    @property
    def binary(self) -> bool:
        """Whether every reward is 0 or 1."""
        return all(np.isin(one, (0.0, 1.0)).all() for one in self.values)


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
    except OSError as error:
        raise RewardTableError(f"{path.name} cannot be read: {error.strerror}") from None
    return _read(path, known.st_size, known.st_mtime_ns, None if arms is None else tuple(arms))


@lru_cache(maxsize=8)
def _read(path: Path, size: int, changed: int, arms: tuple[str, ...] | None) -> RewardTable:
    """Return the rewards of a file; that of a *size* that was last *changed* at a time (ns) is read once."""
    frame, first_line = _frame(path)
    try:
        return of_frame(frame, arms, first_line)
    except RewardTableError as error:
        raise RewardTableError(f"{path.name}: {error}") from None


def _frame(path: Path) -> "tuple[pandas.DataFrame, int | None]":
    """Return what is in a file, and the line in which its first row stands; None where rows have no lines."""
    import pandas

    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    ending = (suffixes[-2:-1] if packed else suffixes[-1:]) or [""]
    try:
        if ending[0] in _PARQUET:
            return pandas.read_parquet(path), None
        if ending[0] not in (".csv", ".tsv", ".txt"):
            raise RewardTableError(f"{path.name} is no table by its name: {ENDINGS}")
        with gzip.open(path) if packed else path.open("rb") as file:
            first = list(takewhile(lambda line: line.startswith(b"#"), file))
            file.seek(0)
            header = next(islice(file, len(first), None), b"").decode("utf-8-sig")
        comments = len(first)
        divider = max(",;\t", key=header.count)
        found = pandas.read_csv(
            path, sep=divider, skiprows=comments, skipinitialspace=True, skip_blank_lines=False, encoding="utf-8-sig"
        )
        return found.dropna(how="all"), comments + 2  # without lines that are blank
    except RewardTableError:
        raise
    except ImportError:
        raise RewardTableError(f"{path.name} needs pyarrow: pip install 'netbandit[parquet]'") from None
    except Exception as error:  # each reader has errors of its own, for files that are none of theirs
        raise RewardTableError(f"{path.name} cannot be read: {one_line(str(error))}") from None


def of_frame(
    frame: "pandas.DataFrame", arms: Sequence[str] | None = None, first_line: int | None = None
) -> RewardTable:
    """Return the rewards of a pandas table.

    Args:
        frame: The table, wide or long.
        arms: See `read`.
        first_line: The line of its file in which its first row stands; None: rows are counted from 0.

    Raises:
        RewardTableError: It is no table of rewards.
    """
    named = frame.rename(columns=str)
    twice = named.columns[named.columns.duplicated()].tolist()
    if twice:
        raise RewardTableError(f"the column {one_line(twice[0])} is there twice")
    if named.empty:
        raise RewardTableError("it has no rows of rewards")
    rows = [*range(len(named))] if first_line is None else [int(row) + first_line for row in named.index]
    place = _Place(rows, in_file=first_line is not None)
    named = named.reset_index(drop=True)
    return _long(named, arms, place) if set(named.columns) >= _LONG else _wide(named, arms, place)


def digest(frame: "pandas.DataFrame") -> str:
    """Return a hash of the columns and rows of a pandas table; its index is no part of it."""
    import pandas

    found = blake2b(repr([*map(str, frame.columns)]).encode(), digest_size=16)
    found.update(pandas.util.hash_pandas_object(frame.rename(columns=str), index=False).to_numpy().tobytes())
    return found.hexdigest()


@dataclass(frozen=True)
class _Place:
    """Where a row stands, in words."""

    numbers: list[int]
    in_file: bool = True

    def of(self, row: int) -> str:
        return f"{'line' if self.in_file else 'row'} {self.numbers[row]}"


def _wide(frame: "pandas.DataFrame", arms: Sequence[str] | None, place: _Place) -> RewardTable:
    chosen = _chosen(list(frame.columns), arms, "column")
    columns = [_numbers(frame[arm], one_line(arm), place) for arm in chosen]
    values = np.column_stack(columns)
    return RewardTable(
        tuple(chosen), None, _read_only(values) if np.isfinite(values).all() else None, _laws(columns, chosen)
    )


def _long(frame: "pandas.DataFrame", arms: Sequence[str] | None, place: _Place) -> RewardTable:
    rewards = _numbers(frame[REWARD], REWARD, place)
    if np.isnan(rewards).any():
        raise RewardTableError(f"{place.of(int(np.isnan(rewards).argmax()))}: the reward is missing")
    texts = {name: frame[name].map(_text) for name in (ARM, AGENT, SLOT) if name in frame.columns}
    for name, column in texts.items():
        if (column == "").any():
            raise RewardTableError(f"{place.of(int((column == '').argmax()))}: the {name} is missing")
    chosen = _chosen(list(dict.fromkeys(texts[ARM])) if arms is None else list(texts[ARM].unique()), arms, "arm")
    order = {
        name: {text: number for number, text in enumerate(chosen if name == ARM else _sorted(list(column.unique())))}
        for name, column in texts.items()
    }
    kept = texts[ARM].isin(chosen).to_numpy()
    codes = {name: column.map(order[name]).to_numpy()[kept].astype(np.int64) for name, column in texts.items()}
    rewards = rewards[kept]
    agents = tuple(order[AGENT]) if AGENT in order else None
    shape = (1 if agents is None else len(agents), len(chosen))
    cell = codes[ARM] + shape[1] * codes.get(AGENT, np.zeros(len(rewards), dtype=np.int64))
    by_cell = [rewards[cell == number] for number in range(shape[0] * shape[1])]
    names = [f"{arm} of agent {agent}" if agents else arm for agent in agents or ("",) for arm in chosen]
    rows = None
    if SLOT in codes:
        slots = list(order[SLOT])
        rows = np.full((len(slots), shape[0] * shape[1]), np.nan)
        rows[codes[SLOT], cell] = rewards
        count = np.zeros(rows.shape, dtype=np.int64)
        np.add.at(count, (codes[SLOT], cell), 1)
        if (count != 1).any():
            slot, wrong = divmod(int((count != 1).argmax()), rows.shape[1])
            what = "is missing" if count[slot, wrong] == 0 else f"is there {count[slot, wrong]} times"
            raise RewardTableError(f"slot {one_line(slots[slot])}: the reward of {one_line(names[wrong])} {what}")
        rows = _read_only(rows.reshape(len(slots), *([] if agents is None else [shape[0]]), shape[1]))
    return RewardTable(tuple(chosen), agents, rows, _laws(by_cell, names), long=True)


def _chosen(known: list[str], arms: Sequence[str] | None, what: str) -> list[str]:
    unknown = [arm for arm in arms or () if arm not in known]
    if unknown:
        named = ", ".join(map(one_line, known[:_MOST_NAMED])) + (", ..." if len(known) > _MOST_NAMED else "")
        raise RewardTableError(f"there is no {what} {one_line(unknown[0])}; there are {named}")
    return list(known if arms is None else arms)


def _numbers(column: "pandas.Series[Any]", name: str, place: _Place) -> NDArray[np.float64]:
    """Return *column* as numbers, NaN where there is none."""
    import pandas

    numbers = pandas.to_numeric(column, errors="coerce").astype(float).to_numpy()
    wrong = (np.isnan(numbers) & ~column.isna().to_numpy()) | np.isinf(numbers)
    if wrong.any():
        row = int(wrong.argmax())
        text = one_line(str(column.iloc[row]))
        raise RewardTableError(
            f"{place.of(row)}: {text!r} in the column {name} is no number: columns that are no arms are left out by "
            "arms = [...], which lists the others"
        )
    return np.asarray(numbers, dtype=np.float64)


def _laws(columns: Sequence[NDArray[np.float64]], names: Sequence[str]) -> tuple[NDArray[np.float64], ...]:
    found = []
    for column, name in zip(columns, names, strict=True):
        known = np.sort(column[~np.isnan(column)])
        if not len(known):
            raise RewardTableError(f"{one_line(name)} has no reward")
        found.append(_read_only(known))
    return tuple(found)


def _text(value: Any) -> str:
    """Return what a cell names: a whole number without a point, nothing for what is missing."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _sorted(texts: Sequence[str]) -> list[str]:
    """Return *texts* in the order of agents: as numbers if all are whole numbers, else as text."""
    try:
        return sorted(texts, key=int)
    except ValueError:
        return sorted(texts)


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array
