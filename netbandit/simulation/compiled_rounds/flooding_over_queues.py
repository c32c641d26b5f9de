"""Compiled rounds of `flooding` over a network in which something can go wrong, or calls are flooded too."""

from typing import Any, ClassVar

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
from netbandit.simulation.kernels import flooding_over_queues as loop
from netbandit.simulation.kernels import traffic as columns


class CompiledQueuedFlooding(CalledRounds, RoundsTogether):
    """Stands for `Flooding` where messages may be lost, late, doubled or repeated, or agents call; they never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (FLOOD, CALL)
    name: ClassVar[str] = "flooding"
    compiled: ClassVar[Any] = loop.play
    compiled_with_faults: ClassVar[Any] = loop.play_with_faults

    flood: loop.QueuedFlood = state()
    """The round."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        self.flood = loop.QueuedFlood(
            round=np.zeros(5, dtype=np.int64),
            state=np.zeros(agents * agents, dtype=np.uint8),
            sizes=np.zeros(agents, dtype=np.int64),
            fresh=nothing_fresh(self.traffic, agents),
        )

    def begin(self, round: int) -> None:
        """See `RoundsTogether.begin`."""
        self.flood.state.fill(0)
        self.flood.round[[loop.NUMBER, loop.MISSING]] = round, len(self.flood.sizes) ** 2

    def take(self, agent: int, size: int) -> None:
        """See `RoundsTogether.take`."""
        self.flood.sizes[agent] = HEADER_BYTES + LABEL_BYTES + size
        place = self.traffic.state[columns.STEPS]
        self.traffic.steps[place] = agent, agent, -1
        self.traffic.state[columns.STEPS] += 1

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        self.flood = self.flood._replace(fresh=roomy(self.flood.fresh, self.traffic))
        return self.run(self.traffic, self.queues, self.flood, arrivals_until, steps_until, self.slotted)
