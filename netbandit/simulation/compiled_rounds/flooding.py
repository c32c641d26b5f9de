"""Compiled rounds of `flooding`."""

from typing import Any, ClassVar

import numpy as np

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.flooding import FLOOD
from netbandit.protocols.protocol import Aggregation
from netbandit.simulation.compiled_rounds.fresh_items import nothing_fresh, roomy
from netbandit.simulation.compiled_rounds.links import doubled
from netbandit.simulation.compiled_rounds.together import RoundsTogether
from netbandit.simulation.kernels import flooding as loop
from netbandit.simulation.kernels import said as of_flood
from netbandit.simulation.kernels import traffic as columns


class CompiledFlooding(RoundsTogether):
    """Stands for `Flooding` where agents never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (FLOOD,)
    name: ClassVar[str] = "flooding"
    compiled: ClassVar[Any] = loop.play

    flood: of_flood.Flood = state()
    """The round."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        self.flood = of_flood.Flood(
            round=np.zeros(of_flood.ROUND_NUMBERS, dtype=np.int64),
            state=np.zeros(agents * agents, dtype=np.uint8),
            sizes=np.zeros(agents, dtype=np.int64),
            said=np.empty((0, 4), dtype=np.int64),
            nodes=np.zeros((agents, 5), dtype=np.int64),
            copies=np.empty((1024, 2), dtype=np.int64),
            fresh=nothing_fresh(self.traffic, agents),
        )
        self.flood.nodes[:, of_flood.ACTIVE] = -1
        at_once = self.slotted or network.peer_bandwidth or (self.traffic.channels[:, columns.LATENCY] == 0).any()
        self.flood.round[of_flood.ALONE] = not at_once

    def begin(self, round: int) -> None:
        """See `RoundsTogether.begin`."""
        agents = self.network.agents
        flood = self.flood
        flood.state.fill(0)
        flood.round[:2] = round, agents**2
        flood.nodes[:, of_flood.EARLIER] = flood.nodes[:, of_flood.SAID]
        self._keep(agents)

    def _keep(self, more: int) -> None:
        """Make room for what nodes say in a round, beside what of earlier rounds is still under way."""
        flood, channels = self.flood, self.traffic.channels
        agents = len(flood.nodes)
        said = flood.nodes[:, of_flood.SAID]
        oldest = said.copy()
        used = channels[:, columns.FIRST] >= 0
        np.minimum.at(oldest, channels[used, columns.SENDER], channels[used, columns.FIRST])
        if not used.any():
            flood.round[of_flood.COPIES] = 0
        needed = int((said - oldest).max()) + more
        before = len(flood.said) // agents
        if needed <= before:
            return
        capacity = 1 << (needed - 1).bit_length()
        rows = np.empty((agents * capacity, flood.said.shape[1]), dtype=np.int64)
        for node, (first, last) in enumerate(zip(oldest.tolist(), said.tolist(), strict=True)):
            places = np.arange(first, last)
            rows[node * capacity + places % capacity] = flood.said[node * before + places % max(1, before)]
        self.flood = flood._replace(said=rows)
        flood.round[of_flood.CAPACITY] = capacity

    def count(self) -> None:
        """Write back what was counted: without queues a node has said everything on all its channels but some."""
        if self.traffic.state[columns.BANDWIDTH]:
            super().count()  # each message was counted when it was its turn
            return
        channels = self.traffic.channels
        said = self.flood.nodes[channels[:, columns.SENDER]]
        channels[:, columns.MESSAGES] += said[:, of_flood.SAID]
        channels[:, columns.BYTES] += said[:, of_flood.SAID_BYTES]
        super().count()

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        assert why == columns.LISTS_FULL
        self.flood = self.flood._replace(copies=doubled(self.flood.copies))

    def take(self, agent: int, size: int) -> None:
        """See `RoundsTogether.take`."""
        self.flood.sizes[agent] = HEADER_BYTES + LABEL_BYTES + size
        place = self.traffic.state[columns.STEPS]
        self.traffic.steps[place] = agent, agent, -1
        self.traffic.state[columns.STEPS] += 1

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        fresh = roomy(self.flood.fresh, self.traffic)
        if fresh is not self.flood.fresh:
            self.flood = self.flood._replace(fresh=fresh)
        return self.run(self.traffic, self.flood, arrivals_until, steps_until, self.slotted)
