"""Tables of contexts that users bring: a row a decision, with what each arm pays in it, or a log of what was shown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.reward_tables import ARM
from netbandit.bandits.table_sources import Names, OfFrame, Source, TableError, in_order, size_and_time, source_at
from netbandit.util.agent_rows import agent_numbers
from netbandit.util.table_files import listed, not_used, shown
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    import pandas

Table = Union[Path, "pandas.DataFrame"]
Numbers = NDArray[np.float64]

BLOCK = 1 << 14
"""The rows that are looked at together: what is made of them takes little beside the table."""


class LogColumns(NamedTuple):
    """The columns of a log: the arm that was shown, what it paid, and the probability with which it was shown."""

    arm: str
    reward: str
    propensity: str | None


class Columns(NamedTuple):
    """Which columns are what; a name may have a ``*``, which stands for any text.

    Attributes:
        features: Those of contexts.
        scores: What arms pay, one an arm; none: the table is a log.
        costs: What arms cost, likewise; none: they cost nothing.
        agent: Whose a row is.
        log: The columns of a log.
        arm_features: Those of the table of arms.
    """

    features: tuple[str, ...]
    scores: tuple[str, ...]
    costs: tuple[str, ...]
    agent: str | None
    log: LogColumns | None
    arm_features: tuple[str, ...]


class ArmsError(TableError):
    """A table of arms that does not hold what is needed."""


@dataclass(frozen=True, eq=False)
class ContextTable:
    """Decisions, of which each is a row.

    Attributes:
        arms: What each arm is called.
        contexts: The features of each row, shape (R, p).
        scores: What each arm pays in each row, shape (R, K); of a log what the arm that was shown paid, shape (R, 1).
        costs: What each arm costs in each row, shape (R, K), or (R, 0).
        arm_features: The features of each arm, shape (K, q), or (K, 0).
        users: Whose each row is; None: the table does not say.
        logged: The arm that was shown in each row of a log, shape (R,).
        propensities: With which probability it was, shape (R,).
        notes: What of the table is not used.
    """

    arms: tuple[str, ...]
    contexts: Numbers
    scores: Numbers
    costs: Numbers
    arm_features: Numbers
    users: Names | None
    logged: NDArray[np.int64] | None
    propensities: Numbers | None
    notes: tuple[str, ...] = ()
    _source: Source | None = None
    _lines: Sequence[int] | None = None

    def error(self, reason: str, row: int | None = None) -> TableError:
        """Return an error of the whole table, or of a *row*."""
        if self._source is None:
            return TableError(reason)
        return self._source.error(reason, row if row is None or self._lines is None else self._lines[row])

    def values(self, cost_weight: float) -> Iterator[tuple[slice, Numbers]]:
        """Yield some rows after another, and what each arm is worth in them, shape (rows, K)."""
        for rows in blocks(len(self.scores)):
            worth = self.scores[rows]
            yield rows, worth - cost_weight * self.costs[rows] if self.costs.shape[1] else worth


def blocks(rows: int) -> Iterator[slice]:
    """Yield so many *rows*, `BLOCK` at a time."""
    return (slice(first, min(first + BLOCK, rows)) for first in range(0, rows, BLOCK))


def read(table: Table, arms: Table | None, columns: Columns) -> ContextTable:
    """Return the decisions in a table.

    Args:
        table: The file, or a pandas table.
        arms: The features of arms, likewise; None: they have none.
        columns: Which columns are what.

    Raises:
        ArmsError: The table of arms cannot be read.
        TableError: The other one cannot be, or they do not hold what is needed.
    """
    if isinstance(table, Path) and (arms is None or isinstance(arms, Path)):
        return _read(table, size_and_time(table), arms, None if arms is None else size_and_time(arms), columns)
    return _of(_source(table), None if arms is None else _source(arms), columns)


@lru_cache(maxsize=4)
def _read(
    table: Path, known: tuple[int, int], arms: Path | None, arms_known: tuple[int, int] | None, columns: Columns
) -> ContextTable:
    """Return what is in files; files of a size that were last changed at a time are read once."""
    return _of(_source(table), None if arms is None else _source(arms), columns)


def _source(table: Table) -> Source:
    hint = ": features, scores and costs name the columns of numbers"
    return source_at(table, hint) if isinstance(table, Path) else OfFrame(table, hint)


def _of(source: Source, arms: Source | None, columns: Columns) -> ContextTable:
    source.refuse_twice()
    log = columns.log
    features = [name for name, _ in _matching(source, columns.features, "features")]
    scores, costs = _of_arms(source, columns)
    logged = [] if log is None else [log.reward, *([] if log.propensity is None else [log.propensity])]
    named = [] if log is None else [log.arm]
    named += [] if columns.agent is None else [columns.agent]
    used = [*features, *scores.values(), *costs, *logged, *named]
    for name in (*logged, *named):
        _known(source, name, "agent" if name == columns.agent else "logged")
    twice = next((name for name in used if used.count(name) > 1), None) if len(set(used)) < len(used) else None
    if twice is not None:
        raise source.error(f"the column {shown(twice)} is used twice: each is one of features, scores, costs or names")
    content = source.load([*features, *scores.values(), *costs, *logged], named)
    if not len(content.table):
        raise source.error("it has no rows")
    for row in np.flatnonzero(np.isnan(content.table.sum(axis=1))).tolist():  # or a sum that is too large
        if (lacking := np.isnan(content.table[row])).any():
            name = shown(content.columns[int(lacking.argmax())])
            raise source.error(f"the number in the column {name} is missing", content.place(row))
    ends = np.cumsum([len(features), len(scores) or 1, len(costs)])
    contexts, paid, prices, rest = np.split(content.table, ends, axis=1)
    names = tuple(scores) if log is None else tuple(in_order(content.names[log.arm].labels))
    arm_features = np.zeros((len(names), 0))
    notes = [not_used(unused)] if (unused := [name for name in source.names if name not in set(used)]) else []
    if arms is not None:
        names, arm_features = _arms(arms, names, columns.arm_features, fixed=log is None)
    if log is not None and log.propensity is not None:
        for row in np.flatnonzero((rest[:, 0] <= 0) | (rest[:, 0] > 1))[:1].tolist():
            text = f"{rest[row, 0]:g} in the column {shown(log.propensity)} is no probability"
            raise source.error(f"{text}: must be above 0 and at most 1", content.place(row))
    return ContextTable(
        names,
        contexts,
        paid,
        prices,
        arm_features,
        None if columns.agent is None else content.names[columns.agent],
        None if log is None else content.names[log.arm].ordered(names),
        rest[:, 0] if rest.shape[1] else None,
        tuple(notes),
        source,
        content.lines,
    )


def _matching(source: Source, patterns: Sequence[str], key: str) -> list[tuple[str, str]]:
    """Return the columns that *patterns* name, and what the star stands for in each, or its name.

    Raises:
        TableError: A pattern names none.
    """
    found = []
    for pattern in patterns:
        head, star, tail = pattern.partition("*")
        if not star:
            found.append((_known(source, pattern, key), pattern))
            continue
        shortest = len(head) + len(tail)
        matching = [name for name in source.names if len(name) > shortest and name.startswith(head)]
        matching = [name for name in matching if name.endswith(tail)]
        if not matching:
            raise source.error(f"there is no column {pattern}, as {key} says; there are {listed(source.names)}")
        found += [(name, name[len(head) : len(name) - len(tail)]) for name in matching]
    return found


def _known(source: Source, name: str, key: str) -> str:
    if name not in set(source.names):
        raise source.error(f"there is no column {shown(name)}, as {key} says; there are {listed(source.names)}")
    return name


def _of_arms(source: Source, columns: Columns) -> tuple[dict[str, str], list[str]]:
    """Return the column of the scores of each arm by the arm's name, and those of the costs in the same order.

    Raises:
        TableError: They are not those of the same arms, or an arm is there twice.
    """
    found = _matching(source, columns.scores, "scores")
    scores = {arm: name for name, arm in found}
    if len(scores) < len(found):
        raise source.error("scores names an arm twice")
    prices = _matching(source, columns.costs, "costs")
    if not prices:
        return scores, []
    if len(prices) != len(scores):
        raise source.error(f"costs names {pluralize(len(prices), 'column')}, and scores {len(scores)}")
    if not any("*" in pattern for pattern in columns.costs):
        return scores, [name for name, _ in prices]
    costs = {arm: name for name, arm in prices}
    if odd := sorted(scores.keys() ^ costs.keys()):
        raise source.error(f"scores and costs are those of different arms: {listed(odd)}")
    return scores, [costs[arm] for arm in scores]


def _arms(
    source: Source, names: tuple[str, ...], features: Sequence[str], *, fixed: bool
) -> tuple[tuple[str, ...], Numbers]:
    """Return the arms and their features, shape (K, q).

    Args:
        source: The table of arms.
        names: The arms of the other table.
        features: The columns that are features.
        fixed: Whether those are all arms; else some may never have been shown.

    Raises:
        ArmsError: An arm has no features, or is there twice, or one is unknown.
    """
    try:
        source.refuse_twice()
        found = [name for name, _ in _matching(source, features, "arm_features") if name != ARM]
        source.hint = ": arm_features names the columns of numbers"
        content = source.load(found, [_known(source, ARM, "a table of arms")])
        labels, codes = content.names[ARM]
        if len(labels) < len(codes):
            row = int(np.flatnonzero(np.bincount(codes)[codes] > 1)[1])
            raise source.error(f"the arm {shown(labels[codes[row]])} is there twice", content.place(row))
        lacking = np.argwhere(np.isnan(content.table))
        if len(lacking):
            row, column = lacking[0].tolist()
            raise source.error(f"the number in the column {shown(found[column])} is missing", content.place(row))
        if not fixed:
            unknown = [name for name in names if name not in set(labels)]
            if unknown:
                raise source.error(f"has no features of arms that the log shows: {listed(unknown)}")
            return tuple(labels), content.table
        try:
            order = agent_numbers(labels, names, "features", "arm", "table")
        except ValueError as error:
            raise source.error(str(error)) from None
        return names, content.table[np.argsort([order[label] for label in labels])]
    except TableError as error:
        raise ArmsError(str(error)) from None


def made(
    rows: int, features: int, arms: int, spread: float, agents: int, vectors: str, rng: np.random.Generator
) -> ContextTable:
    """Draw a table.

    With z of directions that are uniform: the context of a row is (1, z), that of an arm (price, z), both over
    sqrt(2), and prices are uniform in [0, 1]. Arm k pays agent i ``(price + <theta, z>) / 2``, z being that of the row
    where *vectors* are ``blocks``, with theta of i and k, and else that of the arm, with theta of i. Each theta is a
    direction common to all agents plus *spread* times one of the agent's own, scaled to the norm 1.

    Args:
        rows: The number R of rows; row r is of agent r mod M.
        features: The numbers of a direction.
        arms: The number K of arms.
        spread: How unlike agents are.
        agents: The number M of agents.
        vectors: ``blocks`` or ``arm``.
        rng: The stream.
    """

    def directions(*shape: int) -> Numbers:
        drawn = rng.standard_normal((*shape, features))
        return np.asarray(drawn / np.linalg.norm(drawn, axis=-1, keepdims=True))

    blocks_of = arms if vectors == "blocks" else 1
    prices, z = np.sort(rng.random(arms)), directions(rows if vectors == "blocks" else arms)
    theta = directions(blocks_of) + spread * directions(agents, blocks_of)
    theta /= np.linalg.norm(theta, axis=-1, keepdims=True)
    owners = np.arange(rows) % agents
    if vectors == "blocks":
        liked = np.column_stack([(theta[owners, arm] * z).sum(axis=1) for arm in range(arms)])
    else:
        liked = np.array([(theta[agent, 0] * z).sum(axis=1) for agent in range(agents)])[owners]
    known = np.column_stack([np.ones(rows) if vectors == "blocks" else prices, z]) / np.sqrt(2)
    return ContextTable(
        tuple(map(str, range(arms))),
        known if vectors == "blocks" else np.zeros((rows, 0)),
        (prices + liked) / 2,
        np.tile(prices, (rows, 1)),
        np.zeros((arms, 0)) if vectors == "blocks" else known,
        Names(list(map(str, range(min(rows, agents)))), owners),
        None,
        None,
    )
