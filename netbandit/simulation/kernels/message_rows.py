"""The rows of messages under way, and those that are not used."""

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.compiled import inlined

# Columns of a row. `FOLLOWING` leads to the next on the channel, or among unused rows; `NEXT_ARRIVAL` is when (ns) that
# one arrives, which is needed before it is, and would have to be fetched from far away there; `ROUND`, `LABELS` and
# `COUNT` say what it tells, as its protocol has it; the round of an unused row, and of an acknowledgement, is -1.
NEXT_ARRIVAL, FOLLOWING, KIND, SIZE, ROUND, BEGUN, LABELS, COUNT = range(8)
MESSAGE_COLUMNS = 8

# More of them where something can go wrong: how much refers to it (what arrives, what its receiver has to deal with, a
# timer, an acknowledgement); how often it was sent by one who waits for an acknowledgement; whether its receiver has
# taken it in; whether its sender waits no more; and the number that it has drawn for its timeouts.
REFERENCES, SENT, TAKEN, SETTLED, SPREAD = range(8, 13)
COLUMNS_WITH_FAULTS = 13

# Places in the array that says which rows are unused: the first one, and how many there are.
UNUSED, UNUSED_COUNT = range(2)


@inlined
def use_row(
    messages: NDArray[np.int64],
    unused: NDArray[np.int64],
    kind: int,
    size: int,
    round: int,
    begun: int,
    labels: int,
    count: int,
) -> int:
    """Write a message into an unused row, of which there is one; return which."""
    message = unused[UNUSED]
    unused[UNUSED] = messages[message, FOLLOWING]
    unused[UNUSED_COUNT] -= 1
    messages[message, FOLLOWING] = -1
    messages[message, KIND] = kind
    messages[message, SIZE] = size
    messages[message, ROUND] = round
    messages[message, BEGUN] = begun
    messages[message, LABELS] = labels
    messages[message, COUNT] = count
    return int(message)


@inlined
def give_back(messages: NDArray[np.int64], unused: NDArray[np.int64], message: int) -> None:
    """Let a row be used again."""
    messages[message, FOLLOWING] = unused[UNUSED]
    messages[message, ROUND] = -1
    unused[UNUSED] = message
    unused[UNUSED_COUNT] += 1
