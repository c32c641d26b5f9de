"""Store, carry, forward: messages wait for their link, where agents see which of their links are up."""

from typing import TYPE_CHECKING

from netbandit.network.calendar import NEVER
from netbandit.network.link import Channel, FaultyChannel
from netbandit.network.message import Message
from netbandit.network.metering import (
    count,
    never_begin,
    note,
    note_under_way,
    occupy,
    pay_to_send,
    write_trace,
)

if TYPE_CHECKING:
    from netbandit.network.network import Network


def next_start(network: "Network", channel: Channel, time: int) -> int:
    """Return when (ns) a message that is ready at *time* may start on *channel*: as soon as its link is up.

    Slotted, at the first boundary at which it is up. `NEVER`, or a time from the horizon on: not in time, as a link may
    come up again and again, and never at a boundary.
    """
    if channel.up_from <= time < channel.up_until:  # in the contact looked up last, as in most calls
        return time
    assert isinstance(channel, FaultyChannel)  # all are where links come and go
    up = channel.contacts.up(time)
    if network.waits_for_slots and up != time:
        slot = network.slot
        while up < network.end and not (up % slot == 0 and channel.contacts.up(int(up)) == up):
            up = channel.contacts.up(int(-(-up // slot)) * slot)
    start = int(min(up, NEVER))
    channel.up_from = start
    channel.up_until = int(min(channel.contacts.down(start), NEVER)) if start < NEVER else NEVER
    return start


def contact_end(channel: Channel, time: int) -> int:
    """Return when (ns) the link of *channel*, up at a *time*, goes down next; `NEVER`: never."""
    if channel.up_from <= time < channel.up_until:
        return channel.up_until
    return int(min(channel.contacts.down(time), NEVER))


def start_in_contact(
    network: "Network", channel: Channel, message: Message, put_at: int, start: int, slot: int, duration: int
) -> int:
    """Return when (ns) a message starts that could start at *start* if its link were always up; `NEVER`: not at all.

    It waits for its link. If that goes down before the message is due, its sender sees it, and sends it again once the
    link is up again; each attempt is a message. When the horizon has come, or `Network.carry` is over, it is not
    started.
    """
    first = True
    begin, tried = next_start(network, channel, start), -1
    while begin != tried:
        tried = begin
        begin = try_in_contact(network, channel, message, put_at, tried, first, slot, duration)
        first = False
    if begin != NEVER:
        note_wait(network, begin - start)
    return begin


def try_in_contact(
    network: "Network",
    channel: Channel,
    message: Message,
    put_at: int,
    start: int,
    first: bool,
    slot: int,
    duration: int,
) -> int:
    """Try a message that was put on its channel at *put_at* (ns), at *start*, with its link up; *first*: never before.

    Return *start*: it gets through; else when its link comes up again (ns); or `NEVER`: it is given up.
    """
    last = latest_start(network, put_at)
    if start >= last or network.is_down_during(channel.sender, put_at, start):
        if first:
            never_begin(network, channel, message, put_at, "unsent")
        return NEVER
    over = contact_end(channel, start)
    if over > start + duration + channel.latency:
        return start
    cut_off(network, channel, message, put_at, start, over, slot, duration)
    again = next_start(network, channel, over)
    return again if again < last else NEVER


def latest_start(network: "Network", put_at: int) -> int:
    """Return the time (ns) from which on a message that was put on its channel at *put_at* is started no more."""
    return network.end if network.carry >= network.end - put_at else put_at + network.carry + 1


def note_wait(network: "Network", waited: int) -> None:
    """Count a message that has waited so long (ns) for its link, and starts."""
    network.waiting.waited += waited
    network.waiting.started += 1


def cut_off(
    network: "Network", channel: Channel, message: Message, put_at: int, start: int, over: int, slot: int, duration: int
) -> None:
    """Count a message that its sender sees cut off, as its link goes down at *over* (ns).

    If that is not before the end, it is under way then.
    """
    faults = channel.faults
    channel.messages += 1
    channel.bytes += message.size
    sent = start + duration
    lost = over < network.end
    on_the_link = min(sent, over, network.end) - start
    if duration:
        occupy(channel, start - put_at, on_the_link)
    if lost:
        note(channel, "lost", message.size)
        network.waiting.cut_off += 1
    else:
        note_under_way(channel, message.size, on_the_link)
    pay_to_send(network, channel, message.size, on_the_link)
    channel.link.activate_ahead(start // network.slot, slot)
    # It draws what every message draws, so that later ones are as they are.
    if faults.jitters:
        next(channel.jitters)
    if faults.loses:
        next(channel.losses)
    if faults.duplicate:
        next(channel.duplicates)
        if faults.jitters:
            next(channel.copy_jitters)
    count(network, message.kind, message.size, 1)
    write_trace(network, channel, message, put_at, start, sent + channel.latency, lost)


def received_from(network: "Network", channel: Channel, put_at: int, start: int, arrival: int) -> int:
    """Return when (ns) the receiver takes in a message that has waited for its link, and arrives at *arrival*.

    Slotted, a transmission from a boundary takes effect at the next one at the earliest. But its hop began when it was
    handed over; so if it arrives at the boundary at which it has started, it is taken in a nanosecond later, and what
    follows on the channel not before it.
    """
    if network.waits_for_slots and start > put_at and arrival == start:
        arrival = start + 1
    if not channel.faults.jitters:
        arrival = channel.latest = max(arrival, channel.latest)
    return arrival
