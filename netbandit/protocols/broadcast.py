"""The interface of broadcast protocols: an item reaches the other agents one by one, each when it arrives."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, NamedTuple

from netbandit.network.network import Network
from netbandit.parts.component import CommunicationPattern, state
from netbandit.protocols.protocol import Item, NetworkProtocol


class Heard(NamedTuple):
    """An item that has reached an agent.

    Attributes:
        source: The agent whose item it is.
        round: The number of the round in which it was sent.
        item: The item; None: the agent has left from that round on; see `BroadcastProtocol.announce`.
    """

    source: int
    round: int
    item: Item


Hear = Callable[[int, list[Heard]], None]
"""Called with an agent and all that reaches it in one instant, in order of the sources' numbers."""


class BroadcastProtocol(NetworkProtocol):
    """A protocol of broadcasts."""

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"broadcast", "round", "call"})

    hear: Hear = state()
    """Called whenever something reaches an agent, before the agent decides at that instant."""

    absorbs: Callable[[int, Item], bool] | None = state(default=None)
    """Returns whether an agent absorbs a received item, for protocols that ask; set by the learner's side."""

    def start(self, network: Network, hear: Hear) -> None:
        """Connect to *network*; the event loop has not run yet.

        Args:
            network: The network.
            hear: Called whenever something reaches an agent, before the agent decides at that instant.
        """
        self.connect(network)
        self.hear = hear

    @property
    def reach(self) -> list[int]:
        """For each agent the number of agents that it shares with, itself included; by default its component."""
        topology = self.network.topology
        sizes = [len(members) for members in topology.components]
        return [sizes[component] for component in topology.component.tolist()]

    @property
    def hops_at_most(self) -> int | None:
        """The hop limit of an item; None, by default: unlimited."""
        return None

    def figures(self) -> dict[str, float | int | None]:
        """Return metrics of its own; by default there are none."""
        return {}

    def leave(self, agent: int, *, forgets: bool) -> None:
        """Note that *agent* goes down, and whether it loses its memory; by default it does nothing."""
        return

    def announce(self, round: int, agent: int) -> bool:
        """Let *agent* send all others a header-only notice that it leaves from *round* on.

        They receive it as an item that is None. Return whether the protocol supports it; by default it does not.
        """
        return False

    @abstractmethod
    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Send the *item* of *agent* to all others, from this instant on."""
