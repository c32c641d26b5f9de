"""Compiled rounds over `relay`."""

from typing import Any, ClassVar

import numpy as np
from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import AGENTS
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.protocol import Aggregation, Item, contributed
from netbandit.protocols.relay import RELAY
from netbandit.simulation.compiled_rounds.engine import CompiledRounds
from netbandit.simulation.compiled_rounds.queued import QueuedLoop
from netbandit.simulation.compiled_rounds.trees import trees_of
from netbandit.simulation.kernels import relay as loop


class _Round:
    """One round.

    Attributes:
        number: Its number.
        items: What each agent contributed; None until it has.
        informed: For each agent, what happens when it has heard everybody.
        uninformed: How many agents have not.
        conclusion: What follows from the items, once anybody has them all.
    """

    def __init__(self, number: int, informed: list[Event]) -> None:
        self.number = number
        self.items: list[Item | None] = [None] * len(informed)
        self.informed = informed
        self.uninformed = len(informed)
        self.conclusion: Item | None = None


class CompiledRelayRounds(QueuedLoop, CompiledRounds):
    """Stands for `RoundsOverBroadcast` over `Relay`."""

    kinds: ClassVar[tuple[Kind, ...]] = (RELAY,)
    name: ClassVar[str] = "relay"
    compiled: ClassVar[Any] = loop.play
    compiled_with_faults: ClassVar[Any] = loop.play_with_faults
    compiled_beside: ClassVar[tuple[Any, ...]] = (loop.tell,)

    told: loop.Told = state()
    """The rounds that go on."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        first, tree = trees_of(network, self.traffic)
        self._rounds: dict[int, _Round] = {}
        self.told = loop.Told(
            state=np.zeros(4, dtype=np.int64),
            missing=np.zeros((2, agents), dtype=np.int64),
            sizes=np.zeros((2, agents), dtype=np.int64),
            first=first,
            tree=tree,
            complete=np.empty((2 * agents, 2), dtype=np.int64),
        )

    def turn_of(self, aggregation: Aggregation) -> EventPriority:
        """Return the agents' turn: `Relay` hears then."""
        return AGENTS

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """See `CallbackRoundProtocol.contribute`."""
        item = contributed(item)
        odd = round & 1
        found = self._rounds.get(odd)
        if found is None or found.number != round:
            assert found is None or not found.uninformed, "all have heard everybody two rounds before"
            environment = self.clock.environment
            found = self._rounds[odd] = _Round(round, [Event(environment) for _ in range(self.network.agents)])
            self.told.missing[odd] = self.network.agents
        found.items[agent] = item
        self.told.sizes[odd, agent] = HEADER_BYTES + LABEL_BYTES + item.size
        self.send(lambda: loop.tell(self.traffic, self.queues, self.told, agent, odd, self.clock.now))
        informed = found.informed[agent]
        self.inform()
        return informed

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        complete = self.told.complete[: self.told.state[loop.COMPLETE]].tolist()
        self.told.state[loop.COMPLETE] = 0
        for agent, odd in complete:
            round = self._rounds[odd]
            if round.conclusion is None:
                items = [item for item in round.items if item is not None]
                round.conclusion = self.conclude(round.number, items)
            round.informed[agent].succeed(round.conclusion)
            round.uninformed -= 1
            if not round.uninformed:
                self.end(round.number)

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        return self.run(self.traffic, self.queues, self.told, arrivals_until, steps_until, self.slotted)
