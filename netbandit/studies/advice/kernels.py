"""Compiled loops over all absent links of a network."""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.studies.advice.round_times import NEVER
from netbandit.studies.advice.timed_graph import TimedGraph
from netbandit.util.jit import Integers, njit


@njit(cache=True)
def longest_with_link(
    table: Integers, first: Integers, second: Integers, candidates: Integers, times: Integers
) -> Integers:
    """Return the largest distance with each candidate, shape (k,); see `netbandit.studies.advice.flooding_time`."""
    found = np.empty(len(candidates), dtype=np.int64)
    for index in range(len(candidates)):
        one, other, time = candidates[index, 0], candidates[index, 1], times[index]
        longest = np.int64(0)
        for pair in range(len(first)):
            here, there = first[pair], second[pair]
            distance = table[here, there]
            if distance <= longest:
                break
            over = min(table[here, one] + table[other, there], table[here, other] + table[one, there]) + time
            longest = max(longest, min(distance, over))
        found[index] = longest
    return found


@njit(cache=True)
def eccentricities_with_link(table: Integers, one: int, other: int) -> Integers:
    """Return each node's largest distance in hops, within its component, when the link (*one*, *other*) is added."""
    agents = len(table)
    found = np.zeros(agents, dtype=np.int64)
    for here in range(agents):
        largest = np.int64(0)
        forth, back = table[here, one] + 1, table[here, other] + 1
        for there in range(agents):
            distance = min(table[here, there], forth + table[other, there], back + table[one, there])
            if largest < distance < NEVER:
                largest = distance
        found[here] = largest
    return found


class Hops(NamedTuple):
    """The links of a network, from each of their ends; n nodes, L links.

    Attributes:
        starts: The neighbours of node v are ``neighbours[starts[v]:starts[v + 1]]``, shape (n + 1,).
        neighbours: See above, shape (2 L,).
        latencies: Of each of these hops the nanoseconds of a message,
        times: and those until all that the hop takes is complete, a handshake, say.
    """

    starts: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    latencies: NDArray[np.int64]
    times: NDArray[np.int64]


