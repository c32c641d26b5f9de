"""The event calendar of a network: the instants at which entries are due, and these entries."""

from collections import deque
from heapq import heappush
from typing import TYPE_CHECKING, Any

from netbandit.network.link import NOTHING_YET, Channel

if TYPE_CHECKING:
    from netbandit.network.network import Network

NEVER = 1 << 62
"""Later than any time (ns)."""


def enter(network: "Network", calendar: dict[int, list[Any]], time: int, what: Any) -> None:
    """Schedule *what*, in one of the calendars of *network*, for *time* (ns)."""
    if time in calendar:
        calendar[time].append(what)
    else:
        calendar[time] = [what]
        heappush(network.instants, time)
        if time < network.appointed:
            network.appoint(time)


def expect(network: "Network", channel: Channel, entry: tuple[Any, ...]) -> None:
    """Schedule an *entry*, which begins with its arrival (ns), for its arrival on *channel*.

    Where messages arrive in the order of sending, the calendar holds the channel, and the channel its entries.
    """
    if network.in_order:
        flight: deque[Any] = channel.flight
        if not flight:
            if flight is NOTHING_YET:
                channel.flight = flight = deque()
            enter(network, network.due, entry[0], channel)
        flight.append(entry)
    else:
        network.serial += 1
        enter(network, network.due, entry[0], (channel.rank, network.serial, channel, entry))
