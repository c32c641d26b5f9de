"""Binary heaps of rows of four numbers, of which the first two are the key; compiled."""

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.machine.compiled import compiled

COLUMNS = 4


@compiled
def push(heap: NDArray[np.int64], size: int, time: int, place: int, what: int, more: int) -> None:
    """Put a row into a heap of so many rows, in which there is room for one more.

    Args:
        heap: The heap, shape (room, 4).
        size: How many rows it has.
        time: The row comes out in order of this,
        place: and of this among those of one time.
        what: Comes out with it.
        more: Comes out with it.
    """
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap[above, 0] < time or (heap[above, 0] == time and heap[above, 1] < place):
            break
        for column in range(COLUMNS):
            heap[at, column] = heap[above, column]
        at = above
    heap[at, 0] = time
    heap[at, 1] = place
    heap[at, 2] = what
    heap[at, 3] = more


@compiled
def pop(heap: NDArray[np.int64], size: int) -> None:
    """Take the first row out of a heap of so many rows."""
    last = size - 1
    time, place = heap[last, 0], heap[last, 1]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= last:
            break
        right = below + 1
        if right < last and (
            heap[right, 0] < heap[below, 0] or (heap[right, 0] == heap[below, 0] and heap[right, 1] < heap[below, 1])
        ):
            below = right
        if time < heap[below, 0] or (time == heap[below, 0] and place < heap[below, 1]):
            break
        for column in range(COLUMNS):
            heap[at, column] = heap[below, column]
        at = below
    for column in range(COLUMNS):
        heap[at, column] = heap[last, column]
