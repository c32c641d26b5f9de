"""Sorting in compiled loops that must not allocate."""

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.machine.compiled import compiled, inlined

STACK = 128
"""Numbers that `sort` needs room for."""

_FEW = 16


@inlined
def insert(values: NDArray[np.int64], begin: int, sorted_to: int, end: int) -> None:
    """Sort the places from *sorted_to* to before *end*, which are few or nearly sorted, into those from *begin* on."""
    for place in range(sorted_to, end):
        value = values[place]
        before = place - 1
        while before >= begin and values[before] > value:
            values[before + 1] = values[before]
            before -= 1
        values[before + 1] = value


@compiled
def sort(values: NDArray[np.int64], begin: int, end: int, stack: NDArray[np.int64], stack_at: int) -> None:
    """Sort a part of *values* in place: quicksort, and insertion for what is nearly sorted.

    Args:
        values: The numbers.
        begin: Where the part begins,
        end: and before which place it ends.
        stack: `STACK` numbers of it, from *stack_at* on, are used.
        stack_at: See *stack*.
    """
    top = stack_at
    stack[top] = begin
    stack[top + 1] = end
    top += 2
    while top > stack_at:
        top -= 2
        low, high = stack[top], stack[top + 1]
        while high - low > _FEW:
            first, middle, last = values[low], values[(low + high) >> 1], values[high - 1]
            pivot = max(min(first, middle), min(max(first, middle), last))
            left, right = low, high - 1
            while left <= right:
                while values[left] < pivot:
                    left += 1
                while values[right] > pivot:
                    right -= 1
                if left <= right:
                    values[left], values[right] = values[right], values[left]
                    left += 1
                    right -= 1
            if right + 1 - low < high - left:  # the smaller part first, so that the stack stays small
                stack[top], stack[top + 1] = left, high
                high = right + 1
            else:
                stack[top], stack[top + 1] = low, right + 1
                low = left
            top += 2
    insert(values, begin, begin + 1, end)