def hops_of(graph: TimedGraph, trips: int = 1) -> Hops:
    """Return the hops of a network, each of which crosses its link *trips* times."""
    edges = graph.topology.edges
    ends = np.concatenate([edges, edges[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    counts = np.bincount(ends[:, 0], minlength=graph.topology.agents)
    starts = np.concatenate([[0], np.cumsum(counts)])
    latencies, times = np.tile(graph.latencies, 2), np.tile(graph.hop_times(trips), 2)
    return Hops(starts, ends[order, 1], latencies[order], times[order])


class Ways(NamedTuple):
    """The paths of items to nodes, by source and node, each array of shape (n, n).

    Attributes:
        complete: When (ns) the node has the item; `NEVER` if it does not get it.
        advertised: When the item is first advertised to it.
        teller: The advertising node; -1 if there is none.
    """

    complete: NDArray[np.int64]
    advertised: NDArray[np.int64]
    teller: NDArray[np.int64]


@njit(cache=True)
def _follow(
    hops: Hops, ways: Ways, source: int, one: int, other: int, latency: int, time: int, limit: int
) -> tuple[np.int64, int]:
    """Simulate the item of *source* in a round of gis; see `netbandit.studies.advice.round_times.handshakes`.

    Args:
        hops: The links.
        ways: Output, row 0 only, initially without arrivals.
        source: The source of the item.
        one: One end of a link that is to be added, or of one that is to be removed.
        other: Its other end.
        latency: Nanoseconds of the added link; below 0: the link is removed.
        time: Nanoseconds of a handshake over it.
        limit: Stop the simulation at this time (ns).

    Returns:
        The time at which the last node has the item, within the limit; the number of nodes reached.
    """
    complete = ways.complete[0]
    longest = np.int64(0)
    reached = 0
    advertised = [(np.int64(0), np.int64(-1), np.int64(source), np.int64(0))]
    while advertised and reached < len(complete) and longest <= limit:
        when, sender, node, then = heappop(advertised)
        if complete[node] < NEVER:
            continue
        complete[node], ways.advertised[0, node], ways.teller[0, node] = then, when, sender
        reached += 1
        longest = max(longest, then)
        opposite = np.int64(other if node == one else one if node == other else -1)
        for index in range(hops.starts[node], hops.starts[node + 1]):
            near = hops.neighbours[index]
            if complete[near] == NEVER and (latency >= 0 or near != opposite):
                heappush(advertised, (then + hops.latencies[index], np.int64(node), near, then + hops.times[index]))
        if latency >= 0 and opposite >= 0 and complete[opposite] == NEVER:
            heappush(advertised, (then + latency, np.int64(node), opposite, then + time))
    return longest, reached


@njit(cache=True)
def _no_ways(sources: int, agents: int) -> Ways:
    """Return empty paths for the items of this many *sources*."""
    return Ways(
        np.full((sources, agents), NEVER, dtype=np.int64),
        np.full((sources, agents), NEVER, dtype=np.int64),
        np.full((sources, agents), -1, dtype=np.int64),
    )


@njit(cache=True)
def follow_all(hops: Hops) -> Ways:
    """Return the paths of the items of all nodes."""
    agents = len(hops.starts) - 1
    ways = _no_ways(agents, agents)
    for source in range(agents):
        row = slice(source, source + 1)
        own = Ways(ways.complete[row], ways.advertised[row], ways.teller[row])
        _follow(hops, own, source, -1, -1, -1, 0, NEVER)
    return ways


@njit(cache=True)
def handshake_with_link(
    hops: Hops, ways: Ways, sources: Integers, one: int, other: int, latency: int, time: int, limit: int
) -> np.int64:
    """Return the time of a round of gis with the link (*one*, *other*) added, or any larger time if above *limit*.

    Only items that one of its ends receives over it, no later than it would without it, can take another time.

    Args:
        hops: The links without it.
        ways: The paths without it.
        sources: All nodes, in descending order of the time their items take.
        one: One end.
        other: The other.
        latency: Its nanoseconds.
        time: Nanoseconds of a handshake over it.
        limit: See above (ns).
    """
    longest = np.int64(0)
    for source in sources:
        complete, advertised = ways.complete[source], ways.advertised[source]
        last = complete.max()
        forth = complete[one] < NEVER and complete[one] + latency <= advertised[other]
        if forth or (complete[other] < NEVER and complete[other] + latency <= advertised[one]):
            last, _ = _follow(hops, _no_ways(1, len(complete)), source, one, other, latency, time, limit)
        longest = max(longest, last)
        if longest > limit:
            break
    return longest


@njit(cache=True)
def handshake_without_link(hops: Hops, ways: Ways, sources: Integers, one: int, other: int) -> int | np.int64:
    """Return the time of a round of gis without the link (*one*, *other*), `NEVER` if it never ends.

    Only items that one of its ends first received from the other can take another time. See `handshake_with_link`.
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


@njit(cache=True)
def changed(hops: Hops, one: int, other: int, latency: int, time: int) -> Hops:
    """Return *hops* with one link added or removed; see `_follow` for the arguments."""
    agents, more = len(hops.starts) - 1, 2 if latency >= 0 else -2
    starts = np.empty_like(hops.starts)
    neighbours = np.empty(len(hops.neighbours) + more, dtype=np.int64)
    latencies, times = np.empty_like(neighbours), np.empty_like(neighbours)
    filled = 0
    for node in range(agents):
        starts[node] = filled
        opposite = other if node == one else one if node == other else -1
        adds = latency >= 0 and opposite >= 0
        for index in range(hops.starts[node], hops.starts[node + 1]):
            near = hops.neighbours[index]
            if adds and opposite < near:
                neighbours[filled], latencies[filled], times[filled] = opposite, latency, time
                filled += 1
                adds = False
            if latency >= 0 or near != opposite:
                neighbours[filled], latencies[filled], times[filled] = near, hops.latencies[index], hops.times[index]
                filled += 1
        if adds:
            neighbours[filled], latencies[filled], times[filled] = opposite, latency, time
            filled += 1
    starts[agents] = filled
    return Hops(starts, neighbours, latencies, times)


@njit(cache=True)
def _breadth_first(hops: Hops, root: int, most: int, distance: Integers, order: Integers) -> int:
    """Find the nodes within *most* hops of *root*; return their number.

    Args:
        hops: The links.
        root: The node.
        most: The largest distance; below 0: unlimited.
        distance: Output: the distance of each node in hops, -1 if it is farther away, shape (n,).
        order: Output: the nodes found, the nearest first, shape (n,).
    """
    distance[:] = -1
    distance[root] = 0
    order[0] = root
    found, looked_at = 1, 0
    while looked_at < found:
        node = order[looked_at]
        looked_at += 1
        if distance[node] == most:
            break
        for index in range(hops.starts[node], hops.starts[node + 1]):
            near = hops.neighbours[index]
            if distance[near] < 0:
                distance[near] = distance[node] + 1
                order[found] = near
                found += 1
    return found


@njit(cache=True)
def _along_tree(hops: Hops, distance: Integers, order: Integers, found: int, when: Integers) -> np.int64:
    """Fill in *when* (ns) an item along the breadth-first tree reaches each node; return the last of these times.

    The parent of a node is the lowest-numbered of its neighbours that are nearer to the root. See `_breadth_first`.
    """
    last = when[order[0]] = np.int64(0)
    for index in range(1, found):
        node = order[index]
        hop = hops.starts[node]
        while distance[hops.neighbours[hop]] != distance[node] - 1:
            hop += 1
        when[node] = when[hops.neighbours[hop]] + hops.times[hop]
        last = max(last, when[node])
    return last


@njit(cache=True)
def last_by_tree(hops: Hops, source: int, most: int) -> int | np.int64:
    """Return when (ns) an item along the breadth-first tree of *source* reaches its last node, with a limit of hops.

    Args:
        hops: The links.
        source: The node that sends it.
        most: See above; below 0: it goes to all, and `NEVER` is returned where it does not reach all.
    """
    agents = len(hops.starts) - 1
    distance, order, when = np.empty((3, agents), dtype=np.int64)
    found = _breadth_first(hops, source, most, distance, order)
    if most < 0 and found < agents:
        return NEVER
    return _along_tree(hops, distance, order, found, when)


@njit(cache=True)
def last_by_flood(hops: Hops, source: int, most: int) -> int | np.int64:
    """Return when (ns) a flood of *source* reaches its last node, with a limit of hops.

    Each copy is followed as `netbandit.protocols.local_flood` says: of those that reach a node at once the one that may
    go furthest counts; it goes on if it may go further than any before, to all but those it has come from. `NEVER` is
    returned if a node that is near enough does not hear it.
    """
    agents = len(hops.starts) - 1
    distance, order, left = np.empty((3, agents), dtype=np.int64)
    near_enough = _breadth_first(hops, source, most, distance, order)
    left[:] = -1
    last, heard = np.int64(0), 0
    # When it is there, after how many hops that took no time, at which node, from whom, and how many hops it may go on.
    copies = [(np.int64(0), np.int64(0), np.int64(source), np.int64(-1), np.int64(most))]
    while copies:
        when, wave, node, sender, furthest = heappop(copies)
        senders = [sender]
        while copies and copies[0][:3] == (when, wave, node):
            _, _, _, sender, hops_left = heappop(copies)
            senders.append(sender)
            furthest = max(furthest, hops_left)
        if furthest <= left[node]:
            continue
        if left[node] < 0:
            heard += 1
            last = max(last, when)
        left[node] = furthest
        if furthest > 0:
            for index in range(hops.starts[node], hops.starts[node + 1]):
                near, time = hops.neighbours[index], hops.times[index]
                if near not in senders:
                    next_wave = wave + 1 if time == 0 else np.int64(0)
                    heappush(copies, (when + time, next_wave, near, np.int64(node), furthest - 1))
    return last if heard == near_enough else NEVER


@njit(cache=True)
def sink_round(hops: Hops, eccentricities: Integers, uplinks: Integers, gis: bool) -> np.int64:
    """Return the time (ns) of a round of sink.

    Args:
        hops: The links.
        eccentricities: Of each node within its component, shape (n,).
        uplinks: Nanoseconds from each node to the server, shape (n,).
        gis: Whether components collect by gis.
    """
    agents = len(hops.starts) - 1
    distance, order, when = np.empty((3, agents), dtype=np.int64)
    seen = np.zeros(agents, dtype=np.bool_)
    longest = np.int64(0)
    for first in range(agents):
        if seen[first]:
            continue
        found = _breadth_first(hops, first, -1, distance, order)
        members = np.sort(order[:found])
        seen[members] = True
        sink = members[np.argmin(eccentricities[members])]
        last = np.int64(0)
        if gis:
            for source in members:
                own = _no_ways(1, agents)
                last = max(last, _follow(hops, own, source, -1, -1, -1, 0, NEVER)[0])
        else:
            _breadth_first(hops, sink, -1, distance, order)
            last = _along_tree(hops, distance, order, found, when)
        longest = max(longest, last + uplinks[sink])
    farthest: np.int64 = uplinks.max()
    return longest + farthest
