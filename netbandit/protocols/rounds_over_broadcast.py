"""Rounds over any protocol of broadcasts: a round ends for an agent when it has heard everybody."""

from collections import Counter
from typing import Self

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.network.network import Network, Receive
from netbandit.part import state
from netbandit.protocols.broadcast import BroadcastProtocol, Heard
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, Item, contributed


class _Round:
    """One round.

    Attributes:
        items: What each agent contributed; None until it has.
        missing: For each agent, of how many agents it has not the items.
        informed: For each agent, what happens when it has them all.
        uninformed: How many agents have not.
        conclusion: What follows from the items, once anybody has them all.
    """

    def __init__(self, informed: list[Event]) -> None:
        agents = len(informed)
        self.items: list[Item | None] = [None] * agents
        self.missing = [agents] * agents
        self.informed = informed
        self.uninformed = agents
        self.conclusion: Item | None = None


class RoundsOverBroadcast(CallbackRoundProtocol):
    """Every agent tells all others its item, and concludes the moment it has heard them all.

    Nobody needs a clock that ends the round: an agent counts, so those in the middle of a network go on earlier.
    """

    broadcasts: BroadcastProtocol = state()
    """The protocol of broadcasts; everybody hears everybody."""

    @classmethod
    def over(cls, broadcasts: BroadcastProtocol) -> Self:
        """Return the rounds over a protocol of broadcasts, which is started with them."""
        found = cls(timing=broadcasts.timing)
        found.broadcasts = broadcasts
        return found

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self.broadcasts.start(network, self._hear)
        self._rounds: dict[int, _Round] = {}

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Let *agent* tell its item to all others."""
        item = contributed(item)
        state = self._rounds.get(round)
        if state is None:
            environment = self.clock.environment
            state = self._rounds[round] = _Round([Event(environment) for _ in range(self.network.agents)])
        informed = state.informed[agent]
        state.items[agent] = item
        self.broadcasts.broadcast(round, agent, item)
        self._count(round, state, agent, 1)
        return informed

    @property
    def handler(self) -> Receive:
        """What handles the broadcasts, which is all."""
        return self.broadcasts.handler

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Hand on what the broadcasts bring."""
        self.broadcasts.receive(node, arrivals)

    def _hear(self, agent: int, heard: list[Heard]) -> None:
        for round, items in sorted(Counter(one.round for one in heard).items()):
            self._count(round, self._rounds[round], agent, items)

    def _count(self, round: int, state: _Round, agent: int, items: int) -> None:
        """Note that *items* more have reached *agent*, and inform it when it has all."""
        state.missing[agent] -= items
        if state.missing[agent]:
            return
        if state.conclusion is None:
            contributed = [item for item in state.items if item is not None]
            state.conclusion = self.conclude(round, contributed)
        state.informed[agent].succeed(state.conclusion)
        state.uninformed -= 1
        if not state.uninformed:
            del self._rounds[round]
            self.end(round)
