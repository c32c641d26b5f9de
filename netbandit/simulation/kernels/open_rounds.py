"""Rounds, several of which may be open at once: who still lacks what, and when they end; compiled."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.machine.rows import ARRIVED, EVENTS_FULL, LISTS_FULL, NOW, SLOT_NS, Integers
from netbandit.texts import text

# Columns of `Rounds.table`: the number of the round in this place, 0: none; and how many pairs of agents that count in
# it there are of which the first lacks the item of the second; and whether nobody waits in it any more, nor will. A
# round's place is the rest of its number.
NUMBER, MISSING, LEFT = range(3)
ROUND_COLUMNS = 3

# Places in `Rounds.state`: what for agents count; how many rows of `Rounds.ended` and `Rounds.heard` are new; and how
# many items have come too late to be used.
PURPOSE, ENDED, HEARD, LATE = range(4)

# Agents conclude together when all have all; or each for itself; or they only hear each item when it comes.
TOGETHER, APART, TOLD = range(3)

# Bits of `Rounds.agents`: it counts, so that the round does not end without it; and it has gone on before the end.
COUNTS, WENT_ON = 1, 2

# Columns of `Rounds.heard`; the last one says in what order things are heard.
LISTENER, SOURCE, ROUND, BOUNDARY, ORDER = range(5)
HEARD_COLUMNS = 5


class Rounds(NamedTuple):
    """Rounds; n agents.

    Attributes:
        table: A row a place; see above.
        state: Numbers by the places above.
        agents: What is known of each agent, where they conclude apart, shape (places, n).
        sizes: The bytes of each agent's item, its label included, shape (places, n).
        ended: The numbers of rounds that have just ended.
        heard: Where items are heard one by one: who hears, whose, of which round, the first slot boundary from then on,
            and a number to order them by.
    """

    table: Integers
    state: Integers
    agents: NDArray[np.uint8]
    sizes: Integers
    ended: Integers
    heard: Integers


@text
def place_of(rounds: Rounds, number: int) -> int:
    """Return the place of a round, -1 if it is not open."""
    place = number & (len(rounds.table) - 1)
    return place if rounds.table[place, NUMBER] == number else -1


@text
def hearing(rounds: Rounds, items: int) -> int:
    """Return why it cannot be noted that so many items are heard, or `ARRIVED`: it can, or nobody asks."""
    if rounds.state[PURPOSE] != TOLD or rounds.state[HEARD] + items <= len(rounds.heard):
        return ARRIVED
    return EVENTS_FULL if items <= len(rounds.heard) else LISTS_FULL


@text
def note(rounds: Rounds, clock: Integers, place: int, node: int, label: int, order: int) -> None:
    """Note that *node* has an item now that it had not, unless all conclude together; there is room for it.

    Args:
        rounds: The rounds.
        clock: The state of the network.
        place: The place of the round.
        node: Who has it.
        label: Whose item it is.
        order: What is heard is heard in this order, and of one number by node, label and round.
    """
    state = rounds.state
    if state[PURPOSE] == APART:
        if rounds.agents[place, node] & rounds.agents[place, label] & COUNTS:
            rounds.table[place, MISSING] -= 1
        if rounds.agents[place, node] & WENT_ON:
            state[LATE] += 1
        return
    rounds.table[place, MISSING] -= 1
    if state[PURPOSE] == TOLD and label != node:
        heard = rounds.heard[state[HEARD]]
        heard[LISTENER] = node
        heard[SOURCE] = label
        heard[ROUND] = rounds.table[place, NUMBER]
        heard[BOUNDARY] = (clock[NOW] + clock[SLOT_NS] - 1) // clock[SLOT_NS]
        heard[ORDER] = order
        state[HEARD] += 1


@text
def end_if_complete(rounds: Rounds, place: int) -> None:
    """End the round in a *place* if nobody who counts lacks anything."""
    if rounds.table[place, MISSING] == 0:
        rounds.ended[rounds.state[ENDED]] = rounds.table[place, NUMBER]
        rounds.state[ENDED] += 1
        rounds.table[place, NUMBER] = 0
