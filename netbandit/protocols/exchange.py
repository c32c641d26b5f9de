"""The interface of exchange protocols: in every step each agent sends a row to its neighbours, and mixes theirs."""

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
"""Called before the decisions of a slot with the agents that step then, ascending, shape (n,); the weighted sum of each
one's own row and its neighbours', shape (n, k); and the elementwise maximum of these rows, shape (n, k)."""


class ExchangeProtocol(NetworkProtocol):
    """An exchange protocol.

    After the decision of a slot all agents that are :attr:`ready` send their row for their current step. At a later
    boundary, which the protocol chooses, an agent steps and is ready again. Agents exchange rows of numbers instead of
    items because rows are added up.
    """

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"exchange"})

    mix: Mix = state()
    """See `Mix`."""
    ready: NDArray[np.bool_] = state()
    """Which agents send a row after their next decision, shape (M,)."""
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
        """The second largest modulus of the eigenvalues of the mixing matrix."""

    @property
    @abstractmethod
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each agent, shape (M,)."""

    @abstractmethod
    def matrix(self) -> NDArray[np.float64]:
        """Return the mixing matrix P, shape (M, M)."""

    @abstractmethod
    def tell(self, agents: Agents, rows: Rows, row_bytes: int) -> None:
        """Send the row of each of *agents*, which are all ready agents, to its neighbours, from this instant on.

        Args:
            agents: Ascending, shape (n,).
            rows: Shape (n, k); not changed later.
            row_bytes: The bytes of a row, without the header of its message.
        """
