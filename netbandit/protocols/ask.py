"""The interface of ask protocols (pull gossip): an agent sends a request to one neighbour, which responds."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from netbandit.network.network import Network
from netbandit.parts.component import CommunicationPattern, state
from netbandit.protocols.protocol import Item, NetworkProtocol

Answer = Callable[[int, int], Item | None]
"""Called with an agent that is asked, when it is, and by whom; returns what it answers, None: nothing."""

HearAnswer = Callable[[int, int, Item], None]
"""Called with an agent, whom it had asked, and the answer, when it takes effect."""


class AskProtocol(NetworkProtocol):
    """A protocol of asking."""

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"ask"})

    answer: Answer = state()
    """See `Answer`."""
    hear: HearAnswer = state()
    """See `HearAnswer`."""

    def start(self, network: Network, answer: Answer, hear: HearAnswer) -> None:
        """Begin to talk over *network*; the event loop has not run yet.

        Args:
            network: The network.
            answer: Called when an agent is asked.
            hear: Called when an answer takes effect.
        """
        self.connect(network)
        self.answer, self.hear = answer, hear

    @abstractmethod
    def ask(self, agent: int, avoided: frozenset[int] = frozenset()) -> None:
        """Let *agent* ask a neighbour, now, but none of those *avoided*."""
