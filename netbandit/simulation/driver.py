"""What a driver is: the rhythm in which agents act, from the first slot to the horizon.

`replication` calls a driver, and the clock wakes it; it calls learners, bandits and a communication strategy or a
protocol.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from netbandit.bandits.bandit import Bandit
from netbandit.learners.learner import AnyLearner
from netbandit.network.clock import Clock
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.component import CommunicationPattern
from netbandit.privacy.accountant import PrivacySpent
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario.adversary import AdversarySettings
from netbandit.scenario.feedback import FeedbackSettings
from netbandit.scenario.model import RunSettings
from netbandit.simulation.result import Curve, Metric
from netbandit.util.streams import Streams


@dataclass(frozen=True, kw_only=True)
class ReplicationContext:
    """All that a driver works with in one replication.

    Attributes:
        learner, protocol: Settings of the parts, never started.
        run: ``[run]``.
        adversary: ``[adversary]``.
        feedback: ``[feedback]``.
        attack: The class of an attack of the user's own; None: liars have none, or one of ours.
        topology: The graph.
        network: The network on it, not yet anybody's.
        clock: The clock.
        bandit: The world.
        streams: The random streams of this replication.
        fingerprint: Takes in what agents do; the network adds every delivery itself.
        liars: The agents that lie; regret is that of the others.
    """

    learner: AnyLearner
    protocol: NetworkProtocol
    run: RunSettings
    adversary: AdversarySettings
    attack: type | None
    topology: Topology
    network: Network
    clock: Clock
    bandit: Bandit
    streams: Streams
    fingerprint: Fingerprint
    feedback: FeedbackSettings = field(default_factory=FeedbackSettings)
    liars: frozenset[int] = frozenset()

    @property
    def some_are_mute(self) -> bool:
        """Whether some agents tell nothing, from some time on."""
        return bool(self.liars) and self.adversary.attack == "mute"


@dataclass(frozen=True)
class DriverResult:
    """What a driver has found out by the horizon.

    Attributes:
        regret: The pseudo-regret of all agents; None where nobody knows what the best arm pays.
        curves: Curves by name; ``regret`` is there unless it is None.
        metrics: ``rounds``, ``round_slots``, ``epsilon``, ``delta``, ``epsilon_claimed`` and the driver's own;
            infinities are allowed here.
        privacy: The account that ``epsilon`` and ``delta`` are from; None where privacy is not accounted for.
        remarks: What must be known to read the metrics, a line each.
    """

    regret: float | None
    curves: dict[str, Curve]
    metrics: dict[str, Metric]
    privacy: PrivacySpent | None = None
    remarks: tuple[str, ...] = ()


class Driver(ABC):
    """Makes agents act in a replication, in one rhythm.

    Args:
        context: The replication.

    Attributes:
        talk: How its agents talk, which the protocol must offer; None where that follows from the learner.
    """

    talk: ClassVar[CommunicationPattern | None] = None

    def __init__(self, context: ReplicationContext) -> None:
        self.context = context

    @abstractmethod
    def start(self) -> None:
        """Build the protocol and start the agents; the event loop has not run yet."""

    @property
    def waits(self) -> bool:
        """Whether agents wait for others, so that they may wait for what is lost; by default nobody does."""
        return False

    def waiting(self) -> list[int]:
        """Return how many slots each agent has waited that waits for others at the horizon; by default nobody does."""
        return []

    def stalled(self) -> list[int]:
        """Return how many slots each agent has waited that waits at the horizon for what cannot come any more.

        It is asked where nothing is queued, under way or timed; by default that is everybody who waits.
        """
        return self.waiting()

    @abstractmethod
    def finish(self) -> DriverResult:
        """Add up, after the last event."""
