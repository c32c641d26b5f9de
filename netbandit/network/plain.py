"""Hops on Python's objects: what the primitives stand for there, and the calendar of what arrives.

SimPy's queue holds a single event for the whole network: its next arrival. From there the network delivers instant
after instant for as long as nothing else is due before, so a message costs no SimPy event of its own.

Where what is put on a channel arrives in the order of sending, only its first message waits in the calendar, so that
this grows with the channels in use, not with the messages under way; else each message has an entry.
"""

from collections import deque
from collections.abc import Sequence
from functools import cache, cached_property, partial
from heapq import heappop, heappush
from operator import itemgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any

from simpy import Event
from simpy.core import Infinity

from netbandit.network import hop
from netbandit.network.faults import ChannelFaults, Law
from netbandit.network.hop import FATES_ARE_OPEN, LATE, NEVER, REPEATS, arrive, go_on, repeat, take
from netbandit.network.ledger import Tally, Waiting
from netbandit.network.line import Line, Pending
from netbandit.network.link import BY_RANK, NOTHING_YET, Arrival, Channel, FaultyChannel, Link, LinkClass, Queue
from netbandit.network.message import Kind, Message
from netbandit.network.radio import Transmission
from netbandit.network.retry import ACK, Packet, repetition_of
from netbandit.texts import is_text, text, written_out

if TYPE_CHECKING:
    from netbandit.network.network import Network

_WhatHappens = Sequence[tuple[str, bool]]

WITH_PACKETS = True
"""Whether packets may be under way: something is repeated."""

_FLUSH_AT = 1 << 16
_RANK_AND_SERIAL = itemgetter(0, 1)

# Rows are the objects themselves.


@text
def channel_of(network: "Network", channel: FaultyChannel) -> FaultyChannel:
    return channel


@text
def queue_of(network: "Network", channel: FaultyChannel) -> Queue:
    queue = channel.queue
    if queue is None:
        channel.queue = queue = Queue()
    return queue


@text
def link_of(network: "Network", channel: FaultyChannel) -> Link:
    return channel.link


@text
def law_of(network: "Network", channel: FaultyChannel) -> Law:
    return channel.law


@text
def message_of(network: "Network", message: Message) -> Message:
    return message


@text
def packet_of(network: "Network", packet: Packet) -> Packet:
    return packet


@text
def is_nothing(packet: Packet | None) -> bool:
    return packet is None


@text
def new_packet(network: "Network", kind: Kind, message: Message) -> Packet:
    packet = Packet()
    packet.message = message
    return packet


@text
def originate(network: "Network", packet: Packet, channel: FaultyChannel, place: int) -> None:
    packet.origin = channel
    packet.place = place


@text
def forget(network: "Network", packet: Packet | None) -> None:
    pass


# Channels.


@text
def back_of(network: "Network", channel: FaultyChannel) -> Channel:
    return channel.back


@text
def is_air(network: "Network", channel: Channel) -> bool:
    return channel.rank & 1  # type: ignore[return-value]  # a call costs as much as all else here


@text
def is_uplink(network: "Network", channel: Channel) -> bool:
    return channel.link.second == network.server


@text
def surely(network: "Network", channel: Channel) -> bool:
    return True


@text
def never(network: "Network", kind: Kind) -> bool:
    return False


@text
def repeats_on(network: "Network", channel: FaultyChannel) -> bool:
    return channel.law.attempts > 0


@text
def air_of(network: "Network", agent: int) -> Channel:
    return network.air(agent)


@text
def repeating_channel(network: "Network", channel: Channel) -> Channel:
    if channel.rank & 1:
        channel = network.downlink(channel.receiver)
    return channel


@text
def transmission_of(network: "Network", channel: FaultyChannel, size: int) -> int:
    return channel.link_class.transmission(size)


@text
def peer_duration(network: "Network", size: int) -> int:
    return network.peer_class.transmission(size)


@text
def uplink_duration(network: "Network", size: int) -> int:
    return network.uplink_class.transmission(size)


@text
def air_transmission(network: "Network", channel: Channel, size: int) -> int:
    return network.uplink_class.transmission(size)


@text
def book(network: "Network", channel: Channel, slot: int, now: int) -> None:
    channel.link.activate_ahead(slot, now)


# Time, and what goes wrong.


@text
def now_of(network: "Network") -> int:
    return network.environment._now  # a property of it takes four times as long to read


