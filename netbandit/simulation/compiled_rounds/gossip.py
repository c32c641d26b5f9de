"""Compiled rounds of `gossip`."""

from typing import Any, ClassVar

import numpy as np

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.gossip import CHOICES, GOSSIP
from netbandit.protocols.protocol import Aggregation
from netbandit.protocols.triggered_rounds import CALL
from netbandit.simulation.compiled_rounds.calls import CalledRounds
from netbandit.simulation.compiled_rounds.links import doubled
from netbandit.simulation.compiled_rounds.together import RoundsTogether
from netbandit.simulation.kernels import gossip as loop
from netbandit.simulation.kernels import traffic as columns


class CompiledGossip(CalledRounds, RoundsTogether):
    """Stands for `Gossip` where agents never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (GOSSIP, CALL)
    name: ClassVar[str] = "gossip"
    compiled: ClassVar[Any] = loop.play
    compiled_with_faults: ClassVar[Any] = loop.play_with_faults

    rumours: loop.Rumours = state()
    """The round."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        words = -(-agents // 64)
        self._generators = [network.streams.generator("gossip", node) for node in range(agents)]
        self.rumours = loop.Rumours(
            round=np.array([0, 0, columns.NEVER]),
            known=np.zeros((agents, words), dtype=np.int64),
            held=np.zeros((agents, 2), dtype=np.int64),
            next_slot=np.full(agents, -1, dtype=np.int64),
            used=np.full(agents, -1, dtype=np.int64),
            sizes=np.zeros(agents, dtype=np.int64),
            copies=np.empty((len(self.queues.messages), words), dtype=np.int64),
            choices=np.empty((agents, CHOICES), dtype=np.int64),
            left=np.zeros(agents, dtype=np.int64),
            header=HEADER_BYTES,
            last_slot=self.clock.horizon,
        )

    def begin(self, round: int) -> None:
        """See `RoundsTogether.begin`."""
        rumours = self.rumours
        rumours.round[loop.NUMBER] = round
        rumours.round[loop.COMPLETE] = 0
        rumours.round[loop.SPEECH] = columns.NEVER
        for array, first in ((rumours.known, 0), (rumours.held, 0), (rumours.next_slot, -1)):
            array.fill(first)

    def take(self, agent: int, size: int) -> None:
        """See `RoundsTogether.take`."""
        self.rumours.sizes[agent] = LABEL_BYTES + size
        place = self.traffic.state[columns.STEPS]
        self.traffic.steps[place] = agent, loop.OWN, 0
        self.traffic.state[columns.STEPS] += 1

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        return self.run(self.traffic, self.queues, self.rumours, arrivals_until, steps_until, self.slotted)

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why == columns.CHOICES_USED:
            self._draw()
            return
        super().make_room(why)
        if len(self.rumours.copies) < len(self.queues.messages):
            self.rumours = self.rumours._replace(copies=doubled(self.rumours.copies))

    def _draw(self) -> None:
        """Let all nodes draw that have used what they had drawn; each has a stream of its own."""
        for node in np.flatnonzero(self.rumours.left == 0).tolist():
            neighbours = len(self.network.neighbours[node])
            self.rumours.choices[node] = self._generators[node].integers(neighbours, size=CHOICES)
            self.rumours.left[node] = CHOICES
