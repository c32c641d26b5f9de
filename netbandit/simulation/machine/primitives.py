"""Hops on arrays: what the primitives of `netbandit.network.primitives` stand for in compiled loops.

Channels, messages and packets are the numbers of their rows.
"""

from typing import Any

from netbandit.network.primitives import Channel, Kind, Message, Network, Packet
from netbandit.network.retry import ACK_BYTES
from netbandit.simulation.machine.calendar import expect
from netbandit.simulation.machine.free_rows import give_back, take_row
from netbandit.simulation.machine.heaps import push
from netbandit.simulation.machine.rows import (
    BANDWIDTH,
    BOOKINGS,
    END,
    EVENTS,
    FAULTY,
    LOSES_MEMORY,
    MESSAGES_LEFT,
    NEVER,
    NOW,
    PACKETS_LEFT,
    SERIAL,
    SLOT_NS,
    TIMERS,
    UNUSED_MESSAGE,
    UNUSED_PACKET,
    Integers,
)
from netbandit.texts import text

UNIT = 1.0 / (1 << 53)
"""A number from [0, 1) is so many of this."""

# Rows.


@text
def channel_of(network: Network, channel: Channel) -> Any:
    return network.channels[channel]


@text
def queue_of(network: Network, channel: Channel) -> Any:
    return network.queues[channel]


@text
def link_of(network: Network, channel: Channel) -> Any:
    return network.links[network.channels[channel].link]


@text
def law_of(network: Network, channel: Channel) -> Any:
    return network.faults.law[0]


@text
def message_of(network: Network, message: Message) -> Any:
    return network.messages[message]


@text
def packet_of(network: Network, packet: Packet) -> Any:
    return network.faults.packets[packet]


@text
def tally_of(network: Network) -> Any:
    return network.faults.tally[0]


@text
def is_nothing(packet: Packet) -> bool:
    return packet < 0  # type: ignore[no-any-return]


@text
def write(network: Network, kind: Kind, size: int, round: int, begun: int, labels: int, count: int) -> Message:
    """Return a message, which is to be released once it was put on channels; there is room for it."""
    message = take_row(network.messages, network.state, UNUSED_MESSAGE, MESSAGES_LEFT)
    row = network.messages[message]
    row.references = 1
    row.kind = kind
    row.size = size
    row.round = round
    row.begun = begun
    row.labels = labels
    row.count = count
    return message


@text
def release(network: Network, message: Message) -> None:
    """Note that one thing less refers to a message, whose row is used again if nothing does."""
    row = network.messages[message]
    row.references -= 1
    if row.references == 0:
        row.round = -1
        give_back(network.messages, network.state, UNUSED_MESSAGE, MESSAGES_LEFT, message)


@text
def new_packet(network: Network, kind: Kind, message: Message) -> Packet:
    packet = take_row(network.faults.packets, network.faults.state, UNUSED_PACKET, PACKETS_LEFT)
    row = network.faults.packets[packet]
    row.references = 0
    row.message = message
    row.acknowledges = is_acknowledgement(network, kind)
    row.sent = 0
    row.since = 0
    row.taken = -1
    row.settled = 0
    if is_acknowledgement(network, kind):
        network.faults.packets[message].references += 1
    else:
        network.messages[message].references += 1
    return packet


@text
def originate(network: Network, packet: Packet, channel: Channel, place: int) -> None:
    row = network.faults.packets[packet]
    row.origin = channel
    row.place = place
    row.spread = drawn(network, channel, network.faults.law[0].spread_at, 0) * UNIT


@text
def release_packet(network: Network, packet: Packet) -> None:
    """Note that one thing less refers to a packet, or to nothing."""
    if packet >= 0:
        network.faults.packets[packet].references -= 1
        forget(network, packet)


@text
def forget(network: Network, packet: Packet) -> None:
    while packet >= 0:
        row = network.faults.packets[packet]
        acknowledged = -1
        if row.references == 0:
            give_back(network.faults.packets, network.faults.state, UNUSED_PACKET, PACKETS_LEFT, packet)
            if row.acknowledges:
                acknowledged = row.message
                network.faults.packets[acknowledged].references -= 1
            else:
                release(network, row.message)
        packet = acknowledged


# Channels.


@text
def back_of(network: Network, channel: Channel) -> Channel:
    return network.channels[channel].reverse


@text
def repeats_on(network: Network, channel: Channel) -> bool:
    return network.faults.law[0].attempts > 0  # type: ignore[no-any-return]


@text
def repeating_channel(network: Network, channel: Channel) -> Channel:
    return channel


@text
def transmission_of(network: Network, channel: Channel, size: int) -> int:
    duration = 0
    if network.state[BANDWIDTH] > 0:
        duration = (size * 8_000_000_000 + network.state[BANDWIDTH] - 1) // network.state[BANDWIDTH]
    return duration


@text
def book(network: Network, channel: Channel, slot: int, now: int) -> None:
    row = network.channels[channel]
    if row.booked != slot:
        row.booked = slot
        place = network.state[BOOKINGS]
        network.booked[place, 0] = row.link
        network.booked[place, 1] = slot
        network.state[BOOKINGS] = place + 1


# Time, and what goes wrong.


@text
def now_of(network: Network) -> int:
    return network.state[NOW]  # type: ignore[no-any-return]


@text
def end_of(network: Network) -> int:
    return network.state[END]  # type: ignore[no-any-return]


@text
def slot_of(network: Network, time: int) -> int:
    return time // network.state[SLOT_NS]  # type: ignore[no-any-return]


@text
def drawn(network: Network, channel: Channel, column: int, otherwise: int) -> int:
    """Return what the message that was put on *channel* last has drawn, or *otherwise* if it draws nothing."""
    number = otherwise
    if column >= 0:
        numbers = network.faults.numbers
        number = numbers[channel, (network.channels[channel].messages - 1) % numbers.shape[1], column]
    return number


