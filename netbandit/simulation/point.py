"""What one point of a scenario is made of."""

import weakref
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

_holders: "list[weakref.ref[PointConfig]]" = []
"""The point that keeps a graph it has drawn: replications of a point come one after the other."""


@dataclass(frozen=True)
class PointConfig:
    """One point of a scenario, checked: all that decides its numbers.

    It can be sent to a worker.

    Attributes:
        parameters: What the sweep or ``--set`` varied: dotted key -> value.
        resolved: The whole scenario with every default filled in.
        scenario: The tables every scenario has.
        family: The topology's family.
        bandit, learner, protocol: The parts, never started: each replication takes ``fresh()`` of them.
        folder: The scenario's folder, in which the user's own modules are found.
        inputs: The files whose content decides the numbers, by the dotted key that names each.
        identities: What stands for the classes of the user's own, by the dotted key that names each: a digest of all
            that it can see; None where that cannot be told from something else.
    """

    parameters: dict[str, Any]
    resolved: dict[str, Any]
    scenario: Scenario
    family: Family
    bandit: Bandit
    learner: AnyLearner
    protocol: NetworkProtocol
    folder: Path
    inputs: dict[str, Path] = field(default_factory=dict)
    identities: dict[str, str | None] = field(default_factory=dict)
    _topologies: dict[int, Topology] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # Graphs are made again where they are needed: sending one costs more than drawing it.
        return {**self.__dict__, "_topologies": {}}

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
            topology = build_topology(self.family, topology_streams(self.family, self.scenario.run.seed, number))
            self._topologies[number] = topology
            _holders.append(weakref.ref(self))
        return topology
