"""Compiled loops over all links that a network does not have."""

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
