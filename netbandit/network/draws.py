"""Random numbers of messages, indexed by channel and by the message's index on it."""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from netbandit.util.streams import Streams

MOST_ROWS = 64
"""The most numbers of a column that are drawn at once."""

MOST_NUMBERS = 1 << 20
"""About how many numbers are drawn at once for all columns together."""

_LEAST_KEPT = 8
_NUMBERS_KEPT = 1 << 21
"""How many tables are kept at least, and about how many numbers: channels use their numbers at different paces."""


class Draws:
    """Uniform numbers from [0, 1) for one purpose: number n of column e is row n mod B, column e of a table.

    A table of B rows is drawn at once for all columns, from the stream (purpose, n // B). The numbers of a column thus
    depend neither on the use of other columns nor on the order in which messages are processed, and columns need no
    generators of their own.

    Args:
        streams: The streams of the replication.
        purpose: The purpose of the streams, such as ``"loss.peer"``.
        columns: The number of columns, one for each channel, link or node.

    Attributes:
        rows: B, the numbers of a column that are drawn at once.
    """

    def __init__(self, streams: Streams, purpose: str, columns: int) -> None:
        self.rows = max(1, min(MOST_ROWS, MOST_NUMBERS // max(1, columns)))
        self._streams = streams
        self._purpose = purpose
        self._columns = columns
        self._tables: dict[int, NDArray[np.float64]] = {}
        self._most_kept = max(_LEAST_KEPT, _NUMBERS_KEPT // (self.rows * max(1, columns)))
        self._kept: list[int] = []  # a heap of their numbers

    def table(self, block: int) -> NDArray[np.float64]:
        """Return the numbers of rows ``block * B`` to ``(block + 1) * B``, shape (columns, B)."""
        table = self._tables.get(block)
        if table is None:
            drawn = self._streams.generator(self._purpose, block).random((self.rows, self._columns))
            if len(self._tables) == self._most_kept:  # a slower column draws it again, with the same result
                del self._tables[heappop(self._kept)]
            heappush(self._kept, block)
            table = self._tables[block] = np.ascontiguousarray(drawn.T)
        return table

    def numbers(self, column: int) -> Iterator[float]:
        """Return the numbers of *column*, one after the other, without an end."""
        return self.mapped(column, lambda uniforms: uniforms)

    def number(self, column: int, index: int) -> float:
        """Return number *index* of *column*, from 0."""
        block, row = divmod(index, self.rows)
        table = self._tables.get(block)
        number: float = (self.table(block) if table is None else table).item(column, row)
        return number

    def flags(self, column: int, least: float) -> Iterator[int]:
        """Return, for each number of *column*, whether it is at *least* so much, 1 or 0, without an end."""
        return chain.from_iterable((self.table(block)[column] >= least).tobytes() for block in count())

    def mapped(self, column: int, transform: Callable[[NDArray[np.float64]], NDArray[np.generic]]) -> Iterator[float]:
        """Apply *transform* to the numbers of *column*, a block at a time, without an end."""
        return chain.from_iterable(transform(self.table(block)[column]).tolist() for block in count())
