"""Compiled rounds of `flooding`."""

from typing import ClassVar

import numpy as np

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.flooding import FLOOD
from netbandit.protocols.protocol import Aggregation
from netbandit.protocols.triggered_rounds import CALL
from netbandit.simulation.compiled_rounds.calls import CalledRounds
from netbandit.simulation.compiled_rounds.fresh_items import nothing_fresh, roomy
from netbandit.simulation.compiled_rounds.together import RoundsTogether
from netbandit.simulation.kernels import flooding as kernel
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.execution import Loop


class CompiledFlooding(CalledRounds, RoundsTogether):
    """Stands for `Flooding` where agents never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (FLOOD, CALL)
    name: ClassVar[str] = "flooding"
    loop: ClassVar[Loop] = Loop(kernel.play)

    flood: kernel.Flood = state()
    """The round."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        self.flood = kernel.Flood(
            round=np.zeros(5, dtype=np.int64),
            state=np.zeros(agents * agents, dtype=np.uint8),
            sizes=np.zeros(agents, dtype=np.int64),
            fresh=nothing_fresh(self.machine, agents),
        )

    def begin(self, round: int) -> None:
        """See `RoundsTogether.begin`."""
        self.flood.state.fill(0)
        self.flood.round[[kernel.NUMBER, kernel.MISSING]] = round, len(self.flood.sizes) ** 2

    def take(self, agent: int, size: int) -> None:
        """See `RoundsTogether.take`."""
        self.flood.sizes[agent] = HEADER_BYTES + LABEL_BYTES + size
        place = self.machine.state[rows.STEPS]
        self.machine.steps[place] = agent, agent, -1
        self.machine.state[rows.STEPS] += 1

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        self.flood = self.flood._replace(fresh=roomy(self.flood.fresh, self.machine))
        return self.run(self.loop, self.machine, self.flood, arrivals_until, steps_until, self.slotted)
