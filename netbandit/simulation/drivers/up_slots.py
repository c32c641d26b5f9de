"""The slots in which an agent is up, and the recovery time of the others after an outage."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence


class UpSlots:
    """When an agent plays: in every slot at whose beginning it is not down.

    Args:
        absent: The slots in which it is down, as ascending ranges [first, last).
    """

    def __init__(self, absent: Sequence[tuple[int, int]] = ()) -> None:
        self._firsts = [first for first, _ in absent]
        self._lasts = [last for _, last in absent]

    def next(self, slot: int) -> int:
        """Return the first slot from *slot* on in which the agent is up."""
        index = bisect_right(self._firsts, slot) - 1
        return max(slot, self._lasts[index]) if index >= 0 else slot

    def spans(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the slots from *first* to before *last* in which the agent is up, as ascending ranges."""
        found = []
        index = max(0, bisect_right(self._firsts, first) - 1)
        for gone, back in zip(self._firsts[index:], self._lasts[index:], strict=True):
            if gone >= last:
                break
            if gone > first:
                found.append((first, gone))
            first = max(first, back)
        if first < last:
            found.append((first, last))
        return found

    def end(self, first: int, slots: int) -> int:
        """Return the boundary at which it has played *slots* slots, of which the first is *first* or a later one."""
        index = max(0, bisect_right(self._firsts, first) - 1)
        for gone, back in zip(self._firsts[index:], self._lasts[index:], strict=True):
            played = max(0, gone - first)
            if played >= slots:
                break
            slots -= played
            first = max(first, back)
        return first + slots


class UpSlotsSoFar(UpSlots):
    """When an agent plays, if outages are not known ahead: its current state is assumed to last.

    Args:
        absent: Returns the slots in which it has been down, as of now.
    """

    def __init__(self, absent: Callable[[], Sequence[tuple[int, int]]]) -> None:
        super().__init__()
        self._absent = absent

    def next(self, slot: int) -> int:
        """See `UpSlots.next`."""
        return UpSlots(self._absent()).next(slot)

    def spans(self, first: int, last: int) -> list[tuple[int, int]]:
        """See `UpSlots.spans`."""
        return UpSlots(self._absent()).spans(first, last)

    def end(self, first: int, slots: int) -> int:
        """See `UpSlots.end`."""
        return UpSlots(self._absent()).end(first, slots)


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
        """Note that an agent has waited from slot *first* on and resumes in slot *last*."""
        for end in self._ends:
            if first * self._slot <= end < last * self._slot:
                self._latest[end] = max(self._latest[end], last * self._slot - end)

    def slots(self, waiting: Iterable[int]) -> float | None:
        """Return the longest recovery time (slots) over all outages.

        Args:
            waiting: The slots since which agents are still waiting. If one has waited since before an outage ended,
                recovery is incomplete and there is no such time.
        """
        if self._ends and any(since * self._slot <= max(self._ends) for since in waiting):
            return None
        return max(self._latest.values(), default=0) / self._slot
