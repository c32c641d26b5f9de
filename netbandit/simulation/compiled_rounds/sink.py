"""Compiled rounds of `sink` whose items are collected along trees."""

from typing import ClassVar

import numpy as np

from netbandit.network.link import Arrival, Channel
from netbandit.network.message import LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.protocol import Aggregation, Item
from netbandit.protocols.sink import Sink
from netbandit.protocols.tree_collection import COLLECT
from netbandit.simulation.compiled_rounds.engine import CompiledRounds
from netbandit.simulation.compiled_rounds.links import rows_of, with_uplinks
from netbandit.simulation.machine import collection as kernel
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.execution import Loop, texts_of
from netbandit.simulation.machine.rows import Machine


class CompiledSink(CompiledRounds, Sink):
    """Stands for `Sink` where nobody fails, trees collect, and agents do not conclude apart.

    What is on uplinks stays with the network and the server's part of `Sink`; the loop knows when it arrives, and has
    it taken off when it is its turn among what arrives at that instant.
    """

    kinds: ClassVar[tuple[Kind, ...]] = (COLLECT,)
    name: ClassVar[str] = "sink"
    loop: ClassVar[Loop] = Loop(kernel.play, texts_of(kernel), "sink")

    expecting: ClassVar[Loop] = Loop(kernel.expect_on_uplinks)
    compiled_beside: ClassVar[tuple[Loop, ...]] = (expecting,)
    step_columns: ClassVar[int] = 4

    collection: kernel.Collection = state()
    """The items on their way."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        channels, topology, agents = self.machine.channels, network.topology, network.agents
        parents, nodes, server = topology.sink_parents, np.arange(agents), np.full(agents, network.server)
        self._rows_up = rows_of(channels, nodes, server).tolist()
        self._rows_down = rows_of(channels, server, nodes).tolist()
        self._uplinks: dict[int, Channel] = {}
        self._expected: list[tuple[int, int]] = []
        self._heard: list[tuple[int, Arrival]] = []
        self._items: list[Item | None] = [None] * agents
        self._round = 0
        self._stop_waiting = False
        self.collection = kernel.Collection(
            state=np.zeros(kernel.COLLECTION_STATES, dtype=np.int64),
            up=np.where(parents >= 0, rows_of(channels, nodes, parents), -1),
            component=topology.component,
            missing=np.array(self._sizes, dtype=np.int64),
            complete=np.empty(len(self._sizes), dtype=np.int64),
        )
        network.expect_with(self._expect)

    def arrays_of(self, network: Network, kinds: tuple[Kind, ...]) -> Machine:
        """See `CompiledLoop.arrays_of`."""
        return with_uplinks(super().arrays_of(network, kinds), network)

    def _collect(self, round: int, agent: int, item: Item) -> None:
        """See `Sink`; in this instant's step."""
        now, state = self.clock.now, self.machine.state
        if state[rows.STEPS] == len(self.machine.steps):
            self.more(rows.STEPS_FULL)
        self._round = round
        self._items[agent] = item
        self.machine.steps[state[rows.STEPS]] = agent, LABEL_BYTES + item.size, 1, now
        state[rows.STEPS] += 1
        state[rows.STEP_TIME] = now
        self.appoint_step(now)

    def inform(self) -> None:
        """Let the server and agents hear what has come over uplinks, and sinks upload what follows from their items.

        Or let those send again over uplinks who wait in vain for an acknowledgement.
        """
        if self._stop_waiting:
            self.network.stop_waiting(self.clock.now)
            return
        self._take_off()
        for node, arrival in self._heard:
            self._server.receive(node, arrival)
        self._heard.clear()
        complete = self.collection.complete[: self.collection.state[kernel.COMPLETE]].tolist()
        self.collection.state[kernel.COMPLETE] = 0
        for component in complete:
            self.collection.missing[component] = self._sizes[component]
            items = [self._items[agent] for agent in self.network.topology.components[component].tolist()]
            self._collected(self._round, component, [item for item in items if item is not None])

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        while self._expected:
            del self._expected[: self.run(self.expecting, self.machine, np.array(self._expected))]
            if self._expected:
                self.more(rows.ENTRIES_FULL)
                if self.machine.faults is not None:
                    self.more(rows.TIMERS_FULL)
        why = self.run(self.loop, self.machine, self.collection, arrivals_until, steps_until, self.slotted)
        self._stop_waiting = why == rows.OUTSIDE_TIMERS
        return rows.ENDED_ROUND if self._stop_waiting else why

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`; or take off uplinks what arrives on them now."""
        if why == kernel.ON_UPLINK:
            self._take_off()
        else:
            super().make_room(why)

    def _take_off(self) -> None:
        """Take off uplinks what arrives on them now."""
        kept = self.collection.state
        places = slice(kept[kernel.UPLINKS_AT], kept[kernel.UPLINKS_END])
        kept[kernel.UPLINKS_AT] = kept[kernel.UPLINKS_END] = 0
        arrived = self.machine.due[places, rows.CHANNEL].tolist()
        for row in dict.fromkeys(arrived):  # there may be several messages on one
            channel = self._uplinks[row]
            arrivals: list[Arrival] = []
            self.network.take(channel, self.clock.now, arrivals)
            self._heard += [(channel.receiver, arrival) for arrival in arrivals]

    def _expect(self, arrival: int, channel: Channel | None) -> None:
        self.appoint_arrival(arrival)
        if channel is None:
            self._expected.append((-1, arrival))
            return
        if channel.receiver == self.network.server:
            row = self._rows_up[channel.sender]
        else:
            row = self._rows_down[channel.receiver] + channel.rank % 2  # a broadcast comes behind
        self._uplinks[row] = channel
        self._expected.append((row, arrival))
