"""A round, and a node in it: the items that it holds, and what handlers send by; see `NeighbourRounds`."""

from collections.abc import Sequence
from typing import Protocol

from netbandit.network.clock import InstantQueue, effective_time
from netbandit.network.link import Channel
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message, negative_size
from netbandit.network.network import Network
from netbandit.protocols.protocol import Item

AgentMask = int
"""A set of agents, or of their items, as a bit mask, bit i for agent i; 0: nobody."""


Part = tuple[int, AgentMask]
"""The number of a round, and the labels of the items that a node takes in."""


class LabelMessage(Message):
    """A message about items, in a round.

    Attributes:
        labels: The labels of the items.
        items: Whether it carries the items themselves; None: its size was given explicitly.
        begun: When (ns) the hop began, or the handshake that it belongs to.
    """

    __slots__ = ("begun", "items", "labels")
    value = None

    def __init__(
        self, round: "OpenRound", kind: Kind, labels: AgentMask, items: bool, size: int | None, begun: int
    ) -> None:
        if size is None:
            self.items: bool | None = items
            size = round.header + round.size(labels) if items else HEADER_BYTES + LABEL_BYTES * labels.bit_count()
        elif size >= 0:
            self.items = None
        else:
            raise negative_size(kind, size)
        self.kind = kind
        self.code = kind.code
        self.size = size
        self.round = round.number
        self.labels = labels
        self.begun = begun


class Rounds(Protocol):
    """What a node asks of all rounds; see `netbandit.protocols.open_rounds.OpenRounds`."""

    network: Network
    slotted: bool
    acting: AgentMask
    steps: InstantQueue[Part]
    taken_in: "list[tuple[Node, AgentMask]]"

    def busy_until(self, node: int) -> int:
        """See `Node.busy_until`."""

    def draw_neighbour(self, node: int) -> Channel | None:
        """Return the channel to a neighbour of *node*, drawn uniformly; None: no neighbour is in contact."""


