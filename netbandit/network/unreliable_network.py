"""A network in which anything may go wrong: it decides what happens to each message, and whether it arrives.

Where nothing but losses of messages between agents is asked for, `lossy_network` does the same with less.
"""

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple

from simpy import Event
from simpy.core import Infinity

from netbandit.network.downtimes import Downtimes
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.ledger import BroadcastCopies, Fates
from netbandit.network.link import Arrival, Channel, Link, LinkClass
from netbandit.network.loss import Chance
from netbandit.network.luck import ClassLuck
from netbandit.network.message import Message
from netbandit.network.network import Network
from netbandit.network.outages import Outages
from netbandit.network.retry import ACK, ACK_BYTES, SequencedMessage, repetition_of
from netbandit.streams import Streams

_FLUSH_AT = 1 << 16
_LOST = -1
_NOT_SENT = -2
_NO_TIMER = -1


class UnreliableChannel(Channel):
    """A channel on which things go wrong.

    Attributes:
        faults: What can go wrong on it.
        link_class: Its class of links.
        back: The other direction; of what the server broadcasts that of the agent's uplink, if any.
        draws: What its messages draw, one after the other; see `Draw`.
        chance: With what probability it loses a message.
        down: When its link is down; None: never.
        latest: The arrival (ns) behind which others are held back.
    """

    __slots__ = ("back", "chance", "down", "draws", "faults", "latest", "link_class")

    faults: ChannelFaults
    link_class: LinkClass
    back: "UnreliableChannel | None"
    draws: Iterator[tuple[float, float, float, float, float]]
    chance: Chance
    down: Downtimes | None
    latest: int


class _Delivery(NamedTuple):
    """Something that arrives.

    Attributes:
        rank: The rank of its channel.
        serial: Its place among all that were sent.
        channel: Where it was sent.
        message: What arrives.
        sequenced: What its receiver may have taken in already; None where nothing ever arrives twice.
        deadline: When (ns) its sender stops waiting for the acknowledgement; -1 if a timer already runs, or none does.
    """

    rank: int
    serial: int
    channel: UnreliableChannel
    message: Message
    sequenced: SequencedMessage | None
    deadline: int


