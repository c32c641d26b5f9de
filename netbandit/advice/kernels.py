"""Compiled loops over all links that a network does not have."""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from netbandit.advice.round_times import NEVER


@njit(cache=True)
def longest_with_link(table, first, second, candidates, times):  # type: ignore[no-untyped-def]
    """Return the largest distance with each candidate, shape (k,); see `netbandit.advice.what_if.longest_with_link`."""
    found = np.empty(len(candidates), dtype=np.int64)
    for place in range(len(candidates)):
        one, other, time = candidates[place, 0], candidates[place, 1], times[place]
        longest = np.int64(0)
        for pair in range(len(first)):
            here, there = first[pair], second[pair]
            distance = table[here, there]
            if distance <= longest:
                break
            over = min(table[here, one] + table[other, there], table[here, other] + table[one, there]) + time
            longest = max(longest, min(distance, over))
        found[place] = longest
    return found


@njit(cache=True)
def eccentricities_with_link(table, one, other):  # type: ignore[no-untyped-def]
    """Return each node's largest distance in hops when the link (*one*, *other*) is added, shape (n,)."""
    agents = len(table)
    found = np.zeros(agents, dtype=np.int64)
    for here in range(agents):
        largest = np.int64(0)
        forth, back = table[here, one] + 1, table[here, other] + 1
        for there in range(agents):
            distance = min(table[here, there], forth + table[other, there], back + table[one, there])
            if distance > largest:
                largest = distance
        found[here] = largest
    return found


class Hops(NamedTuple):
    """The links of a network, from each of their ends; n nodes, L links.

    Attributes:
        starts: The neighbours of node v are ``neighbours[starts[v]:starts[v + 1]]``, shape (n + 1,).
        neighbours: See above, shape (2 L,).
        latencies: Of each of these hops the nanoseconds of an advertisement,
        times: and those until its handshake is complete.
    """

    starts: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    latencies: NDArray[np.int64]
    times: NDArray[np.int64]


class Ways(NamedTuple):
    """How items get to nodes, by source and node, each of shape (n, n).

    Attributes:
        complete: When (ns) the node has the item; `NEVER` if it does not get it.
        told: When it is first told of it.
        teller: By whom; -1 by nobody.
    """

    complete: NDArray[np.int64]
    told: NDArray[np.int64]
    teller: NDArray[np.int64]


@njit(cache=True)
def _follow(hops, ways, source, one, other, latency, time, limit):  # type: ignore[no-untyped-def]
    """Follow the item of *source* in a round of gis; see `netbandit.advice.round_times.handshakes`.

    Args:
        hops: The links.
        ways: Filled in, row 0 only, where nobody has it yet.
        source: Whose item it is.
        one: One end of a link that is not in the graph, or of one that is left out.
        other: Its other end.
        latency: Nanoseconds of that link; below 0: it is in the graph, and left out.
        time: Nanoseconds of a handshake over it.
        limit: Follow the item no further than to this time (ns).

    Returns:
        When the last node has it, as far as it was followed; how many nodes were reached.
    """
    complete = ways.complete[0]
    longest = np.int64(0)
    reached = 0
    advertised = [(np.int64(0), np.int64(-1), np.int64(source), np.int64(0))]
    while advertised and reached < len(complete) and longest <= limit:
        when, sender, node, then = heappop(advertised)
        if complete[node] < NEVER:
            continue
        complete[node], ways.told[0, node], ways.teller[0, node] = then, when, sender
        reached += 1
        longest = max(longest, then)
        opposite = np.int64(other if node == one else one if node == other else -1)
        for place in range(hops.starts[node], hops.starts[node + 1]):
            near = hops.neighbours[place]
            if complete[near] == NEVER and (latency >= 0 or near != opposite):
                heappush(advertised, (then + hops.latencies[place], np.int64(node), near, then + hops.times[place]))
        if latency >= 0 and opposite >= 0 and complete[opposite] == NEVER:
            heappush(advertised, (then + latency, np.int64(node), opposite, then + time))
    return longest, reached


@njit(cache=True)
def _no_ways(sources, agents):  # type: ignore[no-untyped-def]
    """Return room for the ways of the items of so many *sources*, which nobody has."""
    return Ways(
        np.full((sources, agents), NEVER, dtype=np.int64),
        np.full((sources, agents), NEVER, dtype=np.int64),
        np.full((sources, agents), -1, dtype=np.int64),
    )


@njit(cache=True)
def follow_all(hops):  # type: ignore[no-untyped-def]
    """Return the ways of the items of all nodes."""
    agents = len(hops.starts) - 1
    ways = _no_ways(agents, agents)
    for source in range(agents):
        row = slice(source, source + 1)
        own = Ways(ways.complete[row], ways.told[row], ways.teller[row])
        _follow(hops, own, source, -1, -1, -1, 0, NEVER)
    return ways


@njit(cache=True)
def handshake_with_link(hops, ways, sources, one, other, latency, time, limit):  # type: ignore[no-untyped-def]
    """Return how long a round of gis takes with the link (*one*, *other*) more; beyond *limit*, that it does.

    Only items that an end of it is told of over it, before or when it is told without it, can take another time.

    Args:
        hops: The links without it.
        ways: The ways without it.
        sources: All nodes, those whose items take longest first.
        one: One end.
        other: The other.
        latency: Its nanoseconds.
        time: Nanoseconds of a handshake over it.
        limit: See above (ns).
    """
    longest = np.int64(0)
    for source in sources:
        complete, told = ways.complete[source], ways.told[source]
        last = complete.max()
        forth = complete[one] < NEVER and complete[one] + latency <= told[other]
        if forth or (complete[other] < NEVER and complete[other] + latency <= told[one]):
            last, _ = _follow(hops, _no_ways(1, len(complete)), source, one, other, latency, time, limit)
        longest = max(longest, last)
        if longest > limit:
            break
    return longest


@njit(cache=True)
def handshake_without_link(hops, ways, sources, one, other):  # type: ignore[no-untyped-def]
    """Return how long a round of gis takes without the link (*one*, *other*), `NEVER` if it never ends.

    Only items that one of its ends was first told of by the other can take another time. See `handshake_with_link`.
    """
    agents = len(hops.starts) - 1
    longest = np.int64(0)
    for source in sources:
        last = ways.complete[source].max()
        if ways.teller[source, one] == other or ways.teller[source, other] == one:
            last, reached = _follow(hops, _no_ways(1, agents), source, one, other, -1, 0, NEVER)
            if reached < agents:
                return NEVER
        longest = max(longest, last)
    return longest
