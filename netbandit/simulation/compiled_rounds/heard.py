"""What a loop says that agents have heard, kept until it is asked for."""

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


class HeardRows:
    """Rows, in the order in which loops have told of them.

    Args:
        columns: How many columns they have.
    """

    def __init__(self, columns: int) -> None:
        self._none = np.empty((0, columns), dtype=np.int64)
        self._rows: list[Rows] = []

    def keep(self, rows: Rows, state: Rows, count: int) -> None:
        """Keep the first of *rows*, as many as *state* says in the place *count*, and let it say that none is new."""
        if state[count]:
            self._rows.append(rows[: state[count]].copy())
            state[count] = 0

    def taken(self) -> Rows:
        """Return what has been kept since this was asked last."""
        kept, self._rows = self._rows, []
        return np.concatenate(kept) if kept else self._none

    def oldest(self, column: int, others: Rows, otherwise: int) -> int:
        """Return the lowest number in a *column* of what is kept, or among *others*; if there is none, *otherwise*."""
        numbers = [others, *(rows[:, column] for rows in self._rows)]
        return min((int(some.min()) for some in numbers if len(some)), default=otherwise)
