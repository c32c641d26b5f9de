"""The air that agents share: who hears a transmission, and which receptions are destroyed.

A transmission that begins at s and takes a is heard by each neighbour in contact at s during [s + l, s + a + l), l the
latency of the link. What a neighbour hears is destroyed if anything else that it hears, or its own sending, overlaps
that interval for any time; so is the other reception. Nothing is captured, and intervals that touch do not overlap.
"""

from collections.abc import Iterable


class Occupation:
    """A time in which a transmission occupies an agent, which hears it or sends it.

    Attributes:
        sender: Who sends.
        begin: When it begins (ns),
        end: and the first nanosecond behind it.
        destroyed: Whether another one overlaps it.
    """

    __slots__ = ("begin", "destroyed", "end", "sender")

    def __init__(self, sender: int, begin: int, end: int) -> None:
        self.sender, self.begin, self.end = sender, begin, end
        self.destroyed = False


class Air:
    """What each agent hears and sends.

    Args:
        agents: The number of agents.
    """

    def __init__(self, agents: int) -> None:
        self._occupations: list[list[Occupation]] = [[] for _ in range(agents)]

    def transmit(self, sender: int, now: int, airtime: int, hearers: Iterable[tuple[int, int]]) -> None:
        """Let a transmission begin.

        Args:
            sender: Who sends.
            now: The present time (ns), not before that of the call before.
            airtime: How long it takes (ns), at least 1.
            hearers: Each neighbour in contact, and the latency (ns) of its link.
        """
        self._occupy(sender, Occupation(sender, now, now + airtime), now)
        for hearer, latency in hearers:
            self._occupy(hearer, Occupation(sender, now + latency, now + airtime + latency), now)

    def is_destroyed(self, sender: int, receiver: int, now: int) -> bool:
        """Return whether the reception that ends *now* (ns) at *receiver*, of what *sender* has sent, is destroyed."""
        return next(
            one.destroyed for one in self._occupations[receiver] if one.end == now and one.sender == sender != receiver
        )

    def hears_something(self, agent: int, now: int) -> bool:
        """Return whether *agent* hears anything that has begun before *now* (ns) and is not over."""
        return any(one.begin < now < one.end for one in self._occupations[agent])

    def _occupy(self, agent: int, new: Occupation, now: int) -> None:
        # What ends now may still be asked for.
        occupations = [one for one in self._occupations[agent] if one.end >= now]
        for one in occupations:
            if one.begin < new.end and new.begin < one.end:
                one.destroyed = new.destroyed = True
        occupations.append(new)
        self._occupations[agent] = occupations
