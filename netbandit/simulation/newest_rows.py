"""Compiled parts of bulk exchanges: which rows have arrived over each link, and which agents can step."""

import numpy as np
from numpy.typing import NDArray

from netbandit.util.jit import Integers, njit


@njit(cache=True)
def take_in(
    due: Integers, slot: int, senders: Integers, told: Integers, newest: Integers, pairs: bool, by_parity: bool
) -> None:
    """Note the steps of the rows that take effect at the boundary of *slot*.

    Args:
        due: The boundary at which the message of each link and of each of the latest slots takes effect, the slot
            modulo the number of columns, shape (links, columns).
        slot: The slot.
        senders: The sender of each link, shape (links,).
        told: The step of the newest row in the messages of each of these slots and senders, shape (columns, M).
        newest: The newest step that has come over each link, of even and of odd ones, shape (2, links); -1: none;
            updated. If not *by_parity* only the first row counts.
        pairs: Whether a message carries the row of the step before as well.
        by_parity: Whether even and odd steps are kept apart.
    """
    columns = due.shape[1]
    for link in range(due.shape[0]):
        for age in range(1, columns + 1):
            column = (slot - age) % columns
            if slot < age or due[link, column] != slot:
                continue
            step = told[column, senders[link]]
            for one in range(step - 1 if pairs and step else step, step + 1):
                place = one & 1 if by_parity else 0
                newest[place, link] = max(newest[place, link], one)


@njit(cache=True)
def complete(first: Integers, newest: Integers, steps: Integers, found: NDArray[np.bool_]) -> None:
    """Fill in which agents hold the rows of their step from all neighbours, shape (M,).

    Args:
        first: Where the links of each receiver begin, and the end, shape (M + 1,).
        newest: As for `take_in`, by parity.
        steps: The step of each agent, shape (M,).
        found: Filled in.
    """
    for agent in range(len(steps)):
        place = steps[agent] & 1
        found[agent] = True
        for link in range(first[agent], first[agent + 1]):
            if newest[place, link] != steps[agent]:
                found[agent] = False
                break
