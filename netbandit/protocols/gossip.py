"""Gossip: in each slot a node tells one random neighbour all it knows."""

from collections.abc import Mapping
from typing import ClassVar

from simpy import Event

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import HEADER_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.protocols.free_clock import FreeClock
from netbandit.protocols.free_rounds import FreeRounds
from netbandit.protocols.gossip_ask import GossipAsk
from netbandit.protocols.known_items import KnownItems, Labels
from netbandit.protocols.protocol import Aggregation, Item, NetworkProtocol, Pattern, contributed

GOSSIP = Kind("GOSSIP")

CHOICES = 64
"""How many neighbours a node draws at a time."""


class GossipRound(KnownItems):
    """One round.

    Attributes:
        informed: Happens when every agent has every item.
        next_slot: For each agent, the slot at whose beginning it speaks next; -1 while it holds nothing.
    """

    def __init__(self, members: int, informed: Event) -> None:
        super().__init__(members)
        self.informed = informed
        self.next_slot = [-1] * members


class Gossip(FreeRounds):
    """Each slot, a node that holds items sends all of them to one neighbour, drawn uniformly.

    A node whose last copy has not left it yet, because its link is slow, waits until it has: copies would only pile up.

    A node begins with its own contribution, or with the first items it hears, and goes on from slot boundary to
    slot boundary; the round ends by the free clock that also ends ``gis``, when every agent has every item. Slotted,
    a node takes in what it hears at a boundary; asynchronous, at once, but it still speaks once a slot. An agent goes
    on without the others at its `deadline`, and falls silent when nobody waits in the round any more.
    """

    patterns: ClassVar[frozenset[Pattern]] = frozenset({"round", "call", "broadcast", "ask"})
    stand_ins: ClassVar[Mapping[Pattern, type[NetworkProtocol]]] = {"ask": GossipAsk}

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self._slotted = self.slotted
        self._rounds: dict[int, GossipRound] = {}
        self._steps: InstantQueue[tuple[int, Labels]] = InstantQueue(self.clock, self._act, aggregation.turn)
        # What a node draws alone is its own stream, whoever else draws.
        self._generators = [network.streams.generator("gossip", node) for node in range(network.agents)]
        self._choices: list[list[int]] = [[] for _ in range(network.agents)]
        self._free_clock = FreeClock(network, self._look, self._apart)
        self._used: list[Channel | None] = [None] * network.agents

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Put the agent's item among what it holds; it speaks in this instant."""
        item = contributed(item)
        afterwards = self._contribute_afterwards(round, agent, item)
        if afterwards is not None:
            return afterwards
        state = self._rounds.get(round)
        if state is None:
            state = self._rounds[round] = GossipRound(self.network.agents, Event(self.clock.environment))
            self._free_clock.begin((round, 0))
        state.contribute(agent, item)
        self._steps.at(self.clock.now, agent, (round, 1 << agent))
        return self._patience.wait(round, agent) if self._apart else state.informed

    def done(self, agent: int, round: int) -> None:
        """Let the clock know."""
        self._free_clock.done(agent, round)

    def forget(self, agent: int) -> None:
        """See `CallbackRoundProtocol.forget`."""
        super().forget(agent)
        self._free_clock.forget(agent)
        for state in self._rounds.values():
            state.forget(agent)
            state.next_slot[agent] = -1

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Take in what neighbours have told: now, or at the slot boundary that ends the hop."""
        now = self.clock.now
        for _, _, message in arrivals:
            labels, begun = message.value
            if message.round in self._rounds:
                due = self.clock.effective_time(begun, now) if self._slotted else now
                self._steps.at(due, node, (message.round, labels))

    def _act(self, due: list[tuple[int, list[tuple[int, Labels]]]]) -> None:
        """Let nodes take in what they have heard, end rounds, and speak in the others, once a slot."""
        speakers: dict[tuple[int, int], None] = {}
        for node, parts in due:
            for number, labels in parts:
                round = self._rounds.get(number)
                if round is None:
                    continue
                speakers[node, number] = None
                news = labels & ~round.known[node]
                if self._apart:
                    self._note_late(number, node, news.bit_count())
                if news and self.overhear is not None:
                    self.overhear(node, number, round.named(news))
                if news and (round.add(node, labels) or self._free_clock.needed):
                    self._look((number, 0))
        for node, number in speakers:
            if number in self._rounds:
                self._speak(node, number, self._rounds[number])

    def _look(self, key: tuple[int, int]) -> None:
        """End a round if the clock says so."""
        number = key[0]
        round = self._rounds[number]
        held: Labels | None
        if not self._free_clock.needed:
            held = (1 << round.members) - 1 if round.everybody_complete else None
        else:
            held = self._free_clock.held(
                key,
                range(self.network.agents),
                lambda label, other: bool(round.known[label] >> other & 1),
                lambda label: round.known[label],
            )
        if held is not None:
            del self._rounds[number]
            self._free_clock.end(key)
            answer = self._end_round(number, round, held)
            if answer is not None:
                round.informed.succeed(answer)

    def _holds(self, round: int, agent: int) -> list[Item]:
        return self._rounds[round].held(agent)

    def _is_left(self, number: int, round: GossipRound) -> bool:
        """Return whether all who count have gone on by their own clocks, so that nobody is left to talk for."""
        if self._patience.waiting(number):
            return False
        counting = self._free_clock.counting((number, 0), range(self.network.agents))
        return all(round.items[label] is not None for label in counting)

    def _speak(self, node: int, number: int, round: GossipRound) -> None:
        """Let *node* tell a neighbour what it holds, unless it has spoken in this slot, and again in the next."""
        clock = self.clock
        if self._apart and (not round.known[node] or self._is_left(number, round)):
            round.next_slot[node] = -1
            return
        first = round.next_slot[node] < 0
        if first or round.next_slot[node] * clock.slot < clock.now:
            round.next_slot[node] = clock.boundary(clock.now)
        used = self._used[node]
        if round.next_slot[node] * clock.slot != clock.now:
            if not first:
                return  # it has spoken in this slot, or will at its end
        elif used is not None and used.free_at > clock.now:
            round.next_slot[node] = clock.boundary(used.free_at)
        else:
            held = round.known[node]
            message = Message(GOSSIP, HEADER_BYTES + round.size(held), (held, clock.now), number)
            channel = self._used[node] = self.network.channel(node, self._neighbour(node))
            self.network.send(message, (channel,))
            round.next_slot[node] += 1
        if round.next_slot[node] < clock.horizon:
            self._steps.at(round.next_slot[node] * clock.slot, node, (number, 0))

    def _neighbour(self, node: int) -> int:
        choices = self._choices[node]
        near = self.network.neighbours[node]
        if not choices:
            choices += self._generators[node].integers(len(near), size=CHOICES).tolist()
        return near[choices.pop()]
