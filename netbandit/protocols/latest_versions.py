"""Sums under message loss: the latest release received from every agent, labelled with its version.

Releases are cumulative, so a newer one replaces an older one. An agent that lacks another's latest release goes
on with the previous one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from netbandit.network.message import LABEL_BYTES
from netbandit.protocols.protocol import Item

Version = tuple[int, int]
"""An agent and its incarnation: releases from before it lost its memory stay with the others."""


class Release(NamedTuple):
    """A release of an agent.

    Attributes:
        number: Its number in the agent's incarnation, from 1.
        item: The released item.
    """

    number: int
    item: Item


Releases: TypeAlias = Mapping[Version, Release]


class LatestVersions(dict[Version, Release]):
    """The latest release known of every agent and incarnation."""

    def take(self, releases: Releases) -> None:
        """Merge in those of *releases* that are newer."""
        for version, release in releases.items():
            known = self.get(version)
            if known is None or known.number < release.number:
                self[version] = release


class VersionedSum:
    """Sums of releases, labelled with the versions that they contain; equal versions give the same sum.

    Args:
        aggregate: Returns the aggregate of releases, in order of their agents.
    """

    def __init__(self, aggregate: Callable[[Sequence[Item]], Item]) -> None:
        self._aggregate = aggregate
        self._latest: tuple[tuple[tuple[Version, int], ...], Item] = (), Item(0, None)

    def of(self, releases: Releases) -> Item:
        """Return the sum of *releases*, at least one, with a label for each."""
        versions = tuple(sorted((version, release.number) for version, release in releases.items()))
        if versions != self._latest[0]:
            total = self._aggregate([releases[version].item for version, _ in versions])
            self._latest = versions, Item(total.size + LABEL_BYTES * len(versions), total.value)
        return self._latest[1]


class Releasing:
    """Counts the releases of agents in each incarnation.

    Args:
        agents: The number of agents.
        sets: Sets of parameters that each keeps.
    """

    def __init__(self, agents: int, sets: int = 1) -> None:
        self._incarnation = [0] * agents
        self._released = [[0] * sets for _ in range(agents)]

    def name(self, agent: int, item: Item, param_set: int = 0) -> Item:
        """Return *item* as a release labelled with its version, of the same size."""
        self._released[agent][param_set] += 1
        return Item(item.size, {(agent, self._incarnation[agent]): Release(self._released[agent][param_set], item)})

    def included(self, agent: int, releases: Releases) -> int:
        """Return the number of the release by the present incarnation of *agent* among *releases*; 0: none."""
        release = releases.get((agent, self._incarnation[agent]))
        return 0 if release is None else release.number

    def begin_anew(self, agent: int) -> None:
        """Begin a new incarnation of *agent*."""
        self._incarnation[agent] += 1
        self._released[agent] = [0] * len(self._released[agent])
