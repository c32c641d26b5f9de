"""A network in which messages between agents may be lost, and nothing else goes wrong: nearly as fast as without."""

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heappush
from typing import Any, cast

from netbandit.network.faults import Faults
from netbandit.network.ledger import BroadcastCopies, Fates
from netbandit.network.link import NOTHING_YET, Channel, Link
from netbandit.network.loss import BurstChance, BurstLoss, ConstantLoss
from netbandit.network.luck import ClassLuck
from netbandit.network.message import Message
from netbandit.network.network import Network
from netbandit.streams import Streams


class LossyChannel(Channel):
    """A channel that may lose what is put on it.

    Attributes:
        losses: What its messages draw, one after the other.
        bursts: With what probability it loses a message, where that depends on the time; else None.
    """

    __slots__ = ("bursts", "losses")

    losses: Iterator[float]
    bursts: BurstChance | None


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
        self._loss = faults.peer.loss
        self._constant = self._loss.probability if isinstance(self._loss, ConstantLoss) else None
        super().__init__(*arguments, faults=faults, streams=streams, **keywords)

    def _channel(self, sender: int, receiver: int, latency: int, link: Link, broadcast: bool = False) -> Channel:
        if sender == self.server or receiver == self.server:
            return super()._channel(sender, receiver, latency, link, broadcast)
        rank = self._rank(sender, receiver, broadcast)
        self._instantaneous |= latency == 0
        channel = self._peer_channel(sender, receiver, latency, link, rank)
        channel.losses = self._luck.losses(self._columns)
        chance = self._luck.chance(self._columns)
        channel.bursts = chance if isinstance(chance, BurstChance) else None
        self._columns += 1
        return channel

    def _chance(self, size: int) -> float:
        """Return with what probability a message of *size* bytes is lost where no bursts are."""
        if self._constant is not None:
            return self._constant
        return 0.0 if isinstance(self._loss, BurstLoss | None) else self._loss.of_size(size)

    def _peer_channel(self, sender: int, receiver: int, latency: int, link: Link, rank: int) -> LossyChannel:
        return LossyChannel(sender, receiver, latency, link, rank)

    def send(self, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        """See `Network.send`; what is lost has been paid for all the same."""
        now = self._environment.now
        if now >= self._end:
            return
        slot = now // self._slot
        size = message.size
        due = self._due
        chance = self._chance(size)
        for channel in cast(
            "Sequence[LossyChannel]", channels
        ):  # as in Network.send(), and written out for the same reason
            if channel.receiver == excepted:
                continue
            channel.messages += 1
            channel.bytes += size
            link = channel.link
            if link.latest != slot:
                link.latest = slot
                link.activations += 1
            bursts = channel.bursts
            if bursts is not None:
                chance = bursts.present if now < bursts.until else bursts.renew(now)
            if next(channel.losses) < chance:
                channel.lost += 1
                continue
            arrival = now + channel.latency
            flight = channel.flight
            if not flight:
                if flight is NOTHING_YET:
                    flight = channel.flight = deque()
                if arrival in due:
                    due[arrival].append(channel)
                else:
                    due[arrival] = [channel]
                    heappush(self._instants, arrival)
                    if arrival < self._appointed:
                        self._appoint(arrival)
            flight.append((arrival, channel.sender, message))
        if size != self._size or message.kind is not self._kind:
            self._enter(message.kind, size)
        self._copies += len(channels) if excepted < 0 else len(channels) - 1

    def _count_ends(self, messages: int, fates: Fates, copies: BroadcastCopies) -> None:
        fates.lost = sum(channel.lost for out in self._out for channel in out.values())
        super()._count_ends(messages - fates.lost, fates, copies)
