"""Rounds that are open, in a compiled loop: who counts in them, what is missing, and when they end."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.machine.bits import WORD_BITS, lowest
from netbandit.simulation.machine.rows import ARRIVED, EVENTS_FULL, LISTS_FULL, NOW, SLOT_NS, Integers
from netbandit.texts import text

# Columns of `Rounds.table`: the number of the round in this place, 0: none; of how many pairs of those who count the
# first lacks the item of the second; whether nobody waits in it any more, nor will; and the bytes of every item in it,
# its label included, 0 if they differ. A round's place is the rest of its number.
NUMBER, MISSING, DESERTED, UNIFORM = range(4)
ROUND_COLUMNS = 4

# Places in `Rounds.state`: what for agents count; how many rows of `Rounds.ended` are new, and how many of these rounds
# are closed; how many rows of `Rounds.heard` are new; and how many items have come too late to be used.
PURPOSE, ENDED, CLOSED, HEARD, LATE = range(5)
ROUND_STATES = 5

# Agents conclude together when all have all; or each for itself; or they only hear each item when it comes.
TOGETHER, APART, TOLD = range(3)

# Columns of `Rounds.heard`; the last one says in what order things are heard.
LISTENER, SOURCE, ROUND, BOUNDARY, ORDER = range(5)
HEARD_COLUMNS = 5


class Rounds(NamedTuple):
    """Rounds; n agents.

    Attributes:
        table: A row a place; see above.
        state: Numbers by the places above.
        counting: A bit for each agent that counts, 64 to a word, shape (places, words).
        went_on: Whether each agent has gone on before the end, shape (places, n).
        sizes: The bytes of each agent's item, its label included, shape (places, n).
        ended: The numbers of rounds that have just ended.
        heard: Where items are heard one by one: who hears, whose, of which round, the first slot boundary from then on,
            and a number to order them by.
    """

    table: Integers
    state: Integers
    counting: Integers
    went_on: NDArray[np.uint8]
    sizes: Integers
    ended: Integers
    heard: Integers


@text
def place_of(rounds: Rounds, number: int) -> int:
    """Return the place of a round, -1 if it is not open."""
    place = number & (len(rounds.table) - 1)
    return place if rounds.table[place, NUMBER] == number else -1


@text
def counts(rounds: Rounds, place: int, node: int) -> bool:
    """Return whether the round in a *place* waits for *node*."""
    return (rounds.counting[place, node >> WORD_BITS] >> (node & 63)) & 1 == 1  # type: ignore[no-any-return]


@text
def hearing(rounds: Rounds, items: int) -> int:
    """Return why it cannot be noted that so many items are heard, or `ARRIVED`: it can, or nobody asks."""
    why = ARRIVED
    if rounds.state[PURPOSE] == TOLD and rounds.state[HEARD] + items > len(rounds.heard):
        why = EVENTS_FULL if items <= len(rounds.heard) else LISTS_FULL
    return why


@text
def hear(rounds: Rounds, clock: Integers, place: int, node: int, word: int, news: int, order: int) -> None:
    """Note what *node* hears; there is room for it.

    Args:
        rounds: The rounds.
        clock: The state of the network.
        place: The place of the round.
        node: Who hears.
        word: Which labels the bits are,
        news: and of which of these it hears the items.
        order: What is heard is heard in this order, and of one number by node, label and round.
    """
    while news:
        label = (word << WORD_BITS) + lowest(news)
        news = news ^ (np.int64(1) << lowest(news))  # type: ignore[assignment]
        if label != node:
            row = rounds.heard[rounds.state[HEARD]]
            row[LISTENER] = node
            row[SOURCE] = label
            row[ROUND] = rounds.table[place, NUMBER]
            row[BOUNDARY] = (clock[NOW] + clock[SLOT_NS] - 1) // clock[SLOT_NS]
            row[ORDER] = order
            rounds.state[HEARD] += 1


@text
def close_complete(rounds: Rounds) -> None:
    """Close the rounds that have ended."""
    for number in range(rounds.state[CLOSED], rounds.state[ENDED]):
        rounds.table[rounds.ended[number] & (len(rounds.table) - 1), NUMBER] = 0
    rounds.state[CLOSED] = rounds.state[ENDED]
