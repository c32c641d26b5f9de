"""Compiled loops over all links that a network does not have."""

from heapq import heappop, heappush

import numpy as np
from numba import njit


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


@njit(cache=True)
def longest_handshake(starts, neighbours, latencies, times, one, other, latency, time, sources, limit):  # type: ignore[no-untyped-def]
    """Return how long a round of gis takes with one link more; see `netbandit.advice.round_times.handshakes`.

    The neighbours of node i are ``neighbours[starts[i]:starts[i + 1]]``; *latencies* and *times* of these hops, in
    nanoseconds, are those of an advertisement and until its handshake is complete. The next four say the same of the
    link more. Items are followed in the order of *sources*; one that takes longer than *limit* ends the search.
    """
    agents = len(starts) - 1
    longest = np.int64(0)
    for source in sources:
        has = np.full(agents, -1, dtype=np.int64)
        has[source] = 0
        advertised = [(np.int64(0), np.int64(-1), np.int64(source), np.int64(0))]
        left = agents
        while advertised and left:
            _, sender, node, complete = heappop(advertised)
            if sender >= 0 and has[node] >= 0:
                continue
            has[node] = complete
            left -= 1
            longest = max(longest, complete)
            if longest > limit:
                return longest
            for place in range(starts[node], starts[node + 1]):
                near = neighbours[place]
                if has[near] < 0:
                    heappush(advertised, (complete + latencies[place], np.int64(node), near, complete + times[place]))
            if node == one and has[other] < 0:
                heappush(advertised, (complete + latency, np.int64(node), np.int64(other), complete + time))
            if node == other and has[one] < 0:
                heappush(advertised, (complete + latency, np.int64(node), np.int64(one), complete + time))
    return longest
