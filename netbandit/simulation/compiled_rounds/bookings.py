"""The slots that queues book on links: counted once for both directions, as soon as no earlier one can be booked."""

import numpy as np
from numpy.typing import NDArray


class Bookings:
    """Counts activations where bandwidth is limited.

    Args:
        links: The number of links.
    """

    def __init__(self, links: int) -> None:
        self._links = max(1, links)
        self._open: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.activations = np.zeros(links, dtype=np.int64)

    def add(self, booked: NDArray[np.int64], settled: int) -> None:
        """Add links and slots.

        Args:
            booked: Of each booking the link and the slot, shape (n, 2).
            settled: No later booking is for a slot before this one.
        """
        keys = np.unique(np.concatenate([self._open, booked[:, 1] * self._links + booked[:, 0]]))
        final = int(np.searchsorted(keys, max(0, settled) * self._links))
        self._open = keys[final:]
        self.activations += np.bincount(keys[:final] % self._links, minlength=len(self.activations))

    def close(self) -> None:
        """Count what is still open."""
        self.add(np.empty((0, 2), dtype=np.int64), 1 << 40)
