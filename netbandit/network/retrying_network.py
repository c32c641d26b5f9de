"""A network whose agents repeat what is not acknowledged, and in which nothing but losses goes wrong."""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import chain
from typing import Any, cast

from simpy import Event
from simpy.core import Infinity

from netbandit.network.faults import Faults
from netbandit.network.ledger import BroadcastCopies, Fates
from netbandit.network.link import BY_RANK, NOTHING_YET, Arrival, Channel, Link
from netbandit.network.lossy_network import LossyChannel, LossyNetwork
from netbandit.network.message import Kind, Message
from netbandit.network.retry import ACK, ACK_BYTES, SequencedMessage, repetition_of
from netbandit.streams import Streams

_FLUSH_AT = 1 << 16
_AGAIN = -(1 << 62)
_ANSWER = -(1 << 63)


class Transmission:
    """One of several transmissions of a message, or one that its sender will have waited for in vain.

    Attributes:
        code: The code of the kind in which it is sent.
        size: Bytes.
        sequenced: What it is a transmission of.
        deadline: When (ns) its sender stops waiting for the acknowledgement; -1 if a timer already runs.
    """

    __slots__ = ("code", "deadline", "sequenced", "size")

    def __init__(self, kind: Kind, sequenced: SequencedMessage, deadline: int) -> None:
        self.code = kind.code
        self.size = sequenced.message.size
        self.sequenced = sequenced
        self.deadline = deadline


class Answer:
    """An acknowledgement of which somebody still has to be told.

    Attributes:
        value: What it settles.
    """

    __slots__ = ("value",)
    code = ACK.code
    size = ACK_BYTES

    def __init__(self, value: SequencedMessage) -> None:
        self.value = value


class RetryingChannel(LossyChannel):
    """A channel on which messages are acknowledged.

    What is under way on it is (when it arrives, what it is, the message). It is ~n for the first
    transmission of the message that was number n on the channel, `_AGAIN` for a `Transmission` in place of a message,
    and `_ANSWER` for an acknowledgement: `_ACKNOWLEDGED`, or an `Answer`.

    Attributes:
        back: The other direction.
        column: Its column in what is drawn.
        unlucky: How many of its messages were counted before the first slot, and drew nothing.
        waits_long: Whether an acknowledgement that is not lost comes within the first timeout, however short.
    """

    __slots__ = ("back", "column", "unlucky", "waits_long")

    back: "RetryingChannel"
    column: int
    unlucky: int
    waits_long: bool


_ACKNOWLEDGED = Message(ACK, ACK_BYTES, None, 0)
"""What comes in time: no timer runs, so nobody needs to be told."""


