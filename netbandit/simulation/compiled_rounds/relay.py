"""Compiled rounds over `relay`."""

from typing import ClassVar

import numpy as np
from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import AGENTS
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.protocol import Aggregation, Item, contributed
from netbandit.protocols.relay import RELAY
from netbandit.protocols.triggered_rounds import CALL
from netbandit.simulation.compiled_rounds.calls import CalledRounds
from netbandit.simulation.compiled_rounds.places import moved
from netbandit.simulation.compiled_rounds.trees import trees_of
from netbandit.simulation.kernels import relay as kernel
from netbandit.simulation.machine.execution import Loop


class _Round:
    """One round.

    Attributes:
        items: What each agent contributed; None until it has.
        informed: For each agent, what happens when it has heard everybody.
        uninformed: How many agents have not.
        conclusion: What follows from the items, once anybody has them all.
    """

    def __init__(self, informed: list[Event]) -> None:
        self.items: list[Item | None] = [None] * len(informed)
        self.informed = informed
        self.uninformed = len(informed)
        self.conclusion: Item | None = None


class CompiledRelayRounds(CalledRounds):
    """Stands for `RoundsOverBroadcast` over `Relay`."""

    kinds: ClassVar[tuple[Kind, ...]] = (RELAY, CALL)
    name: ClassVar[str] = "relay"
    loop: ClassVar[Loop] = Loop(kernel.play)
    telling: ClassVar[Loop] = Loop(kernel.tell)
    compiled_beside: ClassVar[tuple[Loop, ...]] = (*CalledRounds.compiled_beside, telling)

    told: kernel.Told = state()
    """The rounds that go on."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        first, tree = trees_of(network, self.machine)
        self._rounds: dict[int, _Round] = {}
        self.told = kernel.Told(
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
        found = self._rounds.get(round) or self._begin(round)
        found.items[agent] = item
        self.told.sizes[round % len(self.told.sizes), agent] = HEADER_BYTES + LABEL_BYTES + item.size
        self.send(lambda: self.run(self.telling, self.machine, self.told, agent, round, self.clock.now))
        informed = found.informed[agent]
        self.inform()
        return informed

    def _begin(self, round: int) -> _Round:
        """Begin a *round*, in a place in which no other goes on."""
        told, environment = self.told, self.clock.environment
        places = len(told.missing)
        while len({number % places for number in (*self._rounds, round)}) <= len(self._rounds):
            places *= 2
        if places > len(told.missing):
            self.told = told._replace(
                missing=moved(told.missing, list(self._rounds), places),
                sizes=moved(told.sizes, list(self._rounds), places),
                complete=np.empty((places * self.network.agents, 2), dtype=np.int64),
            )
        self.told.missing[round % places] = self.network.agents
        self._rounds[round] = _Round([Event(environment) for _ in range(self.network.agents)])
        return self._rounds[round]

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        complete = self.told.complete[: self.told.state[kernel.COMPLETE]].tolist()
        self.told.state[kernel.COMPLETE] = 0
        for agent, number in sorted(complete):
            round = self._rounds[number]
            if round.conclusion is None:
                items = [item for item in round.items if item is not None]
                round.conclusion = self.conclude(number, items)
            round.informed[agent].succeed(round.conclusion)
            round.uninformed -= 1
            if not round.uninformed:
                del self._rounds[number]
                self.end(number)

    def appoint_steps(self) -> None:
        """See `CompiledLoop.appoint_steps`; there may be several."""
        super().appoint_steps()
        if self.slotted:
            self.appoint_each_step()

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        return self.run(self.loop, self.machine, self.told, arrivals_until, steps_until, self.slotted)
