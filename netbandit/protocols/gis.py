"""Global Information Synchronization: every node advertises, requests and passes on what is new."""

from collections.abc import Callable, Sequence

from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network, Receive
from netbandit.protocols.free_clock import FreeClock
from netbandit.protocols.free_rounds import FreeRounds
from netbandit.protocols.known_items import KnownItems, Labels
from netbandit.protocols.protocol import Aggregation, Item, Overhear, contributed

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
        on_complete: Called with (round, group, lists, labels of the items that all hold) when a group's round ends.
        apart: Whether agents conclude apart; see `Aggregation`.
    """

    def __init__(
        self,
        network: Network,
        groups: Sequence[Sequence[int]],
        slotted: bool,
        turn: EventPriority,
        on_complete: Callable[[int, int, KnownItems, Labels], None],
        apart: bool = False,
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
        self._free_clock = FreeClock(network, self._look, apart)
        self._forgets = network.forgets
        self._news: Callable[[int, int, int], None] | None = None

    def listen(self, overhear: Overhear) -> None:
        """Have *overhear* told of every item that reaches a node; see `CallbackRoundProtocol.listen`."""
        self._overhear = overhear

    def listen_to_news(self, news: Callable[[int, int, int], None]) -> None:
        """Have *news* told of a round, a node, and how many items the node has just heard, or contributed, in it."""
        self._news = news

    def open(self, round: int, node: int) -> KnownItems | None:
        """Return what the nodes that synchronise with *node* hold in a *round*; None if it is not under way."""
        return self._rounds.get((round, self._group[node]))

    def end(self, round: int, group: int) -> None:
        """End a round of a group that needs nothing of it any more."""
        if self._rounds.pop((round, group), None) is not None:
            self._free_clock.end((round, group))

    def done(self, node: int, round: int) -> None:
        """Note that *node* takes part in *round* and all later ones no more; it keeps passing on."""
        self._free_clock.done(node, round)

    def forget(self, node: int) -> None:
        """Let *node* know nothing any more."""
        self._free_clock.forget(node)
        for (_, group), state in self._rounds.items():
            if group == self._group[node]:
                state.forget(self._label[node])
                state.asked[self._label[node]] = 0

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
                if self._forgets:
                    labels &= state.known[self._label[node]]
                    if not labels:
                        continue
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
                if self._news is not None:
                    self._news(round, node, (labels & ~state.known[label]).bit_count())
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
        held: Labels | None
        if not self._free_clock.needed:
            held = (1 << state.members) - 1 if state.everybody_complete else None
        else:
            held = self._free_clock.held(
                key,
                self._groups[key[1]],
                lambda label, other: bool(state.known[label] >> other & 1),
                lambda label: state.known[label],
            )
        if held is not None:
            self.end(*key)
            self._on_complete(*key, state, held)


class Gis(FreeRounds):
    """All agents synchronise: the protocol of DDP-MAB (Li & Song, Algorithms 2 and 3).

    Slotted, with three latencies within a slot and no bandwidth limit, a round takes ``diameter`` slots and
    node v holds the item of u after dist(u, v) slots. An agent goes on without the others at its `deadline`.
    """

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        everybody = range(network.agents)
        self._synchronization = Synchronization(
            network, [everybody], self.slotted, aggregation.turn, self._all_known, self._apart
        )
        if self._apart:
            self._synchronization.listen_to_news(self._note_late)
        self._informed: dict[int, Event] = {}

    def listen(self, overhear: Overhear) -> None:
        """See `CallbackRoundProtocol.listen`."""
        self._synchronization.listen(overhear)

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Put the agent's item on its list."""
        item = contributed(item)
        afterwards = self._contribute_afterwards(round, agent, item)
        if afterwards is not None:
            return afterwards
        if self._apart:
            informed: Event | None = self._patience.wait(round, agent)
        else:
            informed = self._informed.get(round)
        if informed is None:
            informed = self._informed[round] = self.clock.environment.event()
        self._synchronization.contribute(round, agent, item)
        return informed

    def done(self, agent: int, round: int) -> None:
        """Let the clock know."""
        self._synchronization.done(agent, round)

    def forget(self, agent: int) -> None:
        """See `CallbackRoundProtocol.forget`."""
        super().forget(agent)
        self._synchronization.forget(agent)

    @property
    def handler(self) -> Receive:
        """What handles the handshakes."""
        return self._synchronization.receive

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Handle the handshakes."""
        self._synchronization.receive(node, arrivals)

    def _all_known(self, round: int, group: int, lists: KnownItems, labels: Labels) -> None:
        answer = self._end_round(round, lists, labels)
        if answer is not None:
            self._informed.pop(round).succeed(answer)

    def _holds(self, round: int, agent: int) -> list[Item]:
        state = self._synchronization.open(round, agent)
        assert state is not None  # it waits in it
        return state.held(agent)
