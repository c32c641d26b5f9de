"""Rounds over any protocol of broadcasts: a round ends for an agent when it has heard everybody."""

from collections import Counter
from collections.abc import Iterator

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.network.network import Network, Receive
from netbandit.protocols.broadcast import BroadcastProtocol, Heard
from netbandit.protocols.gis import must_be_connected
from netbandit.protocols.protocol import (
    Aggregation,
    CallbackRoundProtocol,
    GraphFacts,
    Item,
    ProtocolSettings,
    contributed,
)


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

    Args:
        kind: The protocol of broadcasts; everybody hears everybody.
        settings: Its settings.
        network: The network it talks over.
        aggregation: What is made of the items.
    """

    def __init__(
        self, kind: type[BroadcastProtocol], settings: ProtocolSettings, network: Network, aggregation: Aggregation
    ) -> None:
        super().__init__(settings, network, aggregation)
        self._broadcasts = kind(settings, network, self._hear)
        self._rounds: dict[int, _Round] = {}

    @classmethod
    def problems(cls, settings: ProtocolSettings, graph: GraphFacts) -> Iterator[tuple[str, str]]:
        """Information cannot reach another component."""
        yield from must_be_connected(f"a round over {settings.kind}", graph)

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Let *agent* tell its item to all others."""
        item = contributed(item)
        state = self._rounds.get(round)
        if state is None:
            environment = self.clock.environment
            state = self._rounds[round] = _Round([Event(environment) for _ in range(self.network.agents)])
        informed = state.informed[agent]
        state.items[agent] = item
        self._broadcasts.broadcast(round, agent, item)
        self._count(round, state, agent, 1)
        return informed

    @property
    def handler(self) -> Receive:
        """What handles the broadcasts, which is all."""
        return self._broadcasts.handler

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Hand on what the broadcasts bring."""
        self._broadcasts.receive(node, arrivals)

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
