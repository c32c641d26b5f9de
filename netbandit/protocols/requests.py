"""The interface of ask protocols (pull gossip): an agent sends a request to one neighbour, which responds."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from netbandit.network.network import Network
from netbandit.parts.component import CommunicationPattern, state
from netbandit.protocols.protocol import Item, NetworkProtocol

Answer = Callable[[int, int], Item | None]
"""Called with the agent that receives a request, and the requesting agent; returns the response, None: none."""

HearResponse = Callable[[int, int, Item], None]
"""Called with the requesting agent, the responding agent and the response, when it takes effect."""


class RequestProtocol(NetworkProtocol):
    """A request protocol."""

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"ask"})

    answer: Answer = state()
    """See `Answer`."""
    hear: HearResponse = state()
    """See `HearResponse`."""

    def start(self, network: Network, answer: Answer, hear: HearResponse) -> None:
        """Connect to *network*; the event loop has not run yet.

        Args:
            network: The network.
            answer: Called when an agent receives a request.
            hear: Called when a response takes effect.
        """
        self.connect(network)
        self.answer, self.hear = answer, hear

    @abstractmethod
    def ask(self, agent: int, avoided: frozenset[int] = frozenset()) -> None:
        """Send a request from *agent* to a neighbour, now, but to none of those *avoided*."""
