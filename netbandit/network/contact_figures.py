"""Statistics of a time-varying graph: contacts, degree, connectedness, temporal paths."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.network import distances
from netbandit.network.contacts import Integers, UpTimes

_AT_ONCE = 1 << 20
"""About how many links of snapshot graphs are processed together."""
_EVENTS = 1 << 12
"""How many beginnings and ends of contacts are processed before more are requested."""


class ContactFigures(NamedTuple):
    """Statistics of a graph over time.

    Attributes:
        contacts: How many contacts begin.
        degree: The mean number of present neighbours, over agents and time.
        connected: The share of the time in which the graph is connected.
        reachable: How many ordered pairs of agents have a temporal path from one to the other that begins at 0 or
            later, if hops take no time.
    """

    contacts: int
    degree: float
    connected: float
    reachable: int


def contact_figures(up: UpTimes, edges: Integers, agents: int, end: int) -> ContactFigures:
    """Return the statistics of a graph from 0 to *end* (ns).

    Args:
        up: All contacts before *end*.
        edges: The links, shape (L, 2).
        agents: The number of agents.
        end: Until when (ns).
    """
    total = int((up.end - up.begin).sum(dtype=object))
    times, connected = connectedness(up, edges, agents, end)
    spans = np.diff(np.append(times, end))
    return ContactFigures(
        contacts=len(up.begin),
        degree=2 * total / (agents * end),
        connected=float(spans[connected].sum() / end),
        reachable=sum(reach.bit_count() - 1 for reach in reached(up, edges, agents)),
    )


def connectedness(up: UpTimes, edges: Integers, agents: int, end: int) -> tuple[Integers, NDArray[np.bool_]]:
    """Return when the graph changes, ascending from 0 on, and whether it is connected from then on.

    Args: see `contact_figures`.
    """
    times = np.unique(np.concatenate([[0], up.begin, up.end]).astype(np.int64))
    times = times[times < end]
    first, last = np.searchsorted(times, up.begin), np.searchsorted(times, up.end)
    counts = np.cumsum(np.bincount(first, minlength=len(times) + 1) - np.bincount(last, minlength=len(times) + 1))
    found = np.full(len(times), agents == 1)
    possible = np.flatnonzero(counts[: len(times)] >= max(1, agents - 1))  # with fewer links no graph is connected
    order = np.argsort(first, kind="stable")
    for chunk in _chunks(possible, counts):
        # All graphs of a chunk side by side: agent i of the k-th is node k agents + i.
        low = order[: np.searchsorted(first[order], chunk[-1], side="right")]
        low = low[last[low] > chunk[0]]
        begins, ends = np.searchsorted(chunk, first[low]), np.searchsorted(chunk, last[low])
        lengths = ends - begins
        link = np.repeat(up.link[low], lengths)
        which = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths - begins, lengths)
        component = distances.components_of(len(chunk) * agents, edges[link] + (which * agents)[:, np.newaxis])
        own = component.reshape(len(chunk), agents)
        found[chunk] = (own == own[:, :1]).all(axis=1)
    return times, found


def _chunks(possible: Integers, counts: Integers) -> Iterator[Integers]:
    """Yield chunks of *possible* with about as many links as are processed together."""
    if len(possible):
        parts = np.cumsum(counts[possible]) // _AT_ONCE
        yield from np.split(possible, np.flatnonzero(np.diff(parts)) + 1)


def reached(up: UpTimes, edges: Integers, agents: int) -> list[int]:
    """Return for each agent the agents from which a temporal path leads to it, itself included, bit by bit.

    Within a component of an instant all sets are equal, so a contact matters only where its two ends differ.
    """
    knows = [1 << agent for agent in range(agents)]
    everybody = (1 << agents) - 1
    near: list[set[int]] = [set() for _ in range(agents)]
    for begun, one, other in _in_order(up, edges):
        if not begun:
            near[one].remove(other)
            near[other].remove(one)
            continue
        near[one].add(other)
        near[other].add(one)
        if knows[one] != knows[other]:
            both = knows[one] | knows[other]
            todo, seen = [one], {one}
            while todo:
                agent = todo.pop()
                knows[agent] = both
                for neighbour in near[agent]:
                    if neighbour not in seen:
                        seen.add(neighbour)
                        todo.append(neighbour)
            if both == everybody and all(known == everybody for known in knows):
                break
    return knows


def _in_order(up: UpTimes, edges: Integers) -> Iterator[tuple[int, int, int]]:
    """Yield whether a contact begins or ends, and its agents, in order of time; ends come first at equal times."""
    number = len(up.begin)
    begun = np.repeat(np.array([1, 0]), number)
    order = np.lexsort((begun, np.concatenate([up.begin, up.end])))
    for few in np.array_split(order, 1 + len(order) // _EVENTS):
        pairs = edges[up.link[few % number]] if number else edges[:0]
        yield from np.column_stack([begun[few], pairs]).tolist()