@text
def loss_number_of(network: Network, channel: Channel) -> float:
    return drawn(network, channel, network.faults.law[0].loss_at, 1 << 53) * UNIT


@text
def jitter_of(network: Network, channel: Channel) -> int:
    return drawn(network, channel, network.faults.law[0].jitter_at, 0)


@text
def duplicate_number_of(network: Network, channel: Channel) -> float:
    return drawn(network, channel, network.faults.law[0].duplicate_at, 1 << 53) * UNIT


@text
def copy_jitter_of(network: Network, channel: Channel) -> int:
    return drawn(network, channel, network.faults.law[0].copy_at, 0)


@text
def spread_number_of(network: Network, packet: Packet) -> float:
    return network.faults.packets[packet].spread  # type: ignore[no-any-return]


@text
def timeout_factor(network: Network, channel: Channel, repetition: int) -> float:
    return network.faults.factors[repetition]  # type: ignore[no-any-return]


@text
def is_bad(network: Network, channel: Channel, time: int) -> bool:
    stay, switches = network.faults.stays[channel], network.faults.switches
    at = stay.next
    while at < stay.last and switches[at] <= time:
        at += 1
        stay.is_bad ^= 1
    stay.next = at
    return stay.is_bad != 0  # type: ignore[no-any-return]


@text
def last_before(times: Integers, first: int, last: int, column: int, time: int) -> int:
    """Return how many of the rows from *first* to before *last* have a time (ns) in a *column* of up to *time*."""
    low = first
    high = last
    while low < high:
        middle = (low + high) >> 1
        if times[middle, column] <= time:
            low = middle + 1
        else:
            high = middle
    return low - first


@text
def is_link_down(network: Network, channel: Channel, begin: int, end: int) -> bool:
    down = False
    if len(network.faults.first_cuts) > 0:
        link = network.channels[channel].link
        first = network.faults.first_cuts[link]
        begun = last_before(network.faults.cuts, first, network.faults.first_cuts[link + 1], 0, end)
        down = begun > 0 and network.faults.cuts[first + begun - 1, 1] > begin
    return down


@text
def is_node_down(network: Network, node: int, begin: int, end: int) -> bool:
    first = network.faults.first_absences[node]
    begun = last_before(network.faults.absences, first, network.faults.first_absences[node + 1], 0, end)
    return begun > 0 and network.faults.absences[first + begun - 1, 1] > begin


@text
def up_again(network: Network, node: int, time: int) -> int:
    """Return when (ns) *node* is up that is down at a *time*; if it is up then, that time."""
    first = network.faults.first_absences[node]
    begun = last_before(network.faults.absences, first, network.faults.first_absences[node + 1], 0, time)
    up = time
    if begun > 0:
        up = max(time, network.faults.absences[first + begun - 1, 1])
    return up


@text
def loses_memory(network: Network) -> bool:
    """Return whether a node that comes back knows nothing."""
    return network.faults.state[LOSES_MEMORY] == 1  # type: ignore[no-any-return]


@text
def life_of(network: Network, node: int, time: int) -> int:
    life = 0
    if loses_memory(network):
        first, last = network.faults.first_absences[node], network.faults.first_absences[node + 1]
        life = last_before(network.faults.absences, first, last, 1, time)
    return life


# What is counted.


@text
def code_of(network: Network, kind: Kind) -> int:
    return network.kinds[kind].code  # type: ignore[no-any-return]


@text
def acknowledgement(network: Network) -> Kind:
    return 2 * network.faults.law[0].kinds


@text
def is_acknowledgement(network: Network, kind: Kind) -> bool:
    return kind == 2 * network.faults.law[0].kinds  # type: ignore[no-any-return]


@text
def repetition(network: Network, kind: Kind) -> Kind:
    return kind + network.faults.law[0].kinds


@text
def count(network: Network, kind: Kind, size: int, messages: int) -> None:
    row = network.kinds[kind]
    row.messages += messages
    row.bytes += messages * size


@text
def count_acknowledgement(network: Network) -> None:
    count(network, acknowledgement(network), ACK_BYTES, 1)


@text
def record(network: Network, time: int, node: int, code: int, size: int) -> None:
    event = network.state[EVENTS]
    network.events[event, 0] = time
    network.events[event, 1] = node
    network.events[event, 2] = code
    network.events[event, 3] = size
    network.state[EVENTS] = event + 1


# What is under way.


@text
def deliver_at(
    network: Network,
    arrival: int,
    channel: Channel,
    kind: Kind,
    size: int,
    message: Message,
    packet: Packet,
    waits: int,
) -> None:
    row = expect(network, channel, message, arrival)
    if FAULTY:
        carried = network.faults.carried[row]
        carried.packet = packet
        carried.kind = kind
        carried.waits = waits
        if packet >= 0:
            network.faults.packets[packet].references += 1
    if FAULTY and is_acknowledgement(network, kind):
        network.faults.packets[message].references += 1
    else:
        network.messages[message].references += 1


@text
def wake_at(network: Network, time: int, packet: Packet, channel: Channel) -> None:
    set_timer(network, time, packet, channel)
    network.faults.packets[packet].references += 1


@text
def set_timer(network: Network, time: int, packet: Packet, channel: Channel) -> None:
    """Have a sender stop waiting at a time (ns), for which there is room."""
    network.state[SERIAL] += 1
    timers, number = network.faults.timers, network.faults.state[TIMERS]
    push(timers, number, min(time, NEVER - 1), network.state[SERIAL], packet, channel)
    network.faults.state[TIMERS] = number + 1
