"""Compiled rounds of `flooding`."""

from typing import ClassVar

import numpy as np

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.flooding import FLOOD
from netbandit.protocols.protocol import Aggregation
from netbandit.simulation.compiled_rounds.engine import CompiledRounds
from netbandit.simulation.kernels import flooding as loop
from netbandit.simulation.kernels import traffic as columns


class CompiledFlooding(CompiledRounds):
    """Stands for `Flooding` where agents never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (FLOOD,)
    name: ClassVar[str] = "flooding"

    flood: loop.Flood = state()
    """The round."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        self.flood = loop.Flood(
            round=np.zeros(2, dtype=np.int64),
            state=np.zeros(agents * agents, dtype=np.uint8),
            sizes=np.zeros(agents, dtype=np.int64),
            first=np.full(agents, -1, dtype=np.int64),
            last=np.full(agents, -1, dtype=np.int64),
            following=np.empty(0, dtype=np.int64),
            tellers=np.empty(0, dtype=np.int64),
            fresh=np.empty(agents, dtype=np.int64),
            told_by=np.zeros(agents, dtype=np.int64),
        )

    def begin(self, round: int) -> None:
        """See `CompiledRounds.begin`."""
        self.flood.state.fill(0)
        self.flood.round[:] = round, self.network.agents**2

    def take(self, agent: int, size: int) -> None:
        """See `CompiledRounds.take`."""
        self.flood.sizes[agent] = HEADER_BYTES + LABEL_BYTES + size
        place = self.traffic.state[columns.STEPS]
        self.traffic.steps[place] = agent, agent, -1
        self.traffic.state[columns.STEPS] += 1

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledRounds.play`."""
        room = max(len(self.traffic.inbox), len(self.traffic.steps))
        if len(self.flood.tellers) < room:
            self.flood = self.flood._replace(
                tellers=np.empty(room, dtype=np.int64), following=np.empty(room, dtype=np.int64)
            )
        return loop.play(self.traffic, self.flood, arrivals_until, steps_until, self.slotted)
