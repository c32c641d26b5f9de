"""A point of a sweep that can be run: its parts, its graphs and its replications."""

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netbandit.bandits.bandit import Bandit
from netbandit.learners.learner import AnyLearner
from netbandit.network.families.family import Family
from netbandit.network.topology import Topology
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario.model import Scenario
from netbandit.simulation.build import build_topology, topology_streams
from netbandit.simulation.simulation import Simulation
from netbandit.simulation.sweep_point import Point

_holders: "list[weakref.ref[RunnablePoint]]" = []
"""The point that keeps a graph it has drawn: replications of a point come one after the other."""

_OF_MESSAGES = frozenset({"latency", "bandwidth", "cost", "energy", "missing", "radio"})
"""Keys of links that decide nothing where no message is sent over them; what else they have, protocols may ask for."""


@dataclass(frozen=True, kw_only=True)
class RunnablePoint(Point):
    """A point whose scenario has been checked; it can be sent to a worker, and makes its replications there.

    Attributes:
        scenario: The tables every scenario has.
        family: The topology's family.
        bandit, learner, protocol: The parts, never started: each replication takes ``fresh()`` of them.
        attack: The class of an attack of the user's own; None: liars have none, or one of ours.
        folder: The scenario's folder, in which the user's own modules are found.
    """

    scenario: Scenario
    family: Family
    bandit: Bandit
    learner: AnyLearner
    protocol: NetworkProtocol
    attack: type | None = None
    folder: Path
    _topologies: dict[int, Topology] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # Graphs are made again where they are needed: sending one costs more than drawing it.
        return {**self.__dict__, "_topologies": {}}

    @property
    def effective(self) -> Mapping[str, Any]:
        """See `Point.effective`: what a protocol sends nothing over decides nothing."""
        return _without_idle_links(self.resolved, self.protocol)

    def topology(self, replication: int) -> Topology:
        """Return the graph of a replication.

        Raises:
            TopologyError: It cannot be drawn.
        """
        fixed = not self.family.random or self.family.seed is not None
        number = 0 if fixed else replication
        topology = self._topologies.get(number)
        if topology is None:
            while _holders:  # one graph at a time, however many points there are
                held = _holders.pop()()
                if held is not None:
                    held._topologies.clear()
            run = self.scenario.run
            streams, slot = topology_streams(self.family, run.seed, number), run.slot_nanoseconds
            topology = build_topology(self.family, streams, slot, run.horizon * slot)
            self._topologies[number] = topology
            _holders.append(weakref.ref(self))
        return topology

    def simulation(self, replication: int) -> Simulation:
        """Return a replication, ready to run."""
        return Simulation(self, replication)


def _without_idle_links(resolved: Mapping[str, Any], protocol: NetworkProtocol) -> Mapping[str, Any]:
    """Return a resolved scenario without the keys of links that *protocol* does not use.

    Where nobody ever hears anything, all of them are left out.
    """
    used, heard = protocol.used_links, not protocol.isolated
    links = {
        table: {key: value for key, value in keys.items() if heard and (table in used or key not in _OF_MESSAGES)}
        for table, keys in resolved.get("links", {}).items()
    }
    return {**resolved, "links": links} if links != resolved.get("links") else resolved
