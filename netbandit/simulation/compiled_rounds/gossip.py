"""Compiled rounds of `gossip`."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.network.message import HEADER_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.gossip import CHOICES, GOSSIP
from netbandit.protocols.protocol import Aggregation
from netbandit.protocols.triggered_rounds import CALL
from netbandit.simulation.compiled_rounds.calls import CalledRounds
from netbandit.simulation.compiled_rounds.links import extended_rows
from netbandit.simulation.compiled_rounds.overlapping import Agents, OverlappingRounds
from netbandit.simulation.kernels import gossip as kernel
from netbandit.simulation.kernels import open_rounds
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.execution import Loop


class CompiledGossip(CalledRounds, OverlappingRounds):
    """Stands for `Gossip` where agents never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (GOSSIP, CALL)
    name: ClassVar[str] = "gossip"
    loop: ClassVar[Loop] = Loop(kernel.play)
    step_columns: ClassVar[int] = kernel.STEP_COLUMNS

    rumours: kernel.Rumours = state()
    """Who knows and says what."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        words = -(-agents // 64)
        self._generators = [network.streams.generator("gossip", node) for node in range(agents)]
        self.rounds = self.rounds._replace(
            heard=np.empty((agents if self.told else 0, open_rounds.HEARD_COLUMNS), dtype=np.int64)
        )
        self.rumours = kernel.Rumours(
            rounds=self.rounds,
            state=np.zeros(kernel.RUMOUR_STATES, dtype=np.int64),
            known=np.zeros((1, agents, words), dtype=np.int64),
            held=np.zeros((1, agents, 2), dtype=np.int64),
            next_slot=np.zeros((1, agents), dtype=np.int64),
            dealt=np.zeros((1, agents), dtype=np.int64),
            used=np.full(agents, -1, dtype=np.int64),
            copies=np.empty((len(self.machine.messages), words), dtype=np.int64),
            choices=np.empty((agents, CHOICES), dtype=np.int64),
            left=np.zeros(agents, dtype=np.int64),
            header=HEADER_BYTES,
            last_slot=self.clock.horizon,
        )
        self.rumours.state[kernel.KEPT_DUE] = rows.NEVER

    def clear(self, place: int) -> None:
        """See `OverlappingRounds.clear`."""
        for array, first in ((self.rumours.known, 0), (self.rumours.held, 0), (self.rumours.next_slot, -1)):
            array[place] = first

    def take(self, place: int, agents: Agents) -> NDArray[np.int64]:
        """See `OverlappingRounds.take`."""
        return np.full((len(agents), 1), kernel.OWN)

    def holders(self, place: int) -> NDArray[np.bool_]:
        """See `OverlappingRounds.holders`."""
        return self._bits(self.rumours.known[place])

    def holds(self, place: int, agent: int) -> NDArray[np.bool_]:
        """See `OverlappingRounds.holds`."""
        found: NDArray[np.bool_] = self._bits(self.rumours.known[place, agent : agent + 1])[0]
        return found

    def widen(self) -> None:
        """See `OverlappingRounds.widen`."""
        rumours = self.rumours
        self.rumours = rumours._replace(
            known=self.moved(rumours.known),
            held=self.moved(rumours.held),
            next_slot=self.moved(rumours.next_slot),
            dealt=self.moved(rumours.dealt),
        )

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        self.rumours = self.rumours._replace(rounds=self.rounds)
        return self.run(self.loop, self.machine, self.rumours, arrivals_until, steps_until, self.slotted)

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why == rows.CHOICES_USED:
            self._draw()
        else:
            super().make_room(why)

    def more(self, why: int) -> None:
        """See `CompiledLoop.more`; what messages tell needs room too."""
        super().more(why)
        lacking = len(self.machine.messages) - len(self.rumours.copies)
        if lacking:
            self.rumours = self.rumours._replace(copies=extended_rows(self.rumours.copies, lacking))

    def _draw(self) -> None:
        """Let all nodes draw that have used what they had drawn; each has a stream of its own."""
        for node in np.flatnonzero(self.rumours.left == 0).tolist():
            neighbours = len(self.network.neighbours[node])
            self.rumours.choices[node] = self._generators[node].integers(neighbours, size=CHOICES)
            self.rumours.left[node] = CHOICES

    def _bits(self, words: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the bits of each row of *words*, one for each agent."""
        octets = np.ascontiguousarray(words, dtype="<i8").view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.network.agents, bitorder="little").astype(np.bool_)
