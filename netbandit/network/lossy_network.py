"""A network in which messages between agents may be lost, and nothing else goes wrong: nearly as fast as without."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from heapq import heappush
from typing import Any

from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.ledger import Fates
from netbandit.network.link import NOTHING_YET, Channel, Link
from netbandit.network.loss import BurstLoss, Chance
from netbandit.network.luck import ClassLuck
from netbandit.network.message import Message
from netbandit.network.network import Network
from netbandit.streams import Streams


class LossyChannel(Channel):
    """A channel that may lose what is put on it.

    Attributes:
        losses: What its messages draw, one after the other.
        chance: With what probability it loses a message of some bytes whose transmission starts at some time.
    """

    __slots__ = ("chance", "losses")

    losses: Iterator[float]
    chance: Chance


class LossyNetwork(Network):
    """See `Network`; what arrives still does so once and in the order of sending, so its calendar serves here too.

    The law is that of `UnreliableNetwork`, number for number; this one is for unlimited bandwidth without a trace.

    Args:
        arguments: As for `Network`.
        faults: What can go wrong: losses between agents.
        streams: The streams of the replication.
        keywords: As for `Network`.
    """

    unreliable = True

    def __init__(self, *arguments: Any, faults: Faults, streams: Streams, **keywords: Any) -> None:
        peer_latency = arguments[3]
        self._luck = ClassLuck(faults.peer, "peer", 2 * len(peer_latency), streams)
        self._columns = 0
        loss = faults.peer.loss
        self._chance_of_size: Callable[[int], float | None] = (
            _varying if isinstance(loss, BurstLoss) or loss is None else loss.of_size
        )
        super().__init__(*arguments, streams=streams, **keywords)
        self.loses = True
        self._peer_faults = faults.peer

    @property
    def peer_faults(self) -> ChannelFaults | None:
        """See `Network.peer_faults`."""
        return self._peer_faults

    def _channel(self, sender: int, receiver: int, latency: int, link: Link, broadcast: bool = False) -> Channel:
        if sender == self.server or receiver == self.server:
            return super()._channel(sender, receiver, latency, link, broadcast)
        rank = self._rank(sender, receiver, broadcast)
        self._instantaneous |= latency == 0
        channel = LossyChannel(sender, receiver, latency, link, rank)
        channel.losses = self._luck.losses(self._columns)
        channel.chance = self._luck.chance(self._columns)
        self._columns += 1
        self._by_rank[rank] = channel
        return channel

    def send(self, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        """See `Network.send`; what is lost has been paid for all the same."""
        now = self._environment.now
        if now >= self._end:
            return
        slot = now // self._slot
        size = message.size
        due = self._due
        chance = self._chance_of_size(size)
        for channel in channels:  # as in Network.send(), and written out for the same reason
            if channel.receiver == excepted:
                continue
            channel.messages += 1
            channel.bytes += size
            link = channel.link
            if link.latest != slot:
                link.latest = slot
                link.activations += 1
            assert isinstance(channel, LossyChannel)
            if next(channel.losses) < (channel.chance(size, now) if chance is None else chance):
                channel.lost += 1
                continue
            arrival = now + channel.latency
            flight = channel.flight
            if not flight:
                if flight is NOTHING_YET:
                    flight = channel.flight = deque()
                if arrival in due:
                    due[arrival].append(channel.rank)
                else:
                    due[arrival] = [channel.rank]
                    heappush(self._instants, arrival)
                    if arrival < self._appointed:
                        self._appoint(arrival)
            flight.append((arrival, channel.sender, message))
        sent = len(channels) - (excepted >= 0)
        if sent:
            counts = self.ledger.counts[message.kind]
            counts[0] += sent
            counts[1] += sent * size

    def _count_ends(self, messages: int, fates: Fates) -> None:
        fates.lost = sum(channel.lost for out in self._out for channel in out.values())
        super()._count_ends(messages - fates.lost, fates)


def _varying(size: int) -> float | None:
    """Return None: the size of a message alone does not say with what probability it is lost."""
    return None
