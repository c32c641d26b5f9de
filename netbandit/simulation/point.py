"""What one point of a scenario is made of."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from netbandit.bandits.bandit import Bandit
from netbandit.learners.learner import Learner
from netbandit.network.topology import Topology
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario.model import Scenario
from netbandit.simulation.build import build_topology, topology_streams
from netbandit.simulation.registry import class_of


@dataclass(frozen=True)
class PointParts:
    """The parts of one point of a scenario: all that decides its numbers.

    It can be sent to a worker.

    Attributes:
        parameters: What the sweep or ``--set`` varied: dotted key -> value.
        resolved: The whole scenario with every default filled in.
        scenario: The tables every scenario has.
        bandit_settings, learner_settings, protocol_settings: The parts, never started: each replication takes
            ``fresh()`` of them; or the ``Settings`` of parts of the old style.
        file: Where the graph's file is, if it comes from one.
        folder: The scenario's folder, in which the user's own modules are found.
        bandit_files: Where the bandit's files are, by the key that names each.
    """

    parameters: dict[str, Any]
    resolved: dict[str, Any]
    scenario: Scenario
    bandit_settings: Any
    learner_settings: Any
    protocol_settings: Any
    file: Path | None
    folder: Path
    bandit_files: dict[str, Path] = field(default_factory=dict)
    _topologies: dict[int, Topology] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # Graphs are made again where they are needed: sending one costs more than drawing it.
        return {**self.__dict__, "_topologies": {}}

    @property
    def inputs(self) -> dict[str, Path]:
        """The files whose content decides the numbers, by the key that names them."""
        graph = {} if self.file is None else {"topology.file": self.file}
        return graph | {f"bandit.{key}": path for key, path in self.bandit_files.items()}

    @cached_property
    def bandit(self) -> type[Bandit]:
        """The bandit's class."""
        found: type[Bandit] = class_of("bandit", self.bandit_settings, self.folder)
        return found

    @cached_property
    def learner(self) -> type[Learner]:
        """The learner's class."""
        found: type[Learner] = class_of("learner", self.learner_settings, self.folder)
        return found

    @cached_property
    def protocol(self) -> type[NetworkProtocol]:
        """The protocol's class."""
        found: type[NetworkProtocol] = class_of("protocol", self.protocol_settings, self.folder)
        return found

    def topology(self, replication: int) -> Topology:
        """Return the graph of a replication.

        Raises:
            TopologyError: It cannot be drawn.
        """
        settings = self.scenario.topology
        fixed = self.file is not None or settings.seed is not None or settings.family in _FIXED
        number = 0 if fixed else replication
        topology = self._topologies.get(number)
        if topology is None:
            streams = topology_streams(settings, self.scenario.run.seed, number)
            topology = build_topology(settings, streams, self.file)
            self._topologies.clear()  # the replications of a point come one after the other
            self._topologies[number] = topology
        return topology


_FIXED = frozenset({"star", "ring", "complete", "path", "grid", "tree"})
"""Families whose graph is the same in every replication."""
