"""Heaps of rows: in order of time, and of place among those of one time."""

import heapq
import random

import numpy as np

from netbandit.simulation.machine.heaps import COLUMNS, pop, push


def test_rows_come_out_in_order_whatever_was_put_in_between():
    rng = random.Random(1)
    heap, expected = np.zeros((300, COLUMNS), dtype=np.int64), []
    for place in range(2_000):
        size = len(expected)
        if size == 300 or (size and rng.random() < 0.45):
            assert heap[0].tolist() == list(heapq.heappop(expected))
            pop(heap, size)
        else:
            row = (rng.randrange(50), place, rng.randrange(9), -place)
            heapq.heappush(expected, row)
            push(heap, size, *row)
    assert expected
