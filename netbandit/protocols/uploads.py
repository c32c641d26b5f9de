"""The interface of deposit protocols (asynchronous upload): agents upload items to a server, which sends sums back."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol

from netbandit.network.network import Network
from netbandit.parts.component import CommunicationPattern, state
from netbandit.protocols.protocol import Item, NetworkProtocol


class UploadHandler(Protocol):
    """The actions of agents and the server; provided by the simulation, which calls the learner."""

    def deposit(self, agent: int) -> Item:
        """Return what *agent* uploads, now, after its decision; it makes no test until it may resume."""

    def absorb(self, uploads: Sequence[tuple[int, Item]]) -> None:
        """Add all *uploads* of an instant to the server's sums, in order of their agents' numbers."""

    def lagging(self) -> Sequence[int]:
        """Return the agents that lag behind the server enough to be sent its sums, ascending."""

    def give(self, agents: Sequence[int]) -> Sequence[Item]:
        """Return the server's answer for each of *agents*."""

    def take(self, agent: int, item: Item) -> None:
        """Let *agent* adopt what the server gave, before its next decision."""

    def resume(self, agent: int) -> None:
        """Let *agent* test again whether to upload."""


class UploadProtocol(NetworkProtocol):
    """An upload protocol."""

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"deposit"})

    upload_handler: UploadHandler = state()
    """How agents and the server process uploads."""
    uploads: int = state(default=0)
    """The number of uploads."""
    downloads: int = state(default=0)
    """The number of sums that the server has sent to agents."""

    def start(self, network: Network, upload_handler: UploadHandler) -> None:
        """Connect to *network*; the event loop has not run yet.

        Args:
            network: The network.
            upload_handler: The actions of agents and the server.
        """
        self.connect(network)
        self.upload_handler = upload_handler
        self.uploads = self.downloads = 0

    @abstractmethod
    def deposit(self, agent: int) -> None:
        """Let *agent* upload its item, from this instant on."""
