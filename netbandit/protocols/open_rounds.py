"""Open rounds: which node holds which item, and the free, out-of-band clock that ends a round, the papers' oracle."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from simpy.events import EventPriority

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import LABEL_BYTES
from netbandit.network.network import Network
from netbandit.protocols.node import LabelMessage, Labels, Node
from netbandit.protocols.protocol import Item, Overhear

CHOICES = 64
"""How many neighbours a node draws at a time."""

Key = int | tuple[int, int]
"""The number of a round; where there are several groups, and that of the group."""

Part = tuple[int, Labels]
"""The number of a round, and what a node takes in of it."""


class Handlers(Protocol):
    """What nodes do; see `netbandit.protocols.neighbour_rounds.NeighbourRounds`."""

    @property
    def merges(self) -> bool:
        """See there."""

    @property
    def stream(self) -> str:
        """See there."""

    def on_message(self, node: Node, neighbour: int, message: LabelMessage) -> None:
        """See there."""

    def act(self, node: Node, labels: Labels) -> None:
        """See there."""


class OpenRound:
    """A round in a group of agents.

    Attributes:
        number: Its number, from 1.
        group: The number of the group.
        members: The agents of the group, ascending.
        everybody: The same.
        items: What each has contributed.
        again: What an agent has contributed once more, after it had lost its memory: for itself alone.
        uniform: The bytes of every item contributed so far, with its label; None if they differ.
        contributed: Who has contributed.
        missed: Who was down at some time of the round.
        counting: Who counts: the round ends when all of them hold the items of all of them.
        missing: Of how many pairs of those who count the first, if it acts here, lacks the item of the second.
        went_on: Who has gone on before the end.
        deserted: Whether all who count have contributed and nobody waits any more: nobody is left to talk for.
        is_open: Whether it has not ended.
        nodes: What each agent holds.
    """

    def __init__(
        self, rounds: "OpenRounds", number: int, group: int, members: Sequence[int], everybody: Labels
    ) -> None:
        self.number = number
        self.group = group
        self.members = members
        self.everybody = everybody
        self.items: dict[int, Item] = {}
        self.again: dict[int, Item] = {}
        self.uniform: int | None = None
        self.contributed: Labels = 0
        self.missed: Labels = 0
        self.counting: Labels = 0
        self.missing = 0
        self.went_on: Labels = 0
        self.deserted = False
        self.is_open = True
        self._acting = rounds.acting
        self.nodes = {agent: Node(rounds, self, agent) for agent in members}

    def contribute(self, agent: int, item: Item) -> None:
        """Keep what *agent* contributes; what it contributed before stays with the others."""
        if agent in self.items:
            self.again[agent] = item
            return
        if not self.items:
            self.uniform = LABEL_BYTES + item.size
        elif LABEL_BYTES + item.size != self.uniform:
            self.uniform = None
        self.items[agent] = item
        self.contributed |= 1 << agent

    def holds(self, agent: int) -> Labels:
        """Return whose items *agent* holds."""
        return self.nodes[agent].held

    def count_only(self, counting: Labels) -> None:
        """Restrict the agents that the round waits for to *counting*."""
        self.counting = counting
        self.missing = sum(
            (counting & ~self.holds(agent)).bit_count() for agent in self.in_order(counting & self._acting)
        )

    def go_on(self, agent: int) -> None:
        """Note that *agent* has gone on without the others."""
        self.went_on |= 1 << agent

    def forget(self, agent: int) -> None:
        """Discard all items that *agent* holds."""
        self.nodes[agent].forget()
        self.went_on &= ~(1 << agent)
        self.again.pop(agent, None)

    @property
    def complete(self) -> bool:
        """Whether the round may end."""
        return not self.missing and self.counting != 0

    @property
    def common(self) -> Labels:
        """Whose items all who count hold, where they hold all they need."""
        if self.counting == self.everybody:
            return self.everybody
        held = -1
        for agent in self.in_order(self.counting):
            held &= self.holds(agent)
        return held

    def in_order(self, agents: Labels) -> list[int]:
        """Return *agents*, as far as they are members, ascending."""
        return [agent for agent in self.members if agents >> agent & 1]

    def named(self, labels: Labels) -> list[Item]:
        """Return the items that *labels* name, in order of their agents."""
        return [self.items[agent] for agent in self.in_order(labels & self.contributed)]

    def held(self, agent: int, labels: Labels = -1) -> list[Item]:
        """Return the items of *labels* that *agent* holds, its own among them in any case, in order of their agents."""
        labels = (self.holds(agent) & labels | 1 << agent) & self.contributed
        own = self.again.get(agent)
        return [own if other == agent and own is not None else self.items[other] for other in self.in_order(labels)]

    def size(self, labels: Labels) -> int:
        """Return the bytes of the items that *labels* name, each with its label."""
        if self.uniform is not None:
            return labels.bit_count() * self.uniform
        total = 0
        while labels:
            lowest = labels & -labels
            total += LABEL_BYTES + self.items[lowest.bit_length() - 1].size
            labels ^= lowest
        return total


class OpenRounds:
    """The rounds that are open in groups of agents that pass items on to each other.

    The clock ends a round when all who count in it have contributed, and all of them hold one another's items. Who has
    been up for as long as the round counts in it; who comes back counts from the next round on. Where nobody is left
    that was up all the time, those count that are. Who has committed counts no more.

    Args:
        network: The network.
        groups: The agents of each group, ascending.
        handlers: What nodes do.
        slotted: Whether hops take effect at slot boundaries.
        turn: The turn of an instant in which nodes take in what they were to take in later.
        conclude: Called with each round that has ended, and whose items all who counted hold.
        per_agent: Whether agents conclude individually, so that some commit, or go on, before others.

    Attributes:
        open: The rounds by their numbers and groups.
        group: The group of each agent.
        late: Items that reached an agent when it had gone on without them.
        taken_in: What nodes are to take in of what has just reached them.
        steps: What they are to take in later.
        acting: Who acts in this process.
        when_complete: Called with each round in which all who count have just come to hold all they need; by default it
            ends it.
    """

    def __init__(
        self,
        network: Network,
        groups: Sequence[Sequence[int]],
        handlers: Handlers,
        slotted: bool,
        turn: EventPriority,
        conclude: Callable[[OpenRound, Labels], None],
        per_agent: bool = False,
    ) -> None:
        self.network = network
        self.slotted = slotted
        self.taken_in: list[tuple[Node, Labels]] = []
        self.steps: InstantQueue[Part] = InstantQueue(network.clock, self._step, turn)
        self._on_message, self._act, self._merges = handlers.on_message, handlers.act, handlers.merges
        self._stream = handlers.stream
        self._generators: dict[int, Any] = {}
        self._choices: dict[int, list[int]] = {}
        self._drawn: dict[int, Channel] = {}
        self._news: Callable[[int, int, int], None] | None = None
        self._overhear: Overhear | None = None
        self._overheard: dict[Node, Labels] = {}
        self.open: dict[Key, OpenRound] = {}
        self.group = [0] * network.agents
        self.late = 0
        for number, members in enumerate(groups):
            for agent in members:
                self.group[agent] = number
        self._groups = groups
        self._one_group = len(groups) == 1
        self._everybody = [sum(1 << agent for agent in members) for members in groups]
        self._conclude = conclude
        self._per_agent = per_agent
        self._unwatched = not (network.agents_fail or per_agent)
        self._waiting: Callable[[int], Sequence[int]] = lambda round: ()
        self._completed: list[OpenRound] = []
        self.when_complete: Callable[[OpenRound], None] = self.end
        self.acting = -1 if len(network.acting) == network.agents else sum(1 << agent for agent in network.acting)
        self._draws: list[tuple[int, int, int]] = []
        self._done_from: dict[int, int] = {}
        self._down: Labels = 0
        if network.agents_fail:
            self._down = sum(1 << agent for agent in network.watch_agents(self._changed))

    def listen(self, overhear: Overhear) -> None:
        """Have *overhear* told of every item that reaches a node; see `CallbackRoundProtocol.listen`."""
        self._overhear, self._unwatched = overhear, False

    def listen_to_news(self, news: Callable[[int, int, int], None]) -> None:
        """Have *news* told of a round, a node, and how many items the node has just heard, or contributed, in it."""
        self._news, self._unwatched = news, False

    def ask_who_waits(self, waiting: Callable[[int], Sequence[int]]) -> None:
        """Have *waiting* say who waits in a round, where agents conclude individually."""
        self._waiting = waiting

    def key(self, number: int, group: int) -> Key:
        """Return the key of a round in `open`."""
        return number if self._one_group else (number, group)

    def get(self, number: int, agent: int) -> OpenRound | None:
        """Return the round in the group of *agent*; None if it is not open."""
        return self.open.get(self.key(number, self.group[agent]))

    def contribute(self, number: int, agent: int, item: Item) -> OpenRound:
        """Keep what *agent* contributes to a round, which begins with its first item; return the round.

        The agent acts on its item in this instant.
        """
        round = self._opened(number, self.group[agent])
        round.contribute(agent, item)
        node = round.nodes[agent]
        node.claim(1 << agent)
        node.take_in_at(node.now, 1 << agent)
        return round

    def _opened(self, number: int, group: int) -> OpenRound:
        key = self.key(number, group)
        round = self.open.get(key)
        if round is None:
            round = self.open[key] = OpenRound(self, number, group, self._groups[group], self._everybody[group])
            round.missed = self._down
            self._count(round)
        return round

    def note_items(self, number: int, items: Mapping[int, Item]) -> None:
        """Keep what agents of the first group contribute in other processes to a round, which begins if it has not."""
        round = self._opened(number, 0)
        for agent, item in items.items():
            if agent not in round.items:
                round.contribute(agent, item)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Handle the arrivals at *node* in this instant."""
        open_rounds, on_message = self.open, self._on_message
        for _, neighbour, message in arrivals:
            round = open_rounds.get(message.round if self._one_group else (message.round, self.group[node]))
            if round is not None:
                on_message(round.nodes[node], neighbour, message)  # type: ignore[arg-type]  # all that is sent here is
        parts = self.taken_in
        if parts:
            self.taken_in = []
            self._take_in(parts)

    def _step(self, due: list[tuple[int, list[Part]]]) -> None:
        """Process the items due at nodes now."""
        found, open_rounds = [], self.open
        for node, parts in due:
            for number, labels in parts:
                round = open_rounds.get(number if self._one_group else (number, self.group[node]))
                if round is not None:
                    found.append((round.nodes[node], labels))
        self._take_in(found)

    def _take_in(self, parts: list[tuple[Node, Labels]]) -> None:
        """Let nodes hold items, then end rounds, then let nodes act in the others."""
        act = self._act
        for node, labels in parts:
            news = labels & ~node.held
            node.held |= news
            if not self._unwatched:
                news = self._counted(node, news)
            if news:
                round = node.round
                round.missing -= news.bit_count()
                if not round.missing:
                    self._completed.append(round)
        if self._overheard:
            self._overhear_all()
        if self._completed:
            completed, self._completed = self._completed, []
            for round in completed:
                self.when_complete(round)
        if self._merges and len(parts) > 1:
            merged: dict[Node, Labels] = {}
            for node, labels in parts:
                merged[node] = merged.get(node, 0) | labels
            parts = list(merged.items())
        for node, labels in parts:
            if node.round.is_open:
                act(node, labels)

    def _counted(self, node: Node, news: Labels) -> Labels:
        """Tell who listens of the *news* of a node; return those of them for which the round has waited."""
        round, agent = node.round, node.number
        if self._news is not None:
            self._news(round.number, agent, news.bit_count())
        if self._overhear is not None and news:
            self._overheard[node] = self._overheard.get(node, 0) | news
        if self._per_agent and round.went_on >> agent & 1:
            self.late += news.bit_count()
        return news & round.counting if round.counting >> agent & 1 else 0

    def _overhear_all(self) -> None:
        """Tell who listens of what has reached nodes."""
        assert self._overhear is not None
        overheard, self._overheard = self._overheard, {}
        for node, labels in overheard.items():
            self._overhear(node.number, node.round.number, node.round.named(labels))

    def draw_neighbour(self, node: int) -> Channel | None:
        """Return the channel to a neighbour of *node*, drawn uniformly; None: agents see links, and nobody is there."""
        network = self.network
        near = network.channels[node]
        choices = self._choices.get(node)
        if not choices:
            if node not in self._generators:
                # What a node draws alone is its own stream, whoever else draws.
                self._generators[node] = network.streams.generator(self._stream, node)
            choices = self._choices[node] = self._generators[node].integers(len(near), size=CHOICES).tolist()
        choice = choices.pop()
        if self.acting != -1:
            self._draws.append((network.clock.now, node, choice))
        channel = network.present.one_of(node, near, near[choice])
        if channel is not None:
            self._drawn[node] = channel
        return channel

    def busy_until(self, node: int) -> int:
        """See `Node.busy_until`."""
        return self.network.free_from(self._drawn[node]) if node in self._drawn else 0

    def draw_again(self, time: int) -> None:
        """Let what nodes have drawn since a *time* (ns) be drawn again, where others act in other processes."""
        while self._draws and self._draws[-1][0] >= time:
            _, node, choice = self._draws.pop()
            self._choices[node].append(choice)

    def end(self, round: OpenRound) -> None:
        """End a round."""
        del self.open[self.key(round.number, round.group)]
        round.is_open = False
        self._conclude(round, round.common)

    def done(self, agent: int, number: int) -> None:
        """Note that *agent* has committed, and takes part in round *number* and all later ones no more."""
        self._done_from[agent] = number
        self._look()

    def forget(self, agent: int) -> None:
        """Note that *agent* knows nothing any more, and takes part anew."""
        self._done_from.pop(agent, None)
        for round in self.open.values():
            if round.group == self.group[agent]:
                round.forget(agent)
                self._count(round)

    def look_who_is_left(self, round: OpenRound, leaving: int = -1) -> None:
        """Note whether anybody waits in *round*, or will; who is *leaving* does not."""
        if self._per_agent:
            waits = any(agent != leaving for agent in self._waiting(round.number))
            round.deserted = not waits and not round.counting & ~round.contributed

    def _changed(self, agent: int, up: bool) -> None:
        if up:
            self._down &= ~(1 << agent)
        else:
            self._down |= 1 << agent
            for round in self.open.values():
                round.missed |= 1 << agent
        self._look()

    def _look(self) -> None:
        """End each round that may end now that others count."""
        for round in list(self.open.values()):
            self._count(round)
            if round.complete:
                self.when_complete(round)

    def _count(self, round: OpenRound) -> None:
        done = sum(1 << agent for agent, first in self._done_from.items() if first <= round.number)
        taking_part = round.everybody & ~done
        counting = taking_part & ~round.missed
        if not counting:
            round.missed = self._down
            counting = taking_part & ~self._down
        round.count_only(counting)
        self.look_who_is_left(round)