@text
def end_of(network: "Network") -> int:
    return network.end


@text
def slot_of(network: "Network", time: int) -> int:
    return time // network.slot


@text
def loss_number_of(network: "Network", channel: FaultyChannel) -> float:
    return next(channel.losses)


@text
def jitter_of(network: "Network", channel: FaultyChannel) -> int:
    return next(channel.jitters)  # type: ignore[no-any-return]


@text
def duplicate_number_of(network: "Network", channel: FaultyChannel) -> float:
    return next(channel.duplicates)


@text
def copy_jitter_of(network: "Network", channel: FaultyChannel) -> int:
    return next(channel.copy_jitters)  # type: ignore[no-any-return]


@text
def spread_number_of(network: "Network", packet: Packet) -> float:
    return packet.origin.spreads.number(packet.origin.column, packet.place - packet.origin.undrawn)  # type: ignore[no-any-return]


@text
def timeout_factor(network: "Network", channel: FaultyChannel, repetition: int) -> float:
    return channel.law.factors[repetition]


@text
def is_bad(network: "Network", channel: FaultyChannel, time: int) -> bool:
    return channel.bursts.is_bad(time)  # type: ignore[union-attr]  # nobody asks where there are none


@text
def is_link_down(network: "Network", channel: FaultyChannel, begin: int, end: int) -> bool:
    return channel.down.during(begin, end)


