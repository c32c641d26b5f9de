"""What nodes of a flood say: the same to all their neighbours but those that told them; compiled.

So what a node says is written down once, in order, and each of its channels keeps the place up to which it has brought
that.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.kernels.compiled import inlined
from netbandit.simulation.kernels.fresh_items import Fresh
from netbandit.simulation.kernels.traffic import (
    ACTIVATIONS,
    BANDWIDTH,
    BYTES,
    FIRST,
    FREE_AT,
    KIND_BYTES,
    KIND_MESSAGES,
    LATENCY,
    LATEST,
    LINK,
    MESSAGES,
    NOW,
    REVERSE,
    SLOT,
    Traffic,
    expect,
    queue,
)

# Places in `Flood.round`.
NUMBER, MISSING, COPIES, CAPACITY, ALONE = range(5)
ROUND_NUMBERS = 5

# Columns of `Flood.said`: when, what, how many bytes, and the channel that is left out; `NOBODY`: none is; below that:
# several, in the list that begins at ``NOBODY - 1 - left_out`` of `Flood.copies`.
TIME, LABEL, SIZE, LEFT_OUT = range(4)
NOBODY = -1

# Columns of `Flood.nodes`: what a node has said so far, how much of that belongs to earlier rounds, on how many of its
# channels something is under way, a slot in which all its links are active, and the bytes of all it has said.
SAID, EARLIER, BUSY, ACTIVE, SAID_BYTES = range(5)


class Flood(NamedTuple):
    """One round, and what is under way of earlier ones; n agents.

    Attributes:
        round: The number of the round that goes on, 0 for none; the pairs of an agent and an item that it lacks; how
            many entries `copies` has; how many rows of `said` each node has, a power of 2; and whether messages that
            reach nodes alone may be delivered one by one, see `lone_messages`.
        state: Whether agent v lacks, has just got or has passed on the item of agent u: place v n + u.
        sizes: The bytes of the messages that carry each agent's item, shape (n,).
        said: A row for everything that a node says; node v has those from v times their number on, as a ring.
        nodes: A row a node, see above.
        copies: Lists of channels that are left out: channel, and where the list goes on.
        fresh: What is new to a node, and who told of it.
    """

    round: NDArray[np.int64]
    state: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    said: NDArray[np.int64]
    nodes: NDArray[np.int64]
    copies: NDArray[np.int64]
    fresh: Fresh


@inlined
def _is_left_out(flood: Flood, row: int, channel: int) -> bool:
    """Return whether what is in *row* of what is said is not for *channel*."""
    left_out = flood.said[row, LEFT_OUT]
    if left_out >= NOBODY:
        return bool(left_out == channel)
    place = NOBODY - 1 - left_out
    while place >= 0:
        if flood.copies[place, 0] == channel:
            return True
        place = flood.copies[place, 1]
    return False


@inlined
def next_said(flood: Flood, node: int, channel: int, place: int) -> int:
    """Return the place, from *place* on, of what *node* says next to *channel*; its last if that is all."""
    capacity = flood.round[CAPACITY]
    last = flood.nodes[node, SAID]
    while place < last and _is_left_out(flood, node * capacity + (place & (capacity - 1)), channel):
        place += 1
    return place


@inlined
def add_left_out(flood: Flood, left_out: int, channel: int) -> int:
    """Return what says that *channel* is left out beside what *left_out* says."""
    copy = flood.round[COPIES]
    before = NOBODY - 1 - left_out
    if left_out > NOBODY:
        flood.copies[copy, 0] = left_out
        flood.copies[copy, 1] = -1
        before = copy
        copy += 1
    flood.copies[copy, 0] = channel
    flood.copies[copy, 1] = before
    flood.round[COPIES] = copy + 1
    return int(NOBODY - 1 - copy)


@inlined
def start(traffic: Traffic, channel: int, size: int, said: int) -> bool:
    """Let what was said have its turn on a channel of limited bandwidth, and count it; return whether it is sent."""
    if not queue(traffic, channel, size, said):
        return False
    traffic.channels[channel, MESSAGES] += 1
    traffic.channels[channel, BYTES] += size
    traffic.kinds[0, KIND_MESSAGES] += 1
    traffic.kinds[0, KIND_BYTES] += size
    return True


@inlined
def take_off(traffic: Traffic, channel: int, size: int) -> None:
    """Note that what a node says next is not for *channel*."""
    if traffic.state[BANDWIDTH] == 0:
        traffic.channels[channel, MESSAGES] -= 1
        traffic.channels[channel, BYTES] -= size


@inlined
def say(traffic: Traffic, flood: Flood, node: int, label: int, left_out: int, omitted: int) -> None:
    """Let *node* pass on an item, on all channels but those that are left out, of which there are so many."""
    state, channels, nodes = traffic.state, traffic.channels, flood.nodes
    now, slot = state[NOW], state[SLOT]
    place = nodes[node, SAID]
    row = node * flood.round[CAPACITY] + (place & (flood.round[CAPACITY] - 1))
    size = flood.sizes[label]
    first, last = traffic.starts[node], traffic.starts[node + 1]
    limited = state[BANDWIDTH] > 0
    flood.said[row, TIME] = now
    flood.said[row, LABEL] = label
    flood.said[row, SIZE] = size
    flood.said[row, LEFT_OUT] = left_out
    nodes[node, SAID] = place + 1
    if nodes[node, BUSY] < last - first or (not limited and nodes[node, ACTIVE] != slot):
        active = True
        for index in range(first, last):
            channel = traffic.out[index]
            link = channels[channel, LINK]
            if channel == left_out or (left_out < NOBODY and flood.fresh.told_by[channel]):
                active = active and traffic.links[link, LATEST] == slot
                continue
            if not limited and traffic.links[link, LATEST] != slot:
                traffic.links[link, LATEST] = slot
                traffic.links[link, ACTIVATIONS] += 1
            if channels[channel, FIRST] < 0:
                arrival = now + channels[channel, LATENCY]
                if limited:
                    if not start(traffic, channel, size, now):
                        continue
                    arrival = channels[channel, FREE_AT] + channels[channel, LATENCY]
                channels[channel, FIRST] = place
                nodes[node, BUSY] += 1
                expect(traffic, channel, arrival)
        if active:
            nodes[node, ACTIVE] = slot
    if not limited:
        sent = last - first - omitted
        nodes[node, SAID_BYTES] += size
        traffic.kinds[0, KIND_MESSAGES] += sent
        traffic.kinds[0, KIND_BYTES] += sent * size


@inlined
def say_back(traffic: Traffic, flood: Flood, node: int, label: int, channel: int) -> None:
    """Let *node* pass on an item that *channel* alone has brought, to all but who told of it."""
    back = traffic.channels[channel, REVERSE]
    take_off(traffic, back, flood.sizes[label])
    say(traffic, flood, node, label, back, 1)
