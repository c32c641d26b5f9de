"""Broadcasts over compiled rounds, of which one begins whenever agents tell something, ended or not the one before."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.network.network import Network
from netbandit.protocols.broadcast import BroadcastProtocol, Hear
from netbandit.protocols.broadcast_over_rounds import BroadcastOverRounds
from netbandit.protocols.everybody import Everybody
from netbandit.protocols.protocol import Item
from netbandit.simulation.compiled_rounds.overlapping import OverlappingRounds
from netbandit.simulation.kernels.open_rounds import ROUND


class BroadcastOverCompiledRounds(BroadcastOverRounds):
    """As `BroadcastOverRounds`, but what agents hear is kept until it is asked for."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        BroadcastProtocol.start(self, network, hear)
        self._rounds.told = True
        self._rounds.start(network, Everybody(network.agents, _nothing))
        self._rounds.ended = self.ended

    @property
    def _rounds(self) -> OverlappingRounds:
        assert isinstance(self.rounds, OverlappingRounds)
        return self.rounds

    def broadcast_all(self, number: int, agents: NDArray[np.int64], size: int) -> None:
        """Let *agents*, which are all, tell all others their items of *size* bytes each, from this instant on."""
        self._rounds.tell_all(number + 1, agents, size)

    def heard(self) -> NDArray[np.int64]:
        """Return what has been heard since this was asked last, in order, shape (n, 4).

        A row: who, whose, which number, and the first slot boundary at or after the instant.
        """
        heard = self._rounds.heard()
        heard[:, ROUND] -= 1
        return heard


def _nothing(items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
    raise RuntimeError("nobody concludes anything where all is heard item by item")
