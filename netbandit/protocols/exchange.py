"""The interface of exchange protocols: in every step each agent sends its neighbours a row, and mixes theirs."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.network.network import Network
from netbandit.parts.component import CommunicationPattern, state
from netbandit.protocols.protocol import NetworkProtocol

Agents = NDArray[np.int64]
Rows = NDArray[np.float64]

Mix = Callable[[Agents, Rows, Rows], None]
"""Called before the decisions of a slot with the agents that step then, ascending, and a row for each: what they have
mixed of their own row and their neighbours', and the largest of each number among these, which is no mean."""


class ExchangeProtocol(NetworkProtocol):
    """A protocol of exchanges.

    After the decision of a slot all agents that are :attr:`ready` tell their row, for the step they are in. An agent
    steps at a later boundary, as the protocol says, and is ready again; rows of numbers, not items, because they are
    added up.
    """

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"exchange"})

    mix: Mix = state()
    """See `Mix`."""
    ready: NDArray[np.bool_] = state()
    """Which agents are to tell a row after their next decision, shape (M,)."""
    steps: NDArray[np.int64] = state()
    """How many steps each agent has made, shape (M,)."""

    def start(self, network: Network, mix: Mix) -> None:
        """Connect to *network*; the event loop has not run yet.

        Args:
            network: The network.
            mix: Called when agents step.
        """
        self.connect(network)
        self.mix = mix
        self.ready = np.ones(network.agents, dtype=np.bool_)
        self.steps = np.zeros(network.agents, dtype=np.int64)

    def figures(self) -> dict[str, float | int | None]:
        """Return metrics of its own; by default there are none."""
        return {}

    @property
    @abstractmethod
    def eigenvalue(self) -> float:
        """The second largest modulus of the eigenvalues of the matrix that rows are mixed with."""

    @property
    @abstractmethod
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each agent, shape (M,)."""

    @abstractmethod
    def matrix(self) -> NDArray[np.float64]:
        """Return the matrix P that rows are mixed with, shape (M, M)."""

    @abstractmethod
    def tell(self, agents: Agents, rows: Rows, row_bytes: int) -> None:
        """Send the row of each of *agents*, which are all that are ready, to its neighbours, from this instant on.

        Args:
            agents: Ascending, shape (n,).
            rows: Shape (n, k); not changed later.
            row_bytes: The bytes of a row, without the header of its message.
        """
