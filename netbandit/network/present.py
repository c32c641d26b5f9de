"""Which neighbours are there, where agents see their links come and go."""

from collections.abc import Sequence

import numpy as np

from netbandit.network.clock import Clock
from netbandit.network.link import Channel, FaultyChannel
from netbandit.streams import Streams


class Present:
    """Neighbours that are there; where agents see nothing of that, or what they send waits, all are.

    Args:
        clock: The clock.
        streams: The streams of the replication.
        chooses: Whether agents choose among those who are there.
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
