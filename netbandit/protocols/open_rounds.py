"""Rounds that are open: who holds whose item, and the free clock, out of band, that ends them: the papers' oracle."""

from collections.abc import Callable, MutableSequence, Sequence

from netbandit.network.message import LABEL_BYTES
from netbandit.network.network import Network
from netbandit.protocols.protocol import Item

Labels = int
"""A set of agents, or of their items, as a bit mask: unions and differences of hundreds in one operation."""


Key = int | tuple[int, int]
"""The number of a round; where there are several groups, and that of the group."""


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
        known: Whose items each agent holds.
        asked: Whose items each agent holds, or has asked for.
        next_slot: In which slot each agent acts next; -1: in none.
        tellers: From which neighbours an agent has heard labels that it is still to pass on.
    """

    acting: Labels = -1
    """The agents that act in this process."""

    def __init__(self, number: int, group: int, members: Sequence[int], everybody: Labels) -> None:
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
        self.clear()

    def clear(self) -> None:
        """Let nobody hold anything."""
        self.known: MutableSequence[Labels] | dict[int, Labels] = _of_each(self.members, 0)
        self.asked: MutableSequence[Labels] | dict[int, Labels] = _of_each(self.members, 0)
        self.next_slot: MutableSequence[int] | dict[int, int] = _of_each(self.members, -1)
        self.tellers: dict[tuple[int, Labels], list[int]] = {}

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
        return self.known[agent]

    def count_only(self, counting: Labels) -> None:
        """Let the round wait for these agents only."""
        self.counting = counting
        self.missing = sum(
            (counting & ~self.holds(agent)).bit_count() for agent in self.in_order(counting & self.acting)
        )

    def go_on(self, agent: int) -> None:
        """Note that *agent* has gone on without the others."""
        self.went_on |= 1 << agent

    def forget(self, agent: int) -> None:
        """Let *agent* know nothing any more."""
        self.known[agent] = self.asked[agent] = 0
        self.next_slot[agent] = -1
        self.tellers = {key: tellers for key, tellers in self.tellers.items() if key[0] != agent}
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


def _of_each(members: Sequence[int], value: int) -> MutableSequence[int] | dict[int, int]:
    """Return what has *value* at the place of each of *members*; a list, where these are the first, is faster."""
    return [value] * len(members) if members == range(len(members)) else dict.fromkeys(members, value)


class OpenRounds:
    """The rounds that are open in groups of agents that pass items on to each other.

    The clock ends a round when all who count in it have contributed, and all of them hold one another's items. Who has
    been up for as long as the round counts in it; who comes back counts from the next round on. Where nobody is left
    that was up all the time, those count that are. Who has committed counts no more.

    Args:
        network: The network.
        groups: The agents of each group, ascending.
        conclude: Called with each round that has ended, and whose items all who counted hold.
        apart: Whether agents conclude apart, so that some commit, or go on, before others.

    Attributes:
        open: The rounds by their numbers and groups.
        group: The group of each agent.
        late: Items that reached an agent when it had gone on without them.
        completed: Rounds in which all who count have just come to hold all they need.
        when_complete: Called with each of these; by default it ends the round.
    """

    def __init__(
        self,
        network: Network,
        groups: Sequence[Sequence[int]],
        conclude: Callable[[OpenRound, Labels], None],
        apart: bool = False,
    ) -> None:
        self.network = network
        self.open: dict[Key, OpenRound] = {}
        self.group = [0] * network.agents
        self.late = 0
        for number, members in enumerate(groups):
            for agent in members:
                self.group[agent] = number
        self._groups = groups
        self._everybody = [sum(1 << agent for agent in members) for members in groups]
        self._conclude = conclude
        self._apart = apart
        self._waiting: Callable[[int], Sequence[int]] = lambda round: ()
        self.completed: list[OpenRound] = []
        self.when_complete: Callable[[OpenRound], None] = self.end
        self._acting = -1 if len(network.acting) == network.agents else sum(1 << agent for agent in network.acting)
        self._done_from: dict[int, int] = {}
        self._down: Labels = 0
        if network.agents_fail:
            self._down = sum(1 << agent for agent in network.watch_agents(self._changed))

    def ask_who_waits(self, waiting: Callable[[int], Sequence[int]]) -> None:
        """Have *waiting* say who waits in a round, where agents conclude apart."""
        self._waiting = waiting

    def key(self, number: int, group: int) -> Key:
        """Return the key of a round in `open`."""
        return number if len(self._groups) == 1 else (number, group)

    def get(self, number: int, agent: int) -> OpenRound | None:
        """Return the round in the group of *agent*; None if it is not open."""
        return self.open.get(self.key(number, self.group[agent]))

    def contribute(self, number: int, agent: int, item: Item) -> OpenRound:
        """Keep what *agent* contributes to a round, which begins with its first item; return the round."""
        round = self.opened(number, self.group[agent])
        round.contribute(agent, item)
        return round

    def opened(self, number: int, group: int) -> OpenRound:
        """Return a round, which is begun if it is not open."""
        round = self.open.get(self.key(number, group))
        if round is None:
            round = self.begin(number, group)
            self.open[self.key(number, group)] = round
            round.missed, round.acting = self._down, self._acting
            self._count(round)
        return round

    def begin(self, number: int, group: int) -> OpenRound:
        """Return a round in which nobody holds anything."""
        return OpenRound(number, group, self._groups[group], self._everybody[group])

    def close(self, round: OpenRound) -> None:
        """End a round that needs nothing of the network any more."""
        del self.open[self.key(round.number, round.group)]

    def end_complete(self) -> None:
        """End the rounds in which all who count have just come to hold all they need."""
        completed, self.completed = self.completed, []
        for round in completed:
            self.when_complete(round)

    def end(self, round: OpenRound) -> None:
        """End a round."""
        self.close(round)
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
        if self._apart:
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
