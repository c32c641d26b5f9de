"""Rows of arrays over all agents."""

import numpy as np
from numpy.typing import NDArray


def rows_of(agents: NDArray[np.int64], count: int) -> NDArray[np.int64] | slice:
    """Return an index of the rows of *agents*, ascending, of *count*: of all a slice, with which numpy is faster."""
    return slice(None) if len(agents) == count else agents
