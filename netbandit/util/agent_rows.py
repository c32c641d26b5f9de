"""Whose a row of a table is: agents are known by their names, or by their numbers."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from netbandit.util.table_files import listed, number, shown

_AGENT = re.compile(r"agents?([ _.-]?(id|name|number))?", re.IGNORECASE)
"""How a column is called that says nothing but whose a row is."""
_WHO = re.compile(
    r"((node|device|client|worker|user|host|sensor|station|site|phone|gateway|member|vertex)s?)?[ _.-]?"
    r"(id|name|label|number|no|nr|index)?",
    re.IGNORECASE,
)
"""How one may be called that does, in networks whose agents are numbers."""


class Whose(NamedTuple):
    """Whose the rows of a table are.

    Attributes:
        rows: The row of each agent.
        column: The column that says so; None: rows are taken by position, from the first on again and again.
    """

    rows: list[int]
    column: str | None


def agent_numbers(
    labels: Sequence[str], names: Sequence[str], what: str, who: str = "agent", of: str = "network"
) -> dict[str, int]:
    """Return which agent each of *labels* is: the one that is called so, or else the one of that number.

    Numbers, from 0, are those of agents where no agent is called by one of them.

    Args:
        labels: What a file calls agents, each once.
        names: What agents are called.
        what: What the file has of them, such as "rewards".
        who: What they are, in messages: arms are known alike.
        of: Whose they are.

    Raises:
        ValueError: They are not all agents, each once.
    """
    by_name = {name: index for index, name in enumerate(names)}
    by_number = {str(index): index for index in range(len(names))}
    known = by_name if not by_number.keys() >= set(labels) or set(labels) & by_name.keys() else by_number
    unknown = [label for label in labels if label not in known]
    if len(labels) != len(names):
        named = {known[label] for label in labels if label in known}
        missing = [name for index, name in enumerate(names) if index not in named]
        differ = f"not {listed(missing)}" if missing and not unknown else f"{listed(unknown)} among them"
        raise ValueError(f"has {what} of {len(labels)} {who}s, but there are {len(names)}: {differ}")
    if unknown:
        raise ValueError(f"names {who}s, but not those of the {of}: {listed(unknown)}; its {who}s are {listed(names)}")
    return {label: known[label] for label in labels}


def whose(columns: Mapping[str, Sequence[str]], count: int, names: Sequence[str], what: str) -> Whose:
    """Return which of the rows of a table is that of each agent.

    A column ``agent`` says so; or else one, however it is called, in which agents have names that are no numbers; or
    else one of all their numbers that is called ``device``, ``id`` or the like.

    Args:
        columns: The columns that may name agents.
        count: How many rows there are, at least one.
        names: What agents are called.
        what: See `agent_numbers`.

    Raises:
        ValueError: A column names other agents, or one twice, or two columns differ.
    """
    words = {name for name in names if number(name) is None}
    numbers = set(map(str, range(len(names))))
    all_of_them = [set(names)] if numbers.intersection(names) else [set(names), numbers]
    single = [column for column, cells in columns.items() if len(set(cells)) == len(cells)]
    choices = (
        [column for column in columns if _AGENT.fullmatch(column)],
        [column for column in single if words.intersection(columns[column])],
        [column for column in single if _WHO.fullmatch(column) and set(columns[column]) in all_of_them],
    )
    first, *others = next(filter(None, choices), [""])
    if not any(choices):
        return Whose([agent % count for agent in range(len(names))], None)
    rows = _rows(columns[first], names, what)
    for other in others:
        if _rows(columns[other], names, what) != rows:
            raise ValueError(f"{shown(other)} names agents in another order than {shown(first)}: one of them must go")
    return Whose(rows, first)


def _rows(cells: Sequence[str], names: Sequence[str], what: str) -> list[int]:
    twice = next((cell for cell, times in Counter(cells).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"names the agent {shown(twice)} twice")
    rows = {agent: row for row, agent in enumerate(agent_numbers(cells, names, what).values())}
    return [rows[agent] for agent in range(len(names))]
