"""Compiled rounds of `sink` whose items are collected along trees."""

from typing import Any, ClassVar

import numpy as np

from netbandit.network.link import Arrival, Channel
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.protocol import Aggregation, Item
from netbandit.protocols.sink import Sink
from netbandit.protocols.tree_collection import COLLECT
from netbandit.simulation.compiled_rounds.engine import CompiledRounds
from netbandit.simulation.compiled_rounds.links import rows_of, with_uplinks
from netbandit.simulation.compiled_rounds.queued import QueuedLoop
from netbandit.simulation.kernels import collection as loop
from netbandit.simulation.kernels import traffic as columns
from netbandit.simulation.kernels.faults import SERIAL_BITS
from netbandit.simulation.kernels.traffic import Traffic


class CompiledSink(QueuedLoop, CompiledRounds, Sink):
    """Stands for `Sink` where nobody fails, trees collect, and agents do not conclude apart.

    What is on uplinks stays with the network and the server's part of `Sink`; the loop knows when it arrives, and has
    it taken off when it is its turn among what arrives at that instant.
    """

    kinds: ClassVar[tuple[Kind, ...]] = (COLLECT,)
    name: ClassVar[str] = "sink"
    compiled: ClassVar[Any] = loop.play
    compiled_with_faults: ClassVar[Any] = loop.play_with_faults

    collection: loop.Collection = state()
    """The items on their way."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        channels, topology, agents = self.traffic.channels, network.topology, network.agents
        parents, nodes, server = topology.sink_parents, np.arange(agents), np.full(agents, network.server)
        self._rows_up = rows_of(channels, nodes, server).tolist()
        self._rows_down = rows_of(channels, server, nodes).tolist()
        self._uplinks: dict[int, Channel] = {}
        self._expected: list[tuple[int, int]] = []
        self._heard: list[tuple[int, Arrival]] = []
        self._items: list[Item | None] = [None] * agents
        self._round = 0
        self._stop_waiting = False
        self.collection = loop.Collection(
            state=np.zeros(loop.COLLECTION_STATES, dtype=np.int64),
            up=np.where(parents >= 0, rows_of(channels, nodes, parents), -1),
            component=topology.component,
            missing=np.array(self._sizes, dtype=np.int64),
            complete=np.empty(len(self._sizes), dtype=np.int64),
        )
        self.collection.state[loop.HEADER] = HEADER_BYTES
        network.expect_with(self._expect)

    def arrays_of(self, network: Network, kinds: tuple[Kind, ...]) -> Traffic:
        """See `CompiledLoop.arrays_of`."""
        traffic = with_uplinks(super().arrays_of(network, kinds), network)
        return traffic._replace(steps=np.empty((len(traffic.steps), 4), dtype=np.int64))

    def _collect(self, round: int, agent: int, item: Item) -> None:
        """See `Sink`; in this instant's step."""
        now, state = self.clock.now, self.traffic.state
        if state[columns.STEPS] == len(self.traffic.steps):
            self.more(columns.STEPS_FULL)
        self._round = round
        self._items[agent] = item
        self.traffic.steps[state[columns.STEPS]] = agent, LABEL_BYTES + item.size, 1, now
        state[columns.STEPS] += 1
        state[columns.STEP_TIME] = now
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
        complete = self.collection.complete[: self.collection.state[loop.COMPLETE]].tolist()
        self.collection.state[loop.COMPLETE] = 0
        for component in complete:
            self.collection.missing[component] = self._sizes[component]
            items = [self._items[agent] for agent in self.network.topology.components[component].tolist()]
            self._collected(self._round, component, [item for item in items if item is not None])

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        while self._expected:
            del self._expected[: loop.expect_on_uplinks(self.traffic, self.queues, np.array(self._expected))]
            if self._expected:
                self.more(columns.HEAPS_FULL)
        why = self.run(self.traffic, self.queues, self.collection, arrivals_until, steps_until, self.slotted)
        self._stop_waiting = why == columns.OUTSIDE_TIMERS
        return columns.ENDED_ROUND if self._stop_waiting else why

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`; or take off uplinks what arrives on them now."""
        if why == loop.ON_UPLINK:
            self._take_off()
        else:
            super().make_room(why)

    def _take_off(self) -> None:
        """Take off uplinks what arrives on them now."""
        kept = self.collection.state
        places = slice(kept[loop.UPLINKS_AT], kept[loop.UPLINKS_END])
        kept[loop.UPLINKS_AT] = kept[loop.UPLINKS_END] = 0
        faults, window = self.queues.faults, self.traffic.window
        rows = window[places] & columns.CHANNEL_MASK if faults is None else faults.due[places, 1] >> SERIAL_BITS
        for row in dict.fromkeys(rows.tolist()):  # there may be several messages on one
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
