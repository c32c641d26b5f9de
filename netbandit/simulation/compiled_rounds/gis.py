"""Compiled rounds of `gis`."""

from typing import Any, ClassVar

import numpy as np

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.gis import ADV, DATA, REQ
from netbandit.protocols.protocol import Aggregation
from netbandit.protocols.triggered_rounds import CALL
from netbandit.simulation.compiled_rounds.calls import CalledRounds
from netbandit.simulation.compiled_rounds.links import doubled
from netbandit.simulation.compiled_rounds.together import RoundsTogether
from netbandit.simulation.kernels import synchronization as loop
from netbandit.simulation.kernels import traffic as columns


class CompiledGis(CalledRounds, RoundsTogether):
    """Stands for `Gis` where agents never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (ADV, REQ, DATA, CALL)
    name: ClassVar[str] = "gis"
    compiled: ClassVar[Any] = loop.play
    compiled_with_faults: ClassVar[Any] = loop.play_with_faults

    handshakes: loop.Handshakes = state()
    """The round."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        labels = np.empty(2 * agents, dtype=np.int32)
        labels[:agents] = np.arange(agents)
        self.handshakes = loop.Handshakes(
            round=np.zeros(3, dtype=np.int64),
            asked=np.zeros(agents * agents, dtype=np.uint8),
            known=np.zeros(agents, dtype=np.int64),
            sizes=np.zeros(agents, dtype=np.int64),
            labels=labels,
            header=(HEADER_BYTES, LABEL_BYTES),
        )

    def begin(self, round: int) -> None:
        """See `RoundsTogether.begin`."""
        handshakes = self.handshakes
        handshakes.round[:] = round, 0, len(handshakes.known)
        handshakes.asked.fill(0)
        handshakes.known.fill(0)

    def take(self, agent: int, size: int) -> None:
        """See `RoundsTogether.take`."""
        self.handshakes.sizes[agent] = LABEL_BYTES + size
        self.handshakes.asked[agent * len(self.handshakes.known) + agent] = 1
        place = self.traffic.state[columns.STEPS]
        self.traffic.steps[place] = agent, agent, 1
        self.traffic.state[columns.STEPS] += 1

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        return self.run(self.traffic, self.queues, self.handshakes, arrivals_until, steps_until, self.slotted)

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why == columns.LISTS_FULL:
            self.handshakes = self.handshakes._replace(labels=doubled(self.handshakes.labels))
        else:
            super().make_room(why)
