"""Open rounds: which node holds which item, and the free clock that ends a round: an oracle, as in papers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from simpy.events import EventPriority

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival, Channel
from netbandit.network.network import Network
from netbandit.protocols.node import AgentMask, LabelMessage, Node, OpenRound, Part
from netbandit.protocols.protocol import Item, Overhear

CHOICES = 64
"""How many neighbours a node draws at a time."""

Key = int | tuple[int, int]
"""The number of a round; where there are several groups, and that of the group."""


class Handlers(Protocol):
    """The handlers of nodes; see `netbandit.protocols.neighbour_rounds.NeighbourRounds`."""

    @property
    def merges(self) -> bool:
        """See there."""

    @property
    def stream(self) -> str:
        """See there."""

    def on_message(self, node: Node, neighbour: int, message: LabelMessage) -> None:
        """See there."""

    def act(self, node: Node, labels: AgentMask) -> None:
        """See there."""


class OpenRounds:
    """The open rounds of groups of agents that forward items to each other.

    The free clock ends a round when all required agents have contributed and hold one another's items. An agent is
    required if it has been up for the whole round; an agent that recovers, from the next round on. If no agent was up
    all the time, those that are up now are required. Agents that have committed are required no longer.

    Args:
        network: The network.
        groups: The agents of each group, ascending.
        handlers: The handlers of nodes.
        slotted: Whether hops take effect at slot boundaries.
        turn: The turn of an instant in which nodes take in items scheduled for it.
        conclude: Called with each round that has ended, and the labels of the items that all required agents hold.
        per_agent: Whether agents conclude individually, so that some commit, or go on, before others.

    Attributes:
        open: The rounds by their numbers and groups.
        group: The group of each agent.
        late: The number of items that reached an agent after it had proceeded without them.
        taken_in: The nodes and items to be taken in once the present arrivals have been handled.
        steps: The nodes and items to be taken in at a later time.
        acting: The agents that act in this process.
        when_complete: Called with each round as soon as no required agent misses an item; by default this ends it.
    """

    def __init__(
        self,
        network: Network,
        groups: Sequence[Sequence[int]],
        handlers: Handlers,
        slotted: bool,
        turn: EventPriority,
        conclude: Callable[[OpenRound, AgentMask], None],
        per_agent: bool = False,
    ) -> None:
        self.network = network
        self.slotted = slotted
        self.taken_in: list[tuple[Node, AgentMask]] = []
        self.steps: InstantQueue[Part] = InstantQueue(network.clock, self._step, turn)
        self._on_message, self._act, self._merges = handlers.on_message, handlers.act, handlers.merges
        self._stream = handlers.stream
        self._generators: dict[int, Any] = {}
        self._choices: dict[int, list[int]] = {}
        self._drawn: dict[int, Channel] = {}
        self._news: Callable[[int, int, int], None] | None = None
        self._overhear: Overhear | None = None
        self._overheard: dict[Node, AgentMask] = {}
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
        self.when_complete: Callable[[OpenRound], None] = self.end
        self.acting = -1 if len(network.acting) == network.agents else sum(1 << agent for agent in network.acting)
        self._draws: list[tuple[int, int, int]] = []
        self._done_from: dict[int, int] = {}
        self._down: AgentMask = 0
        if network.agents_fail:
            self._down = sum(1 << agent for agent in network.watch_agents(self._changed))

    def listen(self, overhear: Overhear) -> None:
        """Call *overhear* with every item that reaches a node; see `CallbackRoundProtocol.listen`."""
        self._overhear, self._unwatched = overhear, False

    def listen_to_news(self, news: Callable[[int, int, int], None]) -> None:
        """Call *news* with a round, a node, and the number of items that the node has just received or contributed."""
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
        """Store the contribution of *agent* to a round, which begins with its first item; return the round.

        The agent acts on its item at this instant.
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
            self._require_present(round)
        return round

    def note_items(self, number: int, items: Mapping[int, Item]) -> None:
        """Store contributions of agents of the first group in other processes; the round begins if it has not."""
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

    def _take_in(self, parts: list[tuple[Node, AgentMask]]) -> None:
        """Let nodes hold items, then end rounds, then let nodes act in the others."""
        act = self._act
        completed = []
        for node, labels in parts:
            held = node.held
            node.held = held | labels
            news = held ^ node.held
            if not self._unwatched:
                news = self._required_news(node, news)
            if news:
                round = node.round
                round.missing -= news.bit_count()
                if not round.missing:
                    completed.append(round)
        if self._overhear is not None:
            overheard, self._overheard = self._overheard, {}
            for node, labels in overheard.items():
                self._overhear(node.number, node.round.number, node.round.named(labels))
        for round in completed:
            self.when_complete(round)
        if self._merges and len(parts) > 1:
            merged: dict[Node, AgentMask] = {}
            for node, labels in parts:
                merged[node] = merged.get(node, 0) | labels
            parts = list(merged.items())
        for node, labels in parts:
            if node.round.is_open:
                act(node, labels)

    def _required_news(self, node: Node, news: AgentMask) -> AgentMask:
        """Report the *news* of a node to the listeners; return the labels among them for which the round waits."""
        round, agent = node.round, node.number
        if self._news is not None:
            self._news(round.number, agent, news.bit_count())
        if self._overhear is not None and news:
            self._overheard[node] = self._overheard.get(node, 0) | news
        if self._per_agent and round.went_on >> agent & 1:
            self.late += news.bit_count()
        return news & round.required if round.required >> agent & 1 else 0

    def draw_neighbour(self, node: int) -> Channel | None:
        """Return the channel to a neighbour of *node*, drawn uniformly; None: no neighbour is in contact."""
        network = self.network
        near = network.channels[node]
        choices = self._choices.get(node)
        if not choices:
            if node not in self._generators:
                # Each node has a stream of its own, so its draws do not depend on those of others.
                self._generators[node] = network.streams.generator(self._stream, node)
            choices = self._choices[node] = self._generators[node].integers(len(near), size=CHOICES).tolist()
        choice = choices.pop()
        if self.acting != -1:
            self._draws.append((network.clock.now, node, choice))
        channel = network.present_neighbours.one_of(node, near, near[choice])
        if channel is not None:
            self._drawn[node] = channel
        return channel

    def busy_until(self, node: int) -> int:
        """See `Node.busy_until`."""
        return self.network.free_from(self._drawn[node]) if node in self._drawn else 0

    def draw_again(self, time: int) -> None:
        """Undo the draws made since a *time* (ns), so that they are repeated; where agents act in several processes."""
        while self._draws and self._draws[-1][0] >= time:
            _, node, choice = self._draws.pop()
            self._choices[node].append(choice)

    def end(self, round: OpenRound) -> None:
        """End a round."""
        del self.open[self.key(round.number, round.group)]
        round.is_open = False
        self._conclude(round, round.common)

    def done(self, agent: int, number: int) -> None:
        """Note that *agent* has committed, and takes no part in round *number* and all later ones."""
        self._done_from[agent] = number
        self._look()

    def forget(self, agent: int) -> None:
        """Note that *agent* has lost its memory, and takes part anew."""
        self._done_from.pop(agent, None)
        for round in self.open.values():
            if round.group == self.group[agent]:
                round.forget(agent)
                self._require_present(round)

    def look_who_is_left(self, round: OpenRound, leaving: int = -1) -> None:
        """Note whether any agent waits in *round*, or will; the agent *leaving* does not."""
        if self._per_agent:
            waits = any(agent != leaving for agent in self._waiting(round.number))
            round.deserted = not waits and not round.required & ~round.contributed

    def _changed(self, agent: int, up: bool) -> None:
        if up:
            self._down &= ~(1 << agent)
        else:
            self._down |= 1 << agent
            for round in self.open.values():
                round.missed |= 1 << agent
        self._look()

    def _look(self) -> None:
        """Recount the open rounds, and end those that are complete."""
        for round in list(self.open.values()):
            self._require_present(round)
            if round.required and not round.missing:
                self.when_complete(round)

    def _require_present(self, round: OpenRound) -> None:
        done = sum(1 << agent for agent, first in self._done_from.items() if first <= round.number)
        taking_part = round.everybody & ~done
        required = taking_part & ~round.missed
        if not required:
            round.missed = self._down
            required = taking_part & ~self._down
        round.require(required)
        self.look_who_is_left(round)
