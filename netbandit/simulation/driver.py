"""The driver interface: a driver makes agents act from the first slot to the horizon.

`replication` calls a driver, and the clock wakes it; it calls learners, bandits and a communication strategy or a
protocol.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from netbandit.bandits.bandit import Bandit
from netbandit.conditions.condition import Model
from netbandit.conditions.feedback_plan import FeedbackPlan
from netbandit.conditions.lies_plan import LiesPlan
from netbandit.learners.differing_sets import DifferingSets
from netbandit.learners.learner import AnyLearner
from netbandit.network.clock import Clock
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.privacy.accountant import PrivacySpent
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario.model import RunSettings
from netbandit.simulation.result import Curve, Metric
from netbandit.util.streams import Streams


@dataclass(frozen=True, kw_only=True)
class ReplicationContext:
    """Everything a driver needs in one replication.

    Attributes:
        learner, protocol: The parts as configured, never started.
        run: ``[run]``.
        topology: The graph.
        network: The network on it, not yet attached to a protocol.
        clock: The clock.
        bandit: The bandit.
        streams: The random streams of this replication.
        fingerprint: Hashes the agents' actions; the network adds every delivery itself.
        lies: Who lies, and how.
        feedback: How late rewards are; None: all are learned at once.
        models: The models of conditions.
    """

    learner: AnyLearner
    protocol: NetworkProtocol
    run: RunSettings
    topology: Topology
    network: Network
    clock: Clock
    bandit: Bandit
    streams: Streams
    fingerprint: Fingerprint
    lies: LiesPlan = field(default_factory=LiesPlan)
    feedback: FeedbackPlan | None = None
    models: Sequence[Model] = ()

    @property
    def some_are_mute(self) -> bool:
        """Whether some agents stop sending at some time."""
        return bool(self.lies.liars) and self.lies.attack == "mute"


@dataclass(frozen=True)
class DriverResult:
    """The results of a driver at the horizon.

    Attributes:
        regret: The pseudo-regret of all agents; None if the best arm's mean is unknown.
        curves: Curves by name; ``regret`` is there unless it is None, then perhaps ``reward``.
        metrics: ``reward``, ``rounds``, ``round_slots``, ``epsilon``, ``delta``, ``epsilon_claimed`` and those of the
            driver; infinities are allowed here.
        privacy: The account behind ``epsilon`` and ``delta``; None without privacy accounting.
        remarks: Notes needed to interpret the metrics, one line each.
        of_agents: What is known of each agent: fields of `netbandit.simulation.result.Nodes`.
    """

    regret: float | None
    curves: dict[str, Curve]
    metrics: dict[str, Metric]
    privacy: PrivacySpent | None = None
    remarks: tuple[str, ...] = ()
    of_agents: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


class Driver(ABC):
    """Makes the agents of a replication act, in a rhythm specific to the driver.

    Args:
        context: The replication.

    Attributes:
        over: Succeeds once all agents that are up have answered for good, if a run until then knows it at once.
    """

    def __init__(self, context: ReplicationContext) -> None:
        self.context = context
        self.over = Event(context.clock.environment)

    @abstractmethod
    def start(self) -> None:
        """Build the protocol and start the agents; the event loop has not run yet."""

    def close(self) -> None:
        """Note that a run until all have answered has come to its limit."""
        if not self.over.triggered:
            self.over.succeed()

    def answered(self) -> int:
        """Return after how many slots all agents that are up have answered for good, at most the horizon."""
        return self.context.clock.horizon

    @property
    def waits(self) -> bool:
        """Whether agents wait for others, and hence perhaps for lost messages; by default none do."""
        return False

    def waiting(self) -> list[int]:
        """Return the slots that each agent still waiting at the horizon has waited for others; by default none wait."""
        return []

    def stalled(self) -> list[int]:
        """Return the slots waited by each agent that waits at the horizon for a message that can no longer arrive.

        Called only if nothing is queued, in flight or scheduled; by default these are all waiting agents.
        """
        return self.waiting()

    @abstractmethod
    def finish(self) -> DriverResult:
        """Compute the result, after the last event."""


def concludes_per_agent(
    learner: AnyLearner, protocol: NetworkProtocol, *, fail: bool, forget: bool, lack: bool = False
) -> bool:
    """Return whether each agent concludes rounds for itself.

    Args:
        learner: The learner.
        protocol: The protocol.
        fail: Whether agents may go down.
        forget: Whether they lose their memory then.
        lack: Whether they may go on without some rewards of a phase.
    """
    differs = protocol.differs or forget or lack or (fail and protocol.ends_without)
    return differs and isinstance(learner, DifferingSets)