class Node:
    """The state of an agent in an open round.

    Its methods that send take the *kind* of the message and the *labels* that it names; with ``items=True`` it carries
    their items as well. The *size* in bytes is that of a header, the labels, and the items, unless it is given.

    Attributes:
        number: The agent.
        round: The round.
        held: The labels of all items that it holds.
        claimed: The labels of the items that it holds or has claimed.
        next_slot: For the protocol to use; -1 at first, and when the agent has lost its memory.
    """

    __slots__ = (
        "_channels",
        "_first_senders",
        "_network",
        "_other_senders",
        "_out",
        "_rounds",
        "claimed",
        "held",
        "next_slot",
        "number",
        "round",
    )

    def __init__(self, rounds: Rounds, round: "OpenRound", number: int) -> None:
        self._rounds = rounds
        self._network = rounds.network
        self._out = rounds.network.links.out(number)
        self._channels = rounds.network.channels[number]
        self.round = round
        self.number = number
        self.forget()

    def forget(self) -> None:
        """Hold nothing."""
        self.held: AgentMask = 0
        self.claimed: AgentMask = 0
        self.next_slot = -1
        self._first_senders: dict[AgentMask, tuple[LabelMessage, int]] = {}  # by whom first
        self._other_senders: dict[AgentMask, list[int]] = {}

    @property
    def now(self) -> int:
        """The present time (ns)."""
        return self._network.environment._now

    @property
    def neighbours(self) -> Sequence[int]:
        """The agents that it has links to, ascending."""
        return self._network.neighbours[self.number]

    @property
    def is_deserted(self) -> bool:
        """Whether no agent waits in the round any more, nor will, so that no message is needed."""
        return self.round.deserted

    @property
    def busy_until(self) -> int:
        """When (ns) its latest message to a randomly drawn neighbour has been transmitted; 0: there is none."""
        return self._rounds.busy_until(self.number)

    def claim(self, labels: AgentMask) -> AgentMask:
        """Claim those of *labels* that it neither holds nor has claimed, and return them.

        A claim lasts as long as the round, also where what was asked for is lost: none is returned twice.
        """
        fresh = labels & ~self.claimed
        if fresh:
            self.claimed |= fresh
        return fresh

    def take_in(self, message: LabelMessage, labels: AgentMask) -> None:
        """Hold the items with these *labels*, which *message* has brought, and act: slotted, when its hop ends.

        Asynchronous, it acts once on all items that have reached it at this instant.
        """
        rounds = self._rounds
        if rounds.slotted:
            rounds.steps.at(self.effective_time(message), self.number, (self.round.number, labels))
        else:
            rounds.taken_in.append((self, labels))

    def take_in_at(self, time: int, labels: AgentMask) -> None:
        """Hold the items with these *labels* at a *time* (ns), now or later, after all its arrivals, and act."""
        self._rounds.steps.at(time, self.number, (self.round.number, labels))

    def effective_time(self, message: LabelMessage) -> int:
        """Return when (ns) *message* takes effect: slotted, at the slot boundary that ends its hop."""
        network = self._network
        now = network.environment._now
        return effective_time(message.begun, now, network.slot) if self._rounds.slotted else now

    def accept(self, neighbour: int, message: LabelMessage) -> None:
        """Claim, take in, and note the sender of what *message* brings, unless it was passed on already.

        This is what `claim`, `take_in` and `note_teller` do, one after the other, in one call for each message.
        """
        labels = message.labels
        claimed = self.claimed | labels
        if claimed != self.claimed:
            self.claimed = claimed
            rounds = self._rounds
            if rounds.slotted:
                rounds.steps.at(self.effective_time(message), self.number, (self.round.number, labels))
            else:
                rounds.taken_in.append((self, labels))
        elif labels & self.held:
            return
        noted = self._first_senders
        if labels not in noted:
            noted[labels] = message, neighbour
        else:
            self._other_senders.setdefault(labels, []).append(neighbour)

    def note_teller(self, neighbour: int, message: LabelMessage) -> None:
        """Note *neighbour* as a sender of the labels of *message*, to which `send_others` does not send them back."""
        labels = message.labels
        if labels not in self._first_senders:
            self._first_senders[labels] = message, neighbour
        else:
            self._other_senders.setdefault(labels, []).append(neighbour)

    def send(
        self,
        neighbour: int,
        kind: Kind,
        labels: AgentMask,
        *,
        items: bool = False,
        size: int | None = None,
        begun: int | None = None,
    ) -> None:
        """Send to a neighbour; a hop begins now, or it is part of a handshake that has *begun* (ns) with another."""
        network = self._network
        since = network.environment._now if begun is None else begun
        message = LabelMessage(self.round, kind, labels, items, size, since)
        send = network.send  # loading an attribute, then calling it, is faster than a method call of an attribute
        send(message, (self._out[neighbour],))

    def send_all(self, kind: Kind, labels: AgentMask, *, items: bool = False, size: int | None = None) -> None:
        """Send to all neighbours; a hop begins now."""
        network = self._network
        message = LabelMessage(self.round, kind, labels, items, size, network.environment._now)
        send = network.send
        send(message, self._channels)

    def send_others(self, kind: Kind, labels: AgentMask, *, items: bool = False, size: int | None = None) -> None:
        """Send to all neighbours except those noted as senders of these very *labels* since the last call."""
        noted = self._first_senders.pop(labels, None)
        if noted is None:
            self.send_all(kind, labels, items=items, size=size)
            return
        network, channels = self._network, self._channels
        message, first = noted
        if self._rounds.slotted or message.kind is not kind or message.items is not items or size is not None:
            message = LabelMessage(self.round, kind, labels, items, size, network.environment._now)
        # else it forwards the same object
        if labels in self._other_senders:
            others = self._other_senders.pop(labels)
            channels = [channel for channel in channels if channel.receiver not in others]
        send = network.send
        send(message, channels, first)

    def send_one(self, kind: Kind, labels: AgentMask, *, items: bool = False, size: int | None = None) -> None:
        """Send to one neighbour, drawn uniformly from the random stream `NeighbourRounds.stream`.

        Where agents see which of their links are up, it is one of the neighbours in contact; without any, nothing is
        sent.
        """
        channel = self._rounds.draw_neighbour(self.number)
        if channel is not None:
            now = self._network.environment._now
            self._network.send(LabelMessage(self.round, kind, labels, items, size, now), (channel,))


