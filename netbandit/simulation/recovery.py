"""How long after an outage those who waited go on."""

from collections.abc import Iterable, Sequence


class Recovery:
    """The time from the end of an outage until all waiting agents have resumed for others at that moment.

    Args:
        ends: When outages that were known ahead end (ns), before the horizon.
        slot: The length of a slot (ns).
    """

    def __init__(self, ends: Sequence[int], slot: int) -> None:
        self._ends = ends
        self._slot = slot
        self._latest = dict.fromkeys(ends, 0)

    def waited(self, first: int, last: int) -> None:
        """Take in that an agent has waited from slot *first* on and goes on in slot *last*."""
        for end in self._ends:
            if first * self._slot <= end < last * self._slot:
                self._latest[end] = max(self._latest[end], last * self._slot - end)

    def slots(self, waiting: Iterable[int]) -> float | None:
        """Return the slots that it took, after the outage for which it took longest.

        Args:
            waiting: Since which slots agents wait that still do so: if since before an outage ended, it is not over
                for them, and there is no such time.
        """
        if self._ends and any(since * self._slot <= max(self._ends) for since in waiting):
            return None
        return max(self._latest.values(), default=0) / self._slot
