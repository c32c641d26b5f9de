"""Tables of rewards that users bring: read from a file or given as a pandas table, and brought to arrays.

A wide table has a column an arm and a row a slot. A long one has the columns ``arm`` and ``reward``, and may have
``agent`` and ``slot``. Names of arms and agents are text, and are compared as text. What may be no arm, such as a
column of times, is refused until ``arms`` says what the arms are.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.table_sources import (
    Names,
    OfFrame,
    Source,
    in_order,
    name_of,
    size_and_time,
    source_at,
)
from netbandit.util.agent_rows import agent_numbers
from netbandit.util.table_files import listed, not_used, number, shown

if TYPE_CHECKING:
    import pandas

ARM, REWARD, AGENT, SLOT = "arm", "reward", "agent", "slot"
_NO_ARMS = frozenset(
    {"agent", "agents", "arm", "arms", "date", "datetime", "day", "episode", "hour", "id", "index", "iteration",
     "minute", "month", "replication", "reward", "rewards", "round", "row", "seed", "slot", "slots",
     "step", "t", "time", "timestamp", "trial", "week", "year"}
)  # fmt: skip
"""Names of columns that are not arms."""
_NAMELESS = re.compile(r"(Unnamed: \d+)?")
_ASCENDING = 10
"""Of how many rows it is no accident that all of them ascend in one column."""
_HINT = ": columns that are no arms are left out by arms = [...], which lists the others"


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
        TableError: It cannot be read, or is no table of rewards.
    """
    return _read(path, *size_and_time(path), None if arms is None else tuple(arms))


@lru_cache(maxsize=8)
def _read(path: Path, size: int, changed: int, arms: tuple[str, ...] | None) -> RewardTable:
    """Return the rewards of a file; that of a *size* that was last *changed* at a time (ns) is read once."""
    return _rewards(source_at(path, _HINT), arms)


def of_frame(frame: "pandas.DataFrame", arms: Sequence[str] | None = None) -> RewardTable:
    """Return the rewards of a pandas table.

    Args:
        frame: The table, wide or long.
        arms: See `read`.

    Raises:
        TableError: It is no table of rewards.
    """
    source = OfFrame(frame, _HINT)
    lost = [name for name in frame.index.names if name in (ARM, REWARD, AGENT, SLOT)]
    if lost:
        raise source.error(f"{lost[0]} is in the index, which is not read: data.reset_index() makes it a column")
    return _rewards(source, arms)


def written(frame: "pandas.DataFrame", keys: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a pandas table as the text of a file, and the keys with which it is read as the table is.

    Args:
        frame: The table.
        keys: Those of the bandit.
    """
    source = OfFrame(frame)
    named = source.frame.copy()
    for name in {ARM, AGENT, keys.get("agent"), keys.get("logged", {}).get("arm")} & {*source.names}:
        named[name] = named[name].astype(object).map(name_of)
    nameless = keys["kind"] == "table" and all(number(name) is not None for name in source.names)
    text = str(named.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC))  # a name may begin with #
    return text, {"arms": list(source.names)} if nameless else {}


def _is_long(names: Sequence[str]) -> bool:
    return {ARM, REWARD} <= set(names)


def _rewards(source: Source, arms: Sequence[str] | None) -> RewardTable:
    """Return the rewards of a table.

    Raises:
        TableError: It is none, or it may be that other columns are arms than would be taken.
    """
    source.refuse_twice()
    return _long(source, arms) if _is_long(source.names) else _wide(source, arms)


def _wide(source: Source, arms: Sequence[str] | None) -> RewardTable:
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


def _refuse_times(source: Source, names: Sequence[str], columns: Sequence[NDArray[np.float64]]) -> None:
    """Refuse a column that counts its rows, or ascends throughout, where not all do.

    Raises:
        TableError: There is one.
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


def _long(source: Source, arms: Sequence[str] | None) -> RewardTable:
    written = next((name for name in source.names if name not in (AGENT, SLOT) and name.lower() in (AGENT, SLOT)), None)
    if written is not None:
        raise source.error(f"the column {shown(written)} must be called {written.lower()}")
    content = source.load([REWARD], [name for name in (ARM, AGENT, SLOT) if name in source.names])
    rewards, names = content.numbers[REWARD], content.names
    if not len(rewards):
        raise source.error("it has no rows of rewards")
    if np.isnan(rewards).any():
        raise source.error("the reward is missing", content.place(int(np.isnan(rewards).argmax())))
    chosen = _chosen(source, names[ARM].labels, arms, "arm")
    position = {arm: index for index, arm in enumerate(chosen)}
    arm = np.array([position.get(label, -1) for label in names[ARM].labels])[names[ARM].codes]
    kept = arm >= 0
    rewards, arm = rewards[kept], arm[kept]
    agents = in_order(names[AGENT].labels) if AGENT in names else None
    of_agent = None if agents is None else names[AGENT].ordered(agents)
    cell = arm if of_agent is None else arm + len(chosen) * of_agent[kept]
    cells = len(chosen) * (1 if agents is None else len(agents))

    def name(cell: int) -> str:
        own = shown(chosen[cell % len(chosen)])
        return own if agents is None else f"{own} of agent {shown(agents[cell // len(chosen)])}"

    notes = []
    rows = None
    if SLOT in names:
        ordered = _slots(source, names[SLOT], kept, cell)
        if ordered is None:
            notes.append(f"slots in the order of the rows: {listed(names[SLOT].labels)}")
        slots = ordered or names[SLOT].labels
        of_slot = names[SLOT].ordered(slots)
        index = of_slot[kept] * cells + cell
        order = np.argsort(index, kind="stable")
        found, count = np.unique(index, return_counts=True)
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


def _slots(source: Source, names: Names, kept: NDArray[np.bool_], cell: NDArray[np.int64]) -> list[str] | None:
    """Return slots in their order, that of numbers or of dates; None: they are other texts, in that of the rows.

    Args:
        source: The table.
        names: The slot of each row.
        kept: Which rows are those of arms.
        cell: Of which arm and agent each of these is.

    Raises:
        TableError: A slot is written in two ways, or rows of one arm have another order than those of another.
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
    return [labels[index] for index in ascending]


def _chosen(source: Source, known: Sequence[str], arms: Sequence[str] | None, what: str) -> list[str]:
    unknown = next((arm for arm in arms or () if arm not in set(known)), None)
    if unknown is not None:
        raise source.error(f"there is no {what} {shown(unknown)}; there are {listed(known)}")
    return list(known if arms is None else arms)


def _law(source: Source, column: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    known = np.sort(column[~np.isnan(column)])
    if not len(known):
        raise source.error(f"{shown(name)} has no reward")
    return _read_only(known)


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array
