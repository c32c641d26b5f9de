"""Rows of an array that are used again: `next` leads on among those that are unused, of which the state has the first.

Which places of the state hold the first one, and how many there are, is said as `unused` and `left`.
"""

from typing import Any

from netbandit.simulation.machine.rows import Integers, Rows
from netbandit.texts import text


@text
def take_row(rows: Rows, state: Integers, unused: int, left: int) -> Any:
    """Return an unused row, which there is."""
    row = state[unused]
    state[unused] = rows[row].next
    state[left] -= 1
    return row


@text
def give_back(rows: Rows, state: Integers, unused: int, left: int, row: Any) -> None:
    """Let a row be used again."""
    rows[row].next = state[unused]
    state[unused] = row
    state[left] += 1