class UnreliableNetwork(Network):
    """See `Network`; here messages are lost, late, doubled and repeated, and links and nodes are down at times.

    When a message is put on a channel, all that will become of it is known: when it arrives, and whether. It is lost

    - by the chance of its channel; or
    - if its link is down at any moment from the start of its transmission to its arrival; or
    - if its receiver is down when it arrives.

    The sender has paid for it in each case. What a node would send while it is down, or what still queues when it
    goes down, is neither sent nor counted. Where senders wait for acknowledgements, a timer is set only once it is
    known that none will come in time, so timers cost nothing where nothing goes wrong.

    Args:
        arguments: As for `Network`.
        faults: What can go wrong.
        streams: The streams of the replication.
        keywords: As for `Network`.
    """

    unreliable = True

    def __init__(self, *arguments: Any, faults: Faults, streams: Streams, **keywords: Any) -> None:
        neighbours, peer_latency = arguments[1], arguments[3]
        agents = len(neighbours)
        self._peer_luck = ClassLuck(faults.peer, "peer", 2 * len(peer_latency), streams)
        self._uplink_luck = ClassLuck(faults.uplink, "uplink", 3 * agents, streams)
        outages = Outages(faults.plan, agents, {link: n for n, link in enumerate(peer_latency)}, streams)
        self._plan = outages
        self._nodes_fail = outages.any_nodes
        self._columns = 0
        self._serial = 0
        self._arriving: dict[int, list[_Delivery]] = {}
        self._timers: dict[int, list[tuple[SequencedMessage, UnreliableChannel]]] = {}
        self._expects_elsewhere = False
        self._taking: list[_Delivery] = []  # what arrives now and is still to be taken off its channel, the last first
        super().__init__(*arguments, faults=faults, streams=streams, **keywords)
        self.outages = outages
        if outages.any_agents:
            self.clock.postpone = self._postponed
            if outages.forgets:
                self.clock.life = outages.life

    @property
    def delivers_in_passes(self) -> bool:
        """See `Network.delivers_in_passes`; there are acknowledgements before anybody acts."""
        return True

    @property
    def peer_faults(self) -> ChannelFaults | None:
        """See `Network.peer_faults`; where nodes are down, that decides about messages too."""
        return None if self._nodes_fail else self.faults.peer

    @property
    def link_downtimes(self) -> Callable[[int, int], Downtimes] | None:
        """See `Network.link_downtimes`."""
        return self._plan.link if self._plan.any_links else None

    def _note_fates(self, sent: int, lost: int, copies: int) -> None:
        fates = self.ledger.fates
        fates.delivered += sent - lost
        fates.lost += lost
        fates.duplicates += copies
        fates.duplicates_dropped += copies

    def _channel(self, sender: int, receiver: int, latency: int, link: Link, broadcast: bool = False) -> Channel:
        rank = self._rank(sender, receiver, broadcast)
        self._instantaneous |= latency == 0
        channel = UnreliableChannel(sender, receiver, latency, link, rank)
        channel.back = None
        channel.down = None
        channel.latest = 0
        if self.server in (sender, receiver):
            agent = min(sender, receiver)
            direction = 0 if receiver == self.server else 1
            luck, channel.faults, channel.link_class = self._uplink_luck, self.faults.uplink, self._uplink
            channel.draws = luck.draws(3 * agent + (2 if broadcast else direction))
            # What is broadcast fares as on the agent's own uplink.
            channel.chance = luck.chance(3 * agent + direction)
            there = self._up.get(agent) if direction else None
        else:
            luck, channel.faults, channel.link_class = self._peer_luck, self.faults.peer, self._peer
            channel.draws = luck.draws(self._columns)
            channel.chance = luck.chance(self._columns)
            self._columns += 1
            if self._plan.any_links:
                channel.down = self._plan.link(min(sender, receiver), max(sender, receiver))
            there = self._out[receiver].get(sender)
        if isinstance(there, UnreliableChannel):
            channel.back = there
            if not broadcast:
                there.back = channel
        return channel

    def send(self, message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        """See `Network.send`."""
        chosen = channels if excepted < 0 else [channel for channel in channels if channel.receiver != excepted]
        self._send_queued(message, chosen, self._peer, uplink=False)

    def _send_queued(
        self, message: Message, channels: Sequence[Channel], link_class: LinkClass, *, uplink: bool
    ) -> None:
        retry = (self.faults.uplink if uplink else self.faults.peer).retry
        for channel in channels:
            assert isinstance(channel, UnreliableChannel)
            self._put(message, channel, None if retry is None else SequencedMessage(message))

    def broadcast(self, message: Message, agents: Sequence[int]) -> None:
        """See `Network.broadcast`; each agent hears it, or does not, as if it came over its own uplink."""
        now = self.clock.now
        if now >= self.clock.end or not agents or self._is_down(self.server, now):
            return
        self.ledger.broadcasts += 1
        copies, repeats = self.ledger.copies, self.faults.uplink.retry is not None
        sent = now + self._uplink.transmission(message.size)
        for agent in agents:
            channel = self._air.get(agent)
            if channel is None:
                if repeats:
                    self.uplink(agent)
                link = Link(agent, self.server)
                channel = self._air[agent] = self._channel(self.server, agent, self._uplink_latency[agent], link, True)
            assert isinstance(channel, UnreliableChannel)
            loss, jitter, _, _, spread = next(channel.draws)
            arrival = self._held_back(channel, sent + channel.latency + int(jitter))
            is_missed = loss < channel.chance(message.size, now) or self._is_down(agent, arrival)
            copies.sent += 1
            if self.trace is not None:
                self.trace.record(message, self.server, agent, now, now, arrival, broadcast=True, lost=is_missed)
            sequenced = SequencedMessage(message, spread) if repeats else None
            deadline = _NO_TIMER if sequenced is None else self._await(sequenced, channel, sent, arrival, is_missed)
            if is_missed:
                copies.missed += 1
                continue
            channel.latest = max(channel.latest, arrival)
            self._arrive(arrival, channel, message, sequenced, deadline)

    def _put(self, message: Message, channel: UnreliableChannel, sequenced: SequencedMessage | None) -> int:
        """Put *message* on *channel*, and decide what will become of it.

        Args:
            message: What is sent; of a repetition, in its kind.
            channel: Where.
            sequenced: What it is a transmission of, if its sender waits for an acknowledgement.

        Returns:
            When it arrives (ns); or that it is lost, or was not sent.
        """
        now = self._environment.now
        start = max(channel.free_at, now)
        if start >= self._end or (self._nodes_fail and self._is_down_between(channel.sender, now, start)):
            return _NOT_SENT
        size = message.size
        faults = channel.faults
        transmission = channel.link_class.transmission(size)
        sent = channel.free_at = start + transmission
        self._count(message, channel, start, now, transmission)
        loss, jitter, duplicate, copy_jitter, spread = next(channel.draws)
        arrival = sent + channel.latency + int(jitter)
        repeated = sequenced is not None and sequenced.sent > 0
        if not repeated:
            arrival = self._held_back(channel, arrival)
        is_lost = loss < channel.chance(size, start) or self._is_cut(channel, start, arrival)
        if self.trace is not None:
            self.trace.record(message, channel.sender, channel.receiver, now, start, arrival, lost=is_lost)
        deadline = _NO_TIMER
        if sequenced is not None and faults.retry is not None and message.kind is not ACK:
            if not repeated:
                sequenced.number = spread
            deadline = self._await(sequenced, channel, sent, arrival, is_lost)
        if is_lost:
            channel.lost += 1
            self.ledger.fates.lost += 1
            return _LOST
        if not repeated:
            channel.latest = arrival
        if duplicate < faults.duplicate:
            sequenced = sequenced or SequencedMessage(message)
            self._copy(message, channel, sequenced, start, arrival, sent + channel.latency + int(copy_jitter))
        self._arrive(arrival, channel, message, sequenced, deadline)
        return arrival

    def _await(
        self, sequenced: SequencedMessage, channel: UnreliableChannel, sent: int, arrival: int, is_lost: bool
    ) -> int:
        """Let the sender of a transmission wait for its acknowledgement.

        Args:
            sequenced: What is transmitted, for the first time or again.
            channel: Where.
            sent: When (ns) all of it was on the channel: the timeout runs from then.
            arrival: When it arrives, if it does.
            is_lost: Whether it does not.

        Returns:
            When the sender stops waiting, to be looked at when it arrives; -1 if a timer runs already.
        """
        retry = channel.faults.retry
        assert retry is not None
        deadline = sent + retry.patience(sequenced.number, sequenced.sent)
        sequenced.sent += 1
        if is_lost or arrival > deadline:
            self._wait_for(sequenced, channel, deadline)
            return _NO_TIMER
        if self._nodes_fail and self._is_down_between(channel.sender, self._environment.now, arrival):
            self._give_up(sequenced, channel)
        return deadline

    def _postponed(self, node: int, time: int) -> float:
        """Return when *node* acts that would act at *time* (ns): if it is down then, at a boundary once it is back."""
        down = self._plan.node(node)
        if not down.at(time):
            return time
        up: float = time
        while up < self._end:
            up = down.up(int(up))
            if up >= self._end:
                break
            boundary = self.clock.boundary(int(up)) * self._slot
            if not down.at(boundary):
                return boundary
            up = boundary
        return inf

    def _held_back(self, channel: UnreliableChannel, arrival: int) -> int:
        """Return when a message arrives that may have to let the one before it go first."""
        return arrival if channel.faults.overtaking else max(arrival, channel.latest)

    def _copy(
        self,
        message: Message,
        channel: UnreliableChannel,
        sequenced: SequencedMessage,
        start: int,
        original: int,
        arrival: int,
    ) -> None:
        """Let *message* arrive once more, not before its *original* does unless messages may overtake."""
        self.ledger.fates.duplicates += 1
        if not channel.faults.overtaking:
            arrival = max(arrival, original)
        if self._is_cut(channel, start, arrival):
            self.ledger.fates.lost += 1
        else:
            self._arrive(arrival, channel, message, sequenced, _NO_TIMER)

    def _count(self, message: Message, channel: UnreliableChannel, start: int, now: int, transmission: int) -> None:
        channel.messages += 1
        channel.bytes += message.size
        if channel.link.second == self.server:
            channel.link.activate(message.round)
        elif transmission:
            channel.link.activate_ahead(start // self._slot, now // self._slot)
        else:
            channel.link.activate(start // self._slot)
        counts = self.ledger.counts[message.kind]
        counts[0] += 1
        counts[1] += message.size

    def _is_cut(self, channel: UnreliableChannel, start: int, arrival: int) -> bool:
        """Return whether *channel* is down while a message is on its way, or its receiver when it arrives."""
        if channel.down is not None and channel.down.during(start, arrival):
            return True
        return self._nodes_fail and self._is_down(channel.receiver, arrival)

    def _is_down(self, node: int, time: int) -> bool:
        return self._nodes_fail and self._plan.node(node).at(time)

    def _is_down_between(self, node: int, begin: int, end: int) -> bool:
        return self._plan.node(node).during(begin, end)

    def _arrive(
        self,
        arrival: int,
        channel: UnreliableChannel,
        message: Message,
        sequenced: SequencedMessage | None,
        deadline: int,
    ) -> None:
        self._serial += 1
        delivery = _Delivery(channel.rank, self._serial, channel, message, sequenced, deadline)
        due = self._arriving.get(arrival)
        if due is not None and not self._expects_elsewhere:
            due.append(delivery)
            return
        self._arriving.setdefault(arrival, []).append(delivery)
        self._expected(arrival, channel)

    def expect_with(self, expect: Callable[[int, Channel | None], None]) -> None:
        """See `Network.expect_with`; here it holds for all channels, and a message may be told of more than once."""
        super().expect_with(expect)
        self._expects_elsewhere = True

    def _expect(self, time: int, channel: Channel | None) -> None:
        """Have the network look at what is due at *time* (ns)."""
        heappush(self._instants, time)
        if time < self._appointed:
            self._appoint(time)

    def _wait_for(self, sequenced: SequencedMessage, channel: UnreliableChannel, deadline: int) -> None:
        """Let the sender of *sequenced* look at *deadline* (ns) whether it was acknowledged, if it is up till then."""
        if sequenced.settled:
            return
        if self._nodes_fail and self._is_down_between(channel.sender, self._environment.now, deadline):
            self._give_up(sequenced, channel)
            return
        timers = self._timers.get(deadline)
        if timers is None:
            self._timers[deadline] = [(sequenced, channel)]
            self._expected(deadline, None)
        else:
            timers.append((sequenced, channel))

    def _give_up(self, sequenced: SequencedMessage, channel: UnreliableChannel) -> None:
        if not sequenced.settled:
            sequenced.settled = True
            self.ledger.fates.given_up += 1
            self.ledger.given_up_on_uplinks += channel.link.second == self.server

    def _deliver(self, event: Event) -> None:
        if event is not self._appointment:
            return
        environment = self._environment
        instants = self._instants
        self._appointed = -1
        while instants and environment.advance(instants[0]):
            now = heappop(instants)
            due = self._arriving.pop(now, None)
            if due is not None:
                self._hand_over(due, now)
            self.stop_waiting(now)
            if len(self._fingerprint.pending) > _FLUSH_AT:
                self._fingerprint.flush()
        self._appointed = Infinity
        if instants:
            self._appoint(instants[0])

    def stop_waiting(self, now: int) -> None:
        """See `Network.stop_waiting`."""
        for sequenced, channel in self._timers.pop(now, ()):
            self._repeat(sequenced, channel)

    def take(self, channel: Channel, now: int, inbox: list[Arrival]) -> None:
        """See `Network.take`; what is sent from here on and arrives now is taken when all else has been."""
        if not self._taking:
            self._taking = sorted(self._arriving.pop(now), reverse=True)
        mine = []
        while self._taking and self._taking[-1].channel is channel:
            mine.append(self._taking.pop())
        for _, arrivals in self._taken(mine, now):
            inbox += arrivals

    def _hand_over(self, due: list[_Delivery], now: int) -> None:
        """Deliver what arrives now: each receiver gets it at once, and what it answers at this instant comes later."""
        due.sort()
        for receiver, inbox in self._taken(due, now):
            self._handler(receiver, inbox)

    def _taken(self, due: list[_Delivery], now: int) -> list[tuple[int, list[Arrival]]]:
        """Let what is due arrive *now* (ns) and be acknowledged; return what each receiver gets."""
        pending = self._fingerprint.pending
        fates, copies = self.ledger.fates, self.ledger.copies
        inboxes: list[tuple[int, list[Arrival]]] = []
        reached = -1
        for rank, _, channel, message, sequenced, deadline in due:
            receiver = channel.receiver
            pending += (now, receiver, message.code, message.size)
            is_broadcast = rank & 1
            copies.delivered += is_broadcast
            if sequenced is not None:
                life = self._plan.life(receiver, now)
                news = sequenced.taken != life
                sequenced.taken = life
                if not is_broadcast:
                    fates.delivered += news
                    fates.duplicates_dropped += not news
                if message.kind is ACK:
                    sequenced.message.value.settled = True
                    continue
                if channel.faults.retry is not None:
                    self._acknowledge(channel, sequenced, now, deadline)
                if not news:
                    continue
                message = sequenced.message
            elif not is_broadcast:
                fates.delivered += 1
            if receiver != reached:
                reached = receiver
                inboxes.append((receiver, []))
            inboxes[-1][1].append((now, channel.sender, message))
        return inboxes

    def _acknowledge(self, channel: UnreliableChannel, sequenced: SequencedMessage, now: int, deadline: int) -> None:
        """Let the receiver acknowledge what arrived on *channel*, and its sender wait in vain if it must."""
        assert channel.back is not None
        acknowledgement = Message(ACK, ACK_BYTES, sequenced, sequenced.message.round)
        arrival = self._put(acknowledgement, channel.back, SequencedMessage(acknowledgement))
        if deadline == _NO_TIMER or sequenced.settled:
            return
        if arrival < 0 or arrival > deadline:
            self._wait_for(sequenced, channel, deadline)
        elif self._nodes_fail and self._is_down_between(channel.sender, now, arrival):
            self._give_up(sequenced, channel)

    def _repeat(self, sequenced: SequencedMessage, channel: UnreliableChannel) -> None:
        """Send *sequenced* once more, unless it was acknowledged after all, or that was the last attempt.

        What was broadcast is repeated over the uplink of the agent that did not acknowledge it.
        """
        if channel.rank & 1:
            downlink = self._down[channel.receiver]
            assert isinstance(downlink, UnreliableChannel)
            channel = downlink
        retry = channel.faults.retry
        assert retry is not None
        if sequenced.settled or self._environment.now >= self._end:
            return
        if sequenced.sent >= retry.attempts:
            self._give_up(sequenced, channel)
            return
        message = sequenced.message
        again = Message(repetition_of(message.kind), message.size, message.value, message.round)
        if self._put(again, channel, sequenced) != _NOT_SENT:
            self.ledger.fates.retransmissions += 1
        elif max(channel.free_at, self._environment.now) < self._end:
            self._give_up(sequenced, channel)

    def count_before_start(self, message: Message, channel: Channel) -> None:
        """See `Network.count_before_start`; nothing goes wrong before the first slot."""
        super().count_before_start(message, channel)
        self.ledger.fates.delivered += 1

    def _count_ends(self, messages: int, fates: Fates, copies: BroadcastCopies) -> None:
        copies.in_flight = sum(delivery.rank & 1 for due in self._arriving.values() for delivery in due)
        fates.in_flight = sum(len(due) for due in self._arriving.values()) - copies.in_flight
