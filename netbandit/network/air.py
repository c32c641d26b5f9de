"""The shared radio channel: which agents hear a transmission, and which receptions collide.

A transmission with start s and airtime a is heard by each neighbour in contact at s during [s + l, s + a + l), l the
latency of the link. A reception is destroyed if another reception of that neighbour, or its own transmission, overlaps
that interval; so is the other reception. There is no capture effect, and intervals that only touch do not overlap.
"""

from collections.abc import Iterable


class Occupation:
    """An interval in which an agent sends or hears a transmission.

    Attributes:
        sender: The sender.
        begin: When it begins (ns).
        end: The first nanosecond after it.
        destroyed: Whether another one overlaps it.
    """

    __slots__ = ("begin", "destroyed", "end", "sender")

    def __init__(self, sender: int, begin: int, end: int) -> None:
        self.sender, self.begin, self.end = sender, begin, end
        self.destroyed = False


class Air:
    """The transmissions that each agent hears and sends.

    Args:
        agents: The number of agents.
    """

    def __init__(self, agents: int) -> None:
        self._occupations: list[list[Occupation]] = [[] for _ in range(agents)]

    def transmit(self, sender: int, now: int, airtime: int, hearers: Iterable[tuple[int, int]]) -> None:
        """Begin a transmission.

        Args:
            sender: The sender.
            now: The present time (ns), no earlier than in the previous call.
            airtime: Its airtime (ns), at least 1.
            hearers: Each neighbour in contact, and the latency (ns) of its link.
        """
        self._occupy(sender, Occupation(sender, now, now + airtime), now)
        for hearer, latency in hearers:
            self._occupy(hearer, Occupation(sender, now + latency, now + airtime + latency), now)

    def is_destroyed(self, sender: int, receiver: int, now: int) -> bool:
        """Return whether a collision destroys the reception from *sender* that ends *now* (ns) at *receiver*."""
        return next(
            one.destroyed for one in self._occupations[receiver] if one.end == now and one.sender == sender != receiver
        )

    def hears_something(self, agent: int, now: int) -> bool:
        """Return whether *agent* senses a transmission that began before *now* (ns) and has not ended."""
        return any(one.begin < now < one.end for one in self._occupations[agent])

    def _occupy(self, agent: int, new: Occupation, now: int) -> None:
        # A reception that ends now may still be queried.
        occupations = [one for one in self._occupations[agent] if one.end >= now]
        for one in occupations:
            if one.begin < new.end and new.begin < one.end:
                one.destroyed = new.destroyed = True
        occupations.append(new)
        self._occupations[agent] = occupations