class OpenRound:
    """A round in a group of agents.

    Attributes:
        number: Its number, from 1.
        group: The number of the group.
        members: The agents of the group, ascending.
        everybody: The same.
        items: The item that each agent has contributed.
        again: The second contribution of an agent that had lost its memory, which only that agent uses.
        uniform: The bytes of every item contributed so far, with its label; None if they differ.
        contributed: The agents that have contributed.
        missed: The agents that were down at some time of the round.
        required: The required agents: the round ends when each of them holds the items of all of them.
        missing: The number of pairs of required agents of which the first, if it acts in this process, lacks the item
            of the second.
        went_on: The agents that have proceeded before the end.
        deserted: Whether all required agents have contributed and none waits any more, so that no message is needed.
        is_open: Whether it has not ended.
        nodes: The node of each agent.
    """

    def __init__(self, rounds: Rounds, number: int, group: int, members: Sequence[int], everybody: AgentMask) -> None:
        self.number = number
        self.group = group
        self.members = members
        self.everybody = everybody
        self.items: dict[int, Item] = {}
        self.again: dict[int, Item] = {}
        self.uniform: int | None = None
        self.contributed: AgentMask = 0
        self.missed: AgentMask = 0
        self.required: AgentMask = 0
        self.missing = 0
        self.went_on: AgentMask = 0
        self.deserted = False
        self.is_open = True
        self.header = rounds.network.header
        self._acting = rounds.acting
        self.nodes = {agent: Node(rounds, self, agent) for agent in members}

    def contribute(self, agent: int, item: Item) -> None:
        """Store the contribution of *agent*; the other agents keep an earlier one."""
        if agent in self.items:
            self.again[agent] = item
            return
        if not self.items:
            self.uniform = LABEL_BYTES + item.size
        elif LABEL_BYTES + item.size != self.uniform:
            self.uniform = None
        self.items[agent] = item
        self.contributed |= 1 << agent

    def require(self, required: AgentMask) -> None:
        """Restrict the agents that the round waits for to *required*."""
        self.required = required
        self.missing = sum(
            (required & ~self.nodes[agent].held).bit_count() for agent in self.in_order(required & self._acting)
        )

    def forget(self, agent: int) -> None:
        """Discard all items that *agent* holds."""
        self.nodes[agent].forget()
        self.went_on &= ~(1 << agent)
        self.again.pop(agent, None)

    @property
    def common(self) -> AgentMask:
        """The labels of the items that all required agents hold, once none of them misses any."""
        if self.required == self.everybody:
            return self.everybody
        held = -1
        for agent in self.in_order(self.required):
            held &= self.nodes[agent].held
        return held

    def in_order(self, agents: AgentMask) -> list[int]:
        """Return those of *agents* that are members, ascending."""
        return [agent for agent in self.members if agents >> agent & 1]

    def named(self, labels: AgentMask) -> list[Item]:
        """Return the items with these *labels*, in order of their agents."""
        return [self.items[agent] for agent in self.in_order(labels & self.contributed)]

    def held(self, agent: int, labels: AgentMask = -1) -> list[Item]:
        """Return the items of *labels* that *agent* holds and always its own, in order of their agents."""
        labels = (self.nodes[agent].held & labels | 1 << agent) & self.contributed
        own = self.again.get(agent)
        return [own if other == agent and own is not None else self.items[other] for other in self.in_order(labels)]

    def size(self, labels: AgentMask) -> int:
        """Return the bytes of the items with these *labels*, labels included."""
        if self.uniform is not None:
            return labels.bit_count() * self.uniform
        total = 0
        while labels:
            lowest = labels & -labels
            total += LABEL_BYTES + self.items[lowest.bit_length() - 1].size
            labels ^= lowest
        return total