class RetryingNetwork(LossyNetwork):
    """See `LossyNetwork`; here agents acknowledge what arrives from others, and repeat what was not acknowledged.

    The law is that of `UnreliableNetwork`, number for number. This one is for unlimited bandwidth, for latencies
    between agents that are not zero, and without a trace. Nothing is kept about a message whose acknowledgement comes
    in time: when a message arrives it is known whether it will, and a timer is set only if not.

    Args:
        arguments: As for `Network`.
        faults: What can go wrong: losses between agents, which repeat.
        streams: The streams of the replication.
        keywords: As for `Network`.
    """

    def __init__(self, *arguments: Any, faults: Faults, streams: Streams, **keywords: Any) -> None:
        retry = faults.peer.retry
        assert retry is not None
        self._retry = retry
        self._timers: dict[int, list[tuple[SequencedMessage, RetryingChannel]]] = {}
        super().__init__(*arguments, faults=faults, streams=streams, **keywords)
        self._ack_chance = self._chance(ACK_BYTES)
        for channel in chain.from_iterable(self.channels):
            assert isinstance(channel, RetryingChannel)
            back = self._out[channel.receiver][channel.sender]
            assert isinstance(back, RetryingChannel)
            channel.back = back
            channel.waits_long = channel.latency + back.latency <= retry.timeout

    @property
    def delivers_in_passes(self) -> bool:
        """See `Network.delivers_in_passes`; there are acknowledgements before anybody acts."""
        return True

    def _peer_channel(self, sender: int, receiver: int, latency: int, link: Link, rank: int) -> LossyChannel:
        channel = RetryingChannel(sender, receiver, latency, link, rank)
        channel.column = self._columns
        channel.unlucky = 0
        return channel

    def send(self, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        """See `Network.send`; what is lost is sent again after its timeout."""
        now = self._environment.now
        if now >= self._end:
            return
        slot = now // self._slot
        size = message.size
        due = self._due
        chance = self._chance(size)
        for channel in cast(
            "Sequence[RetryingChannel]", channels
        ):  # as in Network.send(), and written out for the same reason
            if channel.receiver == excepted:
                continue
            number = channel.messages
            channel.messages = number + 1
            channel.bytes += size
            link = channel.link
            if link.latest != slot:
                link.latest = slot
                link.activations += 1
            arrival = now + channel.latency
            bursts = channel.bursts
            if bursts is not None:
                chance = bursts.present if now < bursts.until else bursts.renew(now)
            if next(channel.losses) < chance:
                channel.lost += 1
                self._sequence(message, channel, number, now)
                continue
            under_way: Arrival = (arrival, ~number, message)
            if not channel.waits_long:
                deadline = now + self._retry.patience(self._spread(channel, number), 0)
                if arrival > deadline:
                    sequenced = self._sequence(message, channel, number, now)
                    under_way = (arrival, _AGAIN, cast(Message, Transmission(message.kind, sequenced, -1)))
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
            flight.append(under_way)
        if size != self._size or message.kind is not self._kind:
            self._enter(message.kind, size)
        self._copies += len(channels) if excepted < 0 else len(channels) - 1

    def _spread(self, channel: RetryingChannel, number: int) -> float:
        return self._luck.spread(channel.column, number - channel.unlucky)

    def _sequence(self, message: Message, channel: RetryingChannel, number: int, sent: int) -> SequencedMessage:
        """Let the sender of *message*, its channel's *number*, wait in vain for what it *sent* first at a time (ns)."""
        sequenced = SequencedMessage(message, self._luck.spread(channel.column, number - channel.unlucky))
        sequenced.sent = 1
        self._wait_for(sequenced, channel, sent + self._retry.patience(sequenced.number, 0))
        return sequenced

    def _wait_for(self, sequenced: SequencedMessage, channel: RetryingChannel, deadline: int) -> None:
        """Let the sender of *sequenced* look at *deadline* (ns) whether it was acknowledged."""
        if sequenced.settled:
            return
        timers = self._timers.get(deadline)
        if timers is not None:
            timers.append((sequenced, channel))
            return
        self._timers[deadline] = [(sequenced, channel)]
        heappush(self._instants, deadline)
        if deadline < self._appointed:
            self._appoint(deadline)

    def _deliver(self, event: Event) -> None:
        """See `Network._deliver`; all that arrives in an instant is acknowledged before anybody acts.

        Most arrivals are first transmissions, and acknowledgements for which nobody waits any more: for these, all
        that is called is written out.
        """
        if event is not self._appointment:
            return
        environment = self._environment
        queue = environment._queue
        instants = self._instants
        pending = self._fingerprint.pending
        all_due = self._due
        timers = self._timers
        receive = self._handler
        end, slot = self._end, self._slot
        chance = self._ack_chance
        acknowledgement = _ACKNOWLEDGED
        answers = 0
        self._appointed = -1
        while instants:
            now = instants[0]
            if queue and queue[0][0] < now:
                break
            environment._now = heappop(instants)
            due = all_due.pop(now, ())
            if len(due) > 1:
                due.sort(key=BY_RANK)
            inboxes: list[tuple[int, list[Arrival]]] = []
            reached = -1
            channel: Any  # those of uplinks carry nothing that this network acknowledges
            for channel in due:
                receiver = channel.receiver
                flight = channel.flight
                following = now
                while following == now:
                    arrival = flight.popleft()
                    following = flight[0][0] if flight else -1
                    what = arrival[1]
                    message: Any = arrival[2]
                    pending += (now, receiver, message.code, message.size)
                    if what == _ANSWER:
                        if message.value is not None:
                            message.value.settled = True
                        continue
                    if what < 0:
                        if what == _AGAIN:
                            news = self._acknowledge_again(message, channel, now)
                            if news is None:
                                continue
                            message = news
                        elif channel.waits_long and now < end:  # _acknowledge() and _put(), written out
                            back = channel.back
                            back.messages += 1
                            back.bytes += ACK_BYTES
                            answers += 1
                            link = back.link
                            present = now // slot
                            if link.latest != present:
                                link.latest = present
                                link.activations += 1
                            bursts = back.bursts
                            if bursts is not None:
                                chance = bursts.present if now < bursts.until else bursts.renew(now)
                            if next(back.losses) < chance:
                                back.lost += 1
                                self._sequence(message, channel, ~what, now - channel.latency).taken = 0
                            else:
                                there = back.flight
                                then = now + back.latency
                                if not there:
                                    if there is NOTHING_YET:
                                        there = back.flight = deque()
                                    if then in all_due:
                                        all_due[then].append(back)
                                    else:
                                        all_due[then] = [back]
                                        heappush(instants, then)
                                there.append((then, _ANSWER, acknowledgement))
                        else:
                            self._acknowledge(channel, message, ~what, now)
                        arrival = (now, channel.sender, message)
                    if receiver == reached:
                        inboxes[-1][1].append(arrival)
                    else:
                        reached = receiver
                        inboxes.append((receiver, [arrival]))
                if following >= 0:
                    if following in all_due:
                        all_due[following].append(channel)
                    else:
                        all_due[following] = [channel]
                        heappush(instants, following)
            if inboxes:  # else there were acknowledgements and timers only
                for receiver, inbox in inboxes:
                    receive(receiver, inbox)
                if len(pending) > _FLUSH_AT:
                    self._fingerprint.flush()
            if now in timers:
                for sequenced, channel in timers.pop(now):
                    self._repeat(sequenced, channel, now)
        if answers:
            counts = self._ledger.counts[ACK]
            counts[0] += answers
            counts[1] += answers * ACK_BYTES
        self._appointed = Infinity
        if instants:
            self._appoint(instants[0])

    def _acknowledge(self, channel: RetryingChannel, message: Message, number: int, now: int) -> None:
        """Acknowledge the first transmission of *message*, its channel's *number*; what is on time needs no record."""
        sent = now - channel.latency
        deadline = sent + self._retry.patience(self._spread(channel, number), 0)
        in_time = now + channel.back.latency <= deadline
        if in_time and self._answer(channel.back, now, _ACKNOWLEDGED):
            return
        sequenced = self._sequence(message, channel, number, sent)
        sequenced.taken = 0
        if not in_time:
            self._answer(channel.back, now, Answer(sequenced))

    def _acknowledge_again(self, transmission: Transmission, channel: RetryingChannel, now: int) -> Message | None:
        """Acknowledge one of several transmissions; return its message, or None if it was taken in before."""
        sequenced = transmission.sequenced
        is_new = sequenced.taken < 0
        sequenced.taken = 0
        deadline = transmission.deadline
        # No later transmission is under way, or will be, if this answer is in time.
        in_time = now + channel.back.latency <= deadline
        is_answered = self._answer(channel.back, now, _ACKNOWLEDGED if in_time else Answer(sequenced))
        if deadline >= 0 and not (is_answered and in_time):
            self._wait_for(sequenced, channel, deadline)
        if is_new:
            return sequenced.message
        self._ledger.fates.duplicates_dropped += 1
        return None

    def _answer(self, channel: RetryingChannel, now: int, answer: Message | Answer) -> bool:
        """Put an acknowledgement on *channel*; return whether it will arrive."""
        return now < self._end and self._put(channel, now, self._ledger.counts[ACK], _ANSWER, answer)

    def _put(
        self,
        channel: RetryingChannel,
        now: int,
        counts: list[int],
        what: int,
        message: Message | Answer | Transmission,
    ) -> bool:
        """Put *message* on *channel*, counted in *counts* of its kind; return whether it will arrive."""
        size = message.size
        channel.messages += 1
        channel.bytes += size
        link = channel.link
        slot = now // self._slot
        if link.latest != slot:
            link.latest = slot
            link.activations += 1
        counts[0] += 1
        counts[1] += size
        chance = self._constant
        if chance is None:
            chance = self._chance(size) if channel.bursts is None else channel.bursts(size, now)
        if next(channel.losses) < chance:
            channel.lost += 1
            return False
        arrival = now + channel.latency
        flight: Any = channel.flight
        if not flight:
            if flight is NOTHING_YET:
                flight = channel.flight = deque()
            self._expect(arrival, channel)
        flight.append((arrival, what, message))
        return True

    def _repeat(self, sequenced: SequencedMessage, channel: RetryingChannel, now: int) -> None:
        """Send *sequenced* once more, unless it was acknowledged after all, or that was the last attempt."""
        if sequenced.settled or now >= self._end:
            return
        if sequenced.sent >= self._retry.attempts:
            sequenced.settled = True
            self._ledger.fates.given_up += 1
            return
        deadline = now + self._retry.patience(sequenced.number, sequenced.sent)
        sequenced.sent += 1
        self._ledger.fates.retransmissions += 1
        is_late = now + channel.latency > deadline
        kind = repetition_of(sequenced.message.kind)
        again = Transmission(kind, sequenced, -1 if is_late else deadline)
        if not self._put(channel, now, self._ledger.counts[kind], _AGAIN, again) or is_late:
            self._wait_for(sequenced, channel, deadline)

    def count_before_start(self, message: Message, channel: Channel) -> None:
        """See `Network.count_before_start`; it draws nothing."""
        super().count_before_start(message, channel)
        assert isinstance(channel, RetryingChannel)
        channel.unlucky += 1

    def _count_ends(self, messages: int, fates: Fates, copies: BroadcastCopies) -> None:
        super()._count_ends(messages - fates.duplicates_dropped, fates, copies)
