"""Rounds among neighbours: the free clock ends a round, unless agents proceed earlier at their deadlines."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from simpy import Event

from netbandit.network.engine import Receive
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.parts.component import Checks, Mistake, Others, state
from netbandit.protocols.deadline import DeadlineKey, WaitList, deadline_without_rounds
from netbandit.protocols.node import AgentMask, LabelMessage, Node, OpenRound
from netbandit.protocols.open_rounds import OpenRounds
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, Item, Overhear, contributed


class NeighbourRounds(DeadlineKey, CallbackRoundProtocol):
    """Rounds in which nodes forward items to their neighbours: ``gis``, ``flooding``, ``gossip``, and user protocols.

    Two handlers define the behaviour of nodes: `on_message`, and `act`.

    The free clock, out of band, ends a round when all agents that are up and have not committed hold one another's
    items. With a `deadline` an agent proceeds without the others when this time has passed since its own contribution;
    it still forwards items to agents that wait. An agent that was down when the clock ended a round, and contributes
    to it later, proceeds at once: with the common conclusion, or with the items it holds if agents conclude
    individually.
    """

    uses_uplinks: ClassVar[bool] = False
    ends_without: ClassVar[bool] = True
    forgetful: ClassVar[bool] = True
    merges: ClassVar[bool] = True
    """Whether a node acts once on all items of a round that it takes in at an instant, not on each part separately."""
    stream: ClassVar[str] = "neighbours"
    """The purpose of the random stream from which each node draws neighbours; see `Streams`."""

    rounds: OpenRounds = state()
    """The rounds that are open."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self._per_agent = aggregation.per_agent
        self._wait_list = WaitList(self.clock, self.deadline_ns(self.clock.slot), self._held, self._conclude_per_agent)
        self._informed: dict[int, Event] = {}
        self._answers: dict[int, Item] = {}
        self._over: dict[int, tuple[OpenRound, AgentMask]] = {}
        everybody = [range(network.agents)]
        self.rounds = OpenRounds(
            network, everybody, self, self.slotted, aggregation.turn, self._end_round, aggregation.per_agent
        )
        self.rounds.ask_who_waits(self._wait_list.waiting)

    @abstractmethod
    def on_message(self, node: Node, neighbour: int, message: LabelMessage) -> None:
        """Handle a *message* of an open round that has just reached *node* from a *neighbour*."""

    @abstractmethod
    def act(self, node: Node, labels: AgentMask) -> None:
        """Act on the items with these *labels*, which *node* has taken in, unless the round has ended.

        It is called after all nodes have taken in the items due at this instant.
        """

    def listen(self, overhear: Overhear) -> None:
        """See `CallbackRoundProtocol.listen`."""
        self.rounds.listen(overhear)

    @property
    def handler(self) -> Receive:
        """See `NetworkProtocol.handler`."""
        return self.rounds.receive if type(self).receive is NeighbourRounds.receive else self.receive

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """See `NetworkProtocol.receive`."""
        self.rounds.receive(node, arrivals)

    def check_with(self, others: Others) -> Checks:
        """Information cannot reach another component; only learners of rounds go on without others."""
        yield from must_be_connected(others)
        yield from deadline_without_rounds(self, others)

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Let the agent send its item, at this instant."""
        item = contributed(item)
        afterwards = self._contribute_afterwards(round, agent, item)
        if afterwards is not None:
            return afterwards
        informed = self._wait_list.wait(round, agent) if self._per_agent else self._informed.get(round)
        if informed is None:
            informed = self._informed[round] = Event(self.clock.environment)
        self.rounds.look_who_is_left(self.rounds.contribute(round, agent, item))
        return informed

    def note_items(self, round: int, items: Mapping[int, Item]) -> None:
        """See `CallbackRoundProtocol.note_items`."""
        if round not in self.ended:
            self.rounds.note_items(round, items)

    def done(self, agent: int, round: int) -> None:
        """Let the clock know."""
        self.rounds.done(agent, round)

    def forget(self, agent: int) -> None:
        """See `CallbackRoundProtocol.forget`; of rounds that have ended, too."""
        self._wait_list.forget(agent)
        for round, _ in self._over.values():
            round.forget(agent)
        self.rounds.forget(agent)

    @property
    def late(self) -> int:
        """The number of items that reached an agent after it had proceeded without them."""
        return self._wait_list.late + self.rounds.late

    def _contribute_afterwards(self, number: int, agent: int, item: Item) -> Event | None:
        """Inform *agent* of the conclusion of a round that has ended without it; None: the round has not ended."""
        if number in self._answers:
            return Event(self.clock.environment).succeed(self._answers[number])
        if number not in self._over:
            return None
        round, labels = self._over[number]
        round.contribute(agent, item)
        informed = self._wait_list.wait(number, agent)
        self._let_go_on(round, agent, labels)
        return informed

    def _end_round(self, round: OpenRound, labels: AgentMask) -> None:
        """End a *round*, of which all agents hold the items with these *labels*."""
        self.end(round.number)
        if self._per_agent:
            self._over[round.number] = round, labels
            for agent in self._wait_list.waiting(round.number):
                self._let_go_on(round, agent, labels)
            return
        answer = self.conclude(round.number, round.named(labels))
        if self.network.agents_fail:
            self._answers[round.number] = answer
        self._informed.pop(round.number).succeed(answer)

    def _let_go_on(self, round: OpenRound, agent: int, labels: AgentMask) -> None:
        """Let *agent* proceed, in a round that has ended, with those of the common items that it holds itself."""
        items = round.held(agent, labels)
        if len(items) > 1 or labels == 1 << agent:
            self._wait_list.inform(round.number, agent, items)
        else:  # it was down, or has lost its memory
            self._wait_list.tell(round.number, agent, None)

    def _held(self, number: int, agent: int) -> Sequence[Item]:
        """Return the items of an open round that *agent* holds at its deadline, when it proceeds."""
        round = self.rounds.get(number, agent)
        assert round is not None  # it waits in it
        round.went_on |= 1 << agent
        self.rounds.look_who_is_left(round, leaving=agent)
        return round.held(agent)

    def _conclude_per_agent(self, round: int, items: Sequence[Item], agent: int) -> Item:
        return self.conclude(round, items, group=agent)


def must_be_connected(others: Others, what: str = "") -> Checks:
    """Yield the mistake of a protocol that cannot run on a graph of several components.

    Args:
        others: The scenario.
        what: The operation that is impossible, such as ``"a round over "``; the protocol's kind follows.
    """
    if others.components > 1:
        kind = others.kinds["protocol"]
        yield Mistake("kind", f"{what}{kind} needs a connected graph, but this one has {others.components} components")
