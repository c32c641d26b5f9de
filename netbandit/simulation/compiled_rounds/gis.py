"""Compiled rounds of `gis`."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.gis import ADV, DATA, REQ
from netbandit.protocols.protocol import Aggregation
from netbandit.protocols.triggered_rounds import CALL
from netbandit.simulation.compiled_rounds.calls import CalledRounds
from netbandit.simulation.compiled_rounds.overlapping import Agents, OverlappingRounds
from netbandit.simulation.kernels import open_rounds
from netbandit.simulation.kernels import synchronization as kernel
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.execution import Loop


class CompiledGis(CalledRounds, OverlappingRounds):
    """Stands for `Gis` where agents never fail."""

    kinds: ClassVar[tuple[Kind, ...]] = (ADV, REQ, DATA, CALL)
    name: ClassVar[str] = "gis"
    loop: ClassVar[Loop] = Loop(kernel.play)
    step_columns: ClassVar[int] = kernel.STEP_COLUMNS

    handshakes: kernel.Handshakes = state()
    """Who has asked for what."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        labels = np.empty(2 * agents, dtype=np.int32)
        labels[:agents] = np.arange(agents)
        self.handshakes = kernel.Handshakes(
            rounds=self.rounds,
            state=np.array([agents, 0]),
            asked=np.zeros((1, agents * agents), dtype=np.uint8),
            labels=labels,
            header=(HEADER_BYTES, LABEL_BYTES),
        )

    def clear(self, place: int) -> None:
        """See `OverlappingRounds.clear`."""
        self.handshakes.asked[place] = 0
        if np.count_nonzero(self.rounds.table[:, open_rounds.NUMBER]) == 1:
            self.handshakes.state[kernel.USED] = self.network.agents  # no list of another round is needed any more

    def take(self, place: int, agents: Agents) -> NDArray[np.int64]:
        """See `OverlappingRounds.take`."""
        self.handshakes.asked[place, agents * (self.network.agents + 1)] = kernel.ASKED
        return np.column_stack([agents, np.ones_like(agents)])

    def holders(self, place: int) -> NDArray[np.bool_]:
        """See `OverlappingRounds.holders`."""
        found: NDArray[np.bool_] = self.handshakes.asked[place].reshape(self.network.agents, -1) == kernel.HAS
        return found

    def holds(self, place: int, agent: int) -> NDArray[np.bool_]:
        """See `OverlappingRounds.holds`."""
        found: NDArray[np.bool_] = self.holders(place)[agent]
        return found

    def widen(self) -> None:
        """See `OverlappingRounds.widen`."""
        self.handshakes = self.handshakes._replace(asked=self.moved(self.handshakes.asked))

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        if self.told and len(self.rounds.heard) < len(self.handshakes.labels):  # a list may be news to a node at once
            heard = np.empty((len(self.handshakes.labels), open_rounds.HEARD_COLUMNS), dtype=np.int64)
            self.rounds = self.rounds._replace(heard=heard)
        self.handshakes = self.handshakes._replace(rounds=self.rounds)
        return self.run(self.loop, self.machine, self.handshakes, arrivals_until, steps_until, self.slotted)

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why == rows.LISTS_FULL:
            self._forget_lists()
        else:
            super().make_room(why)

    def _forget_lists(self) -> None:
        """Keep the lists of labels that something under way names alone; if most are, make room for as many again."""
        messages, agents = self.machine.messages, self.network.agents
        steps = self.machine.steps[: self.machine.state[rows.STEPS]]
        used = np.flatnonzero(messages["round"] >= 0)
        lists_of = np.column_stack([messages["labels"][used], messages["count"][used]])
        named = np.concatenate([lists_of, steps[:, 1:3]])
        longer = named[:, 0] >= agents  # else it is among those that are always there
        lists, which = np.unique(named[longer], axis=0, return_inverse=True)
        ends = np.cumsum(lists[:, 1])
        places = np.arange(int(ends[-1]) if len(ends) else 0)
        old = self.handshakes.labels
        kept = old[places + np.repeat(lists[:, 0] - ends + lists[:, 1], lists[:, 1])]
        end = agents + len(kept)
        full = 2 * end > len(old) or end == self.handshakes.state[kernel.USED]
        labels = np.empty(len(old) << full, dtype=np.int32)
        labels[:agents] = old[:agents]
        labels[agents:end] = kept
        named[longer, 0] = agents + (ends - lists[:, 1])[which.reshape(-1)]
        messages["labels"][used] = named[: len(used), 0]
        steps[:, 1] = named[len(used) :, 0]
        self.handshakes.state[kernel.USED] = end
        self.handshakes = self.handshakes._replace(labels=labels)
