"""Downtimes of one entity: a link, a node, or the good state of a channel."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import count
from math import inf, log1p

import numpy as np

from netbandit.network.draws import Draws

NEVER = 1 << 62
"""Later than any time (ns)."""

Interval = tuple[int, float]
"""From when (ns) until when (ns, or infinity) an entity is down; it is up again at the end."""


class Downtimes:
    """The intervals [from, until) in which an entity is down, read lazily as far as queried.

    Args:
        intervals: Intervals in order of their beginning; they may overlap, and be infinitely many.
    """

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        self._source = iter(intervals)
        self._begins: list[int] = []
        self._ends: list[float] = []
        self._known: float = -1  # all intervals that begin up to here have been read

    @classmethod
    def of(cls, *sources: Iterable[Interval]) -> "Downtimes":
        """Return the union of the downtimes of *sources*, each in order of its beginnings."""
        return cls(merge(*sources))

    def at(self, time: int) -> bool:
        """Return whether the entity is down at *time* (ns)."""
        return self.during(time, time)

    def during(self, begin: int, end: int) -> bool:
        """Return whether the entity is down at any moment from *begin* to *end* (ns), both included.

        Reading stops at the first such moment: over a long time an entity may go down countless times.
        """
        if end > self._known:
            self._look(begin)
            while end > self._known and not (self._ends and self._ends[-1] > begin):
                self._take()
        latest = bisect_right(self._begins, end) - 1
        return latest >= 0 and self._ends[latest] > begin

    def up(self, time: int) -> float:
        """Return the first moment at or after *time* (ns) at which the entity is up; infinity if it never is."""
        while True:
            if time > self._known:
                self._look(time)
            latest = bisect_right(self._begins, time) - 1
            if latest < 0 or self._ends[latest] <= time:
                return time
            end = self._ends[latest]
            if end == inf:
                return inf
            time = int(end)

    def down(self, time: int) -> float:
        """Return the first moment at or after *time* (ns) at which the entity is down; infinity if it never is."""
        if time > self._known:
            self._look(time)
        following = bisect_right(self._begins, time)
        if following and self._ends[following - 1] > time:
            return time
        while following == len(self._begins):
            if not self._take():
                return inf
        return self._begins[following]

    def ended(self, time: int) -> int:
        """Return how many times the entity has come up again by *time* (ns)."""
        if time > self._known:
            self._look(time)
        return bisect_right(self._ends, time)

    def until(self, end: int) -> list[Interval]:
        """Return all intervals that begin before *end* (ns), disjoint and ascending."""
        if end > self._known:
            self._look(end)
        number = bisect_left(self._begins, end)
        known = list(zip(self._begins[:number], self._ends[:number], strict=True))
        if known and number == len(self._begins):  # what begins later may lengthen the last one
            known[-1] = known[-1][0], self.up(known[-1][0])
        return known

    def _look(self, time: float) -> None:
        while self._known < time and self._take():
            pass

    def _take(self) -> bool:
        """Read one more interval; return whether there was one."""
        taken = next(self._source, None)
        if taken is None:
            self._known = inf
            return False
        begin, end = taken
        self._known = begin - 1  # the next may begin at the same moment
        if self._ends and begin <= self._ends[-1]:
            self._ends[-1] = max(self._ends[-1], end)
        elif end > begin:
            self._begins.append(begin)
            self._ends.append(end)
        return True


NEVER_DOWN = Downtimes()
"""The downtimes of an entity that never goes down."""


def failing(draws: Draws, column: int, up_for: float, down_for: float) -> Iterator[Interval]:
    """Yield the downtimes of an alternating renewal process with exponential times, which starts stationary.

    Args:
        draws: Where its numbers are.
        column: Its column there: number 0 is its first state, the others are how long it stays.
        up_for: How long it stays up in the mean (ns).
        down_for: How long it stays down in the mean (ns).
    """
    numbers = draws.numbers(column)
    time = 0
    down = next(numbers) < down_for / (up_for + down_for)
    while True:
        stay = max(1, round(-log1p(-next(numbers)) * (down_for if down else up_for)))
        if down:
            yield time, time + stay
        time += stay
        down = not down


def redrawn(draws: Draws, column: int, up: float, every: int) -> Iterator[Interval]:
    """Yield the downtimes of an entity that is up in each period independently, with a given probability.

    Args:
        draws: Where its numbers are.
        column: Its column there: number k is that of period k.
        up: The probability that it is up in a period.
        every: The length of a period (ns).
    """
    if up >= 1:
        return
    if up <= 0:
        yield 0, inf
        return
    down = np.zeros(draws.rows + 2, dtype=np.bool_)  # before the numbers of a block, and behind them, it is up
    for block in count():
        np.greater_equal(draws.table(block)[column], up, out=down[1:-1])
        switches = np.flatnonzero(down[1:] != down[:-1]) + block * draws.rows
        for first, last in switches.reshape(-1, 2).tolist():
            yield first * every, last * every  # Python's integers, as there may be centuries of nanoseconds
