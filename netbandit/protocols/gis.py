"""Global Information Synchronization: every node advertises, requests and passes on what is new."""

from collections.abc import Callable, Sequence

from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network, Receive
from netbandit.part import Checks, Mistake, Others
from netbandit.protocols.free_clock import FreeClock
from netbandit.protocols.known_items import KnownItems, Labels
from netbandit.protocols.protocol import (
    Aggregation,
    CallbackRoundProtocol,
    Item,
    Overhear,
    contributed,
)

ADV = Kind("ADV")
REQ = Kind("REQ")
DATA = Kind("DATA")


class SyncRound(KnownItems):
    """One round in one group of nodes that synchronise.

    Attributes:
        asked: For each member, the labels on its list or requested: it asks nobody for these.
    """

    def __init__(self, members: int) -> None:
        super().__init__(members)
        self.asked: list[Labels] = [0] * members


class Synchronization:
    """Flooding by handshake (Li & Song, Algorithm 2) in groups of nodes, each under a clock of its own.

    A node that has learnt new items advertises their labels to all neighbours (ADV); a neighbour that misses
    some, and has not asked another for them, requests them from the first advertiser, the lowest-numbered of
    simultaneous ones (REQ); the items follow (DATA). The synchronisation clock watches all lists, out of band
    and free, and ends the round when every list is complete.

    Args:
        network: The network.
        groups: The nodes of each group, ascending; each group must be connected.
        slotted: Whether a node passes on only at the next slot boundary what it has learnt.
        turn: The turn of an instant in which it does.
        on_complete: Called with (round, group, items in order of the members) when a group's round ends.
    """

    def __init__(
        self,
        network: Network,
        groups: Sequence[Sequence[int]],
        slotted: bool,
        turn: EventPriority,
        on_complete: Callable[[int, int, list[Item]], None],
    ) -> None:
        self._network = network
        self._clock = network.clock
        self._slotted = slotted
        self._on_complete = on_complete
        self._members = [len(group) for group in groups]
        self._group = [0] * network.agents
        self._label = [0] * network.agents
        for number, group in enumerate(groups):
            for label, node in enumerate(group):
                self._group[node] = number
                self._label[node] = label
        self._rounds: dict[tuple[int, int], SyncRound] = {}
        self._steps: InstantQueue[tuple[int, Labels]] = InstantQueue(self._clock, self._act, turn)
        self._overhear: Overhear | None = None
        self._groups = groups
        self._free_clock = FreeClock(network, self._look)

    def listen(self, overhear: Overhear) -> None:
        """Have *overhear* told of every item that reaches a node; see `CallbackRoundProtocol.listen`."""
        self._overhear = overhear

    def contribute(self, round: int, node: int, item: Item) -> None:
        """Put *item* on the list of *node*; it acts on it in this instant."""
        group = self._group[node]
        state = self._rounds.get((round, group))
        if state is None:
            state = self._rounds[round, group] = SyncRound(self._members[group])
            self._free_clock.begin((round, group))
        label = self._label[node]
        state.contribute(label, item)
        state.asked[label] |= 1 << label
        self._steps.at(self._clock.now, node, (round, 1 << label))

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Handle what reaches *node* in this instant: the handshake never waits for a slot boundary."""
        clock = self._clock
        group = self._group[node]
        learnt: dict[int, Labels] = {}
        for _, sender, message in arrivals:
            state = self._rounds.get((message.round, group))
            if state is None:
                continue  # its round has ended while it was under way
            labels, begun = message.value
            if message.kind is ADV:
                wanted = labels & ~state.asked[self._label[node]]
                if wanted:
                    state.asked[self._label[node]] |= wanted
                    size = HEADER_BYTES + LABEL_BYTES * wanted.bit_count()
                    self._answer(node, sender, Message(REQ, size, (wanted, begun), message.round))
            elif message.kind is REQ:
                size = HEADER_BYTES + state.size(labels)
                self._answer(node, sender, Message(DATA, size, (labels, begun), message.round))
            elif self._slotted:
                self._steps.at(clock.effective_time(begun, clock.now), node, (message.round, labels))
            else:
                learnt[message.round] = learnt.get(message.round, 0) | labels
        if learnt:
            self._act([(node, list(learnt.items()))])

    def _answer(self, node: int, sender: int, message: Message) -> None:
        self._network.send(message, (self._network.channel(node, sender),))

    def _act(self, due: list[tuple[int, list[tuple[int, Labels]]]]) -> None:
        """Let nodes take in what they have learnt, end rounds, and advertise what is new in the others."""
        news: dict[tuple[int, int], Labels] = {}
        touched: dict[tuple[int, int], None] = {}
        for node, parts in due:
            group = self._group[node]
            label = self._label[node]
            for round, labels in parts:
                state = self._rounds.get((round, group))
                if state is None:
                    continue
                news[node, round] = news.get((node, round), 0) | labels
                if state.add(label, labels) or self._free_clock.needed:
                    touched[round, group] = None
        if self._overhear is not None:
            for (node, round), labels in news.items():
                self._overhear(node, round, self._rounds[round, self._group[node]].named(labels))
        for key in touched:
            self._look(key)
        now = self._clock.now
        network = self._network
        for (node, round), labels in news.items():
            if (round, self._group[node]) in self._rounds:
                size = HEADER_BYTES + LABEL_BYTES * labels.bit_count()
                network.send(Message(ADV, size, (labels, now), round), network.channels[node])

    def _look(self, key: tuple[int, int]) -> None:
        """End the round of a group if the clock says so."""
        state = self._rounds[key]
        if not self._free_clock.needed:
            items = state.contributions if state.everybody_complete else None
        else:
            held = self._free_clock.held(
                key,
                self._groups[key[1]],
                lambda label: state.items[label] is not None,
                lambda label: state.known[label],
            )
            items = None if held is None else state.named(held)
        if items is not None:
            del self._rounds[key]
            self._free_clock.end(key)
            self._on_complete(*key, items)


class Gis(CallbackRoundProtocol):
    """All agents synchronise: the protocol of DDP-MAB (Li & Song, Algorithms 2 and 3).

    Slotted, with three latencies within a slot and no bandwidth limit, a round takes ``diameter`` slots and
    node v holds the item of u after dist(u, v) slots.
    """

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        everybody = range(network.agents)
        self._synchronization = Synchronization(network, [everybody], self.slotted, aggregation.turn, self._all_known)
        self._informed: dict[int, Event] = {}
        self._answers: dict[int, Item] = {}

    def check_with(self, others: Others) -> Checks:
        """Information cannot reach another component."""
        yield from must_be_connected(others)

    def listen(self, overhear: Overhear) -> None:
        """See `CallbackRoundProtocol.listen`."""
        self._synchronization.listen(overhear)

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Put the agent's item on its list."""
        item = contributed(item)
        if round in self._answers:  # it was down, and the round has ended without it
            return self.clock.environment.event().succeed(self._answers[round])
        informed = self._informed.get(round)
        if informed is None:
            informed = self._informed[round] = self.clock.environment.event()
        self._synchronization.contribute(round, agent, item)
        return informed

    @property
    def handler(self) -> Receive:
        """What handles the handshakes."""
        return self._synchronization.receive

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Handle the handshakes."""
        self._synchronization.receive(node, arrivals)

    def _all_known(self, round: int, group: int, items: list[Item]) -> None:
        self.end(round)
        answer = self.conclude(round, items)
        if self.network.agents_fail:
            self._answers[round] = answer
        self._informed.pop(round).succeed(answer)


def must_be_connected(others: Others, what: str = "") -> Checks:
    """Yield the mistake of a protocol that cannot run on a graph of several components.

    Args:
        others: The scenario.
        what: What is not possible: ``"a round over "``; the protocol's kind follows.
    """
    if others.components > 1:
        kind = others.kinds["protocol"]
        yield Mistake("kind", f"{what}{kind} needs a connected graph, but this one has {others.components} components")
