"""Positions of mobile agents and up times of links, recomputed from the scenario."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from netbandit.checks.check import check
from netbandit.conditions.contacts import build_contacts
from netbandit.conditions.graph import topology_streams
from netbandit.network.contacts import contacts_until
from netbandit.network.families.mobile import Mobile
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.simulation.result import RunResult
from netbandit.util.streams import Streams

MOST_NUMBERS = 400_000
"""The most points of tracks, or begins and ends of contacts, on a page; beyond, neither is shown."""


@dataclass(frozen=True)
class OverTime:
    """The changes of a network over time.

    Attributes:
        up: For each link the times (ns) at which it alternately comes up and goes down.
        tracks: For each agent times (ns) and positions (m), shape (points, 3), linear in between. None: no agent
            moves.
    """

    up: list[list[int]]
    tracks: list[NDArray[np.float64]] | None


def over_time(run: RunResult, until: int) -> OverTime | None:
    """Return the changes of the network of *run* until some time (ns).

    None: there are none, too many, or they are unknown, as a file is missing or has changed.
    """
    if "changes" not in run.resolved["topology"] and run.resolved["topology"]["family"] not in ("contacts", "mobile"):
        return None
    try:
        point = check(load_tables(run.resolved)).points[0]
        topology = point.topology(run.replication)
    except ScenarioError:
        return None
    clock = point.scenario.run
    slot, end = clock.slot_nanoseconds, clock.slot_nanoseconds * clock.horizon
    streams = topology_streams(point.family, clock.seed, run.replication)
    contacts = build_contacts(point.family, topology, streams, slot, end)
    ends = np.column_stack([run.links.first, run.links.second])
    if contacts is None or not np.array_equal(topology.edges, ends):
        return None
    found = contacts_until(contacts, topology.links, until, clipped=False)
    if 2 * len(found.link) > MOST_NUMBERS:
        return None
    first = np.searchsorted(found.link, np.arange(topology.links + 1))
    both = np.column_stack([found.begin, found.end])
    up = [both[begin:over].ravel().tolist() for begin, over in pairwise(first.tolist())]
    tracks = _tracks(point.family, streams, slot, until) if isinstance(point.family, Mobile) else None
    return OverTime(up, tracks)


def _tracks(family: Mobile, streams: Streams, slot: int, until: int) -> list[NDArray[np.float64]] | None:
    """Return where agents are from 0 until some time (ns); None: these are too many points."""
    parts: list[list[NDArray[np.float64]]] = []
    points = 0
    for tracks in family.tracks(streams, slot, until):
        bounds = tracks.first.tolist()
        parts = parts or [[] for _ in bounds[1:]]
        points += len(tracks.time)
        if points > MOST_NUMBERS:
            return None
        for own, (begin, over) in zip(parts, pairwise(bounds), strict=True):
            own.append(np.column_stack([tracks.time[begin:over], tracks.place[begin:over, :2]]))
    found = []
    for own in parts:
        track = np.concatenate(own)
        first = max(0, int(np.searchsorted(track[:, 0], 0, side="right")) - 1)  # where it is when the run begins
        last = int(np.searchsorted(track[:, 0], until))  # the first point that is not before the end is kept
        found.append(track[first : last + 1])
    return found