@text
def next_start(network: "Network", channel: FaultyChannel, time: int) -> int:
    if channel.up_from <= time < channel.up_until:  # in the contact that was looked at last, as most are
        return time
    up = channel.contacts.up(time)
    if network.waits_for_slots and up != time:
        slot = network.slot
        while up < NEVER and not (up % slot == 0 and channel.contacts.up(int(up)) == up):
            up = channel.contacts.up(int(-(-up // slot)) * slot)
    start = int(min(up, NEVER))
    channel.up_from = start
    channel.up_until = int(min(channel.contacts.down(start), NEVER)) if start < NEVER else NEVER
    return start


@text
def contact_end(network: "Network", channel: FaultyChannel, time: int) -> int:
    if channel.up_from <= time < channel.up_until:
        return channel.up_until
    return int(min(channel.contacts.down(time), NEVER))


@text
def carry_of(network: "Network") -> int:
    return network.carry


@text
def waits_for_slots(network: "Network") -> bool:
    return network.waits_for_slots


@text
def waiting_of(network: "Network") -> Waiting:
    return network.waiting


@text
def is_node_down(network: "Network", node: int, begin: int, end: int) -> bool:
    return network.outages.node(node).during(begin, end)  # type: ignore[union-attr]  # as above


@text
def life_of(network: "Network", node: int, time: int) -> int:
    return network.outages.life(node, time)  # type: ignore[union-attr]  # as above


# What is counted.


@text
def code_of(network: "Network", kind: Kind) -> int:
    return kind.code


@text
def acknowledgement(network: "Network") -> Kind:
    return ACK


@text
def is_acknowledgement(network: "Network", kind: Kind) -> bool:
    return kind is ACK


@text
def repetition(network: "Network", kind: Kind) -> Kind:
    return repetition_of(kind)


@text
def count(network: "Network", kind: Kind, size: int, messages: int) -> None:
    # Most messages are of the kind and size of the one before: how many of these are not in the ledger yet.
    if size != network.size or kind is not network.kind:
        network.enter(kind, size)
    network.copies += messages


@text
def count_acknowledgement(network: "Network") -> None:
    network.acknowledgements += 1


@text
def tally_of(network: "Network") -> Tally:
    return network.tally


@text
def record(network: "Network", time: int, node: int, code: int, size: int) -> None:
    network.pending += (time, node, code, size)


@text
def write_trace(
    network: "Network",
    channel: FaultyChannel,
    kind: Kind,
    size: int,
    round: int,
    now: int,
    start: int,
    arrival: int,
    lost: bool,
) -> None:
    broadcast = bool(channel.rank & 1)
    network.trace.record(  # type: ignore[union-attr]  # as above
        kind, size, round, channel.sender, channel.receiver, now, start, arrival, broadcast, lost
    )


# The calendar: instants at which something arrives, and what does.


@text
def enter(network: "Network", calendar: dict[int, list[Any]], time: int, what: Any) -> None:
    """Have *what*, of a calendar, looked at at an instant."""
    if time in calendar:
        calendar[time].append(what)
    else:
        calendar[time] = [what]
        heappush(network.instants, time)
        if time < network.appointed:
            network.appoint(time)


@text
def expect(network: "Network", arrival: int, what: Any) -> None:
    """Have *what* looked at when it arrives."""
    enter(network, network.due, arrival, what)


@text
def deliver_in_order(
    network: "Network",
    arrival: int,
    channel: FaultyChannel,
    kind: Kind,
    size: int,
    message: Message,
    packet: Packet,
    waits: int,
) -> None:
    """Stand for `deliver_at` where channels bring all in the order of sending."""
    flight: deque[Any] = channel.flight
    if not flight:
        if flight is NOTHING_YET:
            channel.flight = flight = deque()
        expect(network, arrival, channel)
    if WITH_PACKETS:
        flight.append((arrival, kind, size, message, packet, waits))
    else:
        flight.append((arrival, channel.sender, message))


@text
def deliver_one_by_one(
    network: "Network",
    arrival: int,
    channel: FaultyChannel,
    kind: Kind,
    size: int,
    message: Message,
    packet: Packet,
    waits: int,
) -> None:
    """Stand for `deliver_at` where messages overtake, or come twice."""
    network.serial += 1
    expect(network, arrival, (channel.rank, network.serial, channel, kind, size, message, packet, waits))


@text
def wake_at(network: "Network", time: int, packet: Packet, channel: FaultyChannel) -> None:
    enter(network, network.timers, time, (packet, channel))


# Where the fate of messages is open.


@text
def pay_to_send(network: "Network", channel: Channel, size: int, airtime: int) -> None:
    if channel.sender != network.server:
        uplink = channel.receiver == network.server
        network.batteries.pay_to_send(channel.sender, uplink=uplink, size=size, airtime=airtime)  # type: ignore[union-attr]


@text
def pay_to_receive(network: "Network", channel: Channel, size: int) -> None:
    if channel.receiver != network.server and not channel.rank & 1:  # broadcasts are free
        uplink = channel.sender == network.server
        links = network.uplink_class if uplink else network.peer_class
        airtime = links.transmission(size)
        network.batteries.pay_to_receive(channel.receiver, uplink=uplink, size=size, airtime=airtime)  # type: ignore[union-attr]


@text
def new_pending(
    network: "Network",
    kind: Kind,
    size: int,
    round: int,
    message: Message,
    packet: Packet,
    now: int,
    slot: int,
    duration: int,
) -> Pending:
    return Pending(kind, size, round, message, packet, now, slot, duration)


@text
def line_of(network: "Network", channel: Channel) -> Line:
    return network.lines[channel]


@text
def start_at(network: "Network", time: int, channel: Channel, pending: Pending) -> None:
    enter(network, network.starts, time, (channel, pending))


@text
def expect_in_order(
    network: "Network",
    arrival: int,
    channel: FaultyChannel,
    kind: Kind,
    size: int,
    round: int,
    message: Message,
    packet: Packet,
    handed: int,
    start: int,
    due: int,
    copy: bool,
) -> None:
    """Stand for `expect_arrival` where channels bring all in the order of sending."""
    flight: deque[Any] = channel.flight
    if not flight:
        if flight is NOTHING_YET:
            channel.flight = flight = deque()
        expect(network, arrival, channel)
    flight.append((arrival, kind, size, round, message, packet, handed, start, due, copy))


@text
def expect_one_by_one(
    network: "Network",
    arrival: int,
    channel: FaultyChannel,
    kind: Kind,
    size: int,
    round: int,
    message: Message,
    packet: Packet,
    handed: int,
    start: int,
    due: int,
    copy: bool,
) -> None:
    """Stand for `expect_arrival` where messages overtake, or come twice."""
    network.serial += 1
    what = kind, size, round, message, packet, handed, start, due, copy
    expect(network, arrival, (channel.rank, network.serial, channel, what))


# Where agents share the air.


@text
def has_collided(network: "Network", channel: Channel, due: int) -> bool:
    return network.radio.has_collided(channel, due)  # type: ignore[union-attr]  # as above


@text
def wait_for_contact(network: "Network", transmission: Transmission, channel: Channel, time: int, first: bool) -> None:
    network.radio.wait_for_contact(transmission, channel, time, first)  # type: ignore[union-attr]  # as above


@text
def hand_over(network: "Network", event: Event) -> None:
    """Deliver instant after instant, until something else in the simulation is due first.

    In an instant, each receiver gets all that arrives for it at once. What is sent in answer over channels without
    latency arrives at the same instant, but in a later pass.
    """
    if event is network.appointment:  # else overtaken by an earlier one
        environment = network.environment
        queue = environment._queue
        instants = network.instants
        network.appointed = -1  # while it delivers it needs no appointment
        while instants and not (queue and queue[0][0] < instants[0]):
            now = heappop(instants)
            environment._now = now
            if FATES_ARE_OPEN:
                for channel, pending in network.starts.pop(now, ()):
                    go_on(network, channel, pending)
            due = network.due.pop(now, None)
            if due is not None:
                hand_over_pass(network, due, now)
            if REPEATS:
                for packet, channel in network.timers.pop(now, ()):
                    repeat(network, channel, packet)
            if len(network.pending) > _FLUSH_AT:
                network.fingerprint.flush()
        network.appointed = Infinity
        if instants:
            network.appoint(instants[0])


@text
def hand_over_pass(network: "Network", due: list[Any], now: int) -> None:
    """Stand for the pass of an instant where channels bring all in the order of sending."""
    if len(due) > 1:
        due.sort(key=BY_RANK)
    receive = network.handler
    receiver = -1
    inbox: list[Arrival] = []
    if REPEATS or network.instantaneous:
        # All is taken off the channels before anybody acts.
        inboxes: list[tuple[int, list[Arrival]]] = []
        for channel in due:
            if channel.receiver != receiver:
                receiver = channel.receiver
                inbox = []
                inboxes.append((receiver, inbox))
            take_off(network, channel, now, inbox)
        for receiver, inbox in inboxes:
            if inbox:
                receive(receiver, inbox)
    else:
        for channel in due:
            if channel.receiver != receiver:
                if inbox:
                    receive(receiver, inbox)
                    inbox = []
                receiver = channel.receiver
            take_off(network, channel, now, inbox)
        if inbox or not FATES_ARE_OPEN:
            receive(receiver, inbox)


@text
def take_off(network: "Network", channel: FaultyChannel, now: int, inbox: list[Arrival]) -> None:
    """Put into *inbox* what arrives on *channel*, and expect what follows."""
    flight: deque[Any] = channel.flight
    while True:
        if FATES_ARE_OPEN:
            _, kind, size, round, message, packet, handed, start, due, copy = flight.popleft()
            if arrive(network, channel, kind, size, round, message, packet, handed, start, due, copy, now):
                inbox.append((now, channel.sender, message))
        elif WITH_PACKETS:
            _, kind, size, message, packet, waits = flight.popleft()
            if take(network, channel, kind, size, message, packet, waits, now):
                inbox.append((now, channel.sender, message))
        else:
            arrival = flight.popleft()
            message = arrival[2]
            take(network, channel, message.kind, message.size, message, None, LATE, now)
            inbox.append(arrival)
        if not flight:
            break
        following = flight[0][0]
        if following != now:
            expect(network, following, channel)
            break


@text
def hand_over_one_by_one(network: "Network", due: list[Any], now: int) -> None:
    """Stand for the pass of an instant where messages overtake, or come twice."""
    due.sort(key=_RANK_AND_SERIAL)
    receiver = -1
    inbox: list[Arrival] = []
    inboxes: list[tuple[int, list[Arrival]]] = []
    for each in due:
        channel = each[2]
        if channel.receiver != receiver:
            receiver = channel.receiver
            inbox = []
            inboxes.append((receiver, inbox))
        if FATES_ARE_OPEN:
            kind, size, round, message, packet, handed, start, on_time, copy = each[3]
            if arrive(network, channel, kind, size, round, message, packet, handed, start, on_time, copy, now):
                inbox.append((now, channel.sender, message))
        else:
            _, _, _, kind, size, message, packet, waits = each
            if take(network, channel, kind, size, message, packet, waits, now):
                inbox.append((now, channel.sender, message))
    for receiver, inbox in inboxes:
        if inbox:
            network.handler(receiver, inbox)


class Hops:
    """Texts for one kind of network, each written out when it is first asked for.

    Args:
        peer: What can happen on links between agents,
        uplink: on uplinks,
        both: and on any of them.
        in_order: Whether channels bring all in the order of sending.
    """

    def __init__(self, peer: _WhatHappens, uplink: _WhatHappens, both: _WhatHappens, *, in_order: bool) -> None:
        self.counts_deliveries = not in_order
        self._peer, self._uplink, self._both = dict(peer), dict(uplink), dict(both)
        self._names = {name: value for name, value in globals().items() if is_text(value)}
        self._names["deliver_at"] = deliver_in_order if in_order else deliver_one_by_one
        self._names["expect_arrival"] = expect_in_order if in_order else expect_one_by_one
        self._names["WITH_PACKETS"] = self._both["REPEATS"]
        if not in_order:
            self._names["hand_over_pass"] = hand_over_one_by_one

    @cached_property
    def send(self) -> FunctionType:
        """Put a message on channels between agents."""
        return written_out(hop.send, self._between_agents)

    @cached_property
    def transmit(self) -> FunctionType:
        """Let a transmission start over the air that agents share."""
        return written_out(hop.transmit, self._between_agents)

    @cached_property
    def send_over_uplinks(self) -> FunctionType:
        """Put a message on uplinks."""
        return written_out(hop.send, self._on_uplinks)

    @cached_property
    def broadcast(self) -> FunctionType:
        """Let agents hear a message of the server."""
        return written_out(hop.broadcast, self._on_uplinks)

    @cached_property
    def hand_over(self) -> FunctionType:
        """Deliver what is due."""
        return written_out(hand_over, self._on_both)

    @property
    def _one_class(self) -> dict[str, Any]:
        return self._names | {"repeats_on": surely, "is_acknowledgement": never}  # nobody sends these but hops

    @property
    def _between_agents(self) -> dict[str, Any]:
        return self._one_class | self._peer | {"UPLINKS": False, "duration_of": peer_duration}

    @property
    def _on_uplinks(self) -> dict[str, Any]:
        here = {"UPLINKS": True, "is_uplink": surely, "duration_of": uplink_duration}
        return self._one_class | self._uplink | here | {"transmission_of": air_transmission}

    @property
    def _on_both(self) -> dict[str, Any]:
        return self._names | self._both | {"UPLINKS": True}


_written_for = cache(Hops)
"""The same for all networks in which the same can happen."""


def hops_of(network: "Network") -> Hops:
    """Return what the texts of hops come to in *network*."""
    faults, outages = network.faults, network.outages
    both = (faults.peer, network.peer_class), (faults.uplink, network.uplink_class)
    common = {
        "TRACES": network.trace is not None,
        "LINKS_FAIL": outages is not None and outages.any_links,
        "WAITS": outages is not None and outages.waits,
        "NODES_FAIL": outages is not None and outages.any_nodes,
        "FORGETS": outages is not None and outages.forgets,
        "PAYS": network.batteries is not None,
        "FATES_ARE_OPEN": network.fates_are_open,
        "SHARES_AIR": network.radio is not None,
    }
    repeats_at_once = any(one.retry is not None for one, _ in both) and network.instantaneous
    in_order = all(one.in_order for one, _ in both) and not repeats_at_once
    flags = partial(_flags, faulty=bool(faults))
    union = flags(*both)
    if outages is not None and common["WAITS"] and not (union["JITTERS"] or outages.fail_unseen):
        common["LINKS_FAIL"] = False  # what starts gets through
    common |= {
        "PROMPT": in_order and not (union["QUEUES"] or common["NODES_FAIL"] or common["WAITS"]),
        "COUNTS_DELIVERIES": not in_order,
    }
    of_classes = flags(*both[:1]), flags(*both[1:]), union
    return _written_for(*(tuple((found | common).items()) for found in of_classes), in_order=in_order)


def _flags(*classes: tuple[ChannelFaults, LinkClass], faulty: bool) -> dict[str, bool]:
    """Return what can happen on the links of some classes; *faulty*: whether anything can go wrong anywhere."""
    laws = [Law.of(faults) for faults, _ in classes]
    return {
        "QUEUES": any(links.takes_time for _, links in classes),
        "LOSES": any(faults.loss is not None for faults, _ in classes),
        "LOSES_BITS": any(law.loses_bits for law in laws),
        "LOSES_IN_BURSTS": any(law.loses_in_bursts for law in laws),
        "JITTERS": any(faults.jitter is not None for faults, _ in classes),
        "OVERTAKES": any(law.overtaking for law in laws if faulty),
        "DOUBLES": any(law.duplicate > 0 for law in laws),
        "REPEATS": any(law.attempts > 0 for law in laws),
    }
