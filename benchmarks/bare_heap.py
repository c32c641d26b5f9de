"""A bare compiled flood: a binary heap of all messages and counts of each link, as fast as such a loop gets.

No fingerprint, no ties, no slots, no activations, nothing that stops it: what `messages` compares compiled rounds with.
"""

import numpy as np
from numpy.typing import NDArray

from netbandit.util.jit import njit

Integers = NDArray[np.int64]


@njit(cache=True)
def flood(starts: Integers, near: Integers, latencies: Integers, most: int) -> int:
    """Let every node flood an item; return how many messages were delivered.

    Args:
        starts: Where in *near* the neighbours of each node begin, and where those of the last end.
        near: The neighbours of all nodes.
        latencies: For each entry of *near* the latency (ns) to that neighbour.
        most: How many messages are under way at most.
    """
    agents = len(starts) - 1
    times, channels, items = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    senders = np.empty(len(near), np.int64)
    messages = np.zeros(len(near), np.int64)
    known = np.zeros((agents, agents), np.uint8)
    size = 0
    delivered = 0
    for node in range(agents):
        known[node, node] = 1
        for channel in range(starts[node], starts[node + 1]):
            senders[channel] = node
            size = _push(times, channels, items, size, latencies[channel], channel, node)
            messages[channel] += 1
    while size:
        now, came, item = times[0], channels[0], items[0]
        size = _pop(times, channels, items, size)
        delivered += 1
        node = near[came]
        if not known[node, item]:
            known[node, item] = 1
            for channel in range(starts[node], starts[node + 1]):
                if near[channel] != senders[came]:
                    size = _push(times, channels, items, size, now + latencies[channel], channel, item)
                    messages[channel] += 1
    return delivered


@njit(cache=True)
def _push(times: Integers, channels: Integers, items: Integers, size: int, time: int, channel: int, item: int) -> int:
    index = size
    while index > 0:
        above = (index - 1) >> 1
        if times[above] <= time:
            break
        times[index], channels[index], items[index] = times[above], channels[above], items[above]
        index = above
    times[index], channels[index], items[index] = time, channel, item
    return size + 1


@njit(cache=True)
def _pop(times: Integers, channels: Integers, items: Integers, size: int) -> int:
    last = size - 1
    time, channel, item = times[last], channels[last], items[last]
    index = 0
    while True:
        below = 2 * index + 1
        if below >= last:
            break
        if below + 1 < last and times[below + 1] < times[below]:
            below += 1
        if times[below] >= time:
            break
        times[index], channels[index], items[index] = times[below], channels[below], items[below]
        index = below
    times[index], channels[index], items[index] = time, channel, item
    return last
