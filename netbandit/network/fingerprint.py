"""The fingerprint of a run: a hash over every event. Arrivals enter it in `netbandit.network.delivery`."""

from hashlib import blake2b
from struct import error, pack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FLUSH_AT = 1 << 16
_MASK = (1 << 63) - 1


class Fingerprint:
    """Hashes time, node, kind and size of every event, in the order in which they happen.

    All four are integers, so floating-point rounding cannot change the fingerprint.

    Attributes:
        pending: Numbers not yet hashed, four an event; the network's inner loop appends to it directly and
            calls :meth:`flush` now and then.
    """

    def __init__(self) -> None:
        self.pending: list[int] = []
        self._hashed_events = 0
        self._hash = blake2b(digest_size=16)

    def record(self, time: int, node: int, code: int, size: int) -> None:
        """Add one event.

        Args:
            time: Nanoseconds.
            node: The node it happens at; the server's number is the number of agents.
            code: The code of its kind.
            size: Bytes of a message, or the number that tells a phase from another.
        """
        self.pending += (time, node, code, size)
        if len(self.pending) > _FLUSH_AT:
            self.flush()

    def record_all(self, events: "NDArray[np.int64]") -> None:
        """Add many events, shape (n, 4): time, node, code and size of each, in order."""
        self.flush()
        self._hash.update(events.astype("<i8", order="C", copy=False).reshape(-1).data)
        self._hashed_events += len(events)

    def flush(self) -> None:
        """Hash the pending numbers."""
        pending = self.pending
        if not pending:
            return
        try:
            block = pack(f"<{len(pending)}q", *pending)
        except error:
            # Times beyond 2^63 ns (292 years) are legal: long horizons of long slots.
            block = pack(f"<{len(pending)}q", *[number & _MASK for number in pending])
        self._hash.update(block)
        self._hashed_events += len(pending) // 4
        pending.clear()

    @property
    def events(self) -> int:
        """The number of events so far."""
        return self._hashed_events + len(self.pending) // 4

    def hexdigest(self) -> str:
        """Return the fingerprint of all events so far, 32 hexadecimal digits."""
        self.flush()
        return self._hash.hexdigest()
