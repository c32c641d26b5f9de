"""The links of a class: the first half of a hop, from a message that is put on a channel to its place in the calendar.

When a message is put on a channel, its outcome is known: whether it arrives, and when. It waits for the messages
before it, and takes size / bandwidth, then the latency, which does not occupy the channel; what else may happen stands
in `netbandit.network.steps`. The sender pays for it in each case. A message that would start at or after the horizon,
that a node would send while it is down, or that is still queued when its node goes down, is unsent; one that finds too
many in the queue is dropped. Neither is put on the channel, and both cost nothing.

What would arrive at the horizon or later is under way at the end: it is neither delivered nor lost, unless it was lost
before. It still arrives, and enters the fingerprint, but nothing that happens from the horizon on is counted.

So a hop has two halves: `begin`, when its transmission starts, and `arrive`, when it is due. If messages do not
interfere, its start is decided when the message is put on its channel (`Wire`). Otherwise each half is decided at its
own time (`DeferredWire`), because what becomes of a message depends on others: batteries run empty, agents share the
air. Both ask the same models by the same `turn` and `begin`.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heappush
from typing import Any

from netbandit.network.computing import HANDLED, REFUSED
from netbandit.network.downtimes import NEVER
from netbandit.network.engine import Engine
from netbandit.network.link import NOTHING_YET, Channel, LinkClass
from netbandit.network.message import Message
from netbandit.network.packet import ACK, DROPPED, LATE, LOST, NOT_SENT, Packet
from netbandit.network.steps import Model, Steps, Test
from netbandit.network.transmit_queue import QueuedMessage


class Wire(Steps):
    """The links of a class whose messages do not interfere: how a hop begins is decided ahead.

    Attributes:
        is_cut: Whether a link is down while a message is on its way; None: no link ever is.
        is_stopped: That, or, where it is known ahead, whether the receiver takes it in.
        is_missed: Whether the receiver takes it in.
    """

    __slots__ = ("_steps", "is_cut", "is_missed", "is_stopped")

    ahead = True

    def __init__(
        self, network: Engine, name: str, columns: int, link_class: LinkClass, models: Sequence[Model]
    ) -> None:
        super().__init__(network, name, columns, link_class, models)
        self.is_cut, self.is_missed = any_of(self.cuts), any_of(self.misses)
        self.is_stopped = any_of([*self.cuts, *self.misses]) if self.ahead else self.is_cut
        # A tuple of an instance is unpacked faster than so many attributes are found.
        before = self.queue, self.contacts, self.absent, self.spend
        self._steps = *before, self.late, self.lose, self.is_stopped, self.double, self.retry

    def put(self, channels: Sequence[Channel], message: Message, packet: Packet | None, excepted: int = -1) -> int:
        """Put a message on *channels*, of this class of links, and resolve its outcome, as far as that is known.

        Args:
            channels: The channels.
            message: The message as it is counted: acknowledgements and retransmissions are separate messages.
            packet: The packet that it transmits; None: a first transmission, which has no packet.
            excepted: The node to which it is not sent; -1: none.

        Returns:
            When it arrives on the last channel (ns), `LOST`, `DROPPED`, or `NOT_SENT`; this also where its outcome is
            deferred.
        """
        now, admits = self.network.environment._now, self.admits
        if now >= self.network.end:
            return NOT_SENT
        if admits is not None:
            others = [channel for channel in channels if channel.receiver != excepted]
            channels = [channel for channel in others if admits(channel, message, packet)]
            if not channels:
                return DROPPED if others else NOT_SENT
        if self.ahead and self.contacts is None:  # only its queue can delay it: one call for all channels
            return self.begin(channels, message, packet, now, now, excepted)
        return self._put(channels, message, packet, now, excepted)

    def _put(
        self, channels: Sequence[Channel], message: Message, packet: Packet | None, now: int, excepted: int
    ) -> int:
        """Put a message for which there is room on *channels* *now* (ns), each when it can start; see `put`."""
        arrival, duration = NOT_SENT, self.duration(message.size)
        for channel in channels:
            if channel.receiver != excepted:
                queued = QueuedMessage(message, packet, now, duration)
                self.turn(channel, queued, NEVER)  # all that happens until it starts
                arrival = queued.arrival
        return arrival

    def duration(self, size: int) -> int:
        """Return how long (ns) a message of *size* bytes occupies its channel; 0: it does not."""
        return 0 if self.queue is None else self.queue.duration(size)

    def turn(self, channel: Channel, queued: QueuedMessage, now: int) -> int:
        """Begin a message at *now* (ns) if it can; return when to try again, or `NEVER`: it has begun, or never will.

        It asks only what is known by then, so it may be called ahead of that time, or at it.
        """
        network, contacts, end = self.network, self.contacts, self.network.end
        start, put_at = queued.start, queued.put_at
        if start < 0:  # its turn has not come before
            start = put_at
            if queued.duration and channel.free_at > put_at:
                start = channel.free_at
            queued.start = start
        if now < start and now < end:
            return start if start < end else end
        tried = queued.tried
        if tried < 0:
            tried = start
            if contacts is not None:
                # What its sender loses while it is queued leaves the queue now, not when the link comes up.
                if start >= end or network.is_down_during(channel.sender, put_at, start):
                    self.withhold(channel, queued.message, put_at)
                    return NEVER
                tried = contacts.next_start(channel, start)
        while contacts is not None:
            if now < tried and now < end:
                queued.tried = tried
                return tried if tried < end else end
            again = contacts.attempt(channel, queued.message, put_at, tried, queued.first, queued.duration)
            if again == NEVER:
                return NEVER
            if again == tried:
                contacts.note_wait(tried - start)
                break
            tried, queued.first = again, False
        queued.arrival = self.begin((channel,), queued.message, queued.packet, put_at, tried)
        return NEVER

    def begin(
        self,
        channels: Sequence[Channel],
        message: Message,
        packet: Packet | None,
        put_at: int,
        earliest: int,
        excepted: int = -1,
    ) -> int:
        """Start the transmission of a message on *channels*: the first half of a hop, in which it is counted.

        Args:
            channels: See `put`.
            message: See `put`.
            packet: See `put`.
            put_at: When it was put on its channels (ns).
            earliest: When it starts (ns), or, on a channel that is occupied until later, as soon as that is free.
            excepted: See `put`.

        Returns:
            When it arrives on the last channel (ns), `LOST`, or `NOT_SENT`.
        """
        network = self.network
        queue, contacts, absent, spend, late, lose, is_stopped, double, retry = self._steps
        ahead, uplink, observers = self.ahead, self.uplink, network.observers
        decides, in_order, end = network.flags.decides, network.flags.in_order, network.end
        size, slot = message.size, put_at // network.slot
        duration = 0 if queue is None else queue.duration(size)
        period = message.round if uplink else slot
        books = not uplink and (duration > 0 or contacts is not None)
        arrival = NOT_SENT
        begun = 0
        for channel in channels:
            if channel.receiver == excepted:
                continue
            sent = start = earliest
            if duration and channel.free_at > start:  # those before it are still being transmitted
                sent = start = channel.free_at
            if start >= end or (absent is not None and absent(channel.sender, put_at, start)):
                self.withhold(channel, message, put_at)
                continue
            if queue is not None and duration:
                sent = queue.occupy(channel, size, duration, put_at, start)
            begun += 1
            for observer in observers:
                observer.sent(channel, message, start)
            index = channel.messages
            channel.messages = index + 1
            channel.bytes += size
            if spend is not None:
                spend(channel, size, min(sent, end) - start)
            link = channel.link
            if books:  # slots of the future are booked, and the other direction may be ahead, or behind
                link.activate_ahead(start // network.slot, slot)
            elif link.latest != period:
                link.latest = period
                link.activations += 1
            arrival = sent + channel.latency
            if late is not None:
                arrival = late(channel, arrival, packet)
            stops = lost = lose is not None and lose(channel, size, start)
            if not lost and is_stopped is not None and is_stopped(channel, size, start, arrival):
                # It stops, but if that happens only after the end, it is still under way then.
                stops, lost = True, self.is_lost_in_time(channel, size, start, arrival)
            later = -1 if double is None else double(channel)
            if observers and (stops or ahead):  # else its arrival decides
                for observer in observers:
                    observer.hop(channel, message, put_at, start, arrival, lost, copy=False)
            record, ack_index = packet, LATE
            if retry is not None and message.kind is not ACK:  # nobody acknowledges an acknowledgement
                record, ack_index = retry.begun(channel, message, packet, index, sent, arrival, stops)
            if stops:
                if lost:
                    channel.note("lost", size)
                else:
                    channel.note_under_way(size, min(sent, end) - start)
                arrival = LOST
                continue
            if late is not None and packet is None:  # a retransmission holds nothing back
                channel.latest = arrival
            due = arrival
            if contacts is not None:  # it may be taken in a nanosecond after it is due
                arrival = contacts.taken_in(channel, put_at, start, arrival)
            if arrival >= end:
                channel.note_under_way(size, min(sent, end) - start)
            if later >= 0:  # both have one record, by which the second one is a duplicate
                record = record or Packet(message)
                self._copy(channel, message, record, put_at, start, sent + channel.latency + later, arrival)
            entry: tuple[Any, ...]
            if not ahead:  # whether it is taken in is decided when it is due
                entry = (arrival, message, record, put_at, start, due, False)
            elif decides:  # it arrives, but may not be news
                entry = (arrival, message, record, ack_index)
            else:
                entry = (arrival, channel.sender, message)
            if in_order:
                flight: deque[Any] = channel.flight  # as `expect` does, for less
                if not flight:
                    if flight is NOTHING_YET:
                        channel.flight = flight = deque()
                    network.enter(network.due, arrival, channel)
                flight.append(entry)
            else:
                network.expect(channel, entry)
        if begun:
            network.ledger.count(message.kind, size, begun)
        return arrival

    def is_lost_in_time(self, channel: Channel, size: int, start: int, arrival: int) -> bool:
        """Return whether a message that is stopped is lost before the end, and not under way then."""
        end = self.network.end
        return arrival < end or (self.is_cut is not None and self.is_cut(channel, size, start, end - 1))

    def _copy(
        self, channel: Channel, message: Message, packet: Packet, put_at: int, start: int, arrival: int, first: int
    ) -> None:
        """Schedule a copy of a message, made by the network, for *arrival* (ns), or after the *first* one."""
        network, size = self.network, message.size
        if not self.overtaking:
            arrival = max(arrival, first)
        channel.note("duplicates", size)
        stops = self.is_stopped is not None and self.is_stopped(channel, size, start, arrival)
        lost = stops and self.is_lost_in_time(channel, size, start, arrival)
        if lost:
            channel.note("lost", size)
        elif arrival >= network.end:
            channel.note("in_flight", size)
        if stops or self.ahead:
            for observer in network.observers:
                observer.hop(channel, message, put_at, start, arrival, lost, copy=True)
        if stops:
            return
        if self.ahead:
            network.expect(channel, (arrival, message, packet, LATE))
        else:
            network.expect(channel, (arrival, message, packet, put_at, start, arrival, True))

    def broadcast(self, message: Message, channels: Iterable[Channel]) -> None:
        """Broadcast *message* of the server over these *channels* to agents, without using any link.

        It reaches each agent after the transmission time and the latency of its uplink, which it does not occupy, and
        faults are those of the uplink. Where uplinks retransmit, each agent acknowledges it over its own uplink, over
        which it is retransmitted.
        """
        network, tally = self.network, self.network.tally
        now, end = network.environment._now, network.end
        sent = now + self.link_class.transmission(message.size)
        for channel in channels:
            for observer in network.observers:
                observer.sent(channel, message, now)
            index = channel.messages
            channel.messages = index + 1
            arrival: int = sent + channel.latency
            if self.late is not None:
                arrival = self.late(channel, arrival, None)
            if not self.overtaking:
                arrival = max(arrival, channel.latest)
            missed = lost = self.lose is not None and self.lose(channel, message.size, now)
            if not missed and self.ahead and self.is_missed is not None:
                missed = self.is_missed(channel, message.size, now, arrival)
                lost = missed and arrival < end
            tally.copies_sent += 1
            tally.copies_missed += lost
            tally.copies_in_flight += arrival >= end and not lost
            if missed or self.ahead:
                for observer in network.observers:
                    observer.hop(channel, message, now, now, arrival, lost, copy=False)
            packet, ack_index = None, LATE
            if self.retry is not None:
                packet, ack_index = self.retry.begun(channel, message, None, index, sent, arrival, missed)
            if missed:
                continue
            channel.latest = arrival
            if not self.ahead:
                network.expect(channel, (arrival, message, packet, now, now, arrival, False))
            elif network.flags.decides:
                network.expect(channel, (arrival, message, packet, ack_index))
            else:
                network.expect(channel, (arrival, channel.sender, message))

    def arrive(self, channel: Channel, entry: tuple[Any, ...], now: int) -> bool:
        """Resolve an arrival that is due *now* (ns), the second half of a hop; return whether it is new."""
        _, message, packet, ack_index = entry
        return self.take_in(channel, message, packet, ack_index, now)

    def take_in(self, channel: Channel, message: Message, packet: Packet | None, ack_index: int, now: int) -> bool:
        """Receive a message on *channel* and acknowledge it; return whether it is new to its receiver.

        Args:
            channel: The channel.
            message: The message, as it was sent: an acknowledgement says which packet it acknowledges.
            packet: The packet that it transmits; None: it arrives for the first time, and has no packet yet.
            ack_index: The number of the message on its channel while its sender waits for the acknowledgement; `LATE`:
                it waits no more.
            now: The present time (ns).
        """
        network, retry = self.network, self.retry
        network.pending += (now, channel.receiver, message.code, message.size)
        news, incarnation = True, 0
        if packet is not None:
            incarnation = network.incarnation(channel.receiver, now)
            news = packet.received_in != incarnation
        held = HANDLED
        if network.computing is not None and news and message.kind is not ACK:
            held = network.computing.arrive(channel, message if packet is None else packet.message)
            if held == REFUSED:  # it is lost, and not acknowledged
                if now < network.end:
                    self.miss(channel, message)
                    for observer in network.observers:
                        observer.fate(channel, message, "refused", now)
                if retry is not None:
                    retry.refused(channel, message, packet, ack_index, now)
                return False
        if packet is not None:
            packet.received_in = incarnation
        if now < network.end and not (news and network.flags.in_order):
            # In order, all that are new are counted when the network closes.
            tally = network.tally
            if channel.is_broadcast:
                tally.copies_delivered += not network.flags.in_order
            elif news:
                tally.delivered += 1
            else:
                channel.note("duplicates_dropped", message.size)
                for observer in network.observers:
                    observer.fate(channel, message, "duplicates_dropped", now)
        if message.kind is ACK:
            acknowledged: Packet | None = message.value
            if acknowledged is not None:
                acknowledged.settled = True
            return False
        if retry is not None:
            retry.received(channel, message, packet, ack_index, now)
        return news and held == HANDLED

    def miss(self, channel: Channel, message: Message) -> None:
        """Count a message that its receiver does not take in."""
        if channel.is_broadcast:
            self.network.tally.copies_missed += 1
        else:
            channel.note("lost", message.size)


class DeferredWire(Wire):
    """The links of a class whose messages interfere: neither their starts nor their arrivals are decided ahead."""

    __slots__ = ()

    ahead = False

    def _put(
        self, channels: Sequence[Channel], message: Message, packet: Packet | None, now: int, excepted: int
    ) -> int:
        """See `Wire._put`: it begins now, or, if its channel is in use, after those before it."""
        network, duration = self.network, self.duration(message.size)
        for channel in channels:
            if channel.receiver == excepted:
                continue
            queue, queued = network.queues[channel], QueuedMessage(message, packet, now, duration)
            if duration and queue.first is not None:
                queue.others.append(queued)
            else:
                self.start_next(channel, queued)
            if network.flags.drops and (waiting := sum(1 for _ in queue)) > network.tally.waiting_most:
                network.tally.waiting_most = waiting
        return NOT_SENT

    def start_next(self, channel: Channel, queued: QueuedMessage) -> None:
        """Begin the next message on *channel*, and those after it, or schedule another try for when it may begin."""
        network = self.network
        queue, now = network.queues[channel], network.environment._now
        again = self.turn(channel, queued, now)
        while again == NEVER and queue.others:
            queued = queue.others.popleft()
            again = self.turn(channel, queued, now)
        queue.first = None
        if again != NEVER:
            network.enter(network.starts, again, (self, channel, queued))
            if queued.duration:
                queue.first = queued

    def arrive(self, channel: Channel, entry: tuple[Any, ...], now: int) -> bool:
        """See `Wire.arrive`: an entry says when it was due, which is *now*, or a nanosecond ago.

        Nothing is counted from the end on, when it was under way; whether it is a copy is for those who watch.
        """
        network = self.network
        _, message, packet, put_at, start, due, copy = entry
        in_time = now < network.end
        missed = self.is_missed is not None and self.is_missed(channel, message.size, start, due)
        for observer in network.observers:
            observer.hop(channel, message, put_at, start, due, missed and in_time, copy)
        if not missed:
            if self.receive is not None and in_time:
                self.receive(channel, message.size)
            return self.take_in(channel, message, packet, LATE, now)
        if in_time:
            self.miss(channel, message)
        return False


def any_of(tests: Sequence[Test]) -> Test | None:
    """Return the test whether any of *tests* holds, asked in order up to the first that does; None: there is none."""
    if len(tests) < 2:
        return tests[0] if tests else None
    if len(tests) == 2:  # as for links and nodes that fail
        one, other = tests
        return lambda channel, size, start, due: one(channel, size, start, due) or other(channel, size, start, due)
    return lambda channel, size, start, due: any(test(channel, size, start, due) for test in tests)


def send(network: Engine, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
    """Put *message* on all of these *channels*, of one class of links, but not on the one to the node *excepted*.

    The channels are its sender's; nodes that send the same message at an instant may share a call.
    """
    if channels:
        channels[0].wire.put(channels, message, None, excepted)


def send_reliably(network: Engine, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
    """As `send`, if nothing queues, fails, waits or is watched, which is the most common case.

    It is `Wire.put` and `Wire.begin` without everything that cannot happen then, with the calls of `enter` and
    `count` inlined.
    """
    now = network.environment._now
    if now >= network.late_from or not channels:  # some may still be under way at the end
        send(network, message, channels, excepted)
        return
    period = now // network.slot if channels[0].link.second != network.server else message.round
    due = network.due
    size = message.size
    sent = 0
    for channel in channels:
        if channel.receiver == excepted:
            continue
        channel.messages += 1
        channel.bytes += size
        link = channel.link
        if link.latest != period:
            link.latest = period
            link.activations += 1
        arrival = now + channel.latency
        flight: deque[Any] = channel.flight
        if not flight:
            if flight is NOTHING_YET:
                channel.flight = flight = deque()
            if arrival in due:
                due[arrival].append(channel)
            else:
                due[arrival] = [channel]
                heappush(network.instants, arrival)
                if arrival < network.appointed:
                    network.appoint(arrival)
        flight.append((arrival, channel.sender, message))
        sent += 1
    if sent:
        counts = network.ledger.counts[message.kind]
        counts[0] += sent
        counts[1] += sent * size
