"""Contacts: the intervals in which the links of a graph are up, by a model or from a list.

A contact is an interval [begin, end) in nanoseconds in which a link is up; between contacts it is down. Contacts do
not depend on traffic.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.network.downtimes import Downtimes, Interval, redrawn
from netbandit.network.draws import Draws
from netbandit.network.outages import LinkSchedule, Redrawn
from netbandit.util.streams import Streams

Integers = NDArray[np.int64]

MOST_CONTACTS = 1 << 22
"""The most contacts of all links in a run."""
FOR_EVER = 1 << 62
"""The end (ns) of a contact that has none."""


@dataclass(frozen=True)
class Markov:
    """Each link is a two-state Markov chain.

    Attributes:
        born: The probability that a link that is down is up in the next period.
        dies: The probability that a link that is up is down in the next period.
        every: The length of a period (ns).
        share: The probability that a link is up in the first period.
    """

    born: float
    dies: float
    every: int
    share: float


@dataclass(frozen=True)
class Matching:
    """In each period a random matching is up.

    Attributes:
        every: The length of a period (ns).
    """

    every: int


@dataclass(frozen=True)
class Recurring:
    """Each link comes up at phase + k every, for all integers k.

    Attributes:
        up_for: How long it is up (ns).
        every: The time between the starts of two contacts (ns), longer than *up_for*.
        phase: ``random``: uniform for each link; ``together``: 0; ``stagger``: e every / L for link e of L.
    """

    up_for: int
    every: int
    phase: str


ContactModel = Markov | Redrawn | Matching | Recurring


class GeneratedContacts:
    """Random contacts, each link drawn from its own numbers; see `LinkSchedule`.

    Args:
        model: The model.
        edges: The links, shape (L, 2).
        streams: The streams of the replication: number 0 of a link's column is its first state (its phase), then one
            number per stay; of `Redrawn`, number k is that of period k. `Matching` draws the order of links in period
            k from the stream ("matching", k).
    """

    def __init__(self, model: ContactModel, edges: Integers, streams: Streams) -> None:
        self.model = model
        self._links = len(edges)
        self._draws = Draws(streams, "contacts", len(edges))
        self._matchings = _Matchings(edges, streams)

    def gaps(self, link: int) -> Iterator[Interval]:
        """See `LinkSchedule.gaps`."""
        model = self.model
        if isinstance(model, Markov):
            return _of_chain(model, self._draws.numbers(link))
        if isinstance(model, Redrawn):
            return redrawn(self._draws, link, model.up, model.every)
        if isinstance(model, Matching):
            return self._matchings.unmatched(link, model.every)
        return _between(model, self._phase(model, link))

    def _phase(self, model: Recurring, link: int) -> int:
        if model.phase == "random":
            return int(self._draws.number(link, 0) * model.every)
        return link * model.every // self._links if model.phase == "stagger" else 0


class ContactList:
    """Listed contacts; see `LinkSchedule`.

    Args:
        first: Where the contacts of each link begin in the list, and the end, shape (L + 1,).
        times: Begin and exclusive end (ns) of each contact, shape (n, 2); of each link ascending and disjoint.
    """

    def __init__(self, first: Integers, times: Integers) -> None:
        self.first = first
        self.times = times

    def gaps(self, link: int) -> Iterator[Interval]:
        """See `LinkSchedule.gaps`."""
        down = 0
        for begin, end in self.times[self.first[link] : self.first[link + 1]].tolist():
            if begin > down:
                yield down, begin
            down = end
        yield down, inf

    def is_always_up(self, end: int) -> bool:
        """Return whether there are links, and none is down before *end* (ns)."""
        return 0 < len(self.times) == len(self.first) - 1 and bool(
            (self.times[:, 0] <= 0).all() and (self.times[:, 1] >= end).all()
        )


class UpTimes(NamedTuple):
    """Contacts that begin before some time, in order of link and begin.

    Attributes:
        link: The number of the link of each.
        begin: When it begins (ns),
        end: and before when it ends.
    """

    link: Integers
    begin: Integers
    end: Integers


def contacts_until(contacts: LinkSchedule, links: int, end: int, *, clipped: bool = True) -> UpTimes:
    """Return all *contacts* of so many *links* that begin before *end* (ns); see `up_times`."""
    return up_times([Downtimes(contacts.gaps(link)) for link in range(links)], end, clipped=clipped)


def up_times(links: Iterable[Downtimes], end: int, *, clipped: bool = True) -> UpTimes:
    """Return all contacts that begin before *end* (ns).

    Args:
        links: When each link is down.
        end: Until when (ns).
        clipped: Whether a contact that is on at *end* ends there; else it keeps its own end, or `FOR_EVER`.
    """
    parts = [np.empty((0, 3), dtype=np.int64)]
    for link, times in enumerate(links):
        gaps = times.until(end)
        # It is up before each gap, and after the last one.
        rows = np.full((len(gaps) + 1, 3), link, dtype=np.int64)
        rows[:, 1] = [0, *(min(back, end) for _, back in gaps)]
        rows[:, 2] = [*(down for down, _ in gaps), end]
        rows = rows[rows[:, 2] > rows[:, 1]]
        if not clipped and len(rows) and rows[-1, 2] == end:
            rows[-1, 2] = int(min(times.down(end), FOR_EVER))
        parts.append(rows)
    return UpTimes(*np.ascontiguousarray(np.concatenate(parts).T))


def expected_contacts(model: ContactModel, links: int, agents: int, end: int) -> float:
    """Return about how many contacts of *links* begin by a model in a time (ns) at the most."""
    periods = end / model.every
    if isinstance(model, Markov):
        begun = model.born * model.dies / (model.born + model.dies) if model.born + model.dies else 0.0
        return links * (1 + periods * begun)
    if isinstance(model, Redrawn):
        return links * (1 + periods * model.up * (1 - model.up))
    if isinstance(model, Matching):
        return min(links, agents / 2) * periods
    return links * (1 + periods)


def is_always_up(model: ContactModel) -> bool:
    """Return whether no link is ever down under a model."""
    if isinstance(model, Markov):
        return model.dies <= 0 and model.share >= 1
    return isinstance(model, Redrawn) and model.up >= 1


def _of_chain(model: Markov, numbers: Iterator[float]) -> Iterator[Interval]:
    """Yield when a link is down that is a Markov chain: a stay takes 1 + floor(ln(1 - u) / ln(1 - p)) periods."""
    up = next(numbers) < model.share
    period = 0
    while True:
        chance = model.dies if up else model.born
        if chance <= 0:
            if not up:
                yield period * model.every, inf
            return
        number = next(numbers)
        stay = 1 if chance >= 1 else 1 + int(log1p(-number) / log1p(-chance))
        if not up:
            yield period * model.every, (period + stay) * model.every
        period += stay
        up = not up


def _between(model: Recurring, phase: int) -> Iterator[Interval]:
    down = phase - model.every + model.up_for
    while True:
        if down + model.every > model.up_for:  # else it ends before the first slot
            yield max(0, down), down + model.every - model.up_for
        down += model.every


class _Matchings:
    """The random matching of each period: links in random order, each taken whose ends are both free.

    Args:
        edges: The links, shape (L, 2).
        streams: The order of links in period k is a permutation from the stream ("matching", k).
    """

    def __init__(self, edges: Integers, streams: Streams) -> None:
        self._edges = edges
        self._streams = streams
        self._matched: list[frozenset[int]] = []
        degree = np.bincount(edges.ravel())
        self._alone = (degree[edges] == 1).all(axis=1)  # always matched

    def unmatched(self, link: int, every: int) -> Iterator[Interval]:
        """Yield the periods, each of so many ns, in which a *link* is not in the matching."""
        if self._alone[link]:
            return
        period = 0
        while True:
            if period == len(self._matched):
                self._matched.append(frozenset(self._drawn(period)))
            if link not in self._matched[period]:
                yield period * every, (period + 1) * every
            period += 1

    def _drawn(self, period: int) -> list[int]:
        """Return the links of a maximal matching: all at once that come first at both their ends, then again."""
        edges = self._edges
        rank = self._streams.generator("matching", period).permutation(len(edges))
        left, taken = np.arange(len(edges)), []
        nodes = int(edges.max(initial=-1)) + 1
        while len(left):
            earliest = np.full(nodes, len(edges))
            for end in (0, 1):
                np.minimum.at(earliest, edges[left, end], rank[left])
            chosen = left[(rank[left] == earliest[edges[left, 0]]) & (rank[left] == earliest[edges[left, 1]])]
            taken += chosen.tolist()
            busy = np.zeros(nodes, dtype=bool)
            busy[edges[chosen].ravel()] = True
            left = left[~busy[edges[left]].any(axis=1)]
        return taken
