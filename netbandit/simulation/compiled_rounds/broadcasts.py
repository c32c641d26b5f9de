"""Broadcasts over compiled rounds, of which one begins whenever agents tell something, ended or not the one before."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.network.network import Network
from netbandit.protocols.broadcast import BroadcastProtocol, Hear
from netbandit.protocols.broadcast_over_rounds import BroadcastOverRounds
from netbandit.protocols.everybody import Everybody
from netbandit.protocols.protocol import Item
from netbandit.simulation.compiled_rounds.neighbour_rounds import CompiledNeighbourRounds
from netbandit.simulation.machine.open_rounds import ROUND, SOURCE


class BroadcastOverCompiledRounds(BroadcastOverRounds):
    """As `BroadcastOverRounds`, but what agents hear is kept until it is asked for."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        BroadcastProtocol.start(self, network, hear)
        self._rounds.told = True
        self._rounds.start(network, Everybody(network.agents, _nothing))
        self._rounds.ended = self.ended

    @property
    def _rounds(self) -> CompiledNeighbourRounds:
        assert isinstance(self.rounds, CompiledNeighbourRounds)
        return self.rounds

    def broadcast_all(self, first: int, agents: NDArray[np.int64], size: int) -> None:
        """Let *agents*, which are all, tell all others an item of *size* bytes each, from this instant on.

        Args:
            first: The number of the first item, a multiple of their number; the others follow.
            agents: Who tells.
            size: Of each item.
        """
        self._rounds.placed.contribute_all(1 + first // self.network.agents, agents, size)

    def oldest(self, otherwise: int) -> int:
        """Return the lowest number of an item that may still be heard or asked for; if there is none, *otherwise*."""
        agents = self.network.agents
        return (self._rounds.oldest(1 + otherwise // agents) - 1) * agents

    def heard(self) -> NDArray[np.int64]:
        """Return what has been heard since this was asked last, in order, shape (n, 4).

        A row: who, whose, which item, and the first slot boundary at or after the instant.
        """
        heard = self._rounds.heard()
        heard[:, ROUND] = (heard[:, ROUND] - 1) * self.network.agents + heard[:, SOURCE]
        return heard


def _nothing(items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
    raise RuntimeError("nobody concludes anything where all is heard item by item")
