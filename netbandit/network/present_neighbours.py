"""Present neighbours, where agents see their links come and go."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.network.clock import Clock
from netbandit.network.contacts import UpTimes
from netbandit.network.link import Channel, FaultyChannel
from netbandit.util.streams import Streams


class PresentNeighbours:
    """The present neighbours; where agents do not see their links, or messages wait, all are present.

    Args:
        clock: The clock.
        streams: The streams of the replication.
        chooses: Whether agents choose among present neighbours.
    """

    def __init__(self, clock: Clock, streams: Streams, *, chooses: bool) -> None:
        self._clock = clock
        self._streams = streams
        self._chooses = chooses
        self._generators: dict[int, np.random.Generator] = {}

    def of(self, channels: Sequence[Channel]) -> Sequence[Channel]:
        """Return those of *channels* whose link is up now."""
        return [channel for channel in channels if self._is_there(channel)] if self._chooses else channels

    def one_of(self, agent: int, channels: Sequence[Channel], drawn: Channel) -> Channel | None:
        """Return the channel that was *drawn* of those of *agent*, if it is up, else one drawn of those that are.

        Number floor(u k) of k, u from the stream ("gossip.present", agent). None: none is up.
        """
        if not self._chooses or self._is_there(drawn):
            return drawn
        there = self.of(channels)
        return there[int(self._number(agent) * len(there))] if there else None

    def _is_there(self, channel: Channel) -> bool:
        assert isinstance(channel, FaultyChannel)  # all are where links come and go
        return not channel.contacts.at(self._clock.now)

    def _number(self, agent: int) -> float:
        generator = self._generators.get(agent)
        if generator is None:
            generator = self._generators[agent] = self._streams.generator("gossip.present", agent)
        return generator.random()


class PresentLinksBySlot:
    """Which links are up at the beginning of slots.

    Args:
        up: All contacts.
        links: The number of links.
        slot: The length of a slot (ns).
    """

    def __init__(self, up: UpTimes, links: int, slot: int) -> None:
        begins, ends = -(-up.begin // slot), -(-up.end // slot)  # the first slots in which a link is up, and is not
        self._slots = np.concatenate([begins, ends])
        order = np.argsort(self._slots, kind="stable")
        self._slots = self._slots[order]
        self._links = np.concatenate([up.link, up.link])[order]
        self._changes = np.repeat(np.array([1, -1]), len(begins))[order]
        self._contacts = np.zeros(links, dtype=np.int64)  # how many contacts of each link have begun and not ended
        self._next = 0

    def at(self, slot: int) -> NDArray[np.bool_]:
        """Return which links are up at the beginning of *slot*, shape (links,); slots are asked for in order."""
        last = int(np.searchsorted(self._slots, slot, side="right"))
        if last > self._next:
            np.add.at(self._contacts, self._links[self._next : last], self._changes[self._next : last])
            self._next = last
        return self._contacts > 0
